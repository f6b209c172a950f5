//===- LaneBody.h - A lane's part of a structured operation -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_LANES_LANEBODY_H
#define TRACEA_LIB_TRANSFORMS_HOST_LANES_LANEBODY_H

#include "Lanes/LaneBlocks.h"
#include "Lanes/LaneVectors.h"

namespace mlir::tracea {

/// What one lane does of a structured operation.
struct LanePart {
  /// The iteration, or the first of those that a vector has.
  SmallVector<Value> indices;
  /// So many vectors, each `distance` iterations from the one before it.
  int64_t vectors = 1, distance = 0;
  /// Single iterations, in place of vectors.
  LaneBlock block;
  /// What is reduced begins with it, or if null with what the result held.
  TypedAttr start;
};

/// Builds one lane's part of `op`, of loops of `extents`; it goes through all
/// that is reduced.
void buildLaneBody(OpBuilder &builder, linalg::LinalgOp op,
                   const LaneVectors &vectors, const LanePart &part,
                   ArrayRef<OpFoldResult> extents);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_LANES_LANEBODY_H
