//===- Grouped.cpp - Definition of grouped_gemm ---------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The group of each row is the first whose end lies beyond it: a minimum over
// the groups. A product of sums then picks each row's matrix by its group; a
// row without one has nothing to pick.

#include "Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "tracea/Dialect/Tracea/IR/ExtentChecks.h"

using namespace mlir;
using namespace mlir::tracea;

/// For each row its group, or the number of groups. Rows and groups are
/// numbered in 64 bits, as `ends` may be.
static Value emitGroups(Emitter &e, GroupedGemmOp op) {
  Type i64 = e.builder.getI64Type();
  Value none =
      e.make<arith::IndexCastOp>(i64, e.index(e.sizes(op.getEnds())[0]));
  Value start = e.filled({e.sizes(op.getInit())[0]}, none);
  // Loops: rows, groups.
  return e.generic(
      {op.getEnds()}, {e.select(2, {1})}, start, e.select(2, {0}),
      [&](Emitter &e, ValueRange scalars) {
        auto loop = [&](int64_t dim) {
          return e.make<arith::IndexCastOp>(
              i64, e.make<linalg::IndexOp>(e.builder.getIndexType(), dim));
        };
        Value end = scalars[0];
        if (end.getType() != i64)
          end = e.make<arith::ExtSIOp>(i64, end);
        Value isBelow =
            e.make<arith::CmpIOp>(arith::CmpIPredicate::slt, loop(0), end);
        Value first = e.make<arith::MinSIOp>(scalars[1], loop(1));
        return e.make<arith::SelectOp>(isBelow, first, scalars[1]);
      });
}

namespace {
struct GroupedGemmDefinition : OpRewritePattern<GroupedGemmOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GroupedGemmOp op,
                                PatternRewriter &rewriter) const override {
    // Elements of rhs are picked by indices that its extents do not bound.
    emitExtentChecks(rewriter, op);
    Emitter e(rewriter, op.getLoc());
    Type acc = op.getAccumulatorType();
    Value groups = emitGroups(e, op);
    Value count = e.index(e.sizes(op.getRhs())[0]);
    Value start = e.filled(e.sizes(op.getInit()), e.zero(acc));
    // Loops: m, n, k.
    Value sum = e.generic(
        {groups, op.getLhs()}, {e.select(3, {0}), e.select(3, {0, 2})}, start,
        e.select(3, {0, 1}), [&](Emitter &e, ValueRange scalars) {
          Type index = e.builder.getIndexType();
          // No group is negative, which later passes are told.
          Value group = e.make<arith::MaxSIOp>(
              e.make<arith::IndexCastOp>(index, scalars[0]),
              e.make<arith::ConstantIndexOp>(0));
          Value hasGroup =
              e.make<arith::CmpIOp>(arith::CmpIPredicate::slt, group, count);
          Value n = e.make<linalg::IndexOp>(index, 1);
          Value k = e.make<linalg::IndexOp>(index, 2);
          auto pick = scf::IfOp::create(e.builder, e.loc, TypeRange(acc),
                                        hasGroup, /*withElseRegion=*/true);
          {
            OpBuilder::InsertionGuard guard(e.builder);
            e.builder.setInsertionPointToStart(pick.thenBlock());
            SmallVector<Value> at(3);
            at[0] = group;
            at[op.getRhsN()] = n;
            at[op.getRhsK()] = k;
            Value rhs = e.make<tensor::ExtractOp>(op.getRhs(), at);
            Value next = e.add(scalars[2], e.mul(e.convert(scalars[1], acc),
                                                 e.convert(rhs, acc)));
            scf::YieldOp::create(e.builder, e.loc, next);
            e.builder.setInsertionPointToStart(pick.elseBlock());
            scf::YieldOp::create(e.builder, e.loc, scalars[2]);
          }
          return pick.getResult(0);
        });
    rewriter.replaceOp(op, e.finish(op, sum));
    return success();
  }
};
} // namespace

void mlir::tracea::populateGroupedPatterns(RewritePatternSet &patterns) {
  patterns.add<GroupedGemmDefinition>(patterns.getContext());
}
