//===- LaneBody.h - A lane's part of a structured operation -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_LANEBODY_H
#define TRACEA_LIB_TRANSFORMS_HOST_LANEBODY_H

#include "LaneVectors.h"

namespace mlir::tracea {

/// Builds one lane's part of `op`: the iteration at `indices`, or the first of
/// those that `vectors` does together, which goes through all that is reduced,
/// of `extents`. What is reduced begins with `start`, or without one with what
/// the result held before.
void buildLaneBody(OpBuilder &builder, linalg::LinalgOp op,
                   const LaneVectors &vectors, TypedAttr start,
                   ArrayRef<OpFoldResult> extents, ArrayRef<Value> indices);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_LANEBODY_H
