//===- LaneCoordinates.h - Where the elements of a lane are -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_LANES_LANECOORDINATES_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_LANES_LANECOORDINATES_H

#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"

namespace mlir::tracea_pipe {

/// The coordinates of a lane's elements in its tile: what lane and warp add, as
/// values, and what the register adds.
class LaneCoordinates {
public:
  LaneCoordinates(Emitter &b, LanesAttr lanes);

  /// The coordinates of this lane's element in register `reg`, as i32.
  SmallVector<Value> get(int64_t reg);
  /// The same of a register whose bits add `fixed` to each coordinate.
  SmallVector<Value> get(ArrayRef<int64_t> fixed);

private:
  Emitter &b;
  LanesAttr lanes;
  /// Null where neither lane nor warp adds anything.
  SmallVector<Value> base;
};

/// Whether `at` (i32) lies below the limits that can cut a tile of `shape`;
/// null if none can.
Value isBelow(Emitter &b, ValueRange at, ValueRange limits,
              ArrayRef<int64_t> shape);

/// Whether `at` (indices) lies below the limits; null without any.
Value isBelow(Emitter &b, ValueRange at, ValueRange limits);

/// Whether no limit cuts a tile of `shape`; null when that is known.
Value isWhole(Emitter &b, ValueRange limits, ArrayRef<int64_t> shape);

/// Values of i32 as indices.
SmallVector<Value> toIndices(Emitter &b, ValueRange values);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_LANES_LANECOORDINATES_H
