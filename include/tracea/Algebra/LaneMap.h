//===- LaneMap.h - Where the elements of a tile live -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lane map says which tile element each hardware location holds. Locations
// are (register, lane, warp, block) indices; the map is linear over F2 from
// their bits to the bits of the tile coordinate, given by one coordinate vector
// per location bit, lowest bit first. Coordinates combine by XOR.
//
// "Register" is one element-sized register slot: an accumulator element, half
// of a packed 32-bit register, or on CPUs a whole vector register, whose
// elements are then the lanes.
//
// A linear map reaches power-of-two extents only. Other extents are
// linear extent × outer: the tile repeats the linear map `outer` times along
// the dimension. Outer indices are registers, varying slowest, the last tile
// dimension fastest among them.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_ALGEBRA_LANEMAP_H
#define TRACEA_ALGEBRA_LANEMAP_H

#include "tracea/Algebra/F2Matrix.h"
#include <array>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace tracea::algebra {

/// The input dimensions in the order of elimination: values are looked for in
/// registers first, then in other lanes, warps and blocks.
enum class LaneDim { Reg = 0, Lane = 1, Warp = 2, Block = 3 };
constexpr unsigned numLaneDims = 4;

/// "reg", "lane", "warp", "block".
const char *laneDimName(LaneDim dim);

/// One integer per tile dimension.
using TileCoord = std::vector<int64_t>;

/// A hardware location.
struct Location {
  int64_t reg = 0, lane = 0, warp = 0, block = 0;

  friend bool operator==(const Location &a, const Location &b) {
    return a.reg == b.reg && a.lane == b.lane && a.warp == b.warp &&
           a.block == b.block;
  }
};

/// Basis vectors per input dimension, one per index bit, lowest bit first. A
/// zero vector is legal: that bit selects a replica.
struct LaneBases {
  std::vector<TileCoord> reg, lane, warp, block;
};

class LaneMap {
public:
  /// `linearShape`: power-of-two extents, one per tile dimension. `outer`: the
  /// repeat counts, all 1 when empty. Fails on extents that are not powers of
  /// two, on vectors of another rank or outside the linear shape, on repeat
  /// counts below 1, beyond 64 input or coordinate bits, and when an extent of
  /// the tile or the number of registers, lanes, warps or blocks exceeds 2^31.
  static Expected<LaneMap> get(TileCoord linearShape, const LaneBases &bases,
                               TileCoord outer = {});

  unsigned rank() const { return linearExtents.size(); }
  const TileCoord &linearShape() const { return linearExtents; }
  const TileCoord &outer() const { return outerCounts; }
  /// linearShape × outer, per dimension.
  TileCoord tileShape() const;

  /// The number of index bits of a dimension; for registers, without outer.
  unsigned numBits(LaneDim dim) const { return bits[unsigned(dim)]; }
  /// The basis vector of one index bit; `bit` < numBits(dim).
  TileCoord basis(LaneDim dim, unsigned bit) const;

  /// Registers a lane holds: 2^bits × the product of the outer counts.
  int64_t numRegisters() const;
  int64_t numLanes() const { return int64_t(1) << numBits(LaneDim::Lane); }
  int64_t numWarps() const { return int64_t(1) << numBits(LaneDim::Warp); }
  int64_t numBlocks() const { return int64_t(1) << numBits(LaneDim::Block); }

  /// The linear part: inputs reg, lane, warp, block from low to high; outputs
  /// the coordinates, the last tile dimension lowest.
  const F2Matrix &matrix() const { return linear; }
  /// The columns of one input dimension.
  F2Vectors columns(LaneDim dim) const;
  /// matrix()'s output bits of a coordinate inside the linear shape.
  uint64_t flatten(const TileCoord &coord) const;
  TileCoord unflatten(uint64_t flat) const;

  /// The tile coordinate held at a location; nothing when an index is out of
  /// range.
  std::optional<TileCoord> coordinate(int64_t reg, int64_t lane,
                                      int64_t warp = 0,
                                      int64_t block = 0) const;
  std::optional<TileCoord> coordinate(const Location &at) const {
    return coordinate(at.reg, at.lane, at.warp, at.block);
  }
  /// A location that holds the coordinate, registers preferred over lanes over
  /// warps over blocks; nothing when the coordinate is outside the tile or not
  /// covered.
  std::optional<Location> locate(const TileCoord &coord) const;

  /// Every element of the tile is held in exactly one location.
  bool isPermutation() const { return linear.isInvertible(); }
  /// Every element of the tile is held somewhere.
  bool coversTile() const { return linear.isSurjective(); }
  /// Some element is held in more than one location.
  bool isBroadcast() const { return !linear.isInjective(); }
  /// How many locations hold each held element.
  int64_t numReplicas() const {
    return int64_t(1) << (linear.numInputs() - linear.rank());
  }

  /// The largest n such that lanes q·n … q·n + n - 1 hold n ascending
  /// neighbours along tile dimension `dim`, for every q, register, warp and
  /// block. 0 when `dim` is not a dimension of the tile.
  int64_t contiguousLanes(unsigned dim) const;
  /// The same of registers of one lane; outer repeats count when the registers
  /// run through them.
  int64_t contiguousRegisters(unsigned dim) const;

  /// this × high: `high` tiles this map. Its coordinate bits go above this
  /// map's in every tile dimension, its location bits above in every input
  /// dimension. Fails when ranks differ, when either has outer counts other
  /// than 1, or when the result would not be a lane map.
  Expected<LaneMap> product(const LaneMap &high) const;
  /// The map q with low.product(q) == *this: what tiles `low`. Its vectors are
  /// this map's vectors above those of `low`, divided by low's extents. Fails
  /// when this map's lowest index bits are not those of `low`, when a higher
  /// one moves inside of low's tile, or on outer counts other than 1.
  Expected<LaneMap> quotient(const LaneMap &low) const;

  /// This map without the index bits that select replicas, those with zero
  /// vectors.
  LaneMap withoutReplicas() const;

  friend bool operator==(const LaneMap &a, const LaneMap &b) {
    return a.linearExtents == b.linearExtents &&
           a.outerCounts == b.outerCounts && a.bits == b.bits &&
           a.linear == b.linear;
  }
  friend bool operator!=(const LaneMap &a, const LaneMap &b) {
    return !(a == b);
  }

  /// A table: the shape, then one line per input dimension with its vectors.
  ///   tile 16x8
  ///   reg    4  (0,1) (8,0)
  ///   lane  32  (0,2) (0,4) (1,0) (2,0) (4,0)
  void print(std::ostream &os) const;
  std::string str() const;
  /// The tile element by element, for maps of rank 1 and 2 with at most 4096
  /// elements: each cell is [warp:]lane.register of locate(), "-" where nothing
  /// is held. Fails otherwise.
  Expected<std::string> grid() const;

private:
  LaneMap() = default;

  TileCoord linearExtents;
  TileCoord outerCounts;
  std::array<unsigned, numLaneDims> bits{};
  /// Bits of each tile dimension, and where its lowest one sits in the output.
  std::vector<unsigned> dimBits, dimShift;
  F2Matrix linear;
};

std::ostream &operator<<(std::ostream &os, const LaneMap &map);

/// Whether both maps hold the same elements in the same order once replicas are
/// left out: equal after withoutReplicas(). Replicas over sums of index bits
/// (linearly dependent vectors that are not zero) count as differences.
bool equalUpToBroadcast(const LaneMap &a, const LaneMap &b);

} // namespace tracea::algebra

#endif // TRACEA_ALGEBRA_LANEMAP_H
