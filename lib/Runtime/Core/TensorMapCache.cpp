//===- TensorMapCache.cpp - Tensor maps that were made before -------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs with the addresses of the run before do not come here at all.
//
//===----------------------------------------------------------------------===//

#include "TensorMapCache.h"

#include <algorithm>

namespace tracea::runtime {

Status TensorMapCache::get(const Device &device, const TensorMapSpec &spec,
                           void *address, Span<const int64_t> sizes,
                           Span<const int64_t> strides, TensorMapBytes &map) {
  Key key = {&spec, address, {}};
  if (sizes.size() > 5 || strides.size() != sizes.size())
    return Status::error("tensor map: expected a view of rank up to 5");
  std::copy(sizes.begin(), sizes.end(), key.shape.begin());
  std::copy(strides.begin(), strides.end(), key.shape.begin() + 5);
  std::lock_guard<std::mutex> lock(mutex);
  auto found = index.find(key);
  if (found != index.end()) {
    entries.splice(entries.begin(), entries, found->second);
    map = found->second->map;
    return Status::success();
  }
  TRACEA_RETURN_IF_ERROR(
      device.encodeTensorMap(spec, address, sizes, strides, &map));
  if (entries.size() >= capacity) {
    index.erase(entries.back().key);
    entries.pop_back();
  }
  entries.push_front({key, map});
  index[key] = entries.begin();
  return Status::success();
}

size_t TensorMapCache::size() const {
  std::lock_guard<std::mutex> lock(mutex);
  return entries.size();
}

} // namespace tracea::runtime
