//===- Walks.h - Coordinates that a dimension walks through -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_CONVERSION_TRACEAPIPETOGPU_WALKS_H
#define TRACEA_CONVERSION_TRACEAPIPETOGPU_WALKS_H

#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"

namespace mlir::tracea_pipe {

/// The coordinates of element `at` (an index) of a dimension that walks, from
/// the walk's table, if it has one. Divisions are plain ones, which a target's
/// compiler turns into multiplications where the extents are constants, in 32
/// bits where the plan says so; see LaunchDivisors.h for those that only the
/// launch knows.
SmallVector<Value> getWalkCoordinates(Emitter &b, Value walk, Value at);

/// What the coordinates of a window are linear in, for the element `at`
/// (indices) of its tile.
SmallVector<Value> getMapInputs(Emitter &b, const GlobalWindow &window,
                                ValueRange at);

} // namespace mlir::tracea_pipe

#endif // TRACEA_CONVERSION_TRACEAPIPETOGPU_WALKS_H
