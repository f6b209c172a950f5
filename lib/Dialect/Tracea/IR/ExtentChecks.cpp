//===- ExtentChecks.cpp - What a run refuses about extents ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/Tracea/IR/ExtentChecks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

void mlir::tracea::emitExtentCheck(OpBuilder &builder, Operation *op, Value lhs,
                                   int64_t lhsDim, Value rhs, int64_t rhsDim,
                                   StringRef what) {
  auto lhsType = cast<RankedTensorType>(lhs.getType());
  auto rhsType = cast<RankedTensorType>(rhs.getType());
  // Two static extents were compared by the verifier.
  if (!lhsType.isDynamicDim(lhsDim) && !rhsType.isDynamicDim(rhsDim))
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  Location loc = op->getLoc();
  Value lhsSize = builder.createOrFold<tensor::DimOp>(loc, lhs, lhsDim);
  Value rhsSize = builder.createOrFold<tensor::DimOp>(loc, rhs, rhsDim);
  emitEqualityCheck(builder, op, lhsSize, rhsSize, what);
}

void mlir::tracea::emitEqualityCheck(OpBuilder &builder, Operation *op,
                                     Value lhs, Value rhs, StringRef what) {
  if (lhs == rhs)
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  Location loc = op->getLoc();
  Value same =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lhs, rhs);
  cf::AssertOp::create(
      builder, loc, same,
      (op->getName().getStringRef() + ": expected " + what).str());
}

void mlir::tracea::emitExtentChecks(OpBuilder &builder, GroupedGemmOp op) {
  Value lhs = op.getLhs(), rhs = op.getRhs(), init = op.getInit();
  emitExtentCheck(builder, op, lhs, 1, rhs, op.getRhsK(),
                  "lhs and rhs to have the same k");
  emitExtentCheck(builder, op, lhs, 0, init, 0,
                  "lhs and the result to have the same rows");
  emitExtentCheck(builder, op, rhs, op.getRhsN(), init, 1,
                  "rhs and the result to have the same n");
  emitExtentCheck(builder, op, rhs, 0, op.getEnds(), 0,
                  "an end for each matrix of rhs");
}
