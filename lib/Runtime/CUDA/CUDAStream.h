//===- CUDAStream.h - Copies and launches in order --------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stream of the driver's own, or one that the caller lends.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_RUNTIME_CUDA_CUDASTREAM_H
#define TRACEA_LIB_RUNTIME_CUDA_CUDASTREAM_H

#include "CUDAContext.h"

namespace tracea::runtime::cuda {

/// Memory of a context; freed with the buffer.
class CUDABuffer final : public Buffer {
public:
  static Expected<std::shared_ptr<Buffer>>
  create(std::shared_ptr<Context> context, int64_t bytes, int64_t alignment);
  ~CUDABuffer() override;
  CUDABuffer(std::shared_ptr<Context> context, Context::Memory memory,
             void *where, int64_t bytes)
      : Buffer(where, bytes), context(std::move(context)), memory(memory) {}

private:
  std::shared_ptr<Context> context;
  Context::Memory memory;
};

/// An event of a context; without times, which would cost more.
class CUDAEvent final : public Event {
public:
  static Expected<std::unique_ptr<Event>>
  create(std::shared_ptr<Context> context);
  ~CUDAEvent() override;
  CUDAEvent(std::shared_ptr<Context> context, EventHandle handle)
      : context(std::move(context)), handle(handle) {}

  const std::shared_ptr<Context> context;
  const EventHandle handle;
};

class CUDAStream final : public Stream {
public:
  static Expected<std::unique_ptr<Stream>>
  create(std::shared_ptr<Context> context);
  /// The caller keeps the stream alive. Fails where it belongs to another
  /// context.
  static Expected<std::unique_ptr<Stream>>
  borrow(std::shared_ptr<Context> context, StreamHandle handle);
  ~CUDAStream() override;
  CUDAStream(std::shared_ptr<Context> context, StreamHandle handle, bool owned)
      : context(std::move(context)), handle(handle), owned(owned) {}

  void *native() const override { return handle; }
  Expected<bool> isCapturing() const override;

protected:
  Status doCopyToDevice(Buffer &to, int64_t offset, const void *from,
                        int64_t bytes) override;
  Status doCopyToHost(void *to, const Buffer &from, int64_t offset,
                      int64_t bytes) override;
  Status doCopy(Buffer &to, int64_t toOffset, const Buffer &from,
                int64_t fromOffset, int64_t bytes) override;
  Status doFill(Buffer &to, int64_t offset, int64_t bytes,
                uint8_t value) override;
  Status doLaunch(const std::shared_ptr<Kernel> &kernel, int64_t tiles,
                  const LaunchArguments &arguments) override;
  Status doLaunchGrid(const std::shared_ptr<Kernel> &kernel, const Grid &grid,
                      const LaunchArguments &arguments) override;
  Status doRecord(Event &event) override;
  Status doWait(const Event &event) override;
  Status doSynchronize() override;
  Status doBeginCapture() override;
  Status doEndCapture(std::unique_ptr<Graph> &graph) override;
  Status doLaunchGraph(Graph &graph) override;

private:
  /// What the stream ran last, for messages of errors that come later.
  std::string lastWork() const;
  Status check(Result result, const char *call,
               const std::string &subject = "") const;
  Status refuseCapture(const char *what) const;
  Status upload(DevicePtr to, const char *from, int64_t bytes);
  Status download(char *to, DevicePtr from, int64_t bytes);

  std::shared_ptr<Context> context;
  StreamHandle handle;
  bool owned;
  std::shared_ptr<Kernel> last;
};

} // namespace tracea::runtime::cuda

#endif // TRACEA_LIB_RUNTIME_CUDA_CUDASTREAM_H
