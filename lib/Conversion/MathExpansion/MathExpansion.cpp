//===- MathExpansion.cpp - Functions as arithmetic ------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Conversion/MathExpansion/MathExpansion.h"

#include "Functions.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"

using namespace mlir;
using namespace mlir::tracea;

namespace {
struct Unary {
  StringLiteral name;
  Real (*expand)(Real x);
};
struct Binary {
  StringLiteral name;
  Real (*expand)(Real x, Real y);
};
} // namespace

static constexpr Unary unaryFunctions[] = {
    {"math.acos", expandAcos},   {"math.acosh", expandAcosh},
    {"math.asin", expandAsin},   {"math.asinh", expandAsinh},
    {"math.atan", expandAtan},   {"math.atanh", expandAtanh},
    {"math.cbrt", expandCbrt},   {"math.cos", expandCos},
    {"math.cosh", expandCosh},   {"math.erf", expandErf},
    {"math.erfc", expandErfc},   {"math.exp", expandExp},
    {"math.exp2", expandExp2},   {"math.expm1", expandExpM1},
    {"math.log", expandLog},     {"math.log10", expandLog10},
    {"math.log1p", expandLog1p}, {"math.log2", expandLog2},
    {"math.sin", expandSin},     {"math.sinh", expandSinh},
    {"math.tan", expandTan},     {"math.tanh", expandTanh}};

/// Functions of f32 that are faster in f64 where that is fast.
static constexpr Unary wideFunctions[] = {{"math.cos", expandWideCos},
                                          {"math.sin", expandWideSin}};

static constexpr Binary binaryFunctions[] = {{"math.atan2", expandAtan2},
                                             {"math.powf", expandPow}};

template <typename T>
static const T *find(ArrayRef<T> functions, Operation *op) {
  const T *found = llvm::find_if(functions, [&](const T &function) {
    return function.name == op->getName().getStringRef();
  });
  return found == functions.end() ? nullptr : found;
}

static bool hasFormat(Operation *op) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  return element.isF32() || element.isF64();
}

bool mlir::tracea::hasMathExpansion(Operation *op) {
  return isa<math::MathDialect>(op->getDialect()) && hasFormat(op) &&
         (find(ArrayRef(unaryFunctions), op) ||
          find(ArrayRef(binaryFunctions), op));
}

namespace {
class ExpandFunction : public RewritePattern {
public:
  ExpandFunction(MLIRContext *context, std::function<bool(Operation *)> filter,
                 bool scales, bool widens)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        filter(std::move(filter)), scales(scales), widens(widens) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!op->getDialect() || !hasMathExpansion(op) || !filter(op))
      return failure();
    ImplicitLocOpBuilder builder(op->getLoc(), rewriter);
    FloatEmitter emitter(builder, op->getResult(0).getType(), scales);
    Real x = emitter.wrap(op->getOperand(0));
    Real result = x;
    bool flushes = op->hasAttr(tracea_pipe::kFlushesAttrName);
    if (isa<math::ExpOp>(op) && flushes)
      result = expandFlushedExp(x);
    else if (isa<math::Exp2Op>(op) && flushes)
      result = expandFlushedExp2(x);
    else if (const Unary *wide = find(ArrayRef(wideFunctions), op);
             wide && widens && !emitter.isDouble())
      result = wide->expand(x);
    else if (const Unary *unary = find(ArrayRef(unaryFunctions), op))
      result = unary->expand(x);
    else
      result = find(ArrayRef(binaryFunctions), op)
                   ->expand(x, emitter.wrap(op->getOperand(1)));
    rewriter.replaceOp(op, result.value);
    return success();
  }

private:
  std::function<bool(Operation *)> filter;
  bool scales, widens;
};
} // namespace

void mlir::tracea::populateMathExpansionPatterns(
    RewritePatternSet &patterns, std::function<bool(Operation *)> filter,
    bool scales, bool widens) {
  patterns.add<ExpandFunction>(patterns.getContext(), std::move(filter), scales,
                               widens);
}
