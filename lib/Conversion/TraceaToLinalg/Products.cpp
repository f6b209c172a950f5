//===- Products.cpp - Definitions of gemm and conv2d ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both are one sum of products: a generic whose maps are read off the formulas
// of the dialect's documentation.

#include "Emitter.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::tracea;

/// accumulator + lhs * rhs, in the accumulator's type.
static Value multiplyAdd(Emitter &e, ValueRange scalars) {
  Type acc = scalars[2].getType();
  return e.add(scalars[2],
               e.mul(e.convert(scalars[0], acc), e.convert(scalars[1], acc)));
}

//===----------------------------------------------------------------------===//
// gemm
//===----------------------------------------------------------------------===//

namespace {
struct GemmDefinition : OpRewritePattern<GemmOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GemmOp op,
                                PatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    // Loops: the batch, then m, n, k.
    unsigned batch = Emitter::rank(op.getInit()) - 2;
    unsigned m = batch, n = batch + 1, k = batch + 2, loops = batch + 3;
    auto operandMap = [&](Value operand, unsigned row, unsigned column,
                          bool transposed) {
      SmallVector<unsigned> dims;
      if (Emitter::rank(operand) > 2) // otherwise shared by the whole batch
        llvm::append_range(dims, llvm::seq<unsigned>(0, batch));
      dims.push_back(transposed ? column : row);
      dims.push_back(transposed ? row : column);
      return e.select(loops, dims);
    };
    SmallVector<unsigned> resultDims =
        llvm::to_vector(llvm::seq<unsigned>(0, batch + 2));
    Value start =
        e.filled(e.sizes(op.getInit()), e.zero(op.getAccumulatorType()));
    Value sum = e.generic({op.getLhs(), op.getRhs()},
                          {operandMap(op.getLhs(), m, k, op.getTransposeLhs()),
                           operandMap(op.getRhs(), k, n, op.getTransposeRhs())},
                          start, e.select(loops, resultDims), multiplyAdd);
    rewriter.replaceOp(op, e.finish(op, sum));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// conv2d
//===----------------------------------------------------------------------===//

/// Splits dimension `dim` of a tensor into (groups, extent / groups).
struct ChannelSplit {
  RankedTensorType type; ///< the split type
  SmallVector<ReassociationIndices> reassociation;
  SmallVector<OpFoldResult> sizes;
};

struct Conv2DDefinition : OpRewritePattern<Conv2DOp> {
  using OpRewritePattern::OpRewritePattern;

  static ChannelSplit splitChannels(Emitter &e, Value tensor, unsigned dim,
                                    int64_t groups) {
    RankedTensorType type = cast<RankedTensorType>(tensor.getType());
    ChannelSplit split;
    SmallVector<int64_t> shape;
    Emitter::Sizes sizes = e.sizes(tensor);
    for (unsigned i = 0, position = 0; i < type.getRank(); ++i) {
      ReassociationIndices &group = split.reassociation.emplace_back();
      group.push_back(position++);
      if (i != dim) {
        shape.push_back(type.getDimSize(i));
        split.sizes.push_back(sizes[i]);
        continue;
      }
      group.push_back(position++);
      shape.push_back(groups);
      shape.push_back(type.isDynamicDim(i) ? ShapedType::kDynamic
                                           : type.getDimSize(i) / groups);
      split.sizes.push_back(e.builder.getIndexAttr(groups));
      split.sizes.push_back(affine::makeComposedFoldedAffineApply(
          e.builder, e.loc, e.builder.getAffineDimExpr(0).floorDiv(groups),
          {sizes[i]}));
    }
    split.type = RankedTensorType::get(shape, type.getElementType());
    return split;
  }

  static Value expandChannels(Emitter &e, Value tensor, unsigned dim,
                              int64_t groups) {
    ChannelSplit split = splitChannels(e, tensor, dim, groups);
    return e.make<tensor::ExpandShapeOp>(split.type, tensor,
                                         split.reassociation, split.sizes);
  }

  static Value padImage(Emitter &e, Conv2DOp op) {
    ArrayRef<int64_t> pads = op.getPads();
    if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
      return op.getImage();
    SmallVector<OpFoldResult> low(4, e.builder.getIndexAttr(0)), high = low;
    low[op.getHeightDim()] = e.builder.getIndexAttr(pads[0]);
    low[op.getWidthDim()] = e.builder.getIndexAttr(pads[1]);
    high[op.getHeightDim()] = e.builder.getIndexAttr(pads[2]);
    high[op.getWidthDim()] = e.builder.getIndexAttr(pads[3]);
    Value zero = e.zero(Emitter::elementType(op.getImage()));
    RankedTensorType type = cast<RankedTensorType>(op.getImage().getType());
    if (!llvm::is_contained(type.getShape(), 0))
      return e.make<tensor::PadOp>(Type(), op.getImage(), low, high, zero);
    // There is nothing to pad, and bufferization rejects the empty slice.
    Emitter::Sizes sizes = e.sizes(op.getImage());
    for (auto [size, before, after] : llvm::zip_equal(sizes, low, high))
      size = affine::makeComposedFoldedAffineApply(
          e.builder, e.loc,
          e.builder.getAffineDimExpr(0) + e.builder.getAffineDimExpr(1) +
              e.builder.getAffineDimExpr(2),
          {size, before, after});
    return e.filled(sizes, zero);
  }

  LogicalResult matchAndRewrite(Conv2DOp op,
                                PatternRewriter &rewriter) const override {
    // Windows that reach beyond the image would not verify.
    if (llvm::is_contained(
            cast<RankedTensorType>(op.getInit().getType()).getShape(), 0)) {
      rewriter.replaceOp(op, op.getInit());
      return success();
    }
    Emitter e(rewriter, op.getLoc());
    int64_t groups = op.getGroups();
    Value image = padImage(e, op);
    Value filter = op.getFilter();

    // Loops: batch, rows and columns of the result, group, output channel of
    // the group, rows and columns of the filter, input channel of the group.
    enum Loop : unsigned { N, P, Q, G, K, R, S, C, NumLoops };
    AffineExpr d[NumLoops];
    for (unsigned i = 0; i < NumLoops; ++i)
      d[i] = rewriter.getAffineDimExpr(i);
    AffineExpr row = d[P] * op.getStrides()[0] + d[R] * op.getDilations()[0];
    AffineExpr column = d[Q] * op.getStrides()[1] + d[S] * op.getDilations()[1];

    // The operands' dimensions in order, channels as (group, channel).
    auto ordered = [&](ArrayRef<unsigned> positions,
                       ArrayRef<SmallVector<AffineExpr>> exprs) {
      SmallVector<SmallVector<AffineExpr>> slots(4);
      for (auto [position, parts] : llvm::zip_equal(positions, exprs))
        slots[position] = parts;
      SmallVector<AffineExpr> results;
      for (const SmallVector<AffineExpr> &slot : slots)
        llvm::append_range(results, slot);
      return AffineMap::get(NumLoops, 0, results, rewriter.getContext());
    };
    unsigned imageDims[] = {op.getBatchDim(), op.getHeightDim(),
                            op.getWidthDim(), op.getChannelDim()};
    unsigned filterDims[] = {op.getFilterOutDim(), op.getFilterHeightDim(),
                             op.getFilterWidthDim(), op.getFilterInDim()};
    AffineMap imageMap =
        ordered(imageDims, {{d[N]}, {row}, {column}, {d[G], d[C]}});
    AffineMap filterMap =
        ordered(filterDims, {{d[G], d[K]}, {d[R]}, {d[S]}, {d[C]}});
    AffineMap resultMap =
        ordered(imageDims, {{d[N]}, {d[P]}, {d[Q]}, {d[G], d[K]}});

    ChannelSplit split =
        splitChannels(e, op.getInit(), op.getChannelDim(), groups);
    Value start = e.filled(split.sizes, e.zero(op.getAccumulatorType()));
    Value sum =
        e.generic({expandChannels(e, image, op.getChannelDim(), groups),
                   expandChannels(e, filter, op.getFilterOutDim(), groups)},
                  {imageMap, filterMap}, start, resultMap, multiplyAdd);
    Type accumulated = cast<RankedTensorType>(op.getInit().getType())
                           .clone(op.getAccumulatorType());
    Value merged =
        e.make<tensor::CollapseShapeOp>(accumulated, sum, split.reassociation);
    rewriter.replaceOp(op, e.finish(op, merged));
    return success();
  }
};
} // namespace

void mlir::tracea::populateProductPatterns(RewritePatternSet &patterns) {
  patterns.add<GemmDefinition, Conv2DDefinition>(patterns.getContext());
}
