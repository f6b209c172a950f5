//===- FakeMemory.cpp - Memory, copies ------------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device memory is mapped without access rights except while work runs.
//
//===----------------------------------------------------------------------===//

#include "FakeState.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace tracea::fakecuda {

Door::Door() {
  if (state().openDoors++ == 0)
    for (auto &[where, bytes] : state().memory)
      ::mprotect(where, bytes, PROT_READ | PROT_WRITE);
}
Door::~Door() {
  if (--state().openDoors == 0)
    for (auto &[where, bytes] : state().memory)
      ::mprotect(where, bytes, PROT_NONE);
}

static Result allocate(DevicePtr *memory, size_t bytes) {
  State &s = state();
  if (bytes == 0)
    return errorInvalidValue;
  size_t size = (bytes + 4095) / 4096 * 4096;
  if (size < bytes || size > s.machine.memoryBytes - s.memoryUsed)
    return errorOutOfMemory;
  void *where = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (where == MAP_FAILED)
    return errorOutOfMemory;
  // Nobody may count on zeros.
  std::memset(where, 0xa5, size);
  if (s.openDoors == 0)
    ::mprotect(where, size, PROT_NONE);
  s.memory[where] = size;
  s.memoryUsed += size;
  *memory = reinterpret_cast<DevicePtr>(where);
  return success;
}

static Result release(DevicePtr memory) {
  State &s = state();
  auto found = s.memory.find(reinterpret_cast<void *>(memory));
  if (found == s.memory.end())
    return errorInvalidValue;
  ::munmap(found->first, found->second);
  s.memoryUsed -= found->second;
  s.memory.erase(found);
  return success;
}

/// Whether the range is within one allocation.
static bool isDevice(DevicePtr address, size_t bytes) {
  auto after = state().memory.upper_bound(reinterpret_cast<void *>(address));
  if (after == state().memory.begin())
    return false;
  --after;
  DevicePtr start = reinterpret_cast<DevicePtr>(after->first);
  return address - start <= after->second &&
         bytes <= after->second - (address - start);
}

} // namespace tracea::fakecuda

using namespace tracea::fakecuda;

FAKE_API Result cuMemGetInfo_v2(size_t *free, size_t *total) {
  FAKE_CALL(cuMemGetInfo, needsContext);
  *total = state().machine.memoryBytes;
  *free = *total - state().memoryUsed;
  return success;
}
FAKE_API Result cuMemAlloc_v2(DevicePtr *memory, size_t bytes) {
  FAKE_CALL(cuMemAlloc, needsContext | forbiddenInCapture);
  return allocate(memory, bytes);
}
FAKE_API Result cuMemFree_v2(DevicePtr memory) {
  FAKE_CALL(cuMemFree, needsContext | forbiddenInCapture);
  for (auto &[handle, stream] : state().streams)
    if (Result result = drain(*stream))
      return result;
  return release(memory);
}
FAKE_API Result cuMemPoolCreate(PoolHandle *pool, const PoolProps *props) {
  FAKE_CALL(cuMemPoolCreate, plain);
  if (props->allocType != 1 || props->locationType != 1)
    return errorInvalidValue;
  void *handle = std::malloc(1);
  state().pools.insert(handle);
  *pool = static_cast<PoolHandle>(handle);
  return success;
}
FAKE_API Result cuMemPoolDestroy(PoolHandle pool) {
  FAKE_CALL(cuMemPoolDestroy, plain);
  if (!state().pools.erase(pool))
    return errorInvalidHandle;
  std::free(pool);
  return success;
}
FAKE_API Result cuMemPoolSetAttribute(PoolHandle pool, int attribute, void *) {
  FAKE_CALL(cuMemPoolSetAttribute, plain);
  return state().pools.count(pool) && attribute == poolReleaseThreshold
             ? success
             : errorInvalidValue;
}
FAKE_API Result cuMemPoolTrimTo(PoolHandle pool, size_t) {
  FAKE_CALL(cuMemPoolTrimTo, plain);
  return state().pools.count(pool) ? success : errorInvalidHandle;
}
FAKE_API Result cuMemAllocFromPoolAsync(DevicePtr *memory, size_t bytes,
                                        PoolHandle pool, StreamHandle stream) {
  FAKE_CALL(cuMemAllocFromPoolAsync, needsContext);
  Stream *s = streamOf(stream);
  if (!s || !state().pools.count(pool))
    return errorInvalidHandle;
  return allocate(memory, bytes);
}
FAKE_API Result cuMemFreeAsync(DevicePtr memory, StreamHandle stream) {
  FAKE_CALL(cuMemFreeAsync, needsContext);
  if (!isDevice(memory, 1))
    return errorInvalidValue;
  // After the work of this stream and no other: whoever still uses it there
  // is found out.
  Stream *s = streamOf(stream);
  if (!s)
    return errorInvalidHandle;
  if (Result result = drain(*s))
    return result;
  return release(memory);
}
FAKE_API Result cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  FAKE_CALL(cuMemHostAlloc, needsContext | forbiddenInCapture);
  *memory = std::malloc(bytes);
  state().hostMemory[*memory] = bytes;
  return success;
}
FAKE_API Result cuMemFreeHost(void *memory) {
  FAKE_CALL(cuMemFreeHost, needsContext | forbiddenInCapture);
  if (!state().hostMemory.erase(memory))
    return errorInvalidValue;
  std::free(memory);
  return success;
}
FAKE_API Result cuPointerGetAttribute(void *value, PointerAttribute attribute,
                                      DevicePtr pointer) {
  FAKE_CALL(cuPointerGetAttribute, plain);
  bool device = isDevice(pointer, 1), host = false;
  auto after =
      state().hostMemory.upper_bound(reinterpret_cast<void *>(pointer));
  if (after != state().hostMemory.begin()) {
    --after;
    host = pointer - reinterpret_cast<DevicePtr>(after->first) < after->second;
  }
  if (!device && !host)
    return errorInvalidValue;
  auto range =
      std::prev(state().memory.upper_bound(reinterpret_cast<void *>(pointer)));
  switch (attribute) {
  case pointerMemoryType:
    *static_cast<unsigned *>(value) =
        device ? memoryTypeDevice : memoryTypeHost;
    return success;
  case pointerDeviceOrdinal:
    *static_cast<int *>(value) = 0;
    return success;
  case pointerRangeStart:
    *static_cast<DevicePtr *>(value) =
        reinterpret_cast<DevicePtr>(range->first);
    return success;
  case pointerRangeBytes:
    *static_cast<size_t *>(value) = range->second;
    return success;
  }
  return errorInvalidValue;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static bool isPinned(const void *host) {
  auto after = state().hostMemory.upper_bound(const_cast<void *>(host));
  if (after == state().hostMemory.begin())
    return false;
  --after;
  return static_cast<const char *>(host) <
         static_cast<char *>(after->first) + after->second;
}

FAKE_API Result cuMemcpyHtoDAsync_v2(DevicePtr to, const void *from,
                                     size_t bytes, StreamHandle stream) {
  FAKE_CALL(cuMemcpyHtoDAsync, needsContext);
  if (!isDevice(to, bytes))
    return errorInvalidValue;
  // Ordinary memory is read before the call returns, pinned memory when the
  // device gets to it.
  if (isPinned(from))
    return enqueue(stream, [=] {
      std::memcpy(reinterpret_cast<void *>(to), from, bytes);
      return success;
    });
  auto data = std::make_shared<std::vector<char>>(
      static_cast<const char *>(from), static_cast<const char *>(from) + bytes);
  return enqueue(stream, [=] {
    std::memcpy(reinterpret_cast<void *>(to), data->data(), bytes);
    return success;
  });
}
FAKE_API Result cuMemcpyDtoHAsync_v2(void *to, DevicePtr from, size_t bytes,
                                     StreamHandle stream) {
  FAKE_CALL(cuMemcpyDtoHAsync, needsContext);
  if (!isDevice(from, bytes))
    return errorInvalidValue;
  Result result = enqueue(stream, [=] {
    std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
    return success;
  });
  if (result == success && !isPinned(to))
    return drain(*streamOf(stream));
  return result;
}
FAKE_API Result cuMemcpyDtoDAsync_v2(DevicePtr to, DevicePtr from, size_t bytes,
                                     StreamHandle stream) {
  FAKE_CALL(cuMemcpyDtoDAsync, needsContext);
  if (!isDevice(to, bytes) || !isDevice(from, bytes))
    return errorInvalidValue;
  return enqueue(stream, [=] {
    std::memcpy(reinterpret_cast<void *>(to),
                reinterpret_cast<const void *>(from), bytes);
    return success;
  });
}
FAKE_API Result cuMemsetD8Async(DevicePtr to, unsigned char value, size_t bytes,
                                StreamHandle stream) {
  FAKE_CALL(cuMemsetD8Async, needsContext);
  if (!isDevice(to, bytes))
    return errorInvalidValue;
  return enqueue(stream, [=] {
    std::memset(reinterpret_cast<void *>(to), value, bytes);
    return success;
  });
}
