//===- Arena.cpp - Places temporary buffers in one block ------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Greedy by size: the largest region first, each at the lowest offset that is
// free for as long as it lives.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/Arena.h"

#include <algorithm>
#include <numeric>

namespace tracea::runtime {

static bool alignUp(int64_t value, int64_t align, int64_t &result) {
  if (__builtin_add_overflow(value, align - 1, &result))
    return false;
  result &= ~(align - 1);
  return true;
}

Expected<ArenaPlan>
planArena(Span<const ArenaRegion> regions,
          const std::function<bool(size_t, size_t)> &mayMeet) {
  ArenaPlan plan;
  plan.offsets.assign(regions.size(), 0);
  std::vector<size_t> order(regions.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return regions[a].bytes != regions[b].bytes
               ? regions[a].bytes > regions[b].bytes
               : a < b;
  });

  // Regions that have a place, by offset.
  std::vector<size_t> placed;
  for (size_t i : order) {
    const ArenaRegion &region = regions[i];
    if (region.bytes == 0)
      continue;
    int64_t align = std::max<int64_t>(region.align, 64);
    plan.align = std::max(plan.align, align);
    int64_t offset = 0, end = 0;
    for (size_t j : placed) {
      const ArenaRegion &other = regions[j];
      if (!mayMeet(i, j))
        continue;
      if (__builtin_add_overflow(offset, region.bytes, &end))
        break;
      if (end <= plan.offsets[j])
        break; // The gap before `other` is large enough.
      // Ends of placed regions fit: they were checked when placed.
      if (!alignUp(std::max(offset, plan.offsets[j] + other.bytes), align,
                   offset))
        return Status::error("the temporary buffers do not fit into 64 bits");
    }
    if (__builtin_add_overflow(offset, region.bytes, &end))
      return Status::error("the temporary buffers do not fit into 64 bits");
    plan.offsets[i] = offset;
    plan.bytes = std::max(plan.bytes, end);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](size_t a, size_t b) {
                                     return plan.offsets[a] < plan.offsets[b];
                                   }),
                  i);
  }
  return plan;
}

} // namespace tracea::runtime
