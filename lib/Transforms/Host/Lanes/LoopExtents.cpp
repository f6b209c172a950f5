//===- LoopExtents.cpp - How far the loops of an operation go -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lanes/LoopExtents.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

SmallVector<OpFoldResult> mlir::tracea::getLoopExtents(OpBuilder &builder,
                                                       TilingInterface op) {
  SmallVector<OpFoldResult> extents =
      llvm::map_to_vector(op.getIterationDomain(builder),
                          [](const Range &range) { return range.size; });
  auto structured = dyn_cast<linalg::LinalgOp>(op.getOperation());
  if (!structured)
    return extents;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<ShapedType>(operand.get().getType());
    if (!type)
      continue;
    AffineMap map = structured.getMatchingIndexingMap(&operand);
    // Results that the run knows to be empty have a kernel without tiles.
    for (auto [expr, extent] :
         llvm::zip_equal(map.getResults(), type.getShape()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr);
          loop && ShapedType::isStatic(extent) && extent != 0)
        extents[loop.getPosition()] = builder.getIndexAttr(extent);
  }
  return extents;
}
