//===- Powers.cpp - Powers whose exponent is an integer -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small constant powers are products of squares. Others of floats are powers of
// f64; others of integers are products by the digits of the exponent, in
// straight code: loops are no part of a body of elements here.

#include "Arithmetic/Arithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Powers of floats up to this one are products, which are as exact as a
/// function and much faster.
static constexpr int64_t kMostFactors = 8;

static Value createConstant(ImplicitLocOpBuilder &b, Type type,
                            TypedAttr element) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    element = SplatElementsAttr::get(shaped, Attribute(element));
  return arith::ConstantOp::create(b, element);
}

/// The product of `factors` of `value`, at least one.
template <typename MulOp>
static Value multiply(ImplicitLocOpBuilder &b, Value value, uint64_t factors) {
  Value power;
  for (Value square = value; factors != 0; factors /= 2) {
    if (factors % 2)
      power = power ? Value(MulOp::create(b, power, square)) : square;
    if (factors > 1)
      square = MulOp::create(b, square, square);
  }
  return power;
}

namespace {
/// x^n of a float.
struct LowerFPowI : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FPowIOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    APInt exponent;
    bool isSmall = matchPattern(op.getRhs(), m_ConstantInt(&exponent)) &&
                   exponent.sge(-kMostFactors) && exponent.sle(kMostFactors);
    Value power = isSmall ? buildProduct(b, op, exponent.getSExtValue())
                          : buildFunction(b, op);
    if (power.getType() != op.getType())
      power = arith::TruncFOp::create(b, op.getType(), power);
    rewriter.replaceOp(op, power);
    return success();
  }

private:
  static Value extend(ImplicitLocOpBuilder &b, Value value, Type element) {
    Type wide = withElement(value.getType(), element);
    if (value.getType() == wide)
      return value;
    return arith::ExtFOp::create(b, wide, value);
  }

  static Value buildProduct(ImplicitLocOpBuilder &b, math::FPowIOp op,
                            int64_t exponent) {
    Value base = op.getLhs();
    if (getElementTypeOrSelf(base.getType()).getIntOrFloatBitWidth() < 32)
      base = extend(b, base, b.getF32Type());
    Type type = base.getType();
    TypedAttr unit = b.getFloatAttr(getElementTypeOrSelf(type), 1.0);
    if (exponent == 0)
      return createConstant(b, type, unit);
    Value power = multiply<arith::MulFOp>(b, base, std::abs(exponent));
    if (exponent > 0)
      return power;
    return arith::DivFOp::create(b, createConstant(b, type, unit), power);
  }

  /// Numbers of f64 hold every exponent of 32 bits. Of a larger one the digits
  /// that are lost matter to the sign alone.
  static Value buildFunction(ImplicitLocOpBuilder &b, math::FPowIOp op) {
    Value base = extend(b, op.getLhs(), b.getF64Type()), exponent = op.getRhs();
    if (getElementTypeOrSelf(exponent.getType()).isIndex())
      exponent = arith::IndexCastOp::create(
          b, withElement(exponent.getType(), b.getI64Type()), exponent);
    Value power = math::PowFOp::create(
        b, math::AbsFOp::create(b, base),
        arith::SIToFPOp::create(b, base.getType(), exponent));
    Value isOdd = arith::TruncIOp::create(
        b, withElement(exponent.getType(), b.getI1Type()), exponent);
    return arith::SelectOp::create(
        b, isOdd, math::CopySignOp::create(b, power, base), power);
  }
};

/// x^n of an integer, which wraps. A negative n gives a fraction, rounded to
/// zero: it is 1 over the power of 1 and -1, otherwise 0.
struct LowerIPowI : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::IPowIOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value base = op.getLhs(), exponent = op.getRhs();
    APInt known;
    if (matchPattern(exponent, m_ConstantInt(&known)) &&
        known.isStrictlyPositive()) {
      rewriter.replaceOp(
          op, multiply<arith::MulIOp>(b, base, known.getZExtValue()));
      return success();
    }
    Type type = op.getType(), element = getElementTypeOrSelf(type);
    auto number = [&](int64_t value) {
      return createConstant(b, type, b.getIntegerAttr(element, value));
    };
    auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
      return arith::CmpIOp::create(b, predicate, x, y);
    };
    Value zero = number(0), one = number(1), minusOne = number(-1);
    Value power = one, square = base;
    unsigned digits =
        (element.isIndex() ? 64 : element.getIntOrFloatBitWidth()) - 1;
    for (unsigned digit = 0; digit < digits; ++digit) {
      Value isSet = compare(
          arith::CmpIPredicate::ne, zero,
          arith::AndIOp::create(b, exponent, number(int64_t(1) << digit)));
      power = arith::SelectOp::create(
          b, isSet, arith::MulIOp::create(b, power, square), power);
      if (digit + 1 < digits)
        square = arith::MulIOp::create(b, square, square);
    }
    // The digits of -n and n agree in the lowest, which is the sign of a power
    // of -1.
    Value isUnit =
        arith::OrIOp::create(b, compare(arith::CmpIPredicate::eq, base, one),
                             compare(arith::CmpIPredicate::eq, base, minusOne));
    Value fraction = arith::SelectOp::create(b, isUnit, power, zero);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(
        op, compare(arith::CmpIPredicate::slt, exponent, zero), fraction,
        power);
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populatePowerPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerFPowI, LowerIPowI>(patterns.getContext());
}
