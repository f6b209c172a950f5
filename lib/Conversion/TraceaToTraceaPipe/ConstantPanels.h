//===- ConstantPanels.h - Constants in panels of a register tile -*- C++ -*-==//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONSTANTPANELS_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONSTANTPANELS_H

#include "tracea/Conversion/TraceaToTraceaPipe/KernelBuilder.h"

namespace mlir::tracea {

/// How a tensor of static shape is cut into panels, of so many elements along
/// `outer`: [panel, others..., step, element of the panel], or by words of dot
/// products [panel, others..., step / word, element of the panel, word].
struct PanelForm {
  RankedTensorType type;
  /// Dimensions of the tensor.
  int64_t outer;
  SmallVector<int64_t> others;
  int64_t steps;
  /// Elements of a panel along `outer`.
  int64_t width;
  /// Elements of a word, and how many of them along `steps` there are with the
  /// zeros behind them.
  int64_t word = 1, words = 0;
  /// What panels hold elements as; null: as the tensor does.
  Type held = {};

  Type getHeld() const { return held ? held : type.getElementType(); }
  int64_t getPanels() const;
  int64_t getSteps() const { return type.getDimSize(steps); }
  /// Has words of `length` elements, held as `element`: `whole` elements along
  /// `steps` with the zeros behind them.
  void setWords(int64_t length, int64_t whole, Type element) {
    word = length;
    words = whole / length;
    held = element;
  }
  /// The shape of the tensor in panels.
  SmallVector<int64_t> getShape() const;
  /// Where the tensor's element is in panels of it, for a definition. `place`
  /// says where it is in the tensor.
  SmallVector<AffineExpr> at(ArrayRef<AffineExpr> place) const;
};

/// Whether `tensor` can be cut into panels once for many runs: it is a constant
/// of `element`s.
bool hasConstantPanels(Value tensor, Type element);

/// The window of [steps, elements of a panel, word] of packed words that begins
/// at `indices`.
Value viewWords(KernelBuilder &kb, Value packed, ValueRange indices,
                ArrayRef<int64_t> shape);

/// `source`, of the form's type, in panels, with zeros behind the last of its
/// elements along `outer`: one that register tiles read where it lies. A kernel
/// before the operation packs it, and runs once where `source` is a constant.
Value packPanels(KernelRewriter &rewriter, Operation *op, Value source,
                 const PanelForm &form);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONSTANTPANELS_H
