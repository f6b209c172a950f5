//===- FoldBatchNorm.cpp - Folds batch normalization into its producer ----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// (x - mean) / sqrt(variance + epsilon) * scale + bias is x * s + t with s and
// t known per channel: two operations of the producer's epilogue.

#include "EpilogueUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tracea/Transforms/Passes.h"

#define DEBUG_TYPE "tracea-fold-batch-norm"

namespace mlir::tracea {
#define GEN_PASS_DEF_FOLDBATCHNORM
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

/// A rank-1 elementwise operation on the per-channel tensors.
static Value
createPerChannel(OpBuilder &builder, Location loc, ValueRange inputs,
                 RankedTensorType type,
                 llvm::function_ref<Value(OpBuilder &, ValueRange)> compute) {
  Value init = createEmptyLike(builder, loc, inputs.front(), type);
  SmallVector<AffineMap> maps(
      inputs.size() + 1,
      AffineMap::getMultiDimIdentityMap(1, builder.getContext()));
  return linalg::GenericOp::create(
             builder, loc, TypeRange(type), inputs, ValueRange(init), maps,
             ArrayRef<utils::IteratorType>(utils::IteratorType::parallel),
             [&](OpBuilder &nested, Location, ValueRange arguments) {
               SmallVector<Value> scalars;
               for (Value argument : arguments.drop_back())
                 scalars.push_back(convertScalar(nested, loc, argument,
                                                 type.getElementType()));
               linalg::YieldOp::create(nested, loc, compute(nested, scalars));
             })
      .getResult(0);
}

/// The multiplication whose result is normalized, or null.
static EpilogueOpInterface getProducer(BatchNormOp op) {
  Operation *definition = peelCasts(op.getInput()).getDefiningOp();
  if (!isa_and_nonnull<GemmOp, Conv2DOp>(definition))
    return {};
  return cast<EpilogueOpInterface>(definition);
}

/// Why the normalization cannot become part of the producer, or nothing.
static StringRef findObstacle(BatchNormOp op, EpilogueOpInterface producer) {
  EpilogueOpInterface own = cast<EpilogueOpInterface>(op.getOperation());
  if (!isUndecided(producer) || !isUndecided(own))
    return "a schedule is attached already";
  if (producer->getBlock() != op->getBlock())
    return "its input comes from another block";
  if (!canMoveTo(producer, op))
    return "an auxiliary result is read before it";
  if (!isa<FloatType>(
          getElementTypeOrSelf(producer.getEpilogueResult().getType())))
    return "its input does not hold floating-point numbers";
  for (Value input = op.getInput();;
       input = input.getDefiningOp()->getOperand(0)) {
    if (!input.hasOneUse())
      return "its input has other users";
    if (input == producer.getEpilogueResult())
      return "";
  }
}

namespace {

struct FoldIntoProducer : public OpRewritePattern<BatchNormOp> {
  FoldIntoProducer(MLIRContext *context, std::function<void()> onFold)
      : OpRewritePattern(context), onFold(std::move(onFold)) {}

  LogicalResult matchAndRewrite(BatchNormOp op,
                                PatternRewriter &rewriter) const override {
    EpilogueOpInterface producer = getProducer(op);
    if (!producer || !findObstacle(op, producer).empty())
      return failure();

    Location loc = op.getLoc();
    rewriter.moveOpBefore(producer, op);
    rewriter.setInsertionPoint(producer);
    FloatType acc = cast<FloatType>(op.getAccumulatorType());
    RankedTensorType type = RankedTensorType::get(
        cast<RankedTensorType>(op.getScale().getType()).getShape(), acc);
    TypedAttr epsilon =
        rewriter.getFloatAttr(acc, op.getEpsilon().convertToDouble());
    Value scale = createPerChannel(
        rewriter, loc, {op.getScale(), op.getVariance()}, type,
        [&](OpBuilder &builder, ValueRange in) -> Value {
          Value eps = arith::ConstantOp::create(builder, loc, epsilon);
          Value sum = arith::AddFOp::create(builder, loc, in[1], eps);
          Value root = math::SqrtOp::create(builder, loc, sum);
          return arith::DivFOp::create(builder, loc, in[0], root);
        });
    Value shift = createPerChannel(
        rewriter, loc, {op.getBias(), op.getMean(), scale}, type,
        [&](OpBuilder &builder, ValueRange in) -> Value {
          Value product = arith::MulFOp::create(builder, loc, in[1], in[2]);
          return arith::SubFOp::create(builder, loc, in[0], product);
        });

    AffineMap channel = AffineMap::get(
        getEpilogueRank(producer), 0,
        rewriter.getAffineDimExpr(static_cast<unsigned>(op.getAxis())));
    EpilogueEditor editor(rewriter, producer);
    Value s = editor.read(scale, channel);
    Value t = editor.read(shift, channel);
    OpBuilder &builder = editor.getBuilder();
    Value x = convertScalar(builder, loc, editor.getStored(), acc);
    Value product = arith::MulFOp::create(builder, loc, x, s);
    Value normalized = arith::AddFOp::create(builder, loc, product, t);
    EpilogueOpInterface own = cast<EpilogueOpInterface>(op.getOperation());
    SmallVector<Value> extras;
    for (auto [index, extra] : llvm::enumerate(op.getExtras()))
      extras.push_back(editor.read(extra, getEpilogueMap(own, index)));
    Value stored =
        inlineEpilogue(builder, loc, own, normalized, extras).front();

    Value init = op.getInit();
    SmallVector<Operation *> casts;
    for (Value input = op.getInput(); input != producer.getEpilogueResult();
         input = input.getDefiningOp()->getOperand(0))
      casts.push_back(input.getDefiningOp());
    editor.finish(stored, init, op);
    for (Operation *cast : casts)
      rewriter.eraseOp(cast);
    onFold();
    return success();
  }

private:
  std::function<void()> onFold;
};

struct FoldBatchNormPass
    : public mlir::tracea::impl::FoldBatchNormBase<FoldBatchNormPass> {
  using FoldBatchNormBase::FoldBatchNormBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldIntoProducer>(&getContext(), [this] { ++numFolded; });
    populateFoldElementwisePatterns(patterns, maxFoldedElements,
                                    [this] { ++numConstants; });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation()->walk([](BatchNormOp op) {
      if (EpilogueOpInterface producer = getProducer(op))
        remark::missed(
            op.getLoc(),
            remark::RemarkOpts::name("BatchNormNotFolded").category(DEBUG_TYPE))
            << remark::metric("Operation", op->getName().getStringRef())
            << remark::reason("{0}", findObstacle(op, producer));
    });
  }
};

} // namespace
