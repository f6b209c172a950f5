//===- FuseElementwise.cpp - Elementwise operations become one ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// linalg's fusion of elementwise operations, with a limit: each step copies the
// body that has come together so far, so that the time for a chain would grow
// with the square of its length, and no kernel gains from bodies that long.

#include "tracea/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "tracea-fuse-elementwise"

namespace mlir::tracea {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;

namespace {
struct FuseElementwise
    : public tracea::impl::FuseElementwiseBase<FuseElementwise> {
  using Base::Base;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    auto isSmall = [this](OpOperand *operand) {
      return isSmallEnough(*operand);
    };
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, isSmall);
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, isSmall);
    tensor::populateBubbleUpExpandShapePatterns(patterns);
    affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    context->getLoadedDialect<linalg::LinalgDialect>()
        ->getCanonicalizationPatterns(patterns);
    linalg::populateConstantFoldLinalgOperations(patterns, isSmall);
    // From producers to consumers: groups grow at their end.
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal();
    (void)applyPatternsGreedily(getOperation(), std::move(patterns), config);
  }

private:
  /// Whether an operation may take in the producer of one of its operands.
  bool isSmallEnough(OpOperand &operand) {
    Operation *producer = operand.get().getDefiningOp();
    if (!producer || !producer->hasOneUse())
      return false;
    auto first = dyn_cast<linalg::GenericOp>(producer);
    auto second = dyn_cast<linalg::GenericOp>(operand.getOwner());
    if (!first || !second)
      return true;
    return first.getBody()->getOperations().size() +
               second.getBody()->getOperations().size() <=
           maxOperations;
  }
};
} // namespace
