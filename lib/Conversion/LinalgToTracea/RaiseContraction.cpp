//===- RaiseContraction.cpp - linalg contractions to tracea.gemm ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction is read off its indexing maps alone, so that linalg.matmul with
// any maps, batch_matmul, matvec, vecmat, contract and generics are one case.

#include "ProductSum.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::tracea;

/// The loops that a projected permutation reads, in order.
static SmallVector<unsigned> getLoops(AffineMap map) {
  SmallVector<unsigned> loops;
  for (AffineExpr expr : map.getResults())
    loops.push_back(cast<AffineDimExpr>(expr).getPosition());
  return loops;
}

namespace {
/// How an operand lies in memory: [batch.., row, column] or transposed, with or
/// without its batch, with or without one of its matrix dimensions.
struct MatrixForm {
  bool transposed = false;
  bool shared = false;
};
} // namespace

/// Expects `loops` to be `batch` (or nothing) and then `row`, `column` in
/// either order; a missing row or column is std::nullopt and takes no loop.
static FailureOr<MatrixForm> matchForm(ArrayRef<unsigned> loops,
                                       ArrayRef<unsigned> batch,
                                       std::optional<unsigned> row,
                                       std::optional<unsigned> column) {
  MatrixForm form;
  if (!batch.empty() && loops.take_front(batch.size()) == batch)
    loops = loops.drop_front(batch.size());
  else
    form.shared = !batch.empty();
  if (row && column) {
    form.transposed = loops == ArrayRef<unsigned>{*column, *row};
    if (form.transposed || loops == ArrayRef<unsigned>{*row, *column})
      return form;
    return failure();
  }
  if (loops == ArrayRef<unsigned>{row ? *row : *column})
    return form;
  return failure();
}

LogicalResult mlir::tracea::raiseContraction(RewriterBase &rewriter,
                                             linalg::LinalgOp op,
                                             const RaisingOptions &options) {
  FailureOr<ProductSum> match = matchProductSum(rewriter, op, options);
  if (failed(match))
    return failure();
  for (AffineMap map : {match->lhsMap, match->rhsMap, match->resultMap})
    if (!map.isProjectedPermutation())
      return rewriter.notifyMatchFailure(op, "a map is no permutation");
  if (op.getNumReductionLoops() != 1)
    return rewriter.notifyMatchFailure(op, "not one reduction loop");
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  unsigned k = reductions.front();

  // The last two loops of the result are the matrix, one from each factor. A
  // factor without a loop of its own is a vector.
  SmallVector<unsigned> result = getLoops(match->resultMap);
  auto isOwn = [&](unsigned loop, AffineMap map, AffineMap other) {
    return llvm::is_contained(getLoops(map), loop) &&
           !llvm::is_contained(getLoops(other), loop);
  };
  auto isOwnOfLhs = [&](unsigned loop) {
    return isOwn(loop, match->lhsMap, match->rhsMap);
  };
  auto isOwnOfRhs = [&](unsigned loop) {
    return isOwn(loop, match->rhsMap, match->lhsMap);
  };
  std::optional<unsigned> m, n;
  size_t rank = result.size();
  if (rank >= 2 && isOwnOfRhs(result[rank - 2]) && isOwnOfLhs(result[rank - 1]))
    match->swap();
  if (rank >= 2 && isOwnOfLhs(result[rank - 2]) &&
      isOwnOfRhs(result[rank - 1])) {
    m = result[rank - 2];
    n = result[rank - 1];
  } else if (rank >= 1 && isOwnOfLhs(result[rank - 1])) {
    m = result[rank - 1];
  } else if (rank >= 1 && isOwnOfRhs(result[rank - 1])) {
    n = result[rank - 1];
  } else {
    return rewriter.notifyMatchFailure(op, "the result has no row or column");
  }
  ArrayRef<unsigned> batch =
      ArrayRef<unsigned>(result).drop_back(m && n ? 2 : 1);
  FailureOr<MatrixForm> lhs = matchForm(getLoops(match->lhsMap), batch, m, k);
  FailureOr<MatrixForm> rhs = matchForm(getLoops(match->rhsMap), batch, k, n);
  if (failed(lhs) || failed(rhs) || (lhs->shared && rhs->shared))
    return rewriter.notifyMatchFailure(op, "the factors are no matrices");

  // A vector becomes a matrix with one row (lhs) or one column (rhs).
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SumStart start = matchSumStart(rewriter, loc, match->init,
                                 /*readThroughBroadcasts=*/m && n);
  std::optional<unsigned> unitDim;
  if (!m) {
    unitDim = batch.size();
    match->lhs = insertUnitDim(rewriter, loc, match->lhs,
                               lhs->shared ? 0 : batch.size());
  } else if (!n) {
    unitDim = batch.size() + 1;
    match->rhs = insertUnitDim(rewriter, loc, match->rhs,
                               rhs->shared ? 1 : batch.size() + 1);
  }
  if (unitDim) {
    start.destination =
        insertUnitDim(rewriter, loc, start.destination, *unitDim);
    if (start.addend) {
      start.addend = insertUnitDim(rewriter, loc, start.addend, *unitDim);
      start.addendMap = rewriter.getMultiDimIdentityMap(rank + 1);
    }
  }

  GemmOp gemm = GemmOp::create(
      rewriter, loc, TypeRange(start.destination.getType()), match->lhs,
      match->rhs, /*extras=*/ValueRange(), start.destination,
      /*aux_inits=*/ValueRange(), lhs->transposed, rhs->transposed,
      match->getAccumulatorAttr(), /*epilogue_maps=*/rewriter.getArrayAttr({}),
      /*aux_maps=*/rewriter.getArrayAttr({}),
      /*aux_kinds=*/rewriter.getArrayAttr({}), /*schedule=*/ScheduleAttr());
  addStart(rewriter, gemm, start);
  Value value = gemm.getResult();
  if (unitDim)
    value = reshapeLike(rewriter, loc, value, match->init, *unitDim);
  replaceAndClean(rewriter, op, value);
  return success();
}
