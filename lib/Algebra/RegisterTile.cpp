//===- RegisterTile.cpp - Lane maps of CPU register tiles -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/RegisterTile.h"

using namespace tracea::algebra;

/// The largest power of two that divides `n`.
static int64_t powerOfTwoPart(int64_t n) { return n & -n; }

Expected<LaneMap> tracea::algebra::vectorTile(int64_t rows, int64_t cols,
                                              int64_t lanesPerVector) {
  constexpr int64_t limit = int64_t(1) << 20;
  if (rows < 1 || rows > limit || cols < 1 || cols > limit)
    return Error{"vector tile: expected extents in 1.." +
                 std::to_string(limit) + ", found " + std::to_string(rows) +
                 "x" + std::to_string(cols)};
  if (lanesPerVector < 1 || lanesPerVector > limit ||
      powerOfTwoPart(lanesPerVector) != lanesPerVector)
    return Error{"vector tile: expected a power of two as lanes per vector, "
                 "found " +
                 std::to_string(lanesPerVector)};
  if (cols % lanesPerVector)
    return Error{"vector tile: expected columns divisible by the " +
                 std::to_string(lanesPerVector) + " lanes, found " +
                 std::to_string(cols)};

  int64_t vectors = cols / lanesPerVector;
  int64_t linearVectors = powerOfTwoPart(vectors);
  // Outer indices vary slowest. So once some vectors of a row are outer, its
  // rows must be as well to keep the registers in row-major order.
  int64_t linearRows = linearVectors == vectors ? powerOfTwoPart(rows) : 1;

  LaneBases bases;
  for (int64_t lane = 1; lane < lanesPerVector; lane *= 2)
    bases.lane.push_back({0, lane});
  for (int64_t vector = 1; vector < linearVectors; vector *= 2)
    bases.reg.push_back({0, vector * lanesPerVector});
  for (int64_t row = 1; row < linearRows; row *= 2)
    bases.reg.push_back({row, 0});
  return LaneMap::get({linearRows, linearVectors * lanesPerVector}, bases,
                      {rows / linearRows, vectors / linearVectors});
}
