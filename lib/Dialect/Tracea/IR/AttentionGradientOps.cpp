//===- AttentionGradientOps.cpp - Gradients of attention ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Verification.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

using namespace mlir;
using namespace mlir::tracea;

/// What the attention left of each row: one number, of f32 or of the type of
/// sums.
static LogicalResult verifyRows(AttentionOpInterface op, StringRef name,
                                Value rows) {
  auto query = cast<RankedTensorType>(op.getQuery().getType());
  auto type = cast<RankedTensorType>(rows.getType());
  Type accumulator = op.getAccumulatorType();
  if (!type.getElementType().isF32() && type.getElementType() != accumulator)
    return op->emitOpError("expected ")
           << name << " of type f32 or that of the accumulator, " << accumulator
           << ", found " << type.getElementType();
  if (failed(verifyRank(op, name, type, 3)))
    return failure();
  return verifySameShape(op, "the query", query.getShape().drop_back(), name,
                         type.getShape());
}

/// What a gradient of attention reads beside queries, keys and values.
template <typename OpTy>
static LogicalResult verifyGradient(OpTy op) {
  auto attention = cast<AttentionOpInterface>(op.getOperation());
  if (failed(verifyAttention(attention)))
    return failure();
  auto query = cast<RankedTensorType>(op.getQuery().getType());
  auto value = cast<RankedTensorType>(op.getValue().getType());
  auto gradient = cast<RankedTensorType>(op.getGradient().getType());
  if (failed(verifyRank(op, "the gradient", gradient, 4)))
    return failure();
  if (gradient.getElementType() != query.getElementType())
    return op.emitOpError("expected a gradient with elements of type ")
           << query.getElementType() << " as the query has, found "
           << gradient.getElementType();
  if (failed(verifySameShape(op, "the query", query.getShape().drop_back(),
                             "the gradient",
                             gradient.getShape().drop_back())) ||
      failed(verifyExtent(op, "dimension 3", "the value", value.getDimSize(3),
                          "the gradient", gradient.getDimSize(3))) ||
      failed(verifyRows(attention, "log-sum-exp", op.getLse())))
    return failure();
  return verifyRows(attention, "delta", op.getDelta());
}

/// A result in the shape of the operand that it is the gradient by.
static LogicalResult verifyResult(AttentionOpInterface op, StringRef name,
                                  Value init, StringRef operandName,
                                  Value operand) {
  auto type = cast<RankedTensorType>(init.getType());
  auto expected = cast<RankedTensorType>(operand.getType());
  if (failed(verifyRank(op, name, type, 4)))
    return failure();
  if (!isImplicitlyConvertible(op.getAccumulatorType(), type.getElementType()))
    return op->emitOpError("expected ")
           << name << " that an accumulator of type " << op.getAccumulatorType()
           << " converts to, found " << type.getElementType();
  return verifySameShape(op, operandName, expected.getShape(), name,
                         type.getShape());
}

LogicalResult AttentionQGradOp::verify() {
  if (failed(verifyGradient(*this)))
    return failure();
  return verifyResult(*this, "the result", getInit(), "the query", getQuery());
}

LogicalResult AttentionKVGradOp::verify() {
  if (failed(verifyGradient(*this)) ||
      failed(verifyResult(*this, "the first result", getKeyInit(), "the key",
                          getKey())))
    return failure();
  return verifyResult(*this, "the second result", getValueInit(), "the value",
                      getValue());
}
