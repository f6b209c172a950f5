//===- ConstantPanels.h - Constants in panels of a register tile -*- C++ -*-==//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONSTANTPANELS_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONSTANTPANELS_H

#include "tracea/Conversion/TraceaToTraceaPipe/KernelBuilder.h"

namespace mlir::tracea {

/// How a tensor of static shape is cut into panels, of so many elements along
/// `outer`: [panel, others..., step, element of the panel].
struct PanelForm {
  RankedTensorType type;
  /// Dimensions of the tensor.
  int64_t outer;
  SmallVector<int64_t> others;
  int64_t steps;
  /// Elements of a panel along `outer`.
  int64_t width;

  int64_t getPanels() const;
  /// Where the tensor's element is in panels of it, for a definition. `place`
  /// says where it is in the tensor.
  SmallVector<AffineExpr> at(ArrayRef<AffineExpr> place) const;
};

/// Whether `tensor` can be cut into panels once for many runs: it is a constant
/// of elements, which are multiplied as they are, as `element`.
bool hasConstantPanels(Value tensor, Type element);

/// `source`, of the form's type, in panels, with zeros behind the last of its
/// elements along `outer`: one that register tiles read where it lies. A kernel
/// before the operation packs it, and runs once where `source` is a constant.
Value packPanels(KernelRewriter &rewriter, Operation *op, Value source,
                 const PanelForm &form);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONSTANTPANELS_H
