//===- PackedFilters.cpp - Filters in panels of a register tile -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A panel has all taps and channels of those filters that one register tile
// computes.
//
//===----------------------------------------------------------------------===//

#include "PackedFilters.h"

using namespace mlir;
using namespace mlir::tracea;

PanelForm mlir::tracea::getFilterPanels(Conv2DOp op, int64_t width) {
  return {cast<RankedTensorType>(op.getFilter().getType()),
          op.getFilterOutDim(),
          {op.getFilterHeightDim(), op.getFilterWidthDim()},
          op.getFilterInDim(),
          width};
}

SmallVector<Value> mlir::tracea::getInputs(Conv2DOp op, Value filter,
                                           Value more) {
  SmallVector<Value> inputs;
  for (OpOperand *operand : op.getDpsInputOperands())
    inputs.push_back(operand == &op.getFilterMutable() ? filter
                                                       : operand->get());
  if (more)
    inputs.push_back(more);
  return inputs;
}
