//===- RaiseSoftmax.cpp - linalg.softmax to tracea.softmax ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From linalg to the semantic level: the named operation carries the dimension,
// which is all that tracea.softmax needs.

#include "ProductSum.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::tracea;

LogicalResult mlir::tracea::raiseSoftmax(RewriterBase &rewriter,
                                         linalg::SoftmaxOp op,
                                         const RaisingOptions &options) {
  RankedTensorType type = dyn_cast<RankedTensorType>(op.getInput().getType());
  if (!type || !isa<RankedTensorType>(op.getOutput().getType()))
    return rewriter.notifyMatchFailure(op, "not on ranked tensors");
  Type element = type.getElementType();
  Type accumulator = chooseAccumulator(element, element, options);
  if (!isa<FloatType>(element) || !accumulator)
    return rewriter.notifyMatchFailure(op, "the type is no accumulator");
  TypeAttr acc = accumulator == getDefaultAccumulatorType(element)
                     ? TypeAttr()
                     : TypeAttr::get(accumulator);
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<tracea::SoftmaxOp>(
      op, TypeRange(op.getOutput().getType()), op.getInput(),
      /*prologue_operands=*/ValueRange(), /*extras=*/ValueRange(),
      op.getOutput(), /*kept_inits=*/ValueRange(),
      /*row_inits=*/ValueRange(), op.getDimension(), acc,
      /*prologue_maps=*/rewriter.getArrayAttr({}),
      /*epilogue_maps=*/rewriter.getArrayAttr({}),
      /*finish_kinds=*/rewriter.getArrayAttr({}), /*schedule=*/ScheduleAttr());
  return success();
}
