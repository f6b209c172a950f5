//===- FuseReductions.cpp - Reductions of a product's results -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction in linalg that reads a product element by element, and starts
// from nothing, becomes an auxiliary result of the product. What it computes of
// each element before it is reduced goes into the epilogue.

#include "AuxResults.h"
#include "EpilogueUtils.h"
#include "ReductionOp.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "tracea-fuse-epilogues"

using namespace mlir;
using namespace mlir::tracea;

namespace {
/// A reduction that a product can take over.
struct Reduction {
  ReductionOp reduction;
  /// The result of the product that it reads, through a permutation.
  OpResult source;
  AffineMap sourceMap;
  /// From the product's first result's dimensions to the loops.
  AffineMap toLoops;

  static std::optional<Reduction> match(linalg::LinalgOp op);

private:
  bool matchSource();
};
} // namespace

bool Reduction::matchSource() {
  linalg::LinalgOp op = reduction.getOperation();
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto result = dyn_cast<OpResult>(input->get());
    auto gemm = result ? dyn_cast<GemmOp>(result.getOwner()) : nullptr;
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!gemm || gemm->getBlock() != op->getBlock() || !map.isPermutation())
      continue;
    auto epilogue = cast<EpilogueOpInterface>(gemm.getOperation());
    unsigned number = result.getResultNumber();
    AffineMap own =
        AffineMap::getMultiDimIdentityMap(map.getNumDims(), op->getContext());
    if (number > 0) {
      if (getAuxKind(epilogue, number - 1) != ReductionKind::None)
        continue;
      own = getAuxMap(epilogue, number - 1);
    }
    source = result;
    sourceMap = map;
    toLoops = inversePermutation(map).compose(own);
    return true;
  }
  return false;
}

std::optional<Reduction> Reduction::match(linalg::LinalgOp op) {
  std::optional<ReductionOp> reduction = ReductionOp::match(op);
  if (!reduction || reduction->getStart() ||
      reduction->getTerm().getType().getIntOrFloatBitWidth() < 32)
    return std::nullopt;
  Reduction result;
  result.reduction = *reduction;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!map.isProjectedPermutation() || !result.matchSource())
    return std::nullopt;
  return result;
}

static bool isInOrder(AffineMap map) {
  return llvm::is_sorted(map.getResults(), [](AffineExpr a, AffineExpr b) {
    return cast<AffineDimExpr>(a).getPosition() <
           cast<AffineDimExpr>(b).getPosition();
  });
}

namespace {
struct FuseReduction : public OpInterfaceRewritePattern<linalg::LinalgOp> {
  FuseReduction(MLIRContext *context, unsigned maxOperations,
                std::function<void()> onFuse)
      : OpInterfaceRewritePattern(context), maxOperations(maxOperations),
        onFuse(std::move(onFuse)) {}

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Reduction> match = Reduction::match(op);
    if (!match)
      return failure();
    GemmOp gemm = cast<GemmOp>(match->source.getOwner());
    auto epilogue = cast<EpilogueOpInterface>(gemm.getOperation());
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0))
                        .compose(match->toLoops);
    Block *body = op.getBlock();
    size_t size = body->getOperations().size() - 2;
    if (hasEpilogue(epilogue))
      size += gemm.getEpilogue().front().getOperations().size() - 1;
    if (!isUndecided(epilogue) || !isInOrder(map) || size > maxOperations)
      return failure();
    // What else it reads must be there already.
    for (OpOperand *input : op.getDpsInputOperands())
      if (input->get() == match->source
              ? op.getMatchingIndexingMap(input) != match->sourceMap
              : !isDefinedBefore(input->get(), gemm))
        return failure();
    for (Operation &inner : *body)
      for (Value operand : inner.getOperands())
        if (operand.getParentBlock() != body &&
            (!operand.getType().isIntOrIndexOrFloat() ||
             !(matchPattern(operand, m_Constant()) ||
               isDefinedBefore(operand, gemm))))
          return failure();

    Location loc = op.getLoc();
    EpilogueEditor editor(rewriter, epilogue);
    AuxResult added;
    added.map = map;
    added.kind = match->reduction.getKind();
    added.scalar = emit(*match, editor, gemm);
    rewriter.setInsertionPoint(gemm);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    added.init = createAuxInit(rewriter, gemm, map, type);
    GemmOp larger = appendAuxResults(rewriter, gemm, added);
    remark::passed(
        loc, remark::RemarkOpts::name("ReductionFused").category(DEBUG_TYPE))
        << remark::metric("Operation", larger->getName().getStringRef())
        << remark::metric("Kind", stringifyReductionKind(added.kind));
    rewriter.replaceOp(op, larger.getAuxResults().back());
    onFuse();
    return success();
  }

private:
  /// The term of the reduction, in the epilogue.
  static Value emit(const Reduction &match, EpilogueEditor &editor,
                    GemmOp gemm) {
    linalg::LinalgOp op = match.reduction.getOperation();
    Value own = cast<YieldOp>(gemm.getEpilogue().front().getTerminator())
                    .getValues()[match.source.getResultNumber()];
    return match.reduction.emit(editor, [&](OpOperand &input) {
      if (input.get() == match.source)
        return own;
      return editor.read(input.get(), op.getMatchingIndexingMap(&input).compose(
                                          match.toLoops));
    });
  }

  unsigned maxOperations;
  std::function<void()> onFuse;
};
} // namespace

void mlir::tracea::populateFuseReductionPatterns(RewritePatternSet &patterns,
                                                 unsigned maxOperations,
                                                 std::function<void()> onFuse) {
  patterns.add<FuseReduction>(patterns.getContext(), maxOperations,
                              std::move(onFuse));
}
