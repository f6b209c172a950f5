//===- AttentionGradients.cpp - Definitions of attention's gradients ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The whole matrices of weights and of gradients by scores, then products.

#include "AttentionScores.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::tracea;

/// weights [b, h, i, j], made again from the log-sum-exp of each row.
template <typename OpTy>
static Value emitWeights(Emitter &e, OpTy op, Value keys) {
  Type acc = op.getAccumulatorType();
  Value scores = emitScores(e, op, keys);
  Value zero = e.zero(acc), none = e.negativeInfinity(acc);
  return e.elementwise(
      {scores, op.getLse()}, {e.identity(4), e.select(4, {0, 1, 2})},
      e.empty(e.sizes(scores), acc), [&](Emitter &e, ValueRange s) -> Value {
        Value lse = e.convert(s[1], acc);
        Value weight = e.make<math::ExpOp>(e.make<arith::SubFOp>(s[0], lse));
        // A row that saw no key has none to weigh.
        Value isEmpty =
            e.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, lse, none);
        return e.make<arith::SelectOp>(isEmpty, zero, weight);
      });
}

/// [b, h, i, j]: what `weights` say of gradients by scores, not yet scaled.
template <typename OpTy>
static Value emitByScores(Emitter &e, OpTy op, Value weights, Value values) {
  Type acc = op.getAccumulatorType();
  Emitter::Sizes sizes = e.sizes(weights);
  // Loops b, h, i, j, e.
  Value byWeights = e.generic(
      {op.getGradient(), values},
      {e.select(5, {0, 1, 2, 4}), e.select(5, {0, 1, 3, 4})},
      e.filled(sizes, e.zero(acc)), e.select(5, {0, 1, 2, 3}),
      [&](Emitter &e, ValueRange s) {
        return e.add(s[2], e.mul(e.convert(s[0], acc), e.convert(s[1], acc)));
      });
  return e.elementwise({weights, byWeights, op.getDelta()},
                       {e.identity(4), e.identity(4), e.select(4, {0, 1, 2})},
                       e.empty(sizes, acc), [&](Emitter &e, ValueRange s) {
                         Value above =
                             e.make<arith::SubFOp>(s[1], e.convert(s[2], acc));
                         return e.make<arith::MulFOp>(s[0], above);
                       });
}

/// Adds that a result has the extents of the operand that it is the gradient
/// by.
static void addAgreeingResult(SmallVectorImpl<AgreeingExtents> &agreeing,
                              Value operand, Value result, StringRef what) {
  for (int64_t dim : {0, 1, 2, 3})
    agreeing.push_back({operand, dim, result, dim, what});
}

/// Compares what only the run knows: operands, and what `agreeing` says of
/// results.
template <typename OpTy>
static void emitChecks(Emitter &e, OpTy op,
                       SmallVector<AgreeingExtents> agreeing) {
  Value query = op.getQuery();
  addAgreeingRows(agreeing, query, op.getGradient(),
                  "query and gradient to agree in batch, heads and length");
  agreeing.push_back({op.getValue(), 3, op.getGradient(), 3,
                      "depth of value and gradient to be equal"});
  addAgreeingRows(agreeing, query, op.getLse(),
                  "query and log-sum-exp to agree in batch, heads and length");
  addAgreeingRows(agreeing, query, op.getDelta(),
                  "query and delta to agree in batch, heads and length");
  emitAttentionChecks(e, cast<AttentionOpInterface>(op.getOperation()),
                      agreeing);
}

/// `sums`, times a factor if there is one, in the type of `init`.
static Value emitResult(Emitter &e, Value sums, Value factor, Value init) {
  return e.elementwise(sums, e.identity(4), init,
                       [&](Emitter &e, ValueRange s) {
                         Value sum = s[0];
                         if (factor)
                           sum = e.make<arith::MulFOp>(sum, factor);
                         return e.convert(sum, Emitter::elementType(init));
                       });
}

namespace {
struct QGradDefinition : OpRewritePattern<AttentionQGradOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionQGradOp op,
                                PatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    SmallVector<AgreeingExtents> agreeing;
    addAgreeingResult(agreeing, op.getQuery(), op.getInit(),
                      "query and result to have the same extents");
    emitChecks(e, op, agreeing);
    Type acc = op.getAccumulatorType();
    OpFoldResult heads = e.sizes(op.getQuery())[1];
    Value keys = repeatHeads(e, op.getKey(), heads);
    Value values = repeatHeads(e, op.getValue(), heads);
    Value byScores = emitByScores(e, op, emitWeights(e, op, keys), values);
    // Loops b, h, i, d, j.
    Value sums =
        e.generic({byScores, keys},
                  {e.select(5, {0, 1, 2, 4}), e.select(5, {0, 1, 4, 3})},
                  e.filled(e.sizes(op.getQuery()), e.zero(acc)),
                  e.select(5, {0, 1, 2, 3}), [&](Emitter &e, ValueRange s) {
                    return e.add(s[2], e.mul(s[0], e.convert(s[1], acc)));
                  });
    rewriter.replaceOp(op, emitResult(e, sums, emitScale(e, op), op.getInit()));
    return success();
  }
};

struct KVGradDefinition : OpRewritePattern<AttentionKVGradOp> {
  using OpRewritePattern::OpRewritePattern;

  /// The sum over queries of weights [b, h, i, j] times rows [b, h, i, d], for
  /// each query head: [b, h, j, d].
  static Value emitHeadSums(Emitter &e, Value weights, Value rows, Type acc) {
    Emitter::Sizes sizes = e.sizes(rows);
    sizes[2] = e.sizes(weights)[3];
    // Loops b, h, j, d, i.
    return e.generic({weights, rows},
                     {e.select(5, {0, 1, 4, 2}), e.select(5, {0, 1, 4, 3})},
                     e.filled(sizes, e.zero(acc)), e.select(5, {0, 1, 2, 3}),
                     [&](Emitter &e, ValueRange s) {
                       return e.add(s[2], e.mul(s[0], e.convert(s[1], acc)));
                     });
  }

  /// [b, h, j, d] as [b, g, j, d]: the sum over the heads that share one.
  static Value addHeads(Emitter &e, Value sums, Value like, Type acc) {
    Emitter::Sizes sizes = e.sizes(like);
    OpFoldResult heads = e.sizes(sums)[1];
    if (isEqualConstantIntOrValue(sizes[1], heads))
      return sums;
    Value groups =
        e.make<arith::MaxSIOp>(e.index(sizes[1]), e.index(int64_t(1)));
    Value ratio = e.make<arith::DivSIOp>(e.index(heads), groups);
    // Loops b, g, j, d and the number of a head, which no element but an extent
    // gives.
    Value numbers = e.filled({OpFoldResult(ratio)}, e.zero(acc));
    return e.generic(numbers, e.select(5, {4}), e.filled(sizes, e.zero(acc)),
                     e.select(5, {0, 1, 2, 3}), [&](Emitter &e, ValueRange s) {
                       SmallVector<Value> at;
                       for (int64_t dim = 0; dim < 4; ++dim)
                         at.push_back(e.make<linalg::IndexOp>(dim));
                       at[1] = e.make<arith::AddIOp>(
                           e.make<arith::MulIOp>(at[1], ratio),
                           e.make<linalg::IndexOp>(int64_t(4)));
                       return e.add(s[1], e.make<tensor::ExtractOp>(sums, at));
                     });
  }

  LogicalResult matchAndRewrite(AttentionKVGradOp op,
                                PatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    SmallVector<AgreeingExtents> agreeing;
    addAgreeingResult(agreeing, op.getKey(), op.getKeyInit(),
                      "key and first result to have the same extents");
    addAgreeingResult(agreeing, op.getValue(), op.getValueInit(),
                      "value and second result to have the same extents");
    emitChecks(e, op, agreeing);
    Type acc = op.getAccumulatorType();
    OpFoldResult heads = e.sizes(op.getQuery())[1];
    Value keys = repeatHeads(e, op.getKey(), heads);
    Value values = repeatHeads(e, op.getValue(), heads);
    Value weights = emitWeights(e, op, keys);
    Value byScores = emitByScores(e, op, weights, values);
    Value keyGrad = addHeads(e, emitHeadSums(e, byScores, op.getQuery(), acc),
                             op.getKey(), acc);
    Value valueGrad = addHeads(
        e, emitHeadSums(e, weights, op.getGradient(), acc), op.getValue(), acc);
    rewriter.replaceOp(
        op, {emitResult(e, keyGrad, emitScale(e, op), op.getKeyInit()),
             emitResult(e, valueGrad, Value(), op.getValueInit())});
    return success();
  }
};
} // namespace

void mlir::tracea::populateAttentionGradientPatterns(
    RewritePatternSet &patterns) {
  patterns.add<QGradDefinition, KVGradDefinition>(patterns.getContext());
}
