//===- LaneMaps.h - Lane maps in one form -----------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_TILES_LANEMAPS_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_TILES_LANEMAPS_H

#include "tracea/Conversion/TraceaPipeToGPU/TraceaPipeToGPU.h"

namespace mlir::tracea_pipe {

/// The lane maps of what an operation reads and of what it gives.
struct MovedMaps {
  ::tracea::algebra::LaneMap from, to;
};
::tracea::algebra::Expected<MovedMaps> getMovedMaps(Value value, Value result);

/// A lane map whose repeats are odd: what is a power of two in them is linear.
/// Maps of tiles of one shape then have one linear shape.
struct OddLaneMap {
  ::tracea::algebra::LaneMap map;
  /// The tile's register for each of this map's.
  SmallVector<int64_t> registers;
};

/// Fails as LaneMap::get.
::tracea::algebra::Expected<OddLaneMap>
getOddLaneMap(const ::tracea::algebra::LaneMap &map);

/// The map with the dimensions of `dims` collapsed to extent one: everything is
/// at coordinate 0 along them. Registers stay, with zero vectors; repeats along
/// `dims` are dropped.
::tracea::algebra::Expected<::tracea::algebra::LaneMap>
project(const ::tracea::algebra::LaneMap &map, ArrayRef<unsigned> dims);

/// The index vectors of one dimension, low bit first.
std::vector<::tracea::algebra::TileCoord>
getBases(const ::tracea::algebra::LaneMap &map, ::tracea::algebra::LaneDim dim);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_TILES_LANEMAPS_H
