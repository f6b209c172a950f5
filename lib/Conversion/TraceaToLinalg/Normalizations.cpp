//===- Normalizations.cpp - Definitions of softmax and of the norms -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions over some dimensions of the input in the accumulator's type, then
// one elementwise map that reads them back.

#include "Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

using namespace mlir;
using namespace mlir::tracea;

namespace {
/// The elements of the rows, and what is kept of them.
struct RowInput {
  RowInput(Emitter &e, RowOpInterface op) : row(op.getInput()) {
    if (!hasPrologue(op))
      return;
    AffineMap all = e.identity(Emitter::rank(row));
    SmallVector<Value> inputs = {row};
    llvm::append_range(inputs, op.getPrologueOperands());
    SmallVector<AffineMap> maps = {all};
    llvm::append_range(maps,
                       op.getPrologueMaps().getAsValueRange<AffineMapAttr>());
    SmallVector<Value> destinations = {
        e.empty(e.sizes(row), getRowElementType(op))};
    for (OpOperand &init : op.getKeptInitsMutable())
      destinations.push_back(init.get());
    maps.append(destinations.size(), all);
    auto generic = linalg::GenericOp::create(
        e.builder, e.loc, TypeRange(ValueRange(destinations)), inputs,
        destinations, maps,
        SmallVector<utils::IteratorType>(all.getNumDims(),
                                         utils::IteratorType::parallel),
        [&](OpBuilder &nested, Location loc, ValueRange scalars) {
          linalg::YieldOp::create(
              nested, loc,
              inlineScalars(nested, op.getPrologue().front(),
                            scalars.drop_back(destinations.size())));
        });
    row = generic.getResult(0);
    llvm::append_range(kept, generic.getResults().drop_front());
  }

  /// The results of an operation: what is kept stands behind the first one.
  SmallVector<Value> with(ValueRange results) const {
    SmallVector<Value> all = {results.front()};
    llvm::append_range(all, kept);
    llvm::append_range(all, results.drop_front());
    return all;
  }

  Value row;
  SmallVector<Value> kept;
};

/// An input seen through its reductions over a set of dimensions.
struct Rows {
  Rows(Emitter &e, EpilogueOpInterface op, Value input,
       llvm::function_ref<bool(unsigned)> isReduced)
      : e(e), op(op), input(input), acc(op.getAccumulatorType()),
        rank(Emitter::rank(input)) {
    Emitter::Sizes sizes = e.sizes(input);
    for (unsigned i = 0; i < rank; ++i) {
      if (isReduced(i)) {
        reducedDims.push_back(i);
        reducedSizes.push_back(sizes[i]);
      } else {
        keptDims.push_back(i);
        keptSizes.push_back(sizes[i]);
      }
    }
    all = e.identity(rank);
    kept = e.select(rank, keptDims);
  }

  /// Reduces `inputs` from `start` with a body whose last scalar is the
  /// partial result.
  Value reduce(Value start, ValueRange inputs, ArrayRef<AffineMap> maps,
               Emitter::Body body) {
    return e.generic(inputs, maps, e.filled(keptSizes, start), kept, body);
  }

  /// The number of elements of a row.
  Value count() {
    Value product = e.index(1);
    for (OpFoldResult size : reducedSizes)
      product = e.make<arith::MulIOp>(product, e.index(size));
    return e.number(product, acc);
  }

  /// sum / count, a tensor over the rows.
  Value mean(Value sum) {
    Value n = count();
    return e.elementwise(sum, e.identity(keptSizes.size()),
                         e.empty(keptSizes, acc),
                         [&](Emitter &e, ValueRange s) {
                           return e.make<arith::DivFOp>(s[0], n);
                         });
  }

  /// The normalized tensor, ready for the epilogue.
  Value combine(ValueRange inputs, ArrayRef<AffineMap> maps,
                Emitter::Body body) {
    return e.elementwise(inputs, maps, e.emptyAccumulator(op), body);
  }

  Emitter &e;
  EpilogueOpInterface op;
  Value input;
  Type acc;
  unsigned rank;
  SmallVector<unsigned> reducedDims, keptDims;
  Emitter::Sizes reducedSizes, keptSizes;
  AffineMap all, kept;
};

struct SoftmaxDefinition : OpRewritePattern<SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SoftmaxOp op,
                                PatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    unsigned dim = op.getDim();
    RowInput input(e, op);
    Rows rows(e, op, input.row, [&](unsigned i) { return i == dim; });
    Type acc = rows.acc;
    Value maximum = rows.reduce(e.negativeInfinity(acc), rows.input, rows.all,
                                [&](Emitter &e, ValueRange s) {
                                  return e.make<arith::MaximumFOp>(
                                      e.convert(s[0], acc), s[1]);
                                });
    Value powers =
        rows.combine({rows.input, maximum}, {rows.all, rows.kept},
                     [&](Emitter &e, ValueRange s) {
                       return e.make<math::ExpOp>(
                           e.make<arith::SubFOp>(e.convert(s[0], acc), s[1]));
                     });
    Value sum = rows.reduce(e.zero(acc), powers, rows.all,
                            [&](Emitter &e, ValueRange s) {
                              return e.make<arith::AddFOp>(s[1], s[0]);
                            });
    Value weights = rows.combine({powers, sum}, {rows.all, rows.kept},
                                 [&](Emitter &e, ValueRange s) {
                                   return e.make<arith::DivFOp>(s[0], s[1]);
                                 });
    rewriter.replaceOp(op, input.with(e.finish(op, weights)));
    return success();
  }
};

struct BatchNormDefinition : OpRewritePattern<BatchNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BatchNormOp op,
                                PatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    Type acc = op.getAccumulatorType();
    unsigned rank = Emitter::rank(op.getInput());
    AffineMap channel = e.select(rank, static_cast<unsigned>(op.getAxis()));
    Value normal = e.elementwise(
        {op.getInput(), op.getScale(), op.getBias(), op.getMean(),
         op.getVariance()},
        {e.identity(rank), channel, channel, channel, channel},
        e.emptyAccumulator(op), [&](Emitter &e, ValueRange s) {
          Value centered =
              e.make<arith::SubFOp>(e.convert(s[0], acc), e.convert(s[3], acc));
          Value deviation = e.make<math::SqrtOp>(e.make<arith::AddFOp>(
              e.convert(s[4], acc),
              e.real(op.getEpsilon().convertToDouble(), acc)));
          Value unit = e.make<arith::DivFOp>(centered, deviation);
          Value scaled = e.make<arith::MulFOp>(unit, e.convert(s[1], acc));
          return e.make<arith::AddFOp>(scaled, e.convert(s[2], acc));
        });
    rewriter.replaceOp(op, e.finish(op, normal));
    return success();
  }
};

struct LayerNormDefinition : OpRewritePattern<LayerNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LayerNormOp op,
                                PatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    unsigned axis = op.getAxis();
    RowInput input(e, op);
    Rows rows(e, op, input.row, [&](unsigned i) { return i >= axis; });
    Type acc = rows.acc;
    Value mean = rows.mean(rows.reduce(
        e.zero(acc), rows.input, rows.all, [&](Emitter &e, ValueRange s) {
          return e.make<arith::AddFOp>(s[1], e.convert(s[0], acc));
        }));
    Value variance = rows.mean(rows.reduce(
        e.zero(acc), {rows.input, mean}, {rows.all, rows.kept},
        [&](Emitter &e, ValueRange s) {
          Value centered = e.make<arith::SubFOp>(e.convert(s[0], acc), s[1]);
          return e.make<arith::AddFOp>(
              s[2], e.make<arith::MulFOp>(centered, centered));
        }));

    SmallVector<Value> inputs = {rows.input, mean, variance};
    SmallVector<AffineMap> maps = {rows.all, rows.kept, rows.kept};
    AffineMap row = e.select(rows.rank, rows.reducedDims);
    if (op.getScale()) {
      inputs.push_back(op.getScale());
      maps.push_back(row);
    }
    if (op.getBias()) {
      inputs.push_back(op.getBias());
      maps.push_back(row);
    }
    Value normal = rows.combine(inputs, maps, [&](Emitter &e, ValueRange s) {
      Value centered = e.make<arith::SubFOp>(e.convert(s[0], acc), s[1]);
      Value deviation = e.make<math::SqrtOp>(e.make<arith::AddFOp>(
          s[2], e.real(op.getEpsilon().convertToDouble(), acc)));
      Value value = e.make<arith::DivFOp>(centered, deviation);
      unsigned next = 3;
      if (op.getScale())
        value = e.make<arith::MulFOp>(value, e.convert(s[next++], acc));
      if (op.getBias())
        value = e.make<arith::AddFOp>(value, e.convert(s[next++], acc));
      return value;
    });
    rewriter.replaceOp(op, input.with(e.finish(op, normal)));
    return success();
  }
};

struct RMSNormDefinition : OpRewritePattern<RMSNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(RMSNormOp op,
                                PatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    unsigned axis = op.getAxis();
    RowInput input(e, op);
    Rows rows(e, op, input.row, [&](unsigned i) { return i >= axis; });
    Type acc = rows.acc;
    Value meanSquare = rows.mean(rows.reduce(
        e.zero(acc), rows.input, rows.all, [&](Emitter &e, ValueRange s) {
          Value x = e.convert(s[0], acc);
          return e.make<arith::AddFOp>(s[1], e.make<arith::MulFOp>(x, x));
        }));
    SmallVector<Value> inputs = {rows.input, meanSquare};
    SmallVector<AffineMap> maps = {rows.all, rows.kept};
    if (op.getScale()) {
      inputs.push_back(op.getScale());
      maps.push_back(e.select(rows.rank, rows.reducedDims));
    }
    Value normal = rows.combine(inputs, maps, [&](Emitter &e, ValueRange s) {
      Value root = e.make<math::SqrtOp>(e.make<arith::AddFOp>(
          s[1], e.real(op.getEpsilon().convertToDouble(), acc)));
      Value value = e.make<arith::DivFOp>(e.convert(s[0], acc), root);
      if (op.getScale())
        value = e.make<arith::MulFOp>(value, e.convert(s[2], acc));
      return value;
    });
    rewriter.replaceOp(op, input.with(e.finish(op, normal)));
    return success();
  }
};
} // namespace

void mlir::tracea::populateNormalizationPatterns(RewritePatternSet &patterns) {
  patterns.add<SoftmaxDefinition, BatchNormDefinition, LayerNormDefinition,
               RMSNormDefinition>(patterns.getContext());
}
