//===- LowerMath.cpp - Mathematical functions become arithmetic -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of single precision that have a good polynomial are computed
// inline, so that loops around them vectorize. Half precisions go through
// single. Everything else, double precision above all, is left to libm.

#include "tracea/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_LOWERMATH
#include "tracea/Conversion/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;

namespace {

/// Functions whose upstream approximation stays within a few units in the last
/// place over the whole range. Sine and cosine are not among them: their
/// argument reduction fails for large arguments.
bool hasGoodPolynomial(StringRef name) {
  return llvm::is_contained(
      {math::TanhOp::getOperationName(), math::ExpOp::getOperationName(),
       math::ExpM1Op::getOperationName(), math::LogOp::getOperationName(),
       math::Log2Op::getOperationName(), math::Log1pOp::getOperationName(),
       math::ErfOp::getOperationName()},
      name);
}

/// Also worth a detour through single precision: libm has no halves.
bool isWidened(StringRef name) {
  return hasGoodPolynomial(name) ||
         llvm::is_contained({math::SinOp::getOperationName(),
                             math::CosOp::getOperationName(),
                             math::AtanOp::getOperationName(),
                             math::Atan2Op::getOperationName(),
                             math::ErfcOp::getOperationName(),
                             math::CbrtOp::getOperationName(),
                             math::PowFOp::getOperationName()},
                            name);
}

struct LowerMath : public tracea::impl::LowerMathBase<LowerMath> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathF32ExpansionPatterns(patterns, isWidened);
    populateMathPolynomialApproximationPatterns(patterns, hasGoodPolynomial);
    math::populateExpansionPatterns(patterns, {"clampf", "rsqrt"});
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
