//===- ElementwiseToLinalg.cpp - Arithmetic on whole tensors --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's conversion, which writes each result over an operand where types
// agree. That would be a second use of the operand and keep the operations from
// being fused, so that results get destinations of their own.

#include "tracea/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_ELEMENTWISETOLINALG
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;

/// Gives results whose old contents are not read a destination of their own.
static void freeDestinations(linalg::GenericOp op) {
  OpBuilder builder(op);
  for (OpOperand &destination : op.getDpsInitsMutable()) {
    if (op.payloadUsesValueFromOperand(&destination) ||
        destination.get().getDefiningOp<tensor::EmptyOp>())
      continue;
    Value old = destination.get();
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, op.getLoc(), old);
    destination.set(tensor::EmptyOp::create(builder, op.getLoc(), sizes,
                                            getElementTypeOrSelf(old)));
  }
}

namespace {
struct ElementwiseToLinalg
    : public mlir::tracea::impl::ElementwiseToLinalgBase<ElementwiseToLinalg> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> elementwise;
    getOperation().walk([&](Operation *op) {
      if (OpTrait::hasElementwiseMappableTraits(op) &&
          op->getNumOperands() != 0 &&
          llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>))
        elementwise.push_back(op);
    });
    if (elementwise.empty())
      return;
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingOps);
    if (failed(
            applyOpPatternsGreedily(elementwise, std::move(patterns), config)))
      return signalPassFailure();
    getOperation().walk(freeDestinations);
  }
};
} // namespace
