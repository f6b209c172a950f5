//===- FakeDriver.cpp - Library, devices, contexts ------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// And what tests see of the fake.
//
//===----------------------------------------------------------------------===//

#include "FakeState.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace tracea::fakecuda {

static thread_local std::vector<int> contextStack;
static thread_local int captureMode = 0;

State &state() {
  static State *theState = new State;
  return *theState;
}
std::recursive_mutex &lock() {
  static std::recursive_mutex *theLock = new std::recursive_mutex;
  return *theLock;
}

__attribute__((visibility("default"))) void reset(const Machine &machine) {
  std::lock_guard<std::recursive_mutex> guard(lock());
  State &s = state();
  for (auto &[where, bytes] : s.memory)
    ::munmap(where, bytes);
  s = State();
  s.machine = machine;
  s.contexts.resize(static_cast<size_t>(std::max(machine.devices, 0)));
  contextStack.clear();
}

__attribute__((visibility("default"))) void failCall(const std::string &name,
                                                     int result, int skip) {
  std::lock_guard<std::recursive_mutex> guard(lock());
  state().failures.insert({name, {result, skip}});
}
__attribute__((visibility("default"))) void failKernel(int result) {
  std::lock_guard<std::recursive_mutex> guard(lock());
  state().nextKernelFails = result;
}
__attribute__((visibility("default"))) int64_t
countCalls(const std::string &name) {
  std::lock_guard<std::recursive_mutex> guard(lock());
  auto found = state().calls.find(name);
  return found == state().calls.end() ? 0 : found->second;
}
__attribute__((visibility("default"))) std::vector<std::string> calledNames() {
  std::lock_guard<std::recursive_mutex> guard(lock());
  return state().order;
}
__attribute__((visibility("default"))) std::vector<LaunchRecord> launches() {
  std::lock_guard<std::recursive_mutex> guard(lock());
  return state().launches;
}
__attribute__((visibility("default"))) Alive alive() {
  std::lock_guard<std::recursive_mutex> guard(lock());
  const State &s = state();
  Alive a;
  a.allocations = static_cast<int64_t>(s.memory.size());
  a.hostAllocations = static_cast<int64_t>(s.hostMemory.size());
  a.streams = static_cast<int64_t>(s.streams.size());
  a.events = static_cast<int64_t>(s.events.size());
  a.modules = static_cast<int64_t>(s.modules.size());
  a.pools = static_cast<int64_t>(s.pools.size());
  a.graphs = static_cast<int64_t>(s.graphs.size());
  for (const Context &context : s.contexts)
    a.contexts += context.retained;
  a.stacked = static_cast<int64_t>(contextStack.size());
  return a;
}

Context *currentContext() {
  return contextStack.empty()
             ? nullptr
             : &state().contexts[static_cast<size_t>(contextStack.back())];
}

Result begin(const char *name, int flags) {
  State &s = state();
  if (s.calls[name]++ == 0)
    s.order.push_back(name);
  auto range = s.failures.equal_range(name);
  for (auto at = range.first; at != range.second; ++at) {
    if (at->second.skip-- > 0)
      continue;
    Result result = at->second.result;
    s.failures.erase(at);
    return result;
  }
  if (!s.initialised && std::strcmp(name, "cuInit") != 0 &&
      std::strncmp(name, "cuGetError", 10) != 0 &&
      std::strcmp(name, "cuDriverGetVersion") != 0)
    return 3; // CUDA_ERROR_NOT_INITIALIZED
  if (flags & needsContext) {
    Context *context = currentContext();
    if (!context)
      return 201; // CUDA_ERROR_INVALID_CONTEXT
    if (context->poison != success)
      return context->poison;
  }
  if ((flags & forbiddenInCapture) && captureMode != captureModeRelaxed) {
    bool any = false;
    for (auto &[handle, stream] : s.streams)
      if (stream->capture)
        any = stream->broken = true;
    if (any)
      return errorStreamCaptureUnsupported;
  }
  return success;
}

} // namespace tracea::fakecuda

using namespace tracea::fakecuda;

FAKE_API Result cuInit(unsigned flags) {
  FAKE_CALL(cuInit, plain);
  if (flags != 0)
    return errorInvalidValue;
  if (state().machine.devices == 0)
    return errorNoDevice;
  if (state().contexts.empty())
    state().contexts.resize(static_cast<size_t>(state().machine.devices));
  state().initialised = true;
  return success;
}
FAKE_API Result cuDriverGetVersion(int *version) {
  FAKE_CALL(cuDriverGetVersion, plain);
  *version = state().machine.driverVersion;
  return success;
}

static const struct {
  Result result;
  const char *name;
  const char *text;
} errorTexts[] = {
    {errorInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {errorOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {errorStubLibrary, "CUDA_ERROR_STUB_LIBRARY", "stub library"},
    {errorNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {errorInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "invalid kernel image"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {errorInvalidPtx, "CUDA_ERROR_INVALID_PTX", "PTX compilation failed"},
    {errorInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid handle"},
    {errorNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {errorIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {errorLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED",
     "unspecified launch failure"},
    {errorStreamCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {errorStreamCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {errorUnknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};
FAKE_API Result cuGetErrorName(Result result, const char **text) {
  for (const auto &row : errorTexts)
    if (row.result == result) {
      *text = row.name;
      return success;
    }
  *text = nullptr;
  return errorInvalidValue;
}
FAKE_API Result cuGetErrorString(Result result, const char **text) {
  for (const auto &row : errorTexts)
    if (row.result == result) {
      *text = row.text;
      return success;
    }
  *text = nullptr;
  return errorInvalidValue;
}

FAKE_API Result cuDeviceGetCount(int *count) {
  FAKE_CALL(cuDeviceGetCount, plain);
  *count = state().machine.devices;
  return success;
}
FAKE_API Result cuDeviceGet(DeviceHandle *device, int ordinal) {
  FAKE_CALL(cuDeviceGet, plain);
  if (ordinal < 0 || ordinal >= state().machine.devices)
    return 101;
  *device = ordinal;
  return success;
}
FAKE_API Result cuDeviceGetName(char *name, int size, DeviceHandle device) {
  FAKE_CALL(cuDeviceGetName, plain);
  std::snprintf(name, static_cast<size_t>(size), "Fake GPU %d", device);
  return success;
}
FAKE_API Result cuDeviceTotalMem_v2(size_t *bytes, DeviceHandle) {
  FAKE_CALL(cuDeviceTotalMem, plain);
  *bytes = state().machine.memoryBytes;
  return success;
}
FAKE_API Result cuDeviceGetAttribute(int *value, DeviceAttribute attribute,
                                     DeviceHandle) {
  FAKE_CALL(cuDeviceGetAttribute, plain);
  const Machine &m = state().machine;
  bool hopper = m.capability >= 90;
  switch (attribute) {
  case maxThreadsPerBlock:
  case maxBlockDimX:
  case maxBlockDimY:
    *value = 1024;
    break;
  case maxBlockDimZ:
    *value = 64;
    break;
  case maxGridDimX:
    *value = 0x7fffffff;
    break;
  case maxGridDimY:
  case maxGridDimZ:
    *value = 65535;
    break;
  case maxSharedMemoryPerBlock:
    *value = 48 << 10;
    break;
  case maxSharedMemoryPerBlockOptin:
    *value = (hopper ? 227 : 99) << 10;
    break;
  case maxSharedMemoryPerMultiprocessor:
    *value = (hopper ? 228 : 100) << 10;
    break;
  case multiprocessorCount:
    *value = m.multiprocessors;
    break;
  case computeCapabilityMajor:
    *value = m.capability / 10;
    break;
  case computeCapabilityMinor:
    *value = m.capability % 10;
    break;
  case memoryPoolsSupported:
    *value = m.memoryPools;
    break;
  case clusterLaunch:
  case tensorMapAccessSupported:
    *value = hopper;
    break;
  case l2CacheSize:
    *value = 1 << 20;
    break;
  case clockRateKHz:
    *value = 1000000;
    break;
  case memoryClockRateKHz:
    *value = 2000000;
    break;
  case globalMemoryBusWidth:
    *value = 512;
    break;
  case eccEnabled:
    *value = 1;
    break;
  default:
    return errorInvalidValue;
  }
  return success;
}

//===----------------------------------------------------------------------===//
// Contexts: the handle of device d is d + 1.
//===----------------------------------------------------------------------===//

static ContextHandle handleOf(int device) {
  return reinterpret_cast<ContextHandle>(static_cast<uintptr_t>(device + 1));
}

FAKE_API Result cuDevicePrimaryCtxRetain(ContextHandle *context,
                                         DeviceHandle device) {
  FAKE_CALL(cuDevicePrimaryCtxRetain, plain);
  ++state().contexts[static_cast<size_t>(device)].retained;
  *context = handleOf(device);
  return success;
}
FAKE_API Result cuDevicePrimaryCtxRelease_v2(DeviceHandle device) {
  FAKE_CALL(cuDevicePrimaryCtxRelease, plain);
  Context &context = state().contexts[static_cast<size_t>(device)];
  if (context.retained == 0)
    return 201;
  --context.retained;
  return success;
}
FAKE_API Result cuCtxGetCurrent(ContextHandle *context) {
  FAKE_CALL(cuCtxGetCurrent, plain);
  *context = contextStack.empty() ? nullptr : handleOf(contextStack.back());
  return success;
}
FAKE_API Result cuCtxPushCurrent_v2(ContextHandle context) {
  FAKE_CALL(cuCtxPushCurrent, plain);
  contextStack.push_back(
      static_cast<int>(reinterpret_cast<uintptr_t>(context)) - 1);
  return success;
}
FAKE_API Result cuCtxPopCurrent_v2(ContextHandle *context) {
  FAKE_CALL(cuCtxPopCurrent, plain);
  if (contextStack.empty())
    return 201;
  *context = handleOf(contextStack.back());
  contextStack.pop_back();
  return success;
}
FAKE_API Result cuThreadExchangeStreamCaptureMode(int *mode) {
  FAKE_CALL(cuThreadExchangeStreamCaptureMode, plain);
  std::swap(*mode, captureMode);
  return success;
}
