//===- ExpandFunctions.cpp - Functions that are simple arithmetic ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What has several results, or is a comparison, is written out while types are
// still those of the module: a number of f16 that is not normal is a normal one
// of f32.

#include "tracea/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_EXPANDFUNCTIONS
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;

static Value splat(ImplicitLocOpBuilder &b, Type type, const APFloat &value) {
  TypedAttr attribute = b.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attribute = DenseElementsAttr::get(shaped, Attribute(attribute));
  return arith::ConstantOp::create(b, attribute);
}

static const llvm::fltSemantics &getFormat(Type type) {
  return cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics();
}

static LogicalResult expandSinCos(math::SincosOp op,
                                  PatternRewriter &rewriter) {
  Value sine = math::SinOp::create(rewriter, op.getLoc(), op.getOperand(),
                                   op.getFastmath());
  Value cosine = math::CosOp::create(rewriter, op.getLoc(), op.getOperand(),
                                     op.getFastmath());
  rewriter.replaceOp(op, {sine, cosine});
  return success();
}

/// |x| is infinity.
static LogicalResult expandIsInf(math::IsInfOp op, PatternRewriter &rewriter) {
  if (!APFloat::semanticsHasInf(getFormat(op.getOperand().getType())))
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  Type type = op.getOperand().getType();
  rewriter.replaceOpWithNewOp<arith::CmpFOp>(
      op, arith::CmpFPredicate::OEQ, math::AbsFOp::create(b, op.getOperand()),
      splat(b, type, APFloat::getInf(getFormat(type))));
  return success();
}

/// |x| lies from the least normal number to the largest one.
static LogicalResult expandIsNormal(math::IsNormalOp op,
                                    PatternRewriter &rewriter) {
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  Type type = op.getOperand().getType();
  const llvm::fltSemantics &format = getFormat(type);
  Value magnitude = math::AbsFOp::create(b, op.getOperand());
  rewriter.replaceOpWithNewOp<arith::AndIOp>(
      op,
      arith::CmpFOp::create(
          b, arith::CmpFPredicate::OGE, magnitude,
          splat(b, type, APFloat::getSmallestNormalized(format))),
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, magnitude,
                            splat(b, type, APFloat::getLargest(format))));
  return success();
}

/// A product of twice as many bits, cut in two.
template <typename ProductOp, typename ExtendOp, typename ShiftOp>
static LogicalResult expandProduct(ProductOp op, PatternRewriter &rewriter) {
  constexpr unsigned kWidest = 32;
  Type narrow = op.getLhs().getType();
  unsigned bits = getElementTypeOrSelf(narrow).getIntOrFloatBitWidth();
  if (bits > kWidest)
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  Type element = b.getIntegerType(2 * bits), wide = element;
  if (auto shaped = dyn_cast<ShapedType>(narrow))
    wide = shaped.clone(element);
  Value product =
      arith::MulIOp::create(b, ExtendOp::create(b, wide, op.getLhs()),
                            ExtendOp::create(b, wide, op.getRhs()));
  TypedAttr shift = b.getIntegerAttr(element, bits);
  if (auto shaped = dyn_cast<ShapedType>(wide))
    shift = DenseElementsAttr::get(shaped, Attribute(shift));
  Value high = ShiftOp::create(b, product, arith::ConstantOp::create(b, shift));
  rewriter.replaceOp(op, {arith::TruncIOp::create(b, narrow, product),
                          arith::TruncIOp::create(b, narrow, high)});
  return success();
}

namespace {
struct ExpandFunctions
    : public mlir::tracea::impl::ExpandFunctionsBase<ExpandFunctions> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<math::SincosOp, math::IsInfOp, math::IsNormalOp, math::ClampFOp,
              arith::MulUIExtendedOp, arith::MulSIExtendedOp>(op))
        ops.push_back(op);
    });
    if (ops.empty())
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add(expandSinCos);
    patterns.add(expandIsInf);
    patterns.add(expandIsNormal);
    patterns.add(
        expandProduct<arith::MulUIExtendedOp, arith::ExtUIOp, arith::ShRUIOp>);
    patterns.add(
        expandProduct<arith::MulSIExtendedOp, arith::ExtSIOp, arith::ShRSIOp>);
    math::populateExpansionPatterns(patterns, {"clampf"});
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingOps);
    if (failed(applyOpPatternsGreedily(ops, std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
