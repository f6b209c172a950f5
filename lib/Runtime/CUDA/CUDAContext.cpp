//===- CUDAContext.cpp - One device's primary context ---------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The primary context is the one that the CUDA runtime library, and with it
// PyTorch, uses: memory and streams can be shared as they are.
//
//===----------------------------------------------------------------------===//

#include "CUDAContext.h"

#include <algorithm>

namespace tracea::runtime::cuda {

Expected<CUDADeviceProperties> readProperties(const Driver &driver,
                                              int ordinal) {
  const API &api = driver.api;
  CUDADeviceProperties info;
  info.ordinal = ordinal;
  info.driverVersion = driver.version;
  info.driverLibrary = driver.path;
  std::string subject = "device " + std::to_string(ordinal);
  DeviceHandle device = 0;
  if (Result result = api.cuDeviceGet(&device, ordinal))
    return driver.error(result, "cuDeviceGet", subject);
  char name[256] = {};
  if (Result result = api.cuDeviceGetName(name, sizeof name - 1, device))
    return driver.error(result, "cuDeviceGetName", subject);
  info.name = name;
  size_t bytes = 0;
  if (Result result = api.cuDeviceTotalMem(&bytes, device))
    return driver.error(result, "cuDeviceTotalMem", subject);
  info.memoryBytes = static_cast<int64_t>(bytes);

  int ecc = 0, pools = 0, clusters = 0, tensorMaps = 0;
  const struct {
    DeviceAttribute attribute;
    int *to;
    bool required;
  } attributes[] = {
      {computeCapabilityMajor, &info.major, true},
      {computeCapabilityMinor, &info.minor, true},
      {multiprocessorCount, &info.multiprocessors, true},
      {maxThreadsPerBlock, &info.maxThreadsPerBlock, true},
      {maxBlockDimX, &info.maxBlock[0], true},
      {maxBlockDimY, &info.maxBlock[1], true},
      {maxBlockDimZ, &info.maxBlock[2], true},
      {maxGridDimX, &info.maxGrid[0], true},
      {maxGridDimY, &info.maxGrid[1], true},
      {maxGridDimZ, &info.maxGrid[2], true},
      {maxSharedMemoryPerBlock, &info.sharedBytes, true},
      {maxSharedMemoryPerBlockOptin, &info.sharedBytesOptin, true},
      {maxSharedMemoryPerMultiprocessor, &info.sharedBytesPerMultiprocessor,
       false},
      {l2CacheSize, &info.l2Bytes, false},
      {clockRateKHz, &info.clockKHz, false},
      {memoryClockRateKHz, &info.memoryClockKHz, false},
      {globalMemoryBusWidth, &info.memoryBusBits, false},
      {eccEnabled, &ecc, false},
      {memoryPoolsSupported, &pools, false},
      {clusterLaunch, &clusters, false},
      {tensorMapAccessSupported, &tensorMaps, false},
  };
  for (const auto &item : attributes) {
    Result result = api.cuDeviceGetAttribute(item.to, item.attribute, device);
    if (result != success && item.required)
      return driver.error(result, "cuDeviceGetAttribute", subject);
    // A driver that does not know an attribute has not got the thing.
    if (result != success)
      *item.to = 0;
  }
  info.ecc = ecc != 0;
  info.memoryPools = pools != 0;
  info.clusters = clusters != 0;
  info.tensorMaps = tensorMaps != 0;
  return info;
}

Expected<std::shared_ptr<Context>>
Context::create(std::shared_ptr<const Driver> driver,
                const CUDADeviceOptions &options) {
  int count = 0;
  if (Result result = driver->api.cuDeviceGetCount(&count))
    return driver->error(result, "cuDeviceGetCount");
  if (count == 0)
    return Status::error("the CUDA driver has no device that this process may "
                         "use (CUDA_VISIBLE_DEVICES, device files, "
                         "permissions)");
  if (options.ordinal < 0 || options.ordinal >= count)
    return Status::error("expected a device number below " +
                         std::to_string(count) + ", found " +
                         std::to_string(options.ordinal));
  Expected<CUDADeviceProperties> info =
      readProperties(*driver, options.ordinal);
  if (!info)
    return info.status();
  if (10 * info->major + info->minor < minCUDACapability)
    return Status::error(
        "unsupported device " + std::to_string(options.ordinal) + ", " +
        info->name + ": it has compute capability " +
        std::to_string(info->major) + "." + std::to_string(info->minor) +
        ", expected " + std::to_string(minCUDACapability / 10) + "." +
        std::to_string(minCUDACapability % 10) + " or newer");
  std::shared_ptr<Context> context(
      new Context(std::move(driver), std::move(*info)));
  TRACEA_RETURN_IF_ERROR(context->start(options));
  return context;
}

Status Context::start(const CUDADeviceOptions &options) {
  TRACEA_RETURN_IF_ERROR(
      check(api().cuDeviceGet(&device, info.ordinal), "cuDeviceGet"));
  if (Result result = api().cuDevicePrimaryCtxRetain(&handle, device)) {
    handle = nullptr;
    return check(result, "cuDevicePrimaryCtxRetain", info.name);
  }
  Current current(*this);
  TRACEA_RETURN_IF_ERROR(current.status);
  RelaxedCapture relaxed(api());
  TRACEA_RETURN_IF_ERROR(
      check(api().cuStreamCreate(&memoryStream, streamNonBlocking),
            "cuStreamCreate"));
  if (info.memoryPools && options.memoryPool) {
    PoolProps props;
    props.locationId = device;
    TRACEA_RETURN_IF_ERROR(
        check(api().cuMemPoolCreate(&pool, &props), "cuMemPoolCreate"));
    uint64_t keep =
        static_cast<uint64_t>(std::max<int64_t>(options.poolKeepBytes, 0));
    TRACEA_RETURN_IF_ERROR(
        check(api().cuMemPoolSetAttribute(pool, poolReleaseThreshold, &keep),
              "cuMemPoolSetAttribute"));
  }
  constexpr int64_t blankBytes = 4096;
  Expected<Memory> memory = allocate(blankBytes);
  if (!memory)
    return memory.status();
  blankMemory = *memory;
  TRACEA_RETURN_IF_ERROR(check(
      api().cuMemsetD8Async(blankMemory.address, 0, blankBytes, memoryStream),
      "cuMemsetD8Async"));
  return check(api().cuStreamSynchronize(memoryStream), "cuStreamSynchronize");
}

Context::~Context() {
  if (!handle)
    return;
  {
    // Results are of no use here: at the end of a process the driver may be
    // gone already, and a lost context refuses everything.
    lost.store(false);
    Current current(*this);
    RelaxedCapture relaxed(api());
    for (Staging &staging : idleStaging) {
      (void)api().cuEventDestroy(staging.event);
      (void)api().cuMemFreeHost(staging.host);
    }
    if (blankMemory.address)
      free(blankMemory);
    if (memoryStream)
      (void)api().cuStreamSynchronize(memoryStream);
    if (pool)
      (void)api().cuMemPoolDestroy(pool);
    if (memoryStream)
      (void)api().cuStreamDestroy(memoryStream);
  }
  (void)api().cuDevicePrimaryCtxRelease(device);
}

Status Context::fail(Result result, const char *call,
                     const std::string &subject) const {
  Status status = driver->error(result, call, subject);
  if (!isSticky(result))
    return status;
  std::lock_guard<std::mutex> lock(lostMutex);
  if (!lost.load(std::memory_order_relaxed)) {
    lostMessage = status.message();
    lost.store(true, std::memory_order_release);
  }
  return status;
}

Status Context::lostStatus() const {
  std::lock_guard<std::mutex> lock(lostMutex);
  return Status::error("device " + std::to_string(info.ordinal) + " (" +
                       info.name + ") is lost since " + lostMessage +
                       "; only a new process can use it again");
}

Expected<Context::Memory> Context::allocate(int64_t bytes) {
  Current current(*this);
  TRACEA_RETURN_IF_ERROR(current.status);
  RelaxedCapture relaxed(api());
  std::string subject = std::to_string(bytes) + " bytes";
  if (bytes > info.memoryBytes)
    return Status::outOfMemory("out of memory: expected at most the device's " +
                               std::to_string(info.memoryBytes) +
                               " bytes, found " + subject);
  Memory memory;
  size_t size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  Result result = errorOutOfMemory;
  const char *call = "cuMemAllocFromPoolAsync";
  for (int attempt = 0; pool && attempt < 2; ++attempt) {
    result = api().cuMemAllocFromPoolAsync(&memory.address, size, pool,
                                           memoryStream);
    if (result != errorOutOfMemory)
      break;
    // The pool may keep enough memory in pieces of other sizes: it gives all
    // back before the next attempt.
    (void)api().cuStreamSynchronize(memoryStream);
    (void)api().cuMemPoolTrimTo(pool, 0);
  }
  if (pool && result == success) {
    memory.fromPool = true;
    // The allocation is ordered on its own stream; once that has run, every
    // stream may use the memory.
    if (Result waited = api().cuStreamSynchronize(memoryStream)) {
      (void)api().cuMemFreeAsync(memory.address, memoryStream);
      return check(waited, "cuStreamSynchronize", "the memory pool");
    }
    return memory;
  }
  if (!pool || result == errorOutOfMemory || result == errorNotSupported) {
    call = "cuMemAlloc";
    result = api().cuMemAlloc(&memory.address, size);
  }
  if (result == success)
    return memory;
  if (result != errorOutOfMemory)
    return check(result, call, subject);
  size_t free = 0, total = 0;
  std::string rest;
  if (api().cuMemGetInfo(&free, &total) == success)
    rest = "; " + std::to_string(free) + " of " + std::to_string(total) +
           " bytes are free";
  return Status::outOfMemory(
      "out of memory: " + check(result, call, subject).message() + rest);
}

void Context::free(Memory memory) {
  if (!alive().ok())
    return;
  Current current(*this);
  if (!current.status.ok())
    return;
  RelaxedCapture relaxed(api());
  Result result = memory.fromPool
                      ? api().cuMemFreeAsync(memory.address, memoryStream)
                      : api().cuMemFree(memory.address);
  (void)check(result, memory.fromPool ? "cuMemFreeAsync" : "cuMemFree");
}

Status Context::waitIdle() {
  Current current(*this);
  TRACEA_RETURN_IF_ERROR(current.status);
  RelaxedCapture relaxed(api());
  return check(api().cuCtxSynchronize(), "cuCtxSynchronize");
}

Expected<Context::Staging> Context::acquireStaging() {
  {
    std::lock_guard<std::mutex> lock(stagingMutex);
    if (!idleStaging.empty()) {
      Staging staging = idleStaging.back();
      idleStaging.pop_back();
      return staging;
    }
  }
  RelaxedCapture relaxed(api());
  Staging staging;
  TRACEA_RETURN_IF_ERROR(
      check(api().cuMemHostAlloc(&staging.host, stagingBytes, 0),
            "cuMemHostAlloc", std::to_string(stagingBytes) + " bytes"));
  if (Result result = api().cuEventCreate(&staging.event, eventDisableTiming)) {
    (void)api().cuMemFreeHost(staging.host);
    return check(result, "cuEventCreate");
  }
  return staging;
}

void Context::releaseStaging(Staging staging) {
  std::lock_guard<std::mutex> lock(stagingMutex);
  idleStaging.push_back(staging);
}

Current::Current(const Context &context) : context(context) {
  status = context.alive();
  if (!status.ok())
    return;
  ContextHandle before = nullptr;
  if (context.api().cuCtxGetCurrent(&before) == success &&
      before == context.handle)
    return;
  status = context.check(context.api().cuCtxPushCurrent(context.handle),
                         "cuCtxPushCurrent");
  pushed = status.ok();
}

Current::~Current() {
  ContextHandle popped = nullptr;
  if (pushed)
    (void)context.api().cuCtxPopCurrent(&popped);
}

} // namespace tracea::runtime::cuda
