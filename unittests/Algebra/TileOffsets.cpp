//===- TileOffsets.cpp - From lane maps to byte offsets in memory -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TileOffsets.h"

using namespace tracea::algebra;

Expected<F2Matrix>
tracea::algebra::tileToBytes(const LaneMap &map,
                             const std::vector<int64_t> &byteStrides) {
  if (byteStrides.size() != map.rank())
    return Error{"tile offsets: expected " + std::to_string(map.rank()) +
                 " strides, found " + std::to_string(byteStrides.size())};
  constexpr int64_t limit = int64_t(1) << 31; // 31 + 31 bits of offset.
  F2Vectors columns(map.matrix().numOutputs(), 0);
  uint64_t used = 0;
  for (unsigned d = 0; d < map.rank(); ++d) {
    int64_t stride = byteStrides[d];
    if (stride < 1 || stride > limit || (stride & (stride - 1)))
      return Error{"tile offsets: expected a power of two as stride " +
                   std::to_string(d) + ", found " + std::to_string(stride)};
    if (map.outer()[d] != 1)
      return Error{"tile offsets: expected a linear map, found outer count " +
                   std::to_string(map.outer()[d]) + " in dimension " +
                   std::to_string(d)};
    TileCoord unit(map.rank(), 0);
    for (int64_t step = 1; step < map.linearShape()[d]; step *= 2) {
      uint64_t offset = uint64_t(step) * stride;
      if (used & offset)
        return Error{"tile offsets: the stride of dimension " +
                     std::to_string(d) +
                     " overlaps another dimension at "
                     "byte " +
                     std::to_string(offset)};
      used |= offset;
      unit[d] = step;
      columns[__builtin_ctzll(map.flatten(unit))] = offset;
    }
  }
  return F2Matrix::get(F2Matrix::maxBits, std::move(columns));
}

Expected<F2Matrix>
tracea::algebra::lanesToBytes(const LaneMap &map,
                              const std::vector<int64_t> &byteStrides,
                              const Swizzle &swizzle, unsigned laneBits) {
  Expected<F2Matrix> offsets = tileToBytes(map, byteStrides);
  if (!offsets)
    return offsets;
  if (map.numBits(LaneDim::Lane) > laneBits || laneBits > F2Matrix::maxBits)
    return Error{"tile offsets: expected at most " + std::to_string(laneBits) +
                 " lane bits, found " +
                 std::to_string(map.numBits(LaneDim::Lane))};
  F2Vectors columns;
  for (uint64_t lane : map.columns(LaneDim::Lane))
    columns.push_back(swizzle.apply(offsets->apply(lane)));
  columns.resize(laneBits, 0);
  return F2Matrix::get(F2Matrix::maxBits, std::move(columns));
}
