//===- AttentionChecks.cpp - What operands of attention agree in ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HeadOrder.h"
#include "VisibleKeys.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tracea;

/// Refuses at run time what only the run knows.
static void emitCheck(RewriterBase &rewriter, AttentionOpInterface op,
                      Value holds, StringRef what) {
  cf::AssertOp::create(
      rewriter, op.getLoc(), holds,
      (op->getName().getStringRef() + ": expected " + what).str());
}

/// Extents are asked of what lies in memory.
static Value getExtent(RewriterBase &rewriter, AttentionOpInterface op,
                       const OrderedTensor &tensor, int64_t dim) {
  return rewriter.createOrFold<tensor::DimOp>(op.getLoc(), tensor.tensor,
                                              tensor.order[dim]);
}

/// The query's heads are shared out over the key's.
static void emitHeadChecks(RewriterBase &rewriter, AttentionOpInterface op,
                           const AttentionOperands &memory) {
  auto queryType = cast<RankedTensorType>(op.getQuery().getType());
  auto keyType = cast<RankedTensorType>(op.getKey().getType());
  if (!queryType.isDynamicDim(1) && !keyType.isDynamicDim(1))
    return;
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  Value heads = getExtent(rewriter, op, memory.query, 1);
  Value keyHeads = getExtent(rewriter, op, memory.key, 1);
  if (heads == keyHeads)
    return;
  Value divisor =
      rewriter.createOrFold<arith::MaxSIOp>(loc, keyHeads, constant(1));
  Value rest = rewriter.createOrFold<arith::RemUIOp>(loc, heads, divisor);
  // Without heads in the key, there must be none in the query.
  Value some = rewriter.createOrFold<arith::MinSIOp>(loc, heads, constant(1));
  emitCheck(rewriter, op,
            arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sle,
                                  some, keyHeads),
            "a key with heads");
  emitCheck(rewriter, op,
            arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, rest,
                                  constant(0)),
            "the heads of the key to divide those of the query");
}

/// The kernel relies on the extents of the mask.
static void emitMaskChecks(RewriterBase &rewriter, AttentionOpInterface op,
                           const AttentionOperands &memory) {
  Value mask = op.getBlockMask();
  if (!mask)
    return;
  ArrayRef<int64_t> block = *op.getBlockSize();
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  auto extent = [&](const OrderedTensor &tensor, int64_t dim) {
    return getExtent(rewriter, op, tensor, dim);
  };
  OrderedTensor shown{mask};
  auto isDynamic = [](Value tensor, int64_t dim) {
    return cast<RankedTensorType>(tensor.getType()).isDynamicDim(dim);
  };
  auto equal = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, x, y);
  };
  for (int64_t dim : {0, 1}) {
    // An extent of one is known to serve all.
    if (!isDynamic(mask, dim) &&
        (!isDynamic(op.getQuery(), dim) ||
         cast<RankedTensorType>(mask.getType()).getDimSize(dim) == 1))
      continue;
    Value size = extent(shown, dim);
    Value isOne = equal(size, constant(1));
    Value isAll = equal(size, extent(memory.query, dim));
    emitCheck(rewriter, op, arith::OrIOp::create(rewriter, loc, isOne, isAll),
              "the batch and heads of the block mask to be one or those of the "
              "query");
  }
  for (int64_t axis : {0, 1}) {
    const OrderedTensor &tensor = axis == 0 ? memory.query : memory.key;
    if (!isDynamic(mask, 2 + axis) &&
        !isDynamic(tensor.tensor, tensor.order[2]))
      continue;
    Value blocks = rewriter.createOrFold<arith::DivUIOp>(
        loc,
        rewriter.createOrFold<arith::AddIOp>(loc, extent(tensor, 2),
                                             constant(block[axis] - 1)),
        constant(block[axis]));
    emitCheck(rewriter, op, equal(extent(shown, 2 + axis), blocks),
              axis == 0 ? "one row of the block mask a block of queries"
                        : "one column of the block mask a block of keys");
  }
}

void mlir::tracea::emitOperandChecks(RewriterBase &rewriter,
                                     AttentionOpInterface op,
                                     const AttentionOperands &operands) {
  auto check = [&](const OrderedTensor &lhs, const OrderedTensor &rhs,
                   int64_t dim, StringRef what) {
    emitExtentCheck(rewriter, op, lhs.tensor, lhs.order[dim], rhs.tensor,
                    rhs.order[dim], what);
  };
  const auto &[query, key, value] = operands;
  check(query, key, 0, "batch of query and key to be equal");
  check(key, value, 0, "batch of key and value to be equal");
  check(key, value, 1, "heads of key and value to be equal");
  check(key, value, 2, "length of key and value to be equal");
  check(key, query, 3, "depth of query and key to be equal");
  if (op.getLengths())
    check(query, {op.getLengths()}, 0, "a length for each batch");
  emitHeadChecks(rewriter, op, operands);
  emitMaskChecks(rewriter, op, operands);
}

void mlir::tracea::emitRowChecks(RewriterBase &rewriter, Operation *op,
                                 const OrderedTensor &query,
                                 const OrderedTensor &other, StringRef what) {
  for (int64_t dim : {0, 1, 2})
    emitExtentCheck(rewriter, op, query.tensor, query.order[dim], other.tensor,
                    other.order[dim], what);
}

void mlir::tracea::emitAttentionChecks(RewriterBase &rewriter, AttentionOp op,
                                       const AttentionMemory &memory) {
  emitOperandChecks(rewriter, op, memory);
  emitRowChecks(rewriter, op, memory.query, memory.output,
                "query and result to agree in batch, heads and length");
  if (op.getLse())
    emitRowChecks(rewriter, op, memory.query, {op.getLseInit()},
                  "query and log-sum-exp to agree in batch, heads and length");
}
