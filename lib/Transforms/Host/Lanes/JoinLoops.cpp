//===- JoinLoops.cpp - Loops that all operands hold as one ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lanes/JoinLoops.h"
#include "Lanes/LaneTiles.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::tracea;

/// The order of a reduction's loops in which it goes through memory, of the
/// first operand that has all of them; empty where that is what they have.
static SmallVector<unsigned> getMemoryOrder(linalg::LinalgOp op) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!isa<MemRefType>(input->get().getType()) || !map.isPermutation())
      continue;
    if (map.isIdentity())
      return {};
    SmallVector<unsigned> order;
    for (unsigned i = 0; i < map.getNumResults(); ++i)
      order.push_back(map.getDimPosition(i));
    return order;
  }
  return {};
}

/// The operation as `linalg.generic`; as it is where it cannot be.
static linalg::LinalgOp generalize(IRRewriter &rewriter, linalg::LinalgOp op) {
  if (isa<linalg::GenericOp>(op.getOperation()))
    return op;
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::GenericOp> generic =
      linalg::generalizeNamedOp(rewriter, op);
  return succeeded(generic) ? linalg::LinalgOp(*generic) : op;
}

linalg::LinalgOp mlir::tracea::joinLoops(linalg::LinalgOp op) {
  IRRewriter rewriter(op->getContext());
  rewriter.setInsertionPoint(op);
  // Extents of 0 join with open ones to no type, and a dimension that all
  // iterations see at 0 is joined with none.
  bool isPlain =
      llvm::none_of(op->getOperandTypes(),
                    [](Type type) {
                      auto memref = dyn_cast<MemRefType>(type);
                      return memref && llvm::is_contained(memref.getShape(), 0);
                    }) &&
      llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
        return llvm::all_of(map.getResults(), llvm::IsaPred<AffineDimExpr>);
      });
  if (!isPlain || !canBeLaneTiles(op) || op.hasIndexSemantics() ||
      !llvm::all_of(op->getOperandTypes(), [](Type type) {
        auto memref = dyn_cast<MemRefType>(type);
        return !memref || memref.getLayout().isIdentity();
      }))
    return op;
  if (op.getNumReductionLoops()) {
    SmallVector<unsigned> order = getMemoryOrder(op);
    if (!order.empty())
      op = generalize(rewriter, op);
    if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
        generic && !order.empty())
      (void)linalg::interchangeGenericOp(rewriter, generic, order);
  }
  SmallVector<ReassociationIndices> joined;
  bool isAny = false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (int64_t loop = 0; loop < op.getNumLoops(); ++loop) {
    if (!joined.empty()) {
      ReassociationIndices longer = joined.back();
      longer.push_back(loop);
      if (iterators[loop] == iterators[loop - 1] &&
          linalg::areDimSequencesPreserved(maps, {longer})) {
        joined.back() = longer;
        isAny = true;
        continue;
      }
    }
    joined.push_back({loop});
  }
  if (!isAny)
    return op;
  op = generalize(rewriter, op);
  if (!isa<linalg::GenericOp>(op.getOperation()))
    return op;
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::CollapseResult> result =
      linalg::collapseOpIterationDims(op, joined, rewriter);
  if (failed(result))
    return op;
  op->erase();
  return result->collapsedOp;
}
