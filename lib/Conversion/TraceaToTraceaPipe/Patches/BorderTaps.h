//===- BorderTaps.h - Taps that see nothing of the image --------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements outside of an image are zeros that are multiplied. Such a product
// is zero, and need not be added, unless the weight is infinite or a NaN. Of a
// filter that is a constant it is known before the first run which of these it
// is: a number beside it says how many taps may be left out.

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_PATCHES_BORDERTAPS_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_PATCHES_BORDERTAPS_H

#include "tracea/Conversion/TraceaToTraceaPipe/KernelBuilder.h"

namespace mlir::tracea {

/// What decides which taps of a convolution may be left out where they see
/// nothing but the border.
class BorderTaps {
public:
  /// Before `op`, computes what has to be known of its filter. `byPixels`:
  /// pixels of a row are multiplied one by one, and can be left out. `byRows`:
  /// so are rows.
  BorderTaps(KernelRewriter &rewriter, Conv2DOp op, bool byPixels, bool byRows);

  /// An input that the kernel needs besides; null if none.
  Value getOperand() const { return operand; }
  /// Begins a kernel, outside of its tiles.
  void begin(KernelBuilder &kb);
  /// The rows of the filter, from one to before another, that row `p` of the
  /// result sums up: those that see the image, or all.
  std::pair<Value, Value> getRows(KernelBuilder &kb, Value p) const;

  /// The pixels of a row of the result, from one to before another of the
  /// `count` from column `q`, that see the image under column `s` of the
  /// filter: those that it is summed up for. Nothing where that is all. `whole`
  /// of the pixels are in the result; where the last tile of a row is cut often
  /// enough those beyond it are left out.
  SmallVector<Value> getPixels(KernelBuilder &kb, Value q, Value s,
                               int64_t count, Value whole) const;
  /// The pairs of a first pixel and an end that `getPixels` often returns, but
  /// for all `count`.
  SmallVector<int64_t> getSpans(int64_t count) const;

private:
  /// How many of the `count` pixels of the last tile of a row are beyond the
  /// result; 0 where that is too seldom to matter.
  int64_t countBeyond(int64_t count) const;
  /// Of `count` places along an axis of the image with its border, `step` apart
  /// from `at` on, those in the image, from one to before another. `whole` of
  /// them are in the result; null: all.
  std::pair<Value, Value> getSpan(KernelBuilder &kb, unsigned axis, Value at,
                                  int64_t step, int64_t count,
                                  Value whole = Value()) const;

  mutable Conv2DOp op;
  bool byPixels;
  int64_t taps[2]; // rows and columns of the filter
  bool leavesRows = false, leavesPixels = false;
  Value operand;
  /// In the kernel: the most taps that may be left out; null if none.
  Value most;
  /// What it is where nothing keeps them.
  int64_t all;
  bool isAlwaysFinite = false;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_PATCHES_BORDERTAPS_H
