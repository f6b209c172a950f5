//===- ByteFloats.cpp - Conversions of 8-bit floats -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One instruction converts two elements. The one that narrows saturates: what
// it should make an infinity, or NaN where the format has no infinities, it
// makes the largest finite number. The pattern after that one is the infinity
// or the NaN, in both formats, so that one is added where the operand was too
// large. An operand that is known to be in range keeps what it got.

#include "Arithmetic/Arithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tracea/Conversion/MathExpansion/MathExpansion.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
using mlir::tracea::isByteFloat;

Type mlir::tracea_pipe::withElement(Type like, Type element) {
  if (auto shaped = dyn_cast<ShapedType>(like))
    return shaped.clone(element);
  return element;
}

/// The first magnitude that rounds beyond the largest finite number: halfway to
/// the next one, where ties go to even. That of E4M3FN is even.
static float getLeastOverflow(Type element) {
  return isa<Float8E4M3FNType>(element) ? std::nextafter(464.0f, 1000.0f)
                                        : 61440.0f;
}

/// Whether |value| is known to stay below `limit`: it was clamped to constants.
static bool isBelow(Value value, float limit) {
  bool above = false, below = false;
  auto isBound = [&](Value bound) {
    APFloat number(0.0);
    return (matchPattern(bound, m_ConstantFloat(&number))) &&
           std::fabs(number.convertToDouble()) < limit;
  };
  for (int depth = 0; depth < 2; ++depth) {
    Operation *op = value.getDefiningOp();
    if (!op)
      break;
    bool isMin = isa<arith::MinimumFOp, arith::MinNumFOp>(op);
    bool isMax = isa<arith::MaximumFOp, arith::MaxNumFOp>(op);
    if (!isMin && !isMax)
      break;
    bool isRight = isBound(op->getOperand(1));
    if (!isRight && !isBound(op->getOperand(0)))
      break;
    (isMin ? below : above) = true;
    value = op->getOperand(isRight ? 0 : 1);
  }
  return above && below;
}

/// The elements of a vector of one dimension, or a scalar.
static SmallVector<Value> getScalars(ImplicitLocOpBuilder &b, Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return {value};
  SmallVector<Value> scalars;
  for (int64_t i = 0; i < vector.getNumElements(); ++i)
    scalars.push_back(vector::ExtractOp::create(b, value, i));
  return scalars;
}

/// A conversion of vectors of one dimension or scalars.
static bool isFlat(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return !vector || (vector.getRank() == 1 && !vector.isScalable());
}

namespace {
struct LowerTruncate : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  /// One where an element of `values` is too large for the format.
  Value getExcess(ImplicitLocOpBuilder &b, Value value, float limit,
                  int64_t one) const {
    Value magnitude = math::AbsFOp::create(b, value);
    Value large = arith::CmpFOp::create(
        b, arith::CmpFPredicate::OGE, magnitude,
        arith::ConstantOp::create(b, b.getF32FloatAttr(limit)));
    Value some = arith::ConstantOp::create(b, b.getI16IntegerAttr(one));
    Value none = arith::ConstantOp::create(b, b.getI16IntegerAttr(0));
    return arith::SelectOp::create(b, large, some, none);
  }

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isByteFloat(op.getType()) || !isFlat(op.getType()))
      return failure();
    auto rounding = op.getRoundingmode();
    if (rounding && *rounding != arith::RoundingMode::to_nearest_even)
      return rewriter.notifyMatchFailure(op, "another rounding mode");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type element = getElementTypeOrSelf(op.getType());
    Type from = getElementTypeOrSelf(op.getIn().getType());
    // Halves widen exactly; doubles would be rounded twice.
    if (!from.isF32() && !from.isF16() && !from.isBF16())
      return failure();
    Value in = op.getIn();
    float limit = getLeastOverflow(element);
    bool isClamped = isBelow(in, limit);
    if (!from.isF32())
      in = arith::ExtFOp::create(b, withElement(in.getType(), b.getF32Type()),
                                 in);
    SmallVector<Value> elements = getScalars(b, in);
    size_t count = elements.size();
    if (count % 2)
      elements.push_back(elements.back());
    SmallVector<Value> words;
    for (size_t i = 0; i < elements.size(); i += 2) {
      Value word = NVVM::ConvertF32x2ToF8x2Op::create(
          b, b.getI16Type(), elements[i + 1], elements[i],
          NVVM::FPRoundingMode::RN, NVVM::SaturationMode::SATFINITE,
          /*relu=*/false, element);
      if (!isClamped)
        for (int64_t part : {0, 1})
          word = arith::AddIOp::create(
              b, word,
              getExcess(b, elements[i + static_cast<size_t>(part)], limit,
                        part ? 0x100 : 1));
      words.push_back(word);
    }
    auto size = static_cast<int64_t>(words.size());
    Value packed = vector::FromElementsOp::create(
        b, VectorType::get(size, b.getI16Type()), words);
    Value all = vector::BitCastOp::create(b, VectorType::get(2 * size, element),
                                          packed);
    if (!isa<VectorType>(op.getType())) {
      rewriter.replaceOpWithNewOp<vector::ExtractOp>(op, all, 0);
      return success();
    }
    if (count % 2)
      all = vector::ShuffleOp::create(
          b, all, all,
          llvm::to_vector(llvm::seq<int64_t>(static_cast<int64_t>(count))));
    rewriter.replaceOp(op, all);
    return success();
  }
};

struct LowerExtend : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isByteFloat(op.getIn().getType()) || !isFlat(op.getType()))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type element = getElementTypeOrSelf(op.getIn().getType());
    auto pair = VectorType::get(2, element);
    auto bytes = VectorType::get(2, b.getI8Type());
    auto halves = VectorType::get(2, b.getF16Type());
    SmallVector<Value> elements = getScalars(b, op.getIn());
    size_t count = elements.size();
    if (count % 2)
      elements.push_back(elements.back());
    SmallVector<Value> wide;
    for (size_t i = 0; i < elements.size(); i += 2) {
      Value both = vector::FromElementsOp::create(
          b, pair, ValueRange{elements[i], elements[i + 1]});
      both = vector::BitCastOp::create(b, bytes, both);
      both = NVVM::ConvertF8x2ToF16x2Op::create(b, halves, both,
                                                /*relu=*/false, element);
      wide.push_back(vector::ExtractOp::create(b, both, 0));
      wide.push_back(vector::ExtractOp::create(b, both, 1));
    }
    wide.resize(count);
    Value all = wide.front();
    if (auto vector = dyn_cast<VectorType>(op.getType()))
      all =
          vector::FromElementsOp::create(b, vector.clone(b.getF16Type()), wide);
    // Every number of either format is one of f16 and of bf16.
    Type to = getElementTypeOrSelf(op.getType());
    if (to.isBF16()) {
      all = arith::ExtFOp::create(b, withElement(all.getType(), b.getF32Type()),
                                  all);
      all = arith::TruncFOp::create(b, op.getType(), all);
    } else if (!to.isF16()) {
      all = arith::ExtFOp::create(b, op.getType(), all);
    }
    rewriter.replaceOp(op, all);
    return success();
  }
};
} // namespace

/// The targets that multiply floats of 8 bits are those that convert them: both
/// came with sm_89 (PTX ISA, "cvt").
static bool hasConversions(const ::tracea::target::TargetDescription &facts) {
  using namespace ::tracea::target;
  return llvm::any_of(facts.units, [](const MatrixUnit &unit) {
    return llvm::any_of(unit.shapes, [](const MatrixShape &shape) {
      return shape.operand == ElementType::F8E4M3FN;
    });
  });
}

void mlir::tracea_pipe::populateByteFloatPatterns(
    RewritePatternSet &patterns,
    const ::tracea::target::TargetDescription &facts) {
  if (hasConversions(facts))
    patterns.add<LowerTruncate, LowerExtend>(patterns.getContext(),
                                             /*benefit=*/2);
  tracea::populateByteFloatExpansionPatterns(patterns);
}

LogicalResult mlir::tracea_pipe::widenByteFloats(Operation *function) {
  MLIRContext *context = function->getContext();
  TypeConverter converter;
  arith::populateEmulateUnsupportedFloatsConversions(
      converter, {Float8E4M3FNType::get(context), Float8E5M2Type::get(context)},
      Float32Type::get(context));
  ConversionTarget target(*context);
  arith::populateEmulateUnsupportedFloatsLegality(target, converter);
  RewritePatternSet patterns(context);
  arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
  return applyPartialConversion(function, target, std::move(patterns));
}

LogicalResult mlir::tracea_pipe::verifyByteFloats(Operation *function) {
  WalkResult result = function->walk([](Operation *op) {
    if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
        isa<arith::BitcastOp, arith::ConstantOp, arith::SelectOp>(op) ||
        (llvm::none_of(op->getOperandTypes(), isByteFloat) &&
         llvm::none_of(op->getResultTypes(), isByteFloat)))
      return WalkResult::advance();
    op->emitOpError() << "has no instruction on this target for "
                      << op->getOperandTypes() << " to " << op->getResultTypes()
                      << "; compute in f32, and convert with extf and truncf";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
