//===- FakeStreams.cpp - Streams, events, capture, graphs -----------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work waits in a queue until somebody asks for it.
//
//===----------------------------------------------------------------------===//

#include "FakeState.h"

namespace tracea::fakecuda {

Stream *streamOf(StreamHandle handle) {
  State &s = state();
  // The default streams are there from the beginning.
  if (reinterpret_cast<uintptr_t>(handle) <= 2) {
    static std::map<uintptr_t, std::unique_ptr<Stream>> defaults;
    std::unique_ptr<Stream> &stream =
        defaults[reinterpret_cast<uintptr_t>(handle)];
    if (!stream)
      stream = std::make_unique<Stream>();
    return stream.get();
  }
  auto found = s.streams.find(handle);
  return found == s.streams.end() ? nullptr : found->second.get();
}

/// Runs work of the stream until `isDone` says so.
template <typename F>
static Result drainUntil(Stream &stream, F &&isDone) {
  Door door;
  while (!stream.queue.empty() && !isDone()) {
    Work work = std::move(stream.queue.front());
    stream.queue.pop_front();
    if (Result result = work()) {
      stream.queue.clear();
      if (currentContext())
        currentContext()->poison = result;
      return result;
    }
  }
  return success;
}

Result drain(Stream &stream) {
  return drainUntil(stream, [] { return false; });
}

/// The stream whose capture the work of this one goes to, or null.
static Stream *captureOf(Stream &stream) {
  Stream *owner = stream.joined ? stream.joined : &stream;
  return owner->capture ? owner : nullptr;
}

Result enqueue(StreamHandle handle, Work work) {
  Stream *stream = streamOf(handle);
  if (!stream)
    return errorInvalidHandle;
  if (Stream *owner = captureOf(*stream)) {
    if (owner->broken)
      return errorStreamCaptureInvalidated;
    ++stream->joinedWork;
    owner->capture->nodes.push_back(std::move(work));
    return success;
  }
  stream->queue.push_back(std::move(work));
  return success;
}

} // namespace tracea::fakecuda

using namespace tracea::fakecuda;

FAKE_API Result cuStreamCreate(StreamHandle *handle, unsigned) {
  FAKE_CALL(cuStreamCreate, needsContext | forbiddenInCapture);
  auto stream = std::make_unique<Stream>();
  *handle = reinterpret_cast<StreamHandle>(stream.get());
  state().streams[stream.get()] = std::move(stream);
  return success;
}
FAKE_API Result cuStreamDestroy_v2(StreamHandle handle) {
  FAKE_CALL(cuStreamDestroy, needsContext);
  auto found = state().streams.find(handle);
  if (found == state().streams.end())
    return errorInvalidHandle;
  Result result = drain(*found->second);
  state().streams.erase(found);
  return result;
}
FAKE_API Result cuStreamSynchronize(StreamHandle handle) {
  FAKE_CALL(cuStreamSynchronize, needsContext | forbiddenInCapture);
  Stream *stream = streamOf(handle);
  if (!stream)
    return errorInvalidHandle;
  if (Stream *owner = captureOf(*stream)) {
    owner->broken = true;
    return errorStreamCaptureUnsupported;
  }
  return drain(*stream);
}
FAKE_API Result cuCtxSynchronize() {
  FAKE_CALL(cuCtxSynchronize, needsContext);
  for (auto &[handle, stream] : state().streams) {
    if (stream->capture)
      return errorStreamCaptureUnsupported;
    if (Result result = drain(*stream))
      return result;
  }
  return success;
}
FAKE_API Result cuStreamIsCapturing(StreamHandle handle, int *status) {
  FAKE_CALL(cuStreamIsCapturing, needsContext);
  Stream *stream = streamOf(handle);
  if (!stream)
    return errorInvalidHandle;
  *status = captureOf(*stream) ? captureActive : captureNone;
  return success;
}
FAKE_API Result cuStreamGetCtx(StreamHandle handle, ContextHandle *context) {
  FAKE_CALL(cuStreamGetCtx, plain);
  if (!streamOf(handle))
    return errorInvalidHandle;
  *context = reinterpret_cast<ContextHandle>(uintptr_t(1));
  return success;
}

FAKE_API Result cuEventCreate(EventHandle *handle, unsigned) {
  FAKE_CALL(cuEventCreate, needsContext);
  Event *event = new Event;
  state().events.insert(event);
  *handle = reinterpret_cast<EventHandle>(event);
  return success;
}
FAKE_API Result cuEventDestroy_v2(EventHandle handle) {
  FAKE_CALL(cuEventDestroy, needsContext);
  Event *event = reinterpret_cast<Event *>(handle);
  if (!state().events.erase(event))
    return errorInvalidHandle;
  delete event;
  return success;
}
FAKE_API Result cuEventRecord(EventHandle handle, StreamHandle stream) {
  FAKE_CALL(cuEventRecord, needsContext);
  Stream *recorded = streamOf(stream);
  Event *event = reinterpret_cast<Event *>(handle);
  if (!recorded || !state().events.count(event))
    return errorInvalidHandle;
  event->mark.reset();
  event->captured = captureOf(*recorded) ? recorded : nullptr;
  event->capturedWork = recorded->joinedWork;
  if (event->captured)
    return success;
  auto mark = std::make_shared<Event::Mark>();
  mark->stream = stream;
  event->mark = mark;
  return enqueue(stream, [mark] {
    mark->reached = true;
    return success;
  });
}
/// Whoever waits for an event of a capture takes part in it, until the stream
/// where it began waits for the last of its work.
FAKE_API Result cuStreamWaitEvent(StreamHandle handle, EventHandle eventHandle,
                                  unsigned) {
  FAKE_CALL(cuStreamWaitEvent, needsContext);
  Stream *stream = streamOf(handle);
  Event *event = reinterpret_cast<Event *>(eventHandle);
  if (!stream || !state().events.count(event))
    return errorInvalidHandle;
  if (Stream *other = event->captured) {
    Stream *owner = captureOf(*other);
    if (!owner)
      return errorInvalidHandle;
    if (stream == owner) {
      if (other->joined && other->joinedWork == event->capturedWork)
        other->joined = nullptr;
    } else if (!stream->joined) {
      stream->joined = owner;
    }
    return success;
  }
  std::shared_ptr<Event::Mark> mark = event->mark;
  if (!mark)
    return success;
  return enqueue(handle, [mark] {
    Stream *other = streamOf(mark->stream);
    return other ? drainUntil(*other, [&] { return mark->reached; }) : success;
  });
}
FAKE_API Result cuEventSynchronize(EventHandle handle) {
  FAKE_CALL(cuEventSynchronize, needsContext | forbiddenInCapture);
  // More is done than was asked for, which no one may rely on not to happen.
  Event *event = reinterpret_cast<Event *>(handle);
  Stream *stream = event->mark ? streamOf(event->mark->stream) : nullptr;
  event->mark.reset();
  return stream ? drain(*stream) : success;
}

//===----------------------------------------------------------------------===//
// Capture and graphs
//===----------------------------------------------------------------------===//

FAKE_API Result cuStreamBeginCapture_v2(StreamHandle handle, int) {
  FAKE_CALL(cuStreamBeginCapture, needsContext);
  Stream *stream = streamOf(handle);
  if (!stream || stream->capture)
    return errorInvalidHandle;
  stream->capture = std::make_unique<Graph>();
  stream->broken = false;
  return success;
}
FAKE_API Result cuStreamEndCapture(StreamHandle handle, GraphHandle *graph) {
  FAKE_CALL(cuStreamEndCapture, needsContext);
  Stream *stream = streamOf(handle);
  if (!stream || !stream->capture)
    return errorInvalidHandle;
  std::unique_ptr<Graph> captured = std::move(stream->capture);
  *graph = nullptr;
  for (auto &[other, side] : state().streams)
    if (side->joined == stream) {
      // Somebody's work would be left out.
      side->joined = nullptr;
      stream->broken = true;
    }
  if (stream->broken)
    return errorStreamCaptureInvalidated;
  state().graphs.insert(captured.get());
  *graph = reinterpret_cast<GraphHandle>(captured.release());
  return success;
}
FAKE_API Result cuGraphInstantiateWithFlags(GraphExecHandle *executable,
                                            GraphHandle graph,
                                            unsigned long long) {
  FAKE_CALL(cuGraphInstantiateWithFlags, needsContext);
  Graph *copy = new Graph(*reinterpret_cast<Graph *>(graph));
  state().graphs.insert(copy);
  *executable = reinterpret_cast<GraphExecHandle>(copy);
  return success;
}
/// As many pieces of work are the same structure here.
FAKE_API Result cuGraphExecUpdate_v2(GraphExecHandle executable,
                                     GraphHandle graph, GraphExecUpdateInfo *) {
  FAKE_CALL(cuGraphExecUpdate, needsContext);
  Graph *to = reinterpret_cast<Graph *>(executable);
  Graph *from = reinterpret_cast<Graph *>(graph);
  if (to->nodes.size() != from->nodes.size())
    return errorGraphExecUpdateFailure;
  to->nodes = from->nodes;
  return success;
}
FAKE_API Result cuGraphLaunch(GraphExecHandle executable, StreamHandle stream) {
  FAKE_CALL(cuGraphLaunch, needsContext);
  for (const Work &node : reinterpret_cast<Graph *>(executable)->nodes)
    if (Result result = enqueue(stream, node))
      return result;
  return success;
}
static Result destroyGraph(void *graph) {
  if (!state().graphs.erase(static_cast<Graph *>(graph)))
    return errorInvalidHandle;
  delete static_cast<Graph *>(graph);
  return success;
}
FAKE_API Result cuGraphExecDestroy(GraphExecHandle executable) {
  FAKE_CALL(cuGraphExecDestroy, needsContext);
  return destroyGraph(executable);
}
FAKE_API Result cuGraphDestroy(GraphHandle graph) {
  FAKE_CALL(cuGraphDestroy, needsContext);
  return destroyGraph(graph);
}
