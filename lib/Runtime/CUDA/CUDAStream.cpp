//===- CUDAStream.cpp - Copies and launches in order ----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Large copies from and to ordinary host memory go through two pieces of
// pinned memory in turn, so that the host's part and the device's overlap.
// Pinned memory of the caller is used as it is.
//
//===----------------------------------------------------------------------===//

#include "CUDAStream.h"

#include "CUDAModule.h"

#include <algorithm>
#include <cstring>

namespace tracea::runtime::cuda {

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Expected<std::shared_ptr<Buffer>>
CUDABuffer::create(std::shared_ptr<Context> context, int64_t bytes,
                   int64_t alignment) {
  // "Any address of a variable residing in global memory or returned by one of
  // the memory allocation routines is always aligned to at least 256 bytes"
  // (CUDA programming guide).
  constexpr int64_t naturalAlign = 256;
  int64_t slack = alignment > naturalAlign ? alignment - naturalAlign : 0;
  int64_t size = 0;
  if (__builtin_add_overflow(bytes, slack, &size))
    return Status::outOfMemory("out of memory: " + std::to_string(bytes) +
                               " bytes");
  Expected<Context::Memory> memory = context->allocate(size);
  if (!memory)
    return memory.status();
  DevicePtr mask = static_cast<DevicePtr>(alignment) - 1;
  void *where = reinterpret_cast<void *>((memory->address + mask) & ~mask);
  return std::shared_ptr<Buffer>(
      std::make_shared<CUDABuffer>(std::move(context), *memory, where, bytes));
}

CUDABuffer::~CUDABuffer() { context->free(memory); }

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<Event>>
CUDAEvent::create(std::shared_ptr<Context> context) {
  Current current(*context);
  TRACEA_RETURN_IF_ERROR(current.status);
  RelaxedCapture relaxed(context->api());
  EventHandle handle = nullptr;
  TRACEA_RETURN_IF_ERROR(
      context->check(context->api().cuEventCreate(&handle, eventDisableTiming),
                     "cuEventCreate"));
  return std::unique_ptr<Event>(
      std::make_unique<CUDAEvent>(std::move(context), handle));
}

CUDAEvent::~CUDAEvent() {
  Current current(*context);
  if (!current.status.ok())
    return;
  RelaxedCapture relaxed(context->api());
  (void)context->check(context->api().cuEventDestroy(handle), "cuEventDestroy");
}

static DevicePtr at(const Buffer &buffer, int64_t offset) {
  return reinterpret_cast<DevicePtr>(buffer.address()) +
         static_cast<DevicePtr>(offset);
}

static std::string bytesText(int64_t bytes) {
  return std::to_string(bytes) + " bytes";
}

Expected<std::unique_ptr<Stream>>
CUDAStream::create(std::shared_ptr<Context> context) {
  Current current(*context);
  TRACEA_RETURN_IF_ERROR(current.status);
  RelaxedCapture relaxed(context->api());
  StreamHandle handle = nullptr;
  TRACEA_RETURN_IF_ERROR(
      context->check(context->api().cuStreamCreate(&handle, streamNonBlocking),
                     "cuStreamCreate"));
  return std::unique_ptr<Stream>(
      std::make_unique<CUDAStream>(std::move(context), handle, true));
}

Expected<std::unique_ptr<Stream>>
CUDAStream::borrow(std::shared_ptr<Context> context, StreamHandle handle) {
  Current current(*context);
  TRACEA_RETURN_IF_ERROR(current.status);
  // The default streams (0, 1, 2) belong to whatever context is current.
  if (reinterpret_cast<uintptr_t>(handle) > 2) {
    ContextHandle owner = nullptr, expected = nullptr;
    TRACEA_RETURN_IF_ERROR(
        context->check(context->api().cuStreamGetCtx(handle, &owner),
                       "cuStreamGetCtx", "the borrowed stream"));
    TRACEA_RETURN_IF_ERROR(context->check(
        context->api().cuCtxGetCurrent(&expected), "cuCtxGetCurrent"));
    if (owner != expected)
      return Status::error("the borrowed stream belongs to another context "
                           "than the primary one of device " +
                           std::to_string(context->properties().ordinal));
  }
  return std::unique_ptr<Stream>(
      std::make_unique<CUDAStream>(std::move(context), handle, false));
}

CUDAStream::~CUDAStream() {
  if (!owned)
    return;
  Current current(*context);
  if (!current.status.ok())
    return;
  RelaxedCapture relaxed(context->api());
  (void)context->check(context->api().cuStreamDestroy(handle),
                       "cuStreamDestroy");
}

std::string CUDAStream::lastWork() const {
  if (!last)
    return "";
  return "work up to kernel " +
         static_cast<const CUDAKernel &>(*last).displayName();
}

/// What ends the context comes out of whatever the stream is asked next.
Status CUDAStream::check(Result result, const char *call,
                         const std::string &subject) const {
  if (result == success || !isSticky(result) || !last)
    return context->check(result, call, subject);
  return context->check(
      result, call, (subject.empty() ? "" : subject + " after ") + lastWork());
}

Expected<bool> CUDAStream::isCapturing() const {
  Current current(*context);
  TRACEA_RETURN_IF_ERROR(current.status);
  int status = captureNone;
  TRACEA_RETURN_IF_ERROR(
      context->check(context->api().cuStreamIsCapturing(handle, &status),
                     "cuStreamIsCapturing"));
  return status != captureNone;
}

/// For what has no meaning in a graph, so that it does not break the capture.
Status CUDAStream::refuseCapture(const char *what) const {
  int status = captureNone;
  TRACEA_RETURN_IF_ERROR(
      context->check(context->api().cuStreamIsCapturing(handle, &status),
                     "cuStreamIsCapturing"));
  if (status == captureNone)
    return Status::success();
  return Status::error(std::string(what) + " cannot be part of a graph: the "
                                           "stream is being captured");
}

/// Whether the driver transfers from and to it without a copy of its own.
static bool isPinned(const Context &context, const void *host) {
  unsigned type = 0;
  Result result = context.api().cuPointerGetAttribute(
      &type, pointerMemoryType, reinterpret_cast<DevicePtr>(host));
  return result == success && type == memoryTypeHost;
}

/// Up to here the driver's own way is as good.
static constexpr int64_t smallCopyBytes = 64 << 10;

Status CUDAStream::upload(DevicePtr to, const char *from, int64_t bytes) {
  const API &api = context->api();
  auto transfer = [&](DevicePtr target, const void *source, int64_t size) {
    return check(api.cuMemcpyHtoDAsync(target, source,
                                       static_cast<size_t>(size), handle),
                 "cuMemcpyHtoDAsync", bytesText(size));
  };
  if (bytes <= smallCopyBytes || isPinned(*context, from))
    return transfer(to, from, bytes);
  Context::Staging pieces[2];
  int numPieces = 0;
  Status status;
  for (int64_t done = 0, i = 0; done < bytes && status.ok(); ++i) {
    if (i < 2) {
      Expected<Context::Staging> piece = context->acquireStaging();
      if (!piece && i == 0)
        return transfer(to, from, bytes);
      if (piece)
        pieces[numPieces++] = *piece;
    }
    Context::Staging &piece = pieces[i % numPieces];
    // A piece comes with the transfers of whoever had it last.
    if (piece.pending)
      status = context->check(api.cuEventSynchronize(piece.event),
                              "cuEventSynchronize", lastWork());
    int64_t size = std::min(bytes - done, Context::stagingBytes);
    if (!status.ok())
      break;
    std::memcpy(piece.host, from + done, static_cast<size_t>(size));
    status = transfer(to + static_cast<DevicePtr>(done), piece.host, size);
    if (status.ok())
      status = check(api.cuEventRecord(piece.event, handle), "cuEventRecord");
    piece.pending = true;
    done += size;
  }
  for (int i = 0; i < numPieces; ++i)
    context->releaseStaging(pieces[i]);
  return status;
}

Status CUDAStream::download(char *to, DevicePtr from, int64_t bytes) {
  const API &api = context->api();
  auto transfer = [&](void *target, DevicePtr source, int64_t size) {
    return check(api.cuMemcpyDtoHAsync(target, source,
                                       static_cast<size_t>(size), handle),
                 "cuMemcpyDtoHAsync", bytesText(size));
  };
  if (bytes <= smallCopyBytes || isPinned(*context, to))
    return transfer(to, from, bytes);
  struct Flight {
    Context::Staging piece;
    int64_t offset = 0;
    int64_t size = 0;
  } flights[2];
  int numPieces = 0;
  Status status;
  // Takes what has arrived out of a piece.
  auto land = [&](Flight &flight) {
    if (flight.size == 0 && !flight.piece.pending)
      return Status::success();
    TRACEA_RETURN_IF_ERROR(
        context->check(api.cuEventSynchronize(flight.piece.event),
                       "cuEventSynchronize", lastWork()));
    flight.piece.pending = false;
    std::memcpy(to + flight.offset, flight.piece.host,
                static_cast<size_t>(flight.size));
    flight.size = 0;
    return Status::success();
  };
  for (int64_t done = 0, i = 0; done < bytes && status.ok(); ++i) {
    if (i < 2) {
      Expected<Context::Staging> piece = context->acquireStaging();
      if (!piece && i == 0)
        return transfer(to, from, bytes);
      if (piece)
        flights[numPieces++].piece = *piece;
    }
    Flight &flight = flights[i % numPieces];
    status = land(flight);
    if (!status.ok())
      break;
    int64_t size = std::min(bytes - done, Context::stagingBytes);
    status =
        transfer(flight.piece.host, from + static_cast<DevicePtr>(done), size);
    if (status.ok())
      status =
          check(api.cuEventRecord(flight.piece.event, handle), "cuEventRecord");
    flight.piece.pending = true;
    flight.offset = done;
    flight.size = status.ok() ? size : 0;
    done += size;
  }
  for (int i = 0; i < numPieces; ++i) {
    if (status.ok())
      status = land(flights[i]);
    context->releaseStaging(flights[i].piece);
  }
  return status;
}

Status CUDAStream::doCopyToDevice(Buffer &to, int64_t offset, const void *from,
                                  int64_t bytes) {
  Current current(*context);
  TRACEA_RETURN_IF_ERROR(current.status);
  TRACEA_RETURN_IF_ERROR(refuseCapture("a copy from host memory"));
  return upload(at(to, offset), static_cast<const char *>(from), bytes);
}

Status CUDAStream::doCopyToHost(void *to, const Buffer &from, int64_t offset,
                                int64_t bytes) {
  Current current(*context);
  TRACEA_RETURN_IF_ERROR(current.status);
  TRACEA_RETURN_IF_ERROR(refuseCapture("a copy to host memory"));
  return download(static_cast<char *>(to), at(from, offset), bytes);
}

Status CUDAStream::doCopy(Buffer &to, int64_t toOffset, const Buffer &from,
                          int64_t fromOffset, int64_t bytes) {
  Current current(*context);
  TRACEA_RETURN_IF_ERROR(current.status);
  return check(
      context->api().cuMemcpyDtoDAsync(at(to, toOffset), at(from, fromOffset),
                                       static_cast<size_t>(bytes), handle),
      "cuMemcpyDtoDAsync", bytesText(bytes));
}

Status CUDAStream::doFill(Buffer &to, int64_t offset, int64_t bytes,
                          uint8_t value) {
  Current current(*context);
  TRACEA_RETURN_IF_ERROR(current.status);
  return check(context->api().cuMemsetD8Async(
                   at(to, offset), value, static_cast<size_t>(bytes), handle),
               "cuMemsetD8Async", bytesText(bytes));
}

Status CUDAStream::doLaunch(const std::shared_ptr<Kernel> &kernel,
                            int64_t tiles, const LaunchArguments &arguments) {
  // 4 KiB of parameters, the limit of the oldest devices, are 512 slots.
  void *parameters[512];
  size_t count = arguments.slots.size();
  if (count > 512)
    return Status::error("launch of \"" + kernel->symbol() +
                         "\": expected at most 512 arguments, found " +
                         std::to_string(count));
  int64_t bytes[512];
  for (size_t i = 0; i < count; ++i) {
    parameters[i] = &arguments.slots[i];
    bytes[i] = sizeof(int64_t);
  }
  TRACEA_RETURN_IF_ERROR(
      kernel->checkParameters(Span<const int64_t>(bytes, count)));
  Expected<Grid> grid = kernel->fitGrid({tiles, 1, 1});
  if (!grid)
    return grid.status();
  return doLaunchGrid(kernel, *grid,
                      {arguments.slots, arguments.buffers,
                       Span<void *const>(parameters, count)});
}

Status CUDAStream::doLaunchGrid(const std::shared_ptr<Kernel> &kernel,
                                const Grid &grid,
                                const LaunchArguments &arguments) {
  const CUDAKernel *native = dynamic_cast<const CUDAKernel *>(kernel.get());
  if (!native || native->owner() != context.get())
    return Status::error("the kernel \"" + kernel->symbol() +
                         "\" belongs to another device");
  Current current(*context);
  TRACEA_RETURN_IF_ERROR(current.status);
  arguments.writeAddresses();
  TRACEA_RETURN_IF_ERROR(native->launch(
      handle, static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y),
      static_cast<unsigned>(grid.z),
      const_cast<void **>(arguments.parameters.data())));
  // The code stays loaded at least until the next kernel.
  if (last.get() != kernel.get())
    last = kernel;
  return Status::success();
}

Status CUDAStream::doRecord(Event &event) {
  const CUDAEvent *native = dynamic_cast<const CUDAEvent *>(&event);
  if (!native || native->context != context)
    return Status::error("the event belongs to another device");
  Current current(*context);
  TRACEA_RETURN_IF_ERROR(current.status);
  return check(context->api().cuEventRecord(native->handle, handle),
               "cuEventRecord");
}

Status CUDAStream::doWait(const Event &event) {
  const CUDAEvent *native = dynamic_cast<const CUDAEvent *>(&event);
  if (!native || native->context != context)
    return Status::error("the event belongs to another device");
  Current current(*context);
  TRACEA_RETURN_IF_ERROR(current.status);
  return check(context->api().cuStreamWaitEvent(handle, native->handle, 0),
               "cuStreamWaitEvent");
}

Status CUDAStream::doSynchronize() {
  Current current(*context);
  TRACEA_RETURN_IF_ERROR(current.status);
  TRACEA_RETURN_IF_ERROR(refuseCapture("waiting for the stream"));
  return context->check(context->api().cuStreamSynchronize(handle),
                        "cuStreamSynchronize", lastWork());
}

} // namespace tracea::runtime::cuda
