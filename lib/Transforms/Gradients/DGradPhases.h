//===- DGradPhases.h - Pixels that meet the same taps -----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_GRADIENTS_DGRADPHASES_H
#define TRACEA_LIB_TRANSFORMS_GRADIENTS_DGRADPHASES_H

#include "mlir/IR/PatternMatch.h"
#include "tracea/Dialect/Tracea/IR/TraceaOps.h"

namespace mlir::tracea {

/// What the rows, or columns, of one remainder modulo the stride meet.
struct Phase {
  /// The tap that the first of the convolution's is: they go in reverse order.
  int64_t getLastTap() const { return firstTap + (numTaps - 1) * tapStep; }

  /// The first row of the result.
  int64_t first;
  /// Taps first, first + step, …: none where the rows meet nothing.
  int64_t firstTap, tapStep, numTaps;
  /// Of the convolution over the gradient. Negative borders leave out rows.
  int64_t dilation, padLow;
  /// The border at the other end, which is `padHigh` more than the rows of the
  /// phase are more than those of the gradient.
  int64_t padHigh;
};

/// What lies in front of the pixels that a phase meets along an axis, or behind
/// them, is left out of the gradient: that much of negative borders.
struct MetWindow {
  static MetWindow get(int64_t padLow, int64_t padHigh) {
    int64_t before = std::max<int64_t>(-padLow, 0);
    int64_t behind = std::max<int64_t>(-padHigh, 0);
    return {before, behind, padLow + before, padHigh + behind};
  }
  int64_t getLeftOut() const { return before + behind; }
  /// Whether a gradient of so many rows has one that is met.
  bool leavesSome(int64_t rows) const { return getLeftOut() < rows; }

  int64_t before, behind;
  /// What is left of the borders.
  int64_t padLow, padHigh;
};

/// The phases along the height (axis 0) or width, as far as the result has
/// pixels of them.
SmallVector<Phase> getPhases(Conv2DDGradOp op, unsigned axis);

/// For a stride of two along the width: replaces the gradient by convolutions,
/// one for each phase of rows, whose outputs are the channels of two
/// neighbouring columns. Returns their number; nothing, and leaves all as it
/// is, where the operation has no such form or zeros would be most of it.
std::optional<unsigned> storeColumnPairs(RewriterBase &rewriter,
                                         Conv2DDGradOp op, ArrayRef<Phase> rows,
                                         ArrayRef<Phase> columns);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_GRADIENTS_DGRADPHASES_H
