//===- LaneMaps.cpp - Lane maps in one form -------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tiles/LaneMaps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

alg::Expected<MovedMaps> mlir::tracea_pipe::getMovedMaps(Value value,
                                                         Value result) {
  alg::Expected<alg::LaneMap> from = getLaneMap(getLanes(value.getType()));
  if (!from)
    return from.error();
  alg::Expected<alg::LaneMap> to = getLaneMap(getLanes(result.getType()));
  if (!to)
    return to.error();
  return MovedMaps{std::move(*from), std::move(*to)};
}

std::vector<alg::TileCoord> mlir::tracea_pipe::getBases(const alg::LaneMap &map,
                                                        alg::LaneDim dim) {
  std::vector<alg::TileCoord> bases;
  for (unsigned bit = 0; bit < map.numBits(dim); ++bit)
    bases.push_back(map.basis(dim, bit));
  return bases;
}

static alg::LaneBases getAllBases(const alg::LaneMap &map) {
  return {getBases(map, alg::LaneDim::Reg), getBases(map, alg::LaneDim::Lane),
          getBases(map, alg::LaneDim::Warp),
          getBases(map, alg::LaneDim::Block)};
}

alg::Expected<OddLaneMap>
mlir::tracea_pipe::getOddLaneMap(const alg::LaneMap &map) {
  alg::LaneBases bases = getAllBases(map);
  alg::TileCoord linear = map.linearShape(), outer = map.outer();
  unsigned rank = map.rank(), oldBits = bases.reg.size();
  // New register bits, dimension by dimension: bit i of the repeat index.
  SmallVector<std::pair<unsigned, unsigned>> bits;
  for (unsigned dim = 0; dim < rank; ++dim)
    for (unsigned i = 0; outer[dim] % 2 == 0; ++i) {
      alg::TileCoord vector(rank, 0);
      vector[dim] = linear[dim];
      bases.reg.push_back(vector);
      bits.push_back({dim, i});
      linear[dim] *= 2;
      outer[dim] /= 2;
    }
  alg::Expected<alg::LaneMap> odd = alg::LaneMap::get(linear, bases, outer);
  if (!odd)
    return odd.error();
  OddLaneMap result{*odd, {}};
  int64_t newBits = static_cast<int64_t>(bits.size());
  for (int64_t reg = 0; reg < odd->numRegisters(); ++reg) {
    SmallVector<int64_t> repeat(rank, 0);
    int64_t rest = reg >> (oldBits + newBits);
    for (unsigned dim = rank; dim-- > 0;) {
      repeat[dim] = rest % outer[dim] * (map.outer()[dim] / outer[dim]);
      rest /= outer[dim];
    }
    for (auto [i, bit] : llvm::enumerate(bits))
      repeat[bit.first] += (reg >> (oldBits + i) & 1) << bit.second;
    int64_t index = 0;
    for (unsigned dim = 0; dim < rank; ++dim)
      index = index * map.outer()[dim] + repeat[dim];
    result.registers.push_back(index << oldBits |
                               (reg & ((int64_t(1) << oldBits) - 1)));
  }
  return result;
}

alg::Expected<alg::LaneMap>
mlir::tracea_pipe::project(const alg::LaneMap &map, ArrayRef<unsigned> dims) {
  alg::LaneBases bases = getAllBases(map);
  alg::TileCoord linear = map.linearShape(), outer = map.outer();
  for (unsigned dim : dims) {
    linear[dim] = outer[dim] = 1;
    for (std::vector<alg::TileCoord> *part :
         {&bases.reg, &bases.lane, &bases.warp, &bases.block})
      for (alg::TileCoord &vector : *part)
        vector[dim] = 0;
  }
  return alg::LaneMap::get(linear, bases, outer);
}
