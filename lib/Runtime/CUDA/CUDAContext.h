//===- CUDAContext.h - One device's primary context -------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all parts of a CUDA device share and keep alive: the context, its
// memory, and the knowledge of whether it is still usable.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_RUNTIME_CUDA_CUDACONTEXT_H
#define TRACEA_LIB_RUNTIME_CUDA_CUDACONTEXT_H

#include "CUDADriver.h"

#include "tracea/Runtime/CUDA/CUDADevice.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace tracea::runtime::cuda {

class Context : public std::enable_shared_from_this<Context> {
public:
  static Expected<std::shared_ptr<Context>>
  create(std::shared_ptr<const Driver> driver,
         const CUDADeviceOptions &options);
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  const API &api() const { return driver->api; }
  const CUDADeviceProperties &properties() const { return info; }

  /// The failure that made the device unusable, or success.
  Status alive() const {
    return lost.load(std::memory_order_acquire) ? lostStatus() : Status();
  }
  /// The result of a call as a status. A sticky one marks the device as lost.
  Status check(Result result, const char *call,
               const std::string &subject = "") const {
    return result == success ? Status() : fail(result, call, subject);
  }

  /// Device memory; synchronous, and allowed while a stream is captured.
  struct Memory {
    DevicePtr address = 0;
    bool fromPool = false;
  };
  Expected<Memory> allocate(int64_t bytes);
  /// Nothing may use the memory any more. Allowed while a stream is captured.
  void free(Memory memory);
  /// Waits for all work of the context.
  Status waitIdle();

  /// A piece of pinned host memory with an event that says when the last
  /// transfer through it is done.
  struct Staging {
    void *host = nullptr;
    EventHandle event = nullptr;
    bool pending = false;
  };
  static constexpr int64_t stagingBytes = int64_t(4) << 20;
  Expected<Staging> acquireStaging();
  void releaseStaging(Staging staging);

  /// Some bytes of zeros, aligned to 256, for what must have an address and
  /// has no memory.
  void *blank() const { return reinterpret_cast<void *>(blankMemory.address); }

private:
  friend class Current;
  Context(std::shared_ptr<const Driver> driver, CUDADeviceProperties info)
      : driver(std::move(driver)), info(std::move(info)) {}
  Status start(const CUDADeviceOptions &options);
  Status fail(Result result, const char *call,
              const std::string &subject) const;
  Status lostStatus() const;

  std::shared_ptr<const Driver> driver;
  CUDADeviceProperties info;
  DeviceHandle device = 0;
  ContextHandle handle = nullptr;
  /// Orders allocations; nothing else runs on it.
  StreamHandle memoryStream = nullptr;
  PoolHandle pool = nullptr;
  Memory blankMemory;

  mutable std::atomic<bool> lost{false};
  mutable std::mutex lostMutex;
  mutable std::string lostMessage;
  std::mutex stagingMutex;
  std::vector<Staging> idleStaging;
};

/// Makes a context current to the thread and restores what was there. Costs a
/// query alone where it is current already, as within a framework.
class Current {
public:
  explicit Current(const Context &context);
  ~Current();
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;
  /// Whether it worked; also the place where a lost device is reported.
  Status status;

private:
  const Context &context;
  bool pushed = false;
};

/// Lets a thread make calls that are not part of a capture that another
/// thread, or a caller further up, has begun.
class RelaxedCapture {
public:
  explicit RelaxedCapture(const API &api) : api(api) {
    active = api.cuThreadExchangeStreamCaptureMode(&mode) == success;
  }
  ~RelaxedCapture() {
    if (active)
      (void)api.cuThreadExchangeStreamCaptureMode(&mode);
  }
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;

private:
  const API &api;
  int mode = captureModeRelaxed;
  bool active = false;
};

/// Reads all properties; no context is needed.
Expected<CUDADeviceProperties> readProperties(const Driver &driver,
                                              int ordinal);

} // namespace tracea::runtime::cuda

#endif // TRACEA_LIB_RUNTIME_CUDA_CUDACONTEXT_H
