//===- Arena.h - Places temporary buffers in one block ----------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers that are never in use at the same step may share memory. The plan is
// made from their liveness over the steps, the largest buffer first, each at
// the lowest place that is free while it lives (greedy by size: Pisarchyk and
// Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020).
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_ARENA_H
#define TRACEA_RUNTIME_ARENA_H

#include "tracea/Runtime/Span.h"
#include "tracea/Runtime/Status.h"

#include <cstdint>
#include <vector>

namespace tracea::runtime {

/// `bytes` at a multiple of `align`, in use from step `first` to step `last`,
/// both included.
struct ArenaRegion {
  int64_t bytes = 0;
  int64_t align = 64;
  int64_t first = 0;
  int64_t last = 0;
};

struct ArenaPlan {
  std::vector<int64_t> offsets;
  int64_t bytes = 0;
  /// The alignment that the whole block needs; at least 64.
  int64_t align = 64;
};

/// Regions that are in use at the same step do not overlap; every region
/// begins at a multiple of 64. Fails when the total does not fit int64.
Expected<ArenaPlan> planArena(Span<const ArenaRegion> regions);

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_ARENA_H
