//===- FuseElementwise.cpp - Elementwise operations become one ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// linalg's fusion of elementwise operations, with a limit: each step copies the
// body that has come together so far, so that the time for a chain would grow
// with the square of its length, and no kernel gains from bodies that long.
//
// What several loops read is computed in each of them where that reads no more
// than its result would be: where it changes the elements of one tensor by a
// few operations and numbers of rows, as each round of a search for the
// greatest elements takes out what the rounds before it found. It need not be
// written.

#include "tracea/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
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
    : public mlir::tracea::impl::FuseElementwiseBase<FuseElementwise> {
  using Base::Base;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    auto isSmall = [this](OpOperand *operand) {
      return isSmallEnough(*operand);
    };
    readDestinations();
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
  /// What such an operation finds in its destination is one more input: of
  /// readers before what they read, which has them for inputs then.
  void readDestinations() {
    SmallVector<linalg::GenericOp> found;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (op.getNumDpsInits() == 1 &&
          !op.getBody()->getArguments().back().use_empty())
        found.push_back(op);
    });
    for (linalg::GenericOp op : llvm::reverse(found))
      if (isRecomputed(op))
        readDestination(op);
  }

  static void readDestination(linalg::GenericOp op) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Value init = op.getDpsInits().front();
    SmallVector<Value> inputs(op.getDpsInputs());
    inputs.push_back(init);
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps.push_back(maps.back());
    auto type = cast<RankedTensorType>(init.getType());
    Value empty = tensor::EmptyOp::create(
        b, tensor::getMixedSizes(b, b.getLoc(), init), type.getElementType());
    auto made =
        linalg::GenericOp::create(b, TypeRange(empty.getType()), inputs, empty,
                                  maps, op.getIteratorTypesArray());
    made.getRegion().takeBody(op.getRegion());
    made.getBody()->addArgument(type.getElementType(), op.getLoc());
    Value result = made.getResult(0);
    if (result.getType() != op.getResult(0).getType())
      result = tensor::CastOp::create(b, op.getResult(0).getType(), result);
    op.getResult(0).replaceAllUsesWith(result);
    op.erase();
  }

  /// Whether all readers of an operation may compute it, each for itself.
  static bool isRecomputed(linalg::GenericOp op) {
    constexpr size_t kMostOperations = 16;
    if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
        op.getNumLoops() != op.getNumParallelLoops() ||
        op.getBody()->getOperations().size() > kMostOperations ||
        !op.getIndexingMapsArray().back().isIdentity())
      return false;
    // One tensor of its size, whose elements are no longer.
    auto widthOf = [](Value tensor) -> unsigned {
      Type type = getElementTypeOrSelf(tensor.getType());
      return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64;
    };
    unsigned whole = 0;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!op.payloadUsesValueFromOperand(&operand))
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (!map.isProjectedPermutation())
        return false;
      if (map.getNumResults() != op.getNumLoops())
        continue;
      if (++whole > 1 || widthOf(operand.get()) > widthOf(op.getResult(0)))
        return false;
    }
    bool isCheap =
        llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
          return isa<linalg::IndexOp, arith::IndexCastOp, arith::ConstantOp,
                     arith::CmpIOp, arith::CmpFOp, arith::SelectOp,
                     arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp,
                     arith::MulFOp, arith::MulIOp, arith::MaximumFOp,
                     arith::MinimumFOp, arith::NegFOp>(inner);
        });
    return whole == 1 && isCheap &&
           llvm::all_of(op->getUses(), [](OpOperand &use) {
             auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
             return reader && reader.isDpsInput(&use) &&
                    reader.getMatchingIndexingMap(&use).isPermutation();
           });
  }

  /// Whether an operation may take in the producer of one of its operands.
  bool isSmallEnough(OpOperand &operand) {
    Operation *producer = operand.get().getDefiningOp();
    if (!producer)
      return false;
    auto first = dyn_cast<linalg::GenericOp>(producer);
    auto second = dyn_cast<linalg::GenericOp>(operand.getOwner());
    if (!producer->hasOneUse() && !(first && second && isRecomputed(first)))
      return false;
    if (!first || !second)
      return true;
    return first.getBody()->getOperations().size() +
               second.getBody()->getOperations().size() <=
           maxOperations;
  }
};
} // namespace
