//===- LowerMath.cpp - Mathematical functions become arithmetic -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is fast inline becomes arithmetic, so that loops around it vectorize.
// Half precisions go through single. The rest is left to libm. A reference goes
// the other way of the two wherever it can, so that kernels and reference are
// not wrong alike.

#include "tracea/Conversion/Passes.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tracea/Conversion/MathExpansion/MathExpansion.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_LOWERMATH
#include "tracea/Conversion/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

/// Functions of f32 that the approximations of upstream are good enough for,
/// and faster than the expansions.
static bool hasGoodPolynomial(StringRef name) {
  return llvm::is_contained({math::TanhOp::getOperationName()}, name);
}

/// Functions that kernels compute inline: vectors of them are much faster than
/// calls for each element.
static bool isInline(Operation *op) {
  return isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp,
             math::Log2Op, math::Log10Op, math::Log1pOp, math::SinhOp,
             math::CoshOp, math::TanhOp, math::ErfOp>(op);
}

/// Those of f32 alone: there words of 32 bits multiply as fast as numbers.
static bool isInlineSingle(Operation *op) {
  return isInline(op) || isa<math::SinOp, math::CosOp>(op);
}

static bool isDouble(Operation *op) {
  return getElementTypeOrSelf(op->getResult(0).getType()).isF64();
}

/// Halves have no functions in libm; what is arithmetic they can do.
static bool isWidened(StringRef name) {
  return !llvm::is_contained({math::AbsFOp::getOperationName(),
                              math::FmaOp::getOperationName(),
                              math::CopySignOp::getOperationName(),
                              math::ClampFOp::getOperationName()},
                             name);
}

namespace {
struct LowerMath : public mlir::tracea::impl::LowerMathBase<LowerMath> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathF32ExpansionPatterns(patterns, isWidened);
    MathRoute how = route;
    bool canFuse = fused;
    auto isExpanded = [=](Operation *op) {
      if (how == MathRoute::Arithmetic)
        return true;
      if (!isDouble(op))
        return isInlineSingle(op) &&
               !hasGoodPolynomial(op->getName().getStringRef());
      bool byKernel = canFuse && isInline(op);
      return how == MathRoute::Kernel ? byKernel : !byKernel;
    };
    populateMathExpansionPatterns(patterns, isExpanded, scaled,
                                  /*widens=*/how == MathRoute::Kernel &&
                                      canFuse);
    if (how != MathRoute::Arithmetic)
      populateMathPolynomialApproximationPatterns(patterns, hasGoodPolynomial);
    math::populateExpansionPatterns(patterns, {"clampf", "rsqrt"});
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    callLibm();
  }

private:
  /// Upstream's conversion to the LLVM dialect takes these two apart into a
  /// function and a sum, which loses small results.
  void callLibm() {
    SmallVector<Operation *> left;
    getOperation()->walk([&](Operation *op) {
      if (isa<math::ExpM1Op, math::Log1pOp>(op))
        left.push_back(op);
    });
    if (left.empty())
      return;
    RewritePatternSet patterns(&getContext());
    populateMathToLibmConversionPatterns(patterns);
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    (void)applyOpPatternsGreedily(left, std::move(patterns), config);
  }
};
} // namespace
