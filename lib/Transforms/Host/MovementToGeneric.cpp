//===- MovementToGeneric.cpp - Pads and joins as one loop over the result -===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MovementToGeneric.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace {
struct PadToGeneric : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::PadOp pad,
                                PatternRewriter &rewriter) const override;
};

struct ConcatToGeneric : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ConcatOp concat,
                                PatternRewriter &rewriter) const override;
};
} // namespace

/// Replaces `op` by a loop over its result whose elements `build` computes.
static LogicalResult
replaceByLoop(PatternRewriter &rewriter, Operation *op,
              function_ref<Value(OpBuilder &, ArrayRef<Value>)> build) {
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  ReifiedRankedShapedTypeDims shapes;
  if (failed(reifyResultShapes(rewriter, op, shapes)))
    return failure();
  Value init = tensor::EmptyOp::create(rewriter, loc, shapes.front(),
                                       type.getElementType());
  auto generic = linalg::GenericOp::create(
      rewriter, loc, init.getType(), ValueRange(), ValueRange(init),
      ArrayRef(rewriter.getMultiDimIdentityMap(type.getRank())),
      SmallVector<utils::IteratorType>(type.getRank(),
                                       utils::IteratorType::parallel),
      [&](OpBuilder &b, Location loc, ValueRange) {
        SmallVector<Value> place;
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          place.push_back(linalg::IndexOp::create(b, loc, dim));
        linalg::YieldOp::create(b, loc, build(b, place));
      });
  Value result = generic.getResult(0);
  if (result.getType() != type)
    result = tensor::CastOp::create(rewriter, loc, type, result);
  rewriter.replaceOp(op, result);
  return success();
}

/// The element of the result at `place`.
static Value buildElement(OpBuilder &b, tensor::PadOp pad,
                          ArrayRef<OpFoldResult> extents,
                          ArrayRef<Value> place) {
  Location loc = pad.getLoc();
  SmallVector<OpFoldResult> low = pad.getMixedLowPad(),
                            high = pad.getMixedHighPad();
  Value isInside;
  auto require = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    Value holds = arith::CmpIOp::create(b, loc, predicate, x, y);
    isInside =
        isInside ? arith::AndIOp::create(b, loc, isInside, holds) : holds;
  };
  SmallVector<Value> source(place);
  for (auto [dim, index] : llvm::enumerate(source)) {
    if (!isZeroInteger(low[dim])) {
      Value before = getValueOrCreateConstantIndexOp(b, loc, low[dim]);
      require(arith::CmpIPredicate::sge, index, before);
      index = arith::SubIOp::create(b, loc, index, before);
    }
    if (!isZeroInteger(low[dim]) || !isZeroInteger(high[dim]))
      require(arith::CmpIPredicate::slt, index,
              getValueOrCreateConstantIndexOp(b, loc, extents[dim]));
  }
  if (!isInside)
    return tensor::ExtractOp::create(b, loc, pad.getSource(), source);
  auto choice = scf::IfOp::create(
      b, loc, isInside,
      [&](OpBuilder &b, Location loc) {
        Value element =
            tensor::ExtractOp::create(b, loc, pad.getSource(), source);
        scf::YieldOp::create(b, loc, element);
      },
      [&](OpBuilder &b, Location loc) {
        IRMapping mapping;
        mapping.map(pad.getBody()->getArguments(), place);
        for (Operation &op : pad.getBody()->without_terminator())
          b.clone(op, mapping);
        auto yield = cast<tensor::YieldOp>(pad.getBody()->getTerminator());
        scf::YieldOp::create(b, loc, mapping.lookupOrDefault(yield.getValue()));
      });
  return choice.getResult(0);
}

LogicalResult PadToGeneric::matchAndRewrite(tensor::PadOp pad,
                                            PatternRewriter &rewriter) const {
  SmallVector<OpFoldResult> extents =
      tensor::getMixedSizes(rewriter, pad.getLoc(), pad.getSource());
  return replaceByLoop(rewriter, pad, [&](OpBuilder &b, ArrayRef<Value> place) {
    return buildElement(b, pad, extents, place);
  });
}

/// The element at `place` of the operands from `number` on.
static Value buildElement(OpBuilder &b, tensor::ConcatOp concat,
                          ArrayRef<OpFoldResult> extents, unsigned number,
                          ArrayRef<Value> place) {
  Location loc = concat.getLoc();
  auto extract = [&](OpBuilder &b) -> Value {
    return tensor::ExtractOp::create(b, loc, concat.getInputs()[number], place);
  };
  if (number + 1 == extents.size())
    return extract(b);
  Value index = place[concat.getDim()];
  Value extent = getValueOrCreateConstantIndexOp(b, loc, extents[number]);
  Value isHere =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, extent);
  auto choice = scf::IfOp::create(
      b, loc, isHere,
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, extract(b));
      },
      [&](OpBuilder &b, Location loc) {
        SmallVector<Value> behind(place);
        behind[concat.getDim()] = arith::SubIOp::create(b, loc, index, extent);
        scf::YieldOp::create(
            b, loc, buildElement(b, concat, extents, number + 1, behind));
      });
  return choice.getResult(0);
}

LogicalResult
ConcatToGeneric::matchAndRewrite(tensor::ConcatOp concat,
                                 PatternRewriter &rewriter) const {
  SmallVector<OpFoldResult> extents;
  for (Value input : concat.getInputs())
    extents.push_back(tensor::getMixedSize(rewriter, concat.getLoc(), input,
                                           concat.getDim()));
  return replaceByLoop(rewriter, concat,
                       [&](OpBuilder &b, ArrayRef<Value> place) {
                         return buildElement(b, concat, extents, 0, place);
                       });
}

void mlir::tracea::populatePadToGenericPatterns(RewritePatternSet &patterns) {
  patterns.add<PadToGeneric>(patterns.getContext());
}

void mlir::tracea::populateConcatToGenericPatterns(
    RewritePatternSet &patterns) {
  patterns.add<ConcatToGeneric>(patterns.getContext());
}
