//===- AttentionScores.cpp - Scores of attention, masked ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the definitions of attention and of its gradients share. The loops are
// b, h, i, j and d: batch, head, query, key, feature.

#include "AttentionScores.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tracea;

/// keys [b, g, j, d] as [b, h, j, d]: head h reads head h / (H / G).
Value mlir::tracea::repeatHeads(Emitter &e, Value keys, OpFoldResult heads) {
  Emitter::Sizes sizes = e.sizes(keys);
  if (isEqualConstantIntOrValue(sizes[1], heads))
    return keys;
  // Without heads there is nothing to repeat, but nothing to divide by
  // either.
  Value groups = e.make<arith::MaxSIOp>(e.index(sizes[1]), e.index(int64_t(1)));
  Value ratio = e.make<arith::DivSIOp>(e.index(heads), groups);
  sizes[1] = heads;
  Value destination = e.empty(sizes, Emitter::elementType(keys));
  return e.elementwise({}, {}, destination,
                       [&](Emitter &e, ValueRange) -> Value {
                         SmallVector<Value> at;
                         for (int64_t dim = 0; dim < 4; ++dim)
                           at.push_back(e.make<linalg::IndexOp>(dim));
                         at[1] = e.make<arith::DivSIOp>(at[1], ratio);
                         return e.make<tensor::ExtractOp>(keys, at);
                       });
}

void mlir::tracea::addAgreeingRows(SmallVectorImpl<AgreeingExtents> &agreeing,
                                   Value query, Value other, StringRef what) {
  for (int64_t dim : {0, 1, 2})
    agreeing.push_back({query, dim, other, dim, what});
}

/// Keys, values and masks are read by computed indices, which no loop bounds:
/// their extents are compared where only the run knows them.
void mlir::tracea::emitAttentionChecks(Emitter &e, AttentionOpInterface op,
                                       ArrayRef<AgreeingExtents> further) {
  using arith::CmpIPredicate;
  auto require = [&](Value holds, const Twine &what) {
    cf::AssertOp::create(
        e.builder, e.loc, holds,
        (op->getName().getStringRef() + ": expected " + what).str());
  };
  auto check = [&](CmpIPredicate predicate, Value a, Value b,
                   const Twine &what) {
    if (a != b)
      require(e.make<arith::CmpIOp>(predicate, a, b), what);
  };
  auto isDynamic = [](Value tensor, int64_t dim) {
    return cast<RankedTensorType>(tensor.getType()).isDynamicDim(dim);
  };
  auto extent = [&](Value tensor, int64_t dim) {
    return e.index(e.sizes(tensor)[dim]);
  };
  auto equal = [&](Value a, int64_t dimA, Value b, int64_t dimB,
                   const Twine &what) {
    if (isDynamic(a, dimA) || isDynamic(b, dimB))
      check(CmpIPredicate::eq, extent(a, dimA), extent(b, dimB), what);
  };
  Value query = op.getQuery(), key = op.getKey();
  equal(query, 0, key, 0, "batch of query and key to be equal");
  equal(query, 3, key, 3, "depth of query and key to be equal");
  for (int64_t dim : {0, 1, 2})
    equal(key, dim, op.getValue(), dim,
          "key and value to agree in batch, heads and length");
  // Loops take their bounds from some of these, and shapes that become static
  // are taken to be those of the others.
  for (const AgreeingExtents &agreeing : further)
    equal(agreeing.tensor, agreeing.dim, agreeing.other, agreeing.otherDim,
          agreeing.what);
  Value one = e.index(int64_t(1)), zero = e.index(int64_t(0));
  if (isDynamic(query, 1) || isDynamic(key, 1)) {
    Value heads = extent(query, 1), groups = extent(key, 1);
    // Without heads in the key, there must be none in the query.
    check(CmpIPredicate::sle, e.make<arith::MinSIOp>(heads, one), groups,
          "a key with heads");
    check(CmpIPredicate::eq,
          e.make<arith::RemUIOp>(heads, e.make<arith::MaxSIOp>(groups, one)),
          zero, "the heads of the key to divide those of the query");
  }
  if (op.getLengths())
    equal(query, 0, op.getLengths(), 0, "a length for each batch");
  Value mask = op.getBlockMask();
  if (!mask)
    return;
  for (int64_t dim : {0, 1}) {
    if (!isDynamic(mask, dim) && !isDynamic(query, dim))
      continue;
    Value size = extent(mask, dim);
    Value isOne = e.make<arith::CmpIOp>(CmpIPredicate::eq, size, one);
    Value isAll =
        e.make<arith::CmpIOp>(CmpIPredicate::eq, size, extent(query, dim));
    require(e.make<arith::OrIOp>(isOne, isAll),
            "the batch and heads of the block mask to be one or those of the "
            "query");
  }
  for (int64_t axis : {0, 1}) {
    Value tensor = axis == 0 ? query : key;
    if (isDynamic(mask, 2 + axis) || isDynamic(tensor, 2))
      check(CmpIPredicate::eq, extent(mask, 2 + axis),
            e.make<arith::CeilDivUIOp>(extent(tensor, 2),
                                       e.index((*op.getBlockSize())[axis])),
            "a block mask of as many blocks as the rows and keys have");
  }
}

/// Whether query i may read key j, inside of a generic over b, h, i, j;
/// null when every query reads every key.
static Value isKept(Emitter &e, AttentionOpInterface op, Value shift,
                    ArrayRef<OpFoldResult> maskSizes) {
  Value kept;
  auto require = [&](Value condition) {
    kept = kept ? e.make<arith::AndIOp>(kept, condition) : condition;
  };
  Value i = e.make<linalg::IndexOp>(2), j = e.make<linalg::IndexOp>(3);
  // The query's place among the keys: the last query sees the last key.
  Value place = e.make<arith::AddIOp>(i, shift);
  if (op.getCausal())
    require(e.make<arith::CmpIOp>(arith::CmpIPredicate::sle, j, place));
  if (std::optional<ArrayRef<int64_t>> window = op.getWindow()) {
    if ((*window)[0] >= 0)
      require(e.make<arith::CmpIOp>(
          arith::CmpIPredicate::sge, j,
          e.make<arith::SubIOp>(place, e.index((*window)[0]))));
    if ((*window)[1] >= 0)
      require(e.make<arith::CmpIOp>(
          arith::CmpIPredicate::sle, j,
          e.make<arith::AddIOp>(place, e.index((*window)[1]))));
  }
  if (Value lengths = op.getLengths()) {
    Value length = e.make<tensor::ExtractOp>(
        lengths, ValueRange{e.make<linalg::IndexOp>(int64_t(0))});
    require(e.make<arith::CmpIOp>(
        arith::CmpIPredicate::slt, j,
        e.make<arith::IndexCastOp>(e.builder.getIndexType(), length)));
  }
  if (Value mask = op.getBlockMask()) {
    ArrayRef<int64_t> block = *op.getBlockSize();
    SmallVector<Value> at;
    for (int64_t dim = 0; dim < 2; ++dim) {
      // One entry stands for all batches or heads; there are as many of
      // these otherwise.
      Value last =
          e.make<arith::SubIOp>(e.index(maskSizes[dim]), e.index(int64_t(1)));
      at.push_back(e.make<arith::MinSIOp>(e.make<linalg::IndexOp>(dim), last));
    }
    at.push_back(e.make<arith::DivSIOp>(i, e.index(block[0])));
    at.push_back(e.make<arith::DivSIOp>(j, e.index(block[1])));
    require(e.make<tensor::ExtractOp>(mask, at));
  }
  return kept;
}

Value mlir::tracea::emitScores(Emitter &e, AttentionOpInterface op,
                               Value keys) {
  Type acc = op.getAccumulatorType();
  Emitter::Sizes querySizes = e.sizes(op.getQuery());
  Emitter::Sizes keySizes = e.sizes(op.getKey());
  Emitter::Sizes scoreSizes(querySizes);
  scoreSizes.back() = keySizes[2];

  Value products = e.generic(
      {op.getQuery(), keys},
      {e.select(5, {0, 1, 2, 4}), e.select(5, {0, 1, 3, 4})},
      e.filled(scoreSizes, e.zero(acc)), e.select(5, {0, 1, 2, 3}),
      [&](Emitter &e, ValueRange s) {
        return e.add(s[2], e.mul(e.convert(s[0], acc), e.convert(s[1], acc)));
      });

  Value scale = emitScale(e, op);
  Value shift =
      e.make<arith::SubIOp>(e.index(keySizes[2]), e.index(querySizes[2]));
  Emitter::Sizes maskSizes;
  if (op.getBlockMask())
    maskSizes = e.sizes(op.getBlockMask());
  Value masked = e.negativeInfinity(acc);
  return e.elementwise(
      products, e.identity(4), e.empty(scoreSizes, acc),
      [&](Emitter &e, ValueRange s) -> Value {
        Value scaled = e.make<arith::MulFOp>(s[0], scale);
        Value kept = isKept(e, op, shift, maskSizes);
        return kept ? e.make<arith::SelectOp>(kept, scaled, masked) : scaled;
      });
}

Value mlir::tracea::emitScale(Emitter &e, AttentionOpInterface op) {
  Type acc = op.getAccumulatorType();
  if (std::optional<APFloat> scale = op.getScale())
    return e.real(scale->convertToDouble(), acc);
  OpFoldResult depth = e.sizes(op.getQuery())[3];
  return e.make<arith::DivFOp>(
      e.make<arith::ConstantOp>(e.builder.getFloatAttr(acc, 1.0)),
      e.make<math::SqrtOp>(e.number(e.index(depth), acc)));
}
