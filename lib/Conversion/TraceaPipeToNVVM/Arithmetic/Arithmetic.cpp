//===- Arithmetic.cpp - Functions that the target computes ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arithmetic/Arithmetic.h"
#include "Arithmetic/StoredDigits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tracea/Conversion/MathExpansion/MathExpansion.h"
#include "tracea/Conversion/TraceaPipeToGPU/ElementOrder.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
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
/// The unit's exponential: e^x is 2^(x · log2 e). The rounding of that product
/// grows with x, to 60 units in the last place of f32; where results have its
/// digits, what the product lacks is a factor of its own.
struct LowerExp : OpRewritePattern<math::ExpOp> {
  LowerExp(MLIRContext *context, bool compensate)
      : OpRewritePattern(context), compensate(compensate) {}

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSingle(op.getType()))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type type = op.getType();
    Value x = op.getOperand();
    Value log2e = splat(b, type, llvm::numbers::log2e);
    Value scaled = arith::MulFOp::create(b, x, log2e);
    Value power = math::Exp2Op::create(
        b, scaled, op.getFastmath() | arith::FastMathFlags::afn);
    if (!compensate) {
      rewriter.replaceOp(op, power);
      return success();
    }
    constexpr double low =
        llvm::numbers::log2e - static_cast<float>(llvm::numbers::log2e);
    Value rest =
        math::FmaOp::create(b, x, log2e, arith::NegFOp::create(b, scaled));
    rest = math::FmaOp::create(b, x, splat(b, type, low), rest);
    Value one = splat(b, type, 1);
    Value factor =
        math::FmaOp::create(b, rest, splat(b, type, llvm::numbers::ln2), one);
    // An infinite argument has no rest.
    Value isModerate =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OLT,
                              math::AbsFOp::create(b, x), splat(b, type, 200));
    factor = arith::SelectOp::create(b, isModerate, factor, one);
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, power, factor);
    return success();
  }

private:
  bool compensate;
};

/// Makes one approximate instruction of a function whose fast-math flag allows
/// it.
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

/// An instruction in place of comparisons with NaN. Bounds that are constants
/// are compared: they are no NaN, and what epilogues clamp was measured so.
template <typename OpTy, typename IntrinsicOp>
struct LowerExtremum : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    auto vector = dyn_cast<VectorType>(op.getType());
    Type element = getElementTypeOrSelf(op.getType());
    // [PTX] max, min: of halves since sm_80 as well, two at a time.
    if (!(element.isF32() || element.isF16() || element.isBF16()) ||
        (vector && vector.getRank() != 1) ||
        matchPattern(op.getLhs(), m_Constant()) ||
        matchPattern(op.getRhs(), m_Constant()))
      return failure();
    rewriter.replaceOpWithNewOp<IntrinsicOp>(op, op.getLhs(), op.getRhs());
    return success();
  }
};

/// 1 / (1 + e^-y), as numerator of a division: x · (tanh(y / 2) + 1) / 2.
struct LowerLogistic : OpRewritePattern<arith::DivFOp> {
  // Before the exponential is another function.
  LowerLogistic(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}

  /// y of 1 + e^-y; null for anything else.
  static Value match(Value denominator) {
    auto add = denominator.getDefiningOp<arith::AddFOp>();
    if (!add)
      return {};
    for (auto [x, y] : {std::pair(add.getLhs(), add.getRhs()),
                        std::pair(add.getRhs(), add.getLhs())}) {
      auto exp = y.getDefiningOp<math::ExpOp>();
      auto negated =
          exp ? exp.getOperand().getDefiningOp<arith::NegFOp>() : nullptr;
      if (negated && (matchPattern(x, m_OneFloat())))
        return negated.getOperand();
    }
    return {};
  }

  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    Value y = match(op.getRhs());
    if (!y || !isSingle(op.getType()))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value half = splat(b, op.getType(), 0.5);
    Value tanh =
        math::TanhOp::create(b, arith::MulFOp::create(b, y, half),
                             op.getFastmath() | arith::FastMathFlags::afn);
    Value logistic =
        arith::AddFOp::create(b, arith::MulFOp::create(b, tanh, half), half);
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, op.getLhs(), logistic,
                                               op.getFastmath());
    return success();
  }
};

/// erf z is tanh P(z) on [-4, 4], beyond which it is 1 to the last bit that
/// matters. P is odd; its coefficients make the largest absolute error of
/// tanh P(z) least, 3.7e-5.
struct LowerErf : OpRewritePattern<math::ErfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ErfOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSingle(op.getType()))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type type = op.getType();
    Value z = arith::MinimumFOp::create(b, op.getOperand(), splat(b, type, 4));
    z = arith::MaximumFOp::create(b, z, splat(b, type, -4));
    Value square = arith::MulFOp::create(b, z, z);
    Value p = splat(b, type, -0.00178651);
    for (double coefficient : {0.10408126, 1.12814335})
      p = math::FmaOp::create(b, p, square, splat(b, type, coefficient));
    rewriter.replaceOpWithNewOp<math::TanhOp>(
        op, arith::MulFOp::create(b, p, z),
        op.getFastmath() | arith::FastMathFlags::afn);
    return success();
  }
};

/// erf z from the unit's exponential and reciprocal (Abramowitz and Stegun,
/// 7.1.26): |erf z| is 1 - t · P(t) · e^-z² with t = 1 / (1 + 0.3275911 |z|),
/// to an absolute 4e-7. Near zero, where that is much of the result, its
/// series. Relative to the result the whole is exact to 1.4e-6, far below
/// f16's 2.4e-4.
struct LowerErfByExp : OpRewritePattern<math::ErfOp> {
  using OpRewritePattern::OpRewritePattern;

  static Value nearZero(ImplicitLocOpBuilder &b, Value z, Value square) {
    Type type = z.getType();
    constexpr double slope = 2 * llvm::numbers::inv_sqrtpi;
    Value p = splat(b, type, -slope / 42);
    for (double coefficient : {slope / 10, -slope / 3, slope})
      p = math::FmaOp::create(b, p, square, splat(b, type, coefficient));
    return arith::MulFOp::create(b, p, z);
  }

  static Value elsewhere(ImplicitLocOpBuilder &b, Value z, Value square) {
    Type type = z.getType();
    auto approximate = arith::FastMathFlags::afn;
    Value one = splat(b, type, 1);
    Value t = arith::DivFOp::create(
        b, one,
        math::FmaOp::create(b, math::AbsFOp::create(b, z),
                            splat(b, type, 0.3275911), one),
        approximate);
    Value p = splat(b, type, 1.061405429);
    for (double coefficient :
         {-1.453152027, 1.421413741, -0.284496736, 0.254829592})
      p = math::FmaOp::create(b, p, t, splat(b, type, coefficient));
    Value exponential = math::Exp2Op::create(
        b,
        arith::MulFOp::create(b, square, splat(b, type, -llvm::numbers::log2e)),
        approximate);
    Value rest =
        arith::MulFOp::create(b, arith::MulFOp::create(b, p, t), exponential);
    return math::CopySignOp::create(b, arith::SubFOp::create(b, one, rest), z);
  }

  LogicalResult matchAndRewrite(math::ErfOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSingle(op.getType()))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value z = op.getOperand();
    Value square = arith::MulFOp::create(b, z, z);
    constexpr double nearest = 0.25;
    Value isNear = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT,
                                         math::AbsFOp::create(b, z),
                                         splat(b, op.getType(), nearest));
    rewriter.replaceOpWithNewOp<arith::SelectOp>(
        op, isNear, nearZero(b, z, square), elsewhere(b, z, square));
    return success();
  }
};
} // namespace

/// What is arithmetic on this target: neither an instruction of it nor one of
/// the functions above.
static bool isExpanded(Operation *op) {
  return !isSingle(op->getResult(0).getType()) ||
         !isa<math::ExpOp, math::Exp2Op, math::ErfOp, math::TanhOp>(op);
}

/// Powers of which those that are no normal numbers may be zero: one
/// instruction in place of four.
static void lowerFlushedPowers(Operation *function) {
  SmallVector<math::Exp2Op> powers;
  function->walk([&](math::Exp2Op op) {
    if (op->hasAttr(kFlushesAttrName) && isSingle(op.getType()))
      powers.push_back(op);
  });
  for (math::Exp2Op op : powers) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    auto call = [&](Value x) -> Value {
      return LLVM::InlineAsmOp::create(
                 b, TypeRange(b.getF32Type()), x, "ex2.approx.ftz.f32 $0, $1;",
                 "=f,f", /*has_side_effects=*/false, /*is_align_stack=*/false,
                 LLVM::tailcallkind::TailCallKind::None,
                 LLVM::AsmDialectAttr::get(b.getContext(),
                                           LLVM::AsmDialect::AD_ATT),
                 /*operand_attrs=*/ArrayAttr())
          .getResult(0);
    };
    Value result;
    if (auto type = dyn_cast<VectorType>(op.getType())) {
      SmallVector<Value> elements;
      for (int64_t i = 0; i < type.getNumElements(); ++i)
        elements.push_back(
            call(vector::ExtractOp::create(b, op.getOperand(), i)));
      result = vector::FromElementsOp::create(b, type, elements);
    } else {
      result = call(op.getOperand());
    }
    op.replaceAllUsesWith(result);
    op.erase();
  }
}

/// Digits of f16 and bf16.
constexpr unsigned kHalfDigits = 11, kBrainDigits = 8;

/// Divisions and roots of which halves are stored, whatever else the kernel
/// stores.
static void approximateHalves(Operation *function) {
  StoredDigits digits;
  function->walk([&](arith::ArithFastMathInterface op) {
    if (isa<arith::DivFOp, math::SqrtOp, math::RsqrtOp>(op) &&
        isSingle(op->getResult(0).getType()) &&
        digits.of(op->getResult(0)) <= kHalfDigits)
      op->setAttr(op.getFastMathAttrName(),
                  arith::FastMathFlagsAttr::get(
                      op.getContext(), op.getFastMathFlagsAttr().getValue() |
                                           arith::FastMathFlags::afn));
  });
}

LogicalResult mlir::tracea_pipe::lowerArithmetic(
    Operation *function, unsigned digits, ArithmeticUnits units,
    const ::tracea::target::TargetDescription &facts) {
  MLIRContext *context = function->getContext();
  // Before bytes are converted by other means.
  approximateHalves(function);
  auto config =
      GreedyRewriteConfig().enableFolding(false).enableConstantCSE(false);
  if (failed(widenByteFloats(function)))
    return failure();
  // Functions of halves are computed in f32: the target has none of them.
  SmallVector<Operation *> halves;
  function->walk([&](Operation *op) {
    if (isa<math::MathDialect>(op->getDialect()) &&
        isa<Float16Type, BFloat16Type>(getElementTypeOrSelf(op->getResult(0))))
      halves.push_back(op);
  });
  RewritePatternSet widening(context);
  populateMathF32ExpansionPatterns(widening, [](StringRef) { return true; });
  auto strict = config;
  strict.setStrictness(GreedyRewriteStrictness::ExistingOps);
  if (failed(applyOpPatternsGreedily(halves, std::move(widening), strict)))
    return failure();
  // What is a tangent must be one before the others change.
  bool hasTangent = units.tangent && digits <= kBrainDigits;
  if (hasTangent) {
    RewritePatternSet tangents(context);
    tangents.add<LowerLogistic, LowerErf, Approximate<math::TanhOp>>(context);
    if (failed(applyPatternsGreedily(function, std::move(tangents), config)))
      return failure();
  }
  RewritePatternSet patterns(context);
  populateByteFloatPatterns(patterns, facts);
  if (units.extrema)
    patterns.add<LowerExtremum<arith::MaximumFOp, LLVM::MaximumOp>,
                 LowerExtremum<arith::MinimumFOp, LLVM::MinimumOp>>(context);
  patterns.add<LowerExp>(context, /*compensate=*/digits > kHalfDigits);
  populatePowerPatterns(patterns);
  patterns.add<Approximate<math::Exp2Op>>(context);
  if (digits <= kHalfDigits)
    patterns.add<Approximate<arith::DivFOp>, Approximate<math::SqrtOp>,
                 Approximate<math::RsqrtOp>, LowerErfByExp>(context);
  else
    populatePolynomialApproximateErfPattern(patterns);
  if (!hasTangent)
    populatePolynomialApproximateTanhPattern(patterns);
  tracea::populateMathExpansionPatterns(patterns, isExpanded);
  if (failed(applyPatternsGreedily(function, std::move(patterns), config)))
    return failure();
  orderElements(function);
  lowerFlushedPowers(function);
  return verifyByteFloats(function);
}
