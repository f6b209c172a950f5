//===- Attention.cpp - Definition of attention ----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The whole matrix of scores, masked with -inf, then a softmax and a product.
// The loops are b, h, i, j and d or e: batch, head, query, key, feature.

#include "AttentionScores.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::tracea;

namespace {
struct AttentionDefinition : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    SmallVector<AgreeingExtents> agreeing;
    addAgreeingRows(agreeing, op.getQuery(), op.getInit(),
                    "query and result to agree in batch, heads and length");
    agreeing.push_back({op.getValue(), 3, op.getInit(), 3,
                        "depth of value and result to be equal"});
    if (op.getLse())
      addAgreeingRows(
          agreeing, op.getQuery(), op.getLseInit(),
          "query and log-sum-exp to agree in batch, heads and length");
    emitAttentionChecks(e, op, agreeing);
    Type acc = op.getAccumulatorType();
    Emitter::Sizes querySizes = e.sizes(op.getQuery());
    Emitter::Sizes valueSizes = e.sizes(op.getValue());
    OpFoldResult heads = querySizes[1];
    Value keys = repeatHeads(e, op.getKey(), heads);
    Value values = repeatHeads(e, op.getValue(), heads);
    Emitter::Sizes rowSizes = {querySizes[0], heads, querySizes[2]};
    Emitter::Sizes scoreSizes = rowSizes;
    scoreSizes.push_back(valueSizes[2]);
    Emitter::Sizes resultSizes = rowSizes;
    resultSizes.push_back(valueSizes[3]);
    AffineMap score = e.identity(4), row = e.select(4, {0, 1, 2});

    Value scores = emitScores(e, op, keys), masked = e.negativeInfinity(acc);
    Value maximum = e.generic(scores, score, e.filled(rowSizes, masked), row,
                              [&](Emitter &e, ValueRange s) {
                                return e.make<arith::MaximumFOp>(s[0], s[1]);
                              });
    Value zero = e.zero(acc);
    auto isEmptyRow = [&](Emitter &e, Value rowMaximum) {
      return e.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, rowMaximum,
                                   masked);
    };
    Value powers = e.elementwise(
        {scores, maximum}, {score, row}, e.empty(scoreSizes, acc),
        [&](Emitter &e, ValueRange s) {
          Value power = e.make<math::ExpOp>(e.make<arith::SubFOp>(s[0], s[1]));
          return e.make<arith::SelectOp>(isEmptyRow(e, s[1]), zero, power);
        });
    Value sum = e.generic(powers, score, e.filled(rowSizes, zero), row,
                          [&](Emitter &e, ValueRange s) {
                            return e.make<arith::AddFOp>(s[1], s[0]);
                          });
    Value weights = e.elementwise(
        {powers, sum, maximum}, {score, row, row}, e.empty(scoreSizes, acc),
        [&](Emitter &e, ValueRange s) {
          return e.make<arith::SelectOp>(isEmptyRow(e, s[2]), zero,
                                         e.make<arith::DivFOp>(s[0], s[1]));
        });
    // Loops b, h, i, e, j.
    Value mixed =
        e.generic({weights, values},
                  {e.select(5, {0, 1, 2, 4}), e.select(5, {0, 1, 4, 3})},
                  e.filled(resultSizes, zero), e.select(5, {0, 1, 2, 3}),
                  [&](Emitter &e, ValueRange s) {
                    return e.add(s[2], e.mul(s[0], e.convert(s[1], acc)));
                  });

    SmallVector<Value> results;
    Type resultType = Emitter::elementType(op.getInit());
    results.push_back(e.elementwise(
        mixed, e.identity(4), op.getInit(),
        [&](Emitter &e, ValueRange s) { return e.convert(s[0], resultType); }));
    if (op.getLse()) {
      Type lseType = Emitter::elementType(op.getLseInit());
      results.push_back(e.elementwise(
          {sum, maximum}, {e.identity(3), e.identity(3)}, op.getLseInit(),
          [&](Emitter &e, ValueRange s) {
            // The sum of a row without keys is 0, and log(0) = -inf.
            Value lse = e.make<arith::AddFOp>(s[1], e.make<math::LogOp>(s[0]));
            return e.convert(lse, lseType);
          }));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};
} // namespace

void mlir::tracea::populateAttentionPatterns(RewritePatternSet &patterns) {
  patterns.add<AttentionDefinition>(patterns.getContext());
}
