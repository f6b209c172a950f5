//===- Canonicalize.cpp - Simplifies semantic operations ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The patterns work on interfaces, so that all operations share them.

#include "Clone.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

using namespace mlir;
using namespace mlir::tracea;

/// Removes extra operand `index`, whose block argument has no uses.
static void eraseExtra(EpilogueOpInterface op, unsigned index) {
  op.getEpilogue().front().eraseArgument(index + 1);
  SmallVector<Attribute> maps(op.getEpilogueMaps().getValue());
  maps.erase(maps.begin() + index);
  op.setEpilogueMapsAttr(ArrayAttr::get(op.getContext(), maps));
  op.getExtrasMutable().erase(index);
}

namespace {

/// An extra operand that the epilogue does not read goes.
struct DropUnusedExtras : OpInterfaceRewritePattern<EpilogueOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(EpilogueOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (!hasEpilogue(op))
      return failure();
    Block &block = op.getEpilogue().front();
    SmallVector<unsigned> unused;
    for (unsigned index = 0, e = op.getExtras().size(); index < e; ++index)
      if (block.getArgument(index + 1).use_empty())
        unused.push_back(index);
    if (unused.empty())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      for (unsigned index : llvm::reverse(unused))
        eraseExtra(op, index);
    });
    return success();
  }
};

/// The same operand read through the same map twice is read once.
struct MergeDuplicateExtras : OpInterfaceRewritePattern<EpilogueOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(EpilogueOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (!hasEpilogue(op))
      return failure();
    Block &block = op.getEpilogue().front();
    for (unsigned second = 1, e = op.getExtras().size(); second < e; ++second) {
      for (unsigned first = 0; first < second; ++first) {
        if (op.getExtras()[first] != op.getExtras()[second] ||
            getEpilogueMap(op, first) != getEpilogueMap(op, second))
          continue;
        rewriter.replaceAllUsesWith(block.getArgument(second + 1),
                                    block.getArgument(first + 1));
        rewriter.modifyOpInPlace(op, [&] { eraseExtra(op, second); });
        return success();
      }
    }
    return failure();
  }
};

/// An extra operand with one value everywhere becomes a constant of the
/// epilogue.
struct InlineSplatExtras : OpInterfaceRewritePattern<EpilogueOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(EpilogueOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (!hasEpilogue(op))
      return failure();
    Block &block = op.getEpilogue().front();
    for (auto [index, extra] : llvm::enumerate(op.getExtras())) {
      SplatElementsAttr splat;
      if (!matchPattern(extra, m_Constant(&splat)))
        continue;
      TypedAttr scalar = splat.getSplatValue<TypedAttr>();
      if (!isa<FloatAttr, IntegerAttr>(scalar))
        continue;
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(&block);
      Value constant =
          arith::ConstantOp::create(rewriter, extra.getLoc(), scalar);
      rewriter.replaceAllUsesWith(block.getArgument(index + 1), constant);
      rewriter.modifyOpInPlace(op, [&, i = index] { eraseExtra(op, i); });
      return success();
    }
    return failure();
  }
};

/// An epilogue that only converts the accumulator as the operation does
/// without one goes.
struct DropIdentityEpilogue : OpInterfaceRewritePattern<EpilogueOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(EpilogueOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (!hasEpilogue(op) || hasFinish(op) || !op.getExtras().empty() ||
        !op.getAuxResults().empty())
      return failure();
    Block &block = op.getEpilogue().front();
    Value yielded = cast<YieldOp>(block.getTerminator()).getValue();
    if (yielded != block.getArgument(0) &&
        !isPlainConversion(yielded, block.getArgument(0)))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      block.dropAllReferences();
      rewriter.eraseBlock(&block);
    });
    return success();
  }

private:
  /// Whether `to` is what `convertScalar` makes of `from`: one conversion, with
  /// the default rounding.
  static bool isPlainConversion(Value to, Value from) {
    Operation *conversion = to.getDefiningOp();
    if (!conversion || conversion->getNumOperands() != 1 ||
        conversion->getOperand(0) != from)
      return false;
    if (arith::TruncFOp truncation = dyn_cast<arith::TruncFOp>(conversion))
      return !truncation.getRoundingmode();
    return isa<arith::ExtFOp, arith::ExtSIOp, arith::SIToFPOp>(conversion);
  }
};

/// A cast that hides extents of an operand or a destination goes; the result is
/// cast back. The tensor dialect has this pattern for all destination-style
/// operations, but it does not clone an empty region: ours comes first.
struct FoldOperandCasts : OpInterfaceRewritePattern<ScheduledOpInterface> {
  FoldOperandCasts(MLIRContext *context)
      : OpInterfaceRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(ScheduledOpInterface op,
                                PatternRewriter &rewriter) const override {
    DestinationStyleOpInterface destinationOp =
        cast<DestinationStyleOpInterface>(op.getOperation());
    if (!tensor::hasFoldableTensorCastOperand(op))
      return failure();
    SmallVector<Type> types(op->getResultTypes());
    SmallVector<Value> operands =
        tensor::getUpdatedOperandsAfterCastOpFolding(destinationOp, types);
    Operation *folded = cloneOnto(rewriter, op, types, operands);
    SmallVector<Value> results;
    for (auto [before, after] :
         llvm::zip_equal(op->getResults(), folded->getResults())) {
      Value result = after;
      if (before.getType() != after.getType())
        result = tensor::CastOp::create(rewriter, op.getLoc(), before.getType(),
                                        after);
      results.push_back(result);
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// The product with the results that are numbered in `kept`, the first of which
/// becomes its first one.
void keepResults(PatternRewriter &rewriter, GemmOp op,
                 ArrayRef<unsigned> kept) {
  YieldOp yield = cast<YieldOp>(op.getEpilogue().front().getTerminator());
  auto initOf = [&](unsigned number) -> Value {
    return number ? op.getAuxInits()[number - 1] : op.getInit();
  };
  SmallVector<Value> inits, yielded;
  SmallVector<Attribute> maps, kinds;
  SmallVector<Type> types;
  for (unsigned number : kept) {
    types.push_back(op->getResult(number).getType());
    yielded.push_back(yield.getValues()[number]);
    if (number == kept.front())
      continue;
    inits.push_back(initOf(number));
    maps.push_back(op.getAuxMaps()[number - 1]);
    kinds.push_back(op.getAuxKinds()[number - 1]);
  }
  GemmOp smaller = GemmOp::create(
      rewriter, op.getLoc(), types, op.getLhs(), op.getRhs(), op.getExtras(),
      initOf(kept.front()), inits, op.getTransposeLhs(), op.getTransposeRhs(),
      op.getAccAttr(), op.getEpilogueMaps(), rewriter.getArrayAttr(maps),
      rewriter.getArrayAttr(kinds), op.getScheduleAttr());
  smaller->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.inlineRegionBefore(op.getEpilogue(), smaller.getEpilogue(),
                              smaller.getEpilogue().end());
  rewriter.modifyOpInPlace(yield,
                           [&] { yield.getValuesMutable().assign(yielded); });
  SmallVector<Value> results(op->getNumResults());
  for (auto [number, result] : llvm::zip_equal(kept, smaller->getResults()))
    results[number] = result;
  rewriter.replaceOp(op, results);
}

/// A log-sum-exp that nobody reads is not computed.
struct DropUnusedLogSumExp : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getLse() || !op.getLse().use_empty())
      return failure();
    AttentionOp smaller = AttentionOp::create(
        rewriter, op.getLoc(), op.getResult().getType(), /*lse=*/Type(),
        op.getQuery(), op.getKey(), op.getValue(), op.getBlockMask(),
        op.getLengths(), op.getInit(), /*lse_init=*/Value(), op.getScaleAttr(),
        op.getCausalAttr(), op.getWindowAttr(), op.getBlockSizeAttr(),
        op.getAccAttr(), op.getScheduleAttr());
    smaller->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, {smaller.getResult(), Value()});
    return success();
  }
};

/// An auxiliary result that nobody reads is not computed.
struct DropUnusedAuxResults : OpRewritePattern<GemmOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GemmOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<unsigned> kept = {0};
    for (OpResult result : op.getAuxResults())
      if (!result.use_empty())
        kept.push_back(result.getResultNumber());
    if (kept.size() == op->getNumResults())
      return failure();
    keepResults(rewriter, op, kept);
    return success();
  }
};

/// A first result that nobody reads gives its place to an auxiliary one of its
/// shape.
struct ReplaceUnusedResult : OpRewritePattern<GemmOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GemmOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getResult().use_empty())
      return failure();
    auto epilogue = cast<EpilogueOpInterface>(op.getOperation());
    SmallVector<unsigned> kept;
    for (auto [index, result] : llvm::enumerate(op.getAuxResults())) {
      bool isFirst = kept.empty() && getAuxMap(epilogue, index).isIdentity() &&
                     !result.use_empty();
      if (isFirst)
        kept.push_back(index + 1);
    }
    if (kept.empty())
      return failure();
    for (unsigned number = 1; number < op->getNumResults(); ++number)
      if (number != kept.front())
        kept.push_back(number);
    keepResults(rewriter, op, kept);
    return success();
  }
};

} // namespace

void TraceaDialect::getCanonicalizationPatterns(
    RewritePatternSet &patterns) const {
  patterns.add<DropUnusedExtras, MergeDuplicateExtras, InlineSplatExtras,
               DropIdentityEpilogue, FoldOperandCasts, DropUnusedLogSumExp,
               DropUnusedAuxResults, ReplaceUnusedResult>(getContext());
  populateGroupedGemmCanonicalizations(patterns);
}
