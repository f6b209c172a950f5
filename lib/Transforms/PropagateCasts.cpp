//===- PropagateCasts.cpp - Absorbs conversions of element types ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operation converts its operands to the accumulator's type by itself: a
// conversion on the way there that changes no value only costs memory traffic.

#include "EpilogueUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tracea/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "tracea-propagate-casts"

namespace mlir::tracea {
#define GEN_PASS_DEF_PROPAGATECASTS
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

namespace {
/// An elementwise operation that converts the elements of one tensor.
struct Conversion {
  Value source;
  /// The scalar or tensor operation that converts.
  Operation *conversion;
};
} // namespace

/// Matches a single scalar operation on the elements of one tensor, in place.
static std::optional<Conversion> matchSingleOperation(Operation *op) {
  std::string ignored;
  std::optional<ElementwiseOp> elementwise = ElementwiseOp::match(op, ignored);
  if (!elementwise || elementwise->getInputs().size() != 1 ||
      !elementwise->getInputs().front().map.isIdentity() ||
      elementwise->getSize() != 1)
    return std::nullopt;
  Value source = elementwise->getInputs().front().operand->get();
  linalg::LinalgOp linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return Conversion{source, op};
  Operation *inner = &linalgOp.getBlock()->front();
  if (inner->getNumOperands() != 1 ||
      linalgOp.getBlock()->getTerminator()->getOperand(0) !=
          inner->getResult(0))
    return std::nullopt;
  return Conversion{source, inner};
}

static std::optional<Conversion> matchWidening(Value tensor) {
  Operation *producer = peelCasts(tensor).getDefiningOp();
  if (!producer)
    return std::nullopt;
  std::optional<Conversion> widening = matchSingleOperation(producer);
  if (!widening ||
      !isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(widening->conversion))
    return std::nullopt;
  return widening;
}

/// Makes the operands read narrow tensors if all of them can. The operation's
/// accumulator type stays.
template <typename OpTy>
static LogicalResult absorbOperands(OpTy op, ArrayRef<OpOperand *> operands,
                                    PatternRewriter &rewriter,
                                    llvm::function_ref<void(unsigned)> count) {
  if (op.getScheduleAttr())
    return failure();
  Type acc = op.getAccumulatorType();
  SmallVector<Value> sources;
  Type narrow;
  for (OpOperand *operand : operands) {
    std::optional<Conversion> widening = matchWidening(operand->get());
    if (!widening || !isa<arith::ExtFOp>(widening->conversion))
      return failure();
    Type elementType = getElementTypeOrSelf(widening->source.getType());
    if ((narrow && narrow != elementType) ||
        !isValidAccumulator(elementType, acc))
      return failure();
    narrow = elementType;
    sources.push_back(widening->source);
  }
  rewriter.modifyOpInPlace(op, [&] {
    for (auto [operand, source] : llvm::zip_equal(operands, sources))
      operand->set(source);
    op.setAccAttr(getDefaultAccumulatorType(narrow) == acc
                      ? TypeAttr()
                      : TypeAttr::get(acc));
  });
  count(operands.size());
  return success();
}

namespace {

using Counter = std::function<void(unsigned)>;

/// A pattern that counts what it changes.
template <typename Pattern>
struct Counting : public Pattern {
  Counting(MLIRContext *context, Counter count)
      : Pattern(context), count(std::move(count)) {}

  Counter count;
};

/// Operands that carry the values summed or normalized.
struct AbsorbOperands : public RewritePattern {
  AbsorbOperands(MLIRContext *context, Counter count)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        count(std::move(count)) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](GemmOp gemm) {
          return absorbOperands(gemm,
                                {&gemm.getLhsMutable(), &gemm.getRhsMutable()},
                                rewriter, count);
        })
        .Case([&](Conv2DOp conv) {
          return absorbOperands(
              conv, {&conv.getImageMutable(), &conv.getFilterMutable()},
              rewriter, count);
        })
        .Case([&](Conv2DDGradOp grad) {
          return absorbOperands(
              grad, {&grad.getGradientMutable(), &grad.getFilterMutable()},
              rewriter, count);
        })
        .Case([&](Conv2DWGradOp grad) {
          return absorbOperands(
              grad, {&grad.getImageMutable(), &grad.getGradientMutable()},
              rewriter, count);
        })
        .Case([&](AttentionOp attention) {
          return absorbOperands(attention,
                                {&attention.getQueryMutable(),
                                 &attention.getKeyMutable(),
                                 &attention.getValueMutable()},
                                rewriter, count);
        })
        .Case<AttentionQGradOp, AttentionKVGradOp>([&](auto grad) {
          return absorbOperands(grad,
                                {&grad.getQueryMutable(), &grad.getKeyMutable(),
                                 &grad.getValueMutable(),
                                 &grad.getGradientMutable()},
                                rewriter, count);
        })
        .Case<SoftmaxOp, BatchNormOp, LayerNormOp, RMSNormOp>(
            [&](auto norm) -> LogicalResult {
              // What a prologue reads is of its type.
              auto row = dyn_cast<RowOpInterface>(norm.getOperation());
              if (row && hasPrologue(row))
                return failure();
              return absorbOperands(norm, {&norm.getInputMutable()}, rewriter,
                                    count);
            })
        .Default([](Operation *) { return failure(); });
  }

private:
  Counter count;
};

/// Extra operands: the conversion moves into the epilogue.
struct AbsorbExtra
    : public Counting<OpInterfaceRewritePattern<EpilogueOpInterface>> {
  using Counting::Counting;

  LogicalResult matchAndRewrite(EpilogueOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (!isUndecided(op) || !hasEpilogue(op))
      return failure();
    for (unsigned index = 0, e = op.getExtras().size(); index < e; ++index) {
      std::optional<Conversion> widening = matchWidening(op.getExtras()[index]);
      if (!widening)
        continue;
      Block &block = op.getEpilogue().front();
      BlockArgument argument = block.getArgument(index + 1);
      rewriter.setInsertionPointToStart(&block);
      rewriter.modifyOpInPlace(op, [&] {
        op.getExtrasMutable()[index].set(widening->source);
        Type wide = argument.getType();
        argument.setType(getElementTypeOrSelf(widening->source.getType()));
        OperationState state(widening->conversion->getLoc(),
                             widening->conversion->getName(),
                             ValueRange(argument), TypeRange(wide),
                             widening->conversion->getAttrs());
        Operation *converted = rewriter.create(state);
        argument.replaceAllUsesExcept(converted->getResult(0), converted);
      });
      count(1);
      return success();
    }
    return failure();
  }
};

/// A narrowing of the result: the epilogue stores the narrow value.
struct AbsorbResult
    : public Counting<OpInterfaceRewritePattern<EpilogueOpInterface>> {
  using Counting::Counting;

  LogicalResult matchAndRewrite(EpilogueOpInterface op,
                                PatternRewriter &rewriter) const override {
    Value result = op.getEpilogueResult();
    if (!isUndecided(op) || hasFinish(op) || !result.hasOneUse())
      return failure();
    Operation *consumer = *result.user_begin();
    if (consumer->getBlock() != op->getBlock() || !canMoveTo(op, consumer))
      return failure();
    std::optional<Conversion> narrowing = matchSingleOperation(consumer);
    if (!narrowing || narrowing->source != result ||
        !isa<arith::TruncFOp, arith::TruncIOp>(narrowing->conversion))
      return failure();
    Operation *conversion = narrowing->conversion;

    rewriter.moveOpBefore(op, consumer);
    EpilogueEditor editor(rewriter, op);
    OperationState state(
        conversion->getLoc(), conversion->getName(),
        ValueRange(editor.getStored()),
        TypeRange(getElementTypeOrSelf(consumer->getResult(0).getType())),
        conversion->getAttrs());
    Value stored = editor.getBuilder().create(state)->getResult(0);
    Value init;
    if (linalg::LinalgOp linalgOp = dyn_cast<linalg::LinalgOp>(consumer))
      init = linalgOp.getDpsInitOperand(0)->get();
    editor.finish(stored, init, consumer);
    count(1);
    return success();
  }
};

/// extf(truncf(x)) inside an epilogue, back to the type of x.
struct ElideRounding : public Counting<OpRewritePattern<arith::ExtFOp>> {
  using Counting::Counting;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    arith::TruncFOp narrowing = op.getIn().getDefiningOp<arith::TruncFOp>();
    if (!narrowing || narrowing.getIn().getType() != op.getType() ||
        !isa<EpilogueOpInterface>(op->getParentOp()))
      return failure();
    rewriter.replaceOp(op, narrowing.getIn());
    count(1);
    return success();
  }
};

struct PropagateCastsPass
    : public mlir::tracea::impl::PropagateCastsBase<PropagateCastsPass> {
  using PropagateCastsBase::PropagateCastsBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    Counter countOperands = [this](unsigned n) { numOperands += n; };
    patterns.add<AbsorbOperands, AbsorbExtra>(context, countOperands);
    patterns.add<AbsorbResult>(context,
                               [this](unsigned n) { numResults += n; });
    if (elideRoundings)
      patterns.add<ElideRounding>(context,
                                  [this](unsigned n) { numRoundings += n; });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
