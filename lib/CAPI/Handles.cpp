//===- Handles.cpp - Which handles are alive ------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include <atomic>
#include <mutex>
#include <unordered_set>

namespace tracea::capi {

namespace {
std::mutex mutex;
/// Never destroyed: callers may free handles when the process ends.
auto &living = *new std::unordered_set<const void *>();
/// How many were freed.
std::atomic<uint64_t> freed{0};

/// The handle that this thread asked for last, and what had been freed by then.
struct Known {
  const void *handle = nullptr;
  uint64_t freed = 0;
};
thread_local Known known;
} // namespace

void addHandle(const void *handle) {
  std::lock_guard<std::mutex> lock(mutex);
  living.insert(handle);
}

bool removeHandle(const void *handle) {
  std::lock_guard<std::mutex> lock(mutex);
  if (living.erase(handle) == 0)
    return false;
  freed.fetch_add(1, std::memory_order_release);
  return true;
}

Status requireHandle(const void *handle, const char *name) {
  TRACEA_RETURN_IF_ERROR(requirePointer(handle, name));
  if (known.handle == handle &&
      known.freed == freed.load(std::memory_order_acquire))
    return Status::success();
  std::lock_guard<std::mutex> lock(mutex);
  if (living.count(handle) == 0)
    return Status::invalid(std::string(name) +
                           ": expected a handle that lives, found one that was "
                           "freed or never made");
  known = {handle, freed.load(std::memory_order_relaxed)};
  return Status::success();
}

} // namespace tracea::capi
