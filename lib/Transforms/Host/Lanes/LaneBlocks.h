//===- LaneBlocks.h - Single iterations that a lane takes -------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_LANES_LANEBLOCKS_H
#define TRACEA_LIB_TRANSFORMS_HOST_LANES_LANEBLOCKS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::tracea {

class LaneVectors;

/// Neighbouring iterations of a structured operation, on buffers, that a lane
/// does one by one, all of their reads before any of them is stored: more reads
/// are on their way, and what iterations share is computed once.
struct LaneBlock {
  /// Along the loop whose neighbours are neighbours in the results, which are
  /// stored together.
  unsigned column = 0;
  int64_t columns = 1;
  /// Along other loops: which, and how many.
  SmallVector<std::pair<unsigned, int64_t>, 2> rows;

  int64_t getRows() const {
    int64_t count = 1;
    for (auto [loop, along] : rows)
      count *= along;
    return count;
  }
  int64_t getSize() const { return columns * getRows(); }
  /// How many iterations along a loop.
  int64_t of(unsigned loop) const {
    int64_t count = loop == column ? columns : 1;
    for (auto [other, along] : rows)
      count *= other == loop ? along : 1;
    return count;
  }

  /// What fits an operation of few terms a result, of known extents, and so
  /// many elements that blocks still fill a GPU; one iteration elsewhere.
  /// `isAligned`: results begin where they can be stored together.
  static LaneBlock get(linalg::LinalgOp op, bool isAligned);
  /// Of an operation whose lanes take vectors, iterations along other loops
  /// that share what they read.
  static LaneBlock getShared(linalg::LinalgOp op, const LaneVectors &vectors);
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_LANES_LANEBLOCKS_H
