//===- HeadOrder.cpp - The order of dimensions in memory ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HeadOrder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tracea;

/// Rows are whole in memory: columns are the last dimension.
static bool keepsColumns(linalg::TransposeOp transposition) {
  ArrayRef<int64_t> permutation = transposition.getPermutation();
  return transposition.hasPureTensorSemantics() && permutation.size() == 4 &&
         permutation.back() == 3;
}

/// Whether a transposition is there for nobody who does not read through it.
static bool isOnlyRead(linalg::TransposeOp transposition) {
  return llvm::all_of(transposition->getResult(0).getUsers(),
                      [](Operation *user) {
                        return isa<AttentionOpInterface, tensor::DimOp>(user);
                      });
}

OrderedTensor mlir::tracea::getBefore(RewriterBase &rewriter, Value operand) {
  OrderedTensor found{operand};
  auto transposition = operand.getDefiningOp<linalg::TransposeOp>();
  // What somebody else needs as it is will be in memory so, and what it is made
  // of perhaps not: a window of something larger is copied first.
  if (!transposition || !keepsColumns(transposition) ||
      !isOnlyRead(transposition))
    return found;
  found.tensor = transposition.getInput();
  llvm::copy(transposition.getPermutation(), found.order.begin());
  for (Operation *user : llvm::make_early_inc_range(operand.getUsers()))
    if (auto dim = dyn_cast<tensor::DimOp>(user))
      if (std::optional<int64_t> index = dim.getConstantIndex()) {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPoint(dim);
        rewriter.replaceOpWithNewOp<tensor::DimOp>(dim, found.tensor,
                                                   found.order[*index]);
      }
  return found;
}

static Value getInit(ScheduledOpInterface op, unsigned number) {
  return cast<DestinationStyleOpInterface>(op.getOperation())
      .getDpsInitOperand(number)
      ->get();
}

/// The only user of a result, if it transposes it.
static linalg::TransposeOp getTransposition(Value result) {
  if (!result.hasOneUse())
    return {};
  auto transposition = dyn_cast<linalg::TransposeOp>(*result.user_begin());
  return transposition && keepsColumns(transposition) &&
                 transposition.getInput() == result
             ? transposition
             : linalg::TransposeOp();
}

OrderedTensor mlir::tracea::getBehind(RewriterBase &rewriter,
                                      ScheduledOpInterface op,
                                      unsigned number) {
  Value init = getInit(op, number);
  OrderedTensor found{init};
  linalg::TransposeOp transposition = getTransposition(op->getResult(number));
  // Kernels of one launch write to one place.
  if (!transposition || op.getScheduleAttr().getOtherwise())
    return found;
  auto empty = transposition.getInit().getDefiningOp<tensor::EmptyOp>();
  bool isThere = !transposition.getInit().getDefiningOp();
  if (!empty && !isThere)
    return found;
  for (auto [dim, from] : llvm::enumerate(transposition.getPermutation()))
    found.order[from] = static_cast<int64_t>(dim);
  found.tensor = transposition.getInit();
  if (empty) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, op.getLoc(), init);
    found.tensor = tensor::EmptyOp::create(
        rewriter, op.getLoc(), found.arrange<OpFoldResult>(sizes),
        getElementTypeOrSelf(empty.getType()));
  }
  return found;
}

AttentionOperands AttentionOperands::getOrdered(RewriterBase &rewriter,
                                                AttentionOpInterface op) {
  rewriter.setInsertionPoint(op);
  return {getBefore(rewriter, op.getQuery()), getBefore(rewriter, op.getKey()),
          getBefore(rewriter, op.getValue())};
}

AttentionMemory AttentionMemory::getOrdered(RewriterBase &rewriter,
                                            AttentionOp op) {
  AttentionOperands operands = AttentionOperands::getOrdered(rewriter, op);
  return {operands, getBehind(rewriter, op, 0)};
}

void mlir::tracea::replaceOrdered(RewriterBase &rewriter,
                                  ScheduledOpInterface op,
                                  ArrayRef<OrderedTensor> written,
                                  ValueRange results) {
  SmallVector<Value> operands(op->getOperands());
  for (auto [number, now] : llvm::enumerate(results)) {
    OpResult old = op->getResult(number);
    if (number < written.size() &&
        written[number].tensor != getInit(op, number))
      rewriter.replaceOp(getTransposition(old), now);
    else
      rewriter.replaceAllUsesWith(old, now);
  }
  rewriter.eraseOp(op);
  for (Value operand : llvm::SetVector<Value>(operands.begin(), operands.end()))
    if (auto transposition = operand.getDefiningOp<linalg::TransposeOp>();
        transposition && transposition->use_empty())
      rewriter.eraseOp(transposition);
}
