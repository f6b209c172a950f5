//===- Arena.h - Places temporary buffers in one block ----------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers that are never in use at the same time may share memory. The largest
// buffer is placed first, each at the lowest place that is free while it lives
// (greedy by size: Pisarchyk and Lee, "Efficient Memory Management for Deep
// Neural Net Inference", 2020). Which lives meet is for the caller to say: they
// are intervals only where steps run one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_ARENA_H
#define TRACEA_RUNTIME_ARENA_H

#include "tracea/Runtime/Span.h"
#include "tracea/Runtime/Status.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace tracea::runtime {

/// `bytes` at a multiple of `align`.
struct ArenaRegion {
  int64_t bytes = 0;
  int64_t align = 64;
};

struct ArenaPlan {
  std::vector<int64_t> offsets;
  int64_t bytes = 0;
  /// The alignment that the whole block needs; at least 64.
  int64_t align = 64;
};

/// Regions that may be in use at the same time, as `mayMeet` says of two
/// numbers, do not overlap; every region begins at a multiple of 64. Fails when
/// the total does not fit int64.
Expected<ArenaPlan>
planArena(Span<const ArenaRegion> regions,
          const std::function<bool(size_t, size_t)> &mayMeet);

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_ARENA_H
