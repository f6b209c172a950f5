//===- Arithmetic.cpp - Functions that the target computes ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

static bool isSingle(Type type) { return getElementTypeOrSelf(type).isF32(); }

static Value splat(ImplicitLocOpBuilder &b, Type type, double value) {
  TypedAttr attribute = b.getF32FloatAttr(static_cast<float>(value));
  if (auto shaped = dyn_cast<ShapedType>(type))
    attribute = DenseElementsAttr::get(shaped, Attribute(attribute));
  return arith::ConstantOp::create(b, attribute);
}

namespace {
/// The unit's exponential: e^x is 2^(x · log2 e).
struct LowerExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSingle(op.getType()))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value scaled = arith::MulFOp::create(
        b, op.getOperand(), splat(b, op.getType(), llvm::numbers::log2e));
    rewriter.replaceOpWithNewOp<math::Exp2Op>(
        op, scaled, op.getFastmath() | arith::FastMathFlags::afn);
    return success();
  }
};

/// One instruction where the flag lets it be.
template <typename OpTy>
struct Approximate : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    auto flags = op.getFastmath() | arith::FastMathFlags::afn;
    if (!isSingle(op.getType()) || flags == op.getFastmath())
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.setFastmath(flags); });
    return success();
  }
};
} // namespace

LogicalResult mlir::tracea_pipe::lowerArithmetic(Operation *function,
                                                 bool approximate) {
  RewritePatternSet patterns(function->getContext());
  patterns.add<LowerExp, Approximate<math::Exp2Op>>(patterns.getContext());
  if (approximate)
    patterns.add<Approximate<arith::DivFOp>, Approximate<math::SqrtOp>,
                 Approximate<math::RsqrtOp>>(patterns.getContext());
  populatePolynomialApproximateErfPattern(patterns);
  populatePolynomialApproximateTanhPattern(patterns);
  return applyPatternsGreedily(
      function, std::move(patterns),
      GreedyRewriteConfig().enableFolding(false).enableConstantCSE(false));
}
