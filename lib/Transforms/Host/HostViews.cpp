//===- HostViews.cpp - Views of the buffers of a program ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HostViews.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "tracea/Dialect/TraceaPipe/Utils/HostScalars.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

bool mlir::tracea::isView(Operation *op) {
  return isa<memref::SubViewOp, memref::ExpandShapeOp, memref::CollapseShapeOp,
             memref::CastOp, memref::ReinterpretCastOp, memref::TransposeOp,
             memref::ExtractStridedMetadataOp>(op);
}

SmallVector<Operation *> mlir::tracea::getViewSteps(Value view, Value root) {
  SmallVector<Operation *> steps;
  for (Value memory = view; memory != root;
       memory = steps.back()->getOperand(0)) {
    Operation *op = memory.getDefiningOp();
    if (!isa_and_nonnull<memref::SubViewOp, memref::ExpandShapeOp,
                         memref::CollapseShapeOp, memref::CastOp,
                         memref::TransposeOp>(op))
      return {};
    for (Value number : op->getOperands().drop_front())
      if (!isExpressible(number) && !matchPattern(number, m_Constant()))
        return {};
    steps.push_back(op);
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}
