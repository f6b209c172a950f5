//===- CUDAGraph.cpp - Work that is recorded and launched as a whole ------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The capture is relaxed: it forbids nothing to other threads, and what it
// records here neither allocates nor waits.
//
//===----------------------------------------------------------------------===//

#include "CUDAStream.h"

namespace tracea::runtime::cuda {

namespace {
/// What the driver has made of a captured graph.
class CUDAGraph final : public Graph {
public:
  CUDAGraph(std::shared_ptr<Context> context, GraphExecHandle handle)
      : context(std::move(context)), handle(handle) {}
  ~CUDAGraph() override {
    Current current(*context);
    if (!current.status.ok())
      return;
    RelaxedCapture relaxed(context->api());
    (void)context->check(context->api().cuGraphExecDestroy(handle),
                         "cuGraphExecDestroy");
  }

  const std::shared_ptr<Context> context;
  const GraphExecHandle handle;
};

/// The capture's result, which is needed only to make something of it.
class CapturedGraph {
public:
  CapturedGraph(const Context &context, GraphHandle handle)
      : handle(handle), context(context) {}
  ~CapturedGraph() {
    if (handle)
      (void)context.check(context.api().cuGraphDestroy(handle),
                          "cuGraphDestroy");
  }
  CapturedGraph(const CapturedGraph &) = delete;
  CapturedGraph &operator=(const CapturedGraph &) = delete;

  const GraphHandle handle;

private:
  const Context &context;
};
} // namespace

Status CUDAStream::doBeginCapture() {
  Current current(*context);
  TRACEA_RETURN_IF_ERROR(current.status);
  return check(context->api().cuStreamBeginCapture(handle, captureModeRelaxed),
               "cuStreamBeginCapture");
}

Status CUDAStream::doEndCapture(std::unique_ptr<Graph> &graph) {
  auto *old = dynamic_cast<CUDAGraph *>(graph.get());
  if (graph && (!old || old->context != context))
    return Status::error("the graph belongs to another device");
  Current current(*context);
  TRACEA_RETURN_IF_ERROR(current.status);
  RelaxedCapture relaxed(context->api());
  GraphHandle recorded = nullptr;
  Result ended = context->api().cuStreamEndCapture(handle, &recorded);
  if (ended != success) {
    // Work that comes later must not be recorded any more.
    int status = captureNone;
    if (context->api().cuStreamIsCapturing(handle, &status) == success &&
        status != captureNone)
      (void)context->api().cuStreamEndCapture(handle, &recorded);
  }
  CapturedGraph captured(*context, recorded);
  TRACEA_RETURN_IF_ERROR(check(ended, "cuStreamEndCapture"));
  if (old) {
    GraphExecUpdateInfo info;
    Result updated =
        context->api().cuGraphExecUpdate(old->handle, captured.handle, &info);
    if (updated != errorGraphExecUpdateFailure)
      return check(updated, "cuGraphExecUpdate");
    // It has another structure, and may be running.
    TRACEA_RETURN_IF_ERROR(context->waitIdle());
  }
  GraphExecHandle executable = nullptr;
  TRACEA_RETURN_IF_ERROR(check(context->api().cuGraphInstantiateWithFlags(
                                   &executable, captured.handle, 0),
                               "cuGraphInstantiateWithFlags"));
  graph = std::make_unique<CUDAGraph>(context, executable);
  return Status::success();
}

Status CUDAStream::doLaunchGraph(Graph &graph) {
  auto *native = dynamic_cast<CUDAGraph *>(&graph);
  if (!native || native->context != context)
    return Status::error("the graph belongs to another device");
  Current current(*context);
  TRACEA_RETURN_IF_ERROR(current.status);
  return check(context->api().cuGraphLaunch(native->handle, handle),
               "cuGraphLaunch");
}

} // namespace tracea::runtime::cuda
