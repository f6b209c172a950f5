//===- ByteFloats.cpp - Conversions of 8-bit floats as arithmetic ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processors and older GPUs have no instructions for floats of 8 bits, and LLVM
// has no types. Conversions are computed on the patterns: a wider format
// differs in where the exponent begins and what is added to it.
//
//===----------------------------------------------------------------------===//

#include "FloatEmitter.h"
#include "tracea/Conversion/MathExpansion/MathExpansion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using mlir::tracea::isByteFloat;
using mlir::tracea::splat;

bool mlir::tracea::isByteFloat(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(getElementTypeOrSelf(type));
}

/// `element` in the shape of `like`.
static Type withElement(Type like, Type element) {
  if (auto shaped = dyn_cast<ShapedType>(like))
    return shaped.clone(element);
  return element;
}

static Value integer(ImplicitLocOpBuilder &b, Type type, uint64_t value) {
  auto element = cast<IntegerType>(getElementTypeOrSelf(type));
  return splat(b, type,
               IntegerAttr::get(element, APInt(element.getWidth(), value)));
}

namespace {
/// A format of 8 bits beside the wider one that it is converted from or to.
struct Formats {
  Formats(Type narrow, Type wide)
      : isFinite(isa<Float8E4M3FNType>(narrow)),
        bits(wide.getIntOrFloatBitWidth()),
        wideFraction(cast<FloatType>(wide).getFPMantissaWidth() - 1),
        wideBias(wide.isF64() ? 1023 : 127) {}

  /// The format has no infinities.
  bool isFinite;
  unsigned bits, wideFraction;
  int wideBias;
  unsigned fraction() const { return isFinite ? 3 : 2; }
  int bias() const { return isFinite ? 7 : 15; }
  /// The pattern of the largest finite number; the next one is the infinity,
  /// or NaN.
  uint64_t largest() const { return isFinite ? 0x7e : 0x7b; }
  unsigned shift() const { return wideFraction - fraction(); }
  /// The wider format's pattern of 2^exponent.
  uint64_t power(int exponent) const {
    return static_cast<uint64_t>(exponent + wideBias) << wideFraction;
  }
};

struct ExpandExtend : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isByteFloat(op.getIn().getType()))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type single = withElement(op.getType(), b.getF32Type());
    Type word = withElement(op.getType(), b.getI32Type());
    Formats formats(getElementTypeOrSelf(op.getIn().getType()), b.getF32Type());
    Value bits = arith::BitcastOp::create(
        b, withElement(op.getType(), b.getI8Type()), op.getIn());
    bits = arith::ExtUIOp::create(b, word, bits);
    Value magnitude = arith::AndIOp::create(b, bits, integer(b, word, 0x7f));
    Value sign = arith::ShLIOp::create(
        b, arith::AndIOp::create(b, bits, integer(b, word, 0x80)),
        integer(b, word, 24));
    // As if exponents began where they do in the wider format; the product puts
    // them right, also of what is subnormal.
    Value moved =
        arith::ShLIOp::create(b, magnitude, integer(b, word, formats.shift()));
    Value scale = splat(
        b, single,
        FloatAttr::get(b.getF32Type(),
                       std::ldexp(1.0, formats.wideBias - formats.bias())));
    Value scaled = arith::BitcastOp::create(
        b, word,
        arith::MulFOp::create(b, arith::BitcastOp::create(b, single, moved),
                              scale));
    // Patterns past the largest one are infinite or NaN.
    Value isLarge =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, magnitude,
                              integer(b, word, formats.largest()));
    Value special =
        arith::OrIOp::create(b, moved, integer(b, word, 0x7f800000));
    Value chosen = arith::SelectOp::create(b, isLarge, special, scaled);
    Value result = arith::BitcastOp::create(
        b, single, arith::OrIOp::create(b, chosen, sign));
    // Every number of either format is one of the wider ones.
    Type element = getElementTypeOrSelf(op.getType());
    if (element.isF64())
      result = arith::ExtFOp::create(b, op.getType(), result);
    else if (!element.isF32())
      result = arith::TruncFOp::create(b, op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ExpandTruncate : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    auto rounding = op.getRoundingmode();
    if (!isByteFloat(op.getType()) ||
        (rounding && *rounding != arith::RoundingMode::to_nearest_even))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value in = op.getIn();
    Type wide = getElementTypeOrSelf(in.getType());
    if (!wide.isF64() && !wide.isF32()) {
      wide = b.getF32Type();
      in = arith::ExtFOp::create(b, withElement(in.getType(), wide), in);
    }
    Formats formats(getElementTypeOrSelf(op.getType()), wide);
    Type word = withElement(in.getType(), b.getIntegerType(formats.bits));
    auto constant = [&](uint64_t value) { return integer(b, word, value); };
    Value bits = arith::BitcastOp::create(b, word, in);
    Value sign = arith::AndIOp::create(
        b, arith::ShRUIOp::create(b, bits, constant(formats.bits - 8)),
        constant(0x80));
    Value magnitude = arith::AndIOp::create(
        b, bits, constant(~uint64_t(0) >> (65 - formats.bits)));
    // Normal numbers: half a unit is added, less one where the unit is even.
    int least = 1 - formats.bias();
    Value rebased = arith::SubIOp::create(
        b, magnitude,
        constant(uint64_t(formats.wideBias - formats.bias())
                 << formats.wideFraction));
    Value shift = constant(formats.shift());
    Value odd = arith::AndIOp::create(
        b, arith::ShRUIOp::create(b, rebased, shift), constant(1));
    Value rounded = arith::AddIOp::create(
        b, rebased, constant((uint64_t(1) << (formats.shift() - 1)) - 1));
    rounded = arith::ShRUIOp::create(b, arith::AddIOp::create(b, rounded, odd),
                                     shift);
    rounded =
        arith::MinUIOp::create(b, rounded, constant(formats.largest() + 1));
    // Subnormal ones: the last place of the sum is theirs.
    Value unit =
        constant(formats.power(least + static_cast<int>(formats.shift())));
    Value sum = arith::AddFOp::create(
        b, arith::BitcastOp::create(b, in.getType(), magnitude),
        arith::BitcastOp::create(b, in.getType(), unit));
    Value small =
        arith::SubIOp::create(b, arith::BitcastOp::create(b, word, sum), unit);
    Value isSmall =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, magnitude,
                              constant(formats.power(least)));
    Value isNaN =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, magnitude,
                              constant(formats.power(formats.wideBias + 1)));
    Value result = arith::SelectOp::create(b, isSmall, small, rounded);
    result = arith::SelectOp::create(b, isNaN, constant(0x7f), result);
    result = arith::OrIOp::create(b, result, sign);
    result = arith::TruncIOp::create(
        b, withElement(op.getType(), b.getI8Type()), result);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), result);
    return success();
  }
};
} // namespace

void mlir::tracea::populateByteFloatExpansionPatterns(
    RewritePatternSet &patterns) {
  patterns.add<ExpandExtend, ExpandTruncate>(patterns.getContext());
}
