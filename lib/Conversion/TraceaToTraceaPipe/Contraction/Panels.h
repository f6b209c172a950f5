//===- Panels.h - Panels of an operand of a CPU's product -------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONTRACTION_PANELS_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONTRACTION_PANELS_H

#include "../GemmContraction.h"
#include "WordOperands.h"

namespace mlir::tracea {

/// An operand's panels of `width` rows or columns: [panel, k, i], or by words
/// of a dot product [panel, k / word, i, word]. A tile unit reads words of a
/// row of the left operand side by side: [panel, i, k / word, word].
struct Panels {
  KernelBuilder &kb;
  const MatrixOperand &operand;
  int64_t width;
  const WordOperands &words;
  bool isLhs;

  /// `count` panels of `depth` elements along k.
  RankedTensorType getType(int64_t count, int64_t depth, Type element) const;

  /// Stages `outer` rows or columns of `depth` elements along k, the first of
  /// which is at `indices`.
  Value stage(RankedTensorType type, ValueRange indices, Value outer,
              Value depth, int64_t slots) const;

  /// One panel of those that are staged.
  Value viewPanel(Value staged, Value panel) const;
  /// The panel that row or column `at` of the tile is the first of.
  Value view(Value staged, Value at) const {
    return viewPanel(staged, kb.index().floorDiv(at, width));
  }

  /// The same of panels that were packed once, where they lie: `depth` elements
  /// along k from `k` on.
  Value viewPacked(Value at, Value k, int64_t depth) const;

  /// Whole tiles of a unit where they lie in memory: `depth` elements along k
  /// from `k` on of the rows from `row` of the tile's matrix.
  Value viewRows(const ResultTile &tile, Value row, Value k,
                 int64_t depth) const;

  /// Asks the second level for `steps` of k from `k` on of the panel of
  /// elements that follows the one of `at`, which is the first element of a
  /// panel of what is staged, or packed.
  void prefetchNext(Value panels, Value at, Value k, int64_t steps) const;

private:
  /// What belongs to [panel, k, i], in the order of the panels, or back.
  template <typename T>
  SmallVector<T> arrange(SmallVector<T> of) const {
    if (isLhs && words.hasUnit())
      std::swap(of[1], of[2]);
    return of;
  }
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONTRACTION_PANELS_H
