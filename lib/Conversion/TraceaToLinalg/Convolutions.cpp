//===- Convolutions.cpp - Definitions of conv2d and its gradients ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each is one sum of products: a generic whose maps are read off the formulas
// of the dialect's documentation. All three have the same loops and the same
// maps of image, filter and output; they differ in which of them is summed. The
// image has its border around it: of the gradient by the image, the sum for the
// border is thrown away.

#include "Emitter.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "tracea/Dialect/Tracea/IR/ExtentChecks.h"

using namespace mlir;
using namespace mlir::tracea;

namespace {
/// A tensor's dimension as (groups, extent / groups).
struct ChannelSplit {
  RankedTensorType type; ///< the split type
  SmallVector<ReassociationIndices> reassociation;
  Emitter::Sizes sizes;
};

/// Maps and splits that the definitions share.
struct ConvolutionEmitter {
  ConvolutionEmitter(Emitter &e, ConvolutionOpInterface op);

  ChannelSplit split(RankedTensorType type, Emitter::Sizes sizes, unsigned dim);
  Value expand(Value tensor, unsigned dim);
  /// Zeros in the accumulator's type.
  Value zeros(const Emitter::Sizes &sizes);
  /// The extents of the image with its border.
  Emitter::Sizes getPaddedSizes(Value image);
  Value padImage(Value image);

  Emitter &e;
  ConvolutionOpInterface op;
  Type acc;
  AffineMap imageMap, filterMap, outputMap;
};
} // namespace

ConvolutionEmitter::ConvolutionEmitter(Emitter &e, ConvolutionOpInterface op)
    : e(e), op(op),
      acc(cast<EpilogueOpInterface>(op.getOperation()).getAccumulatorType()) {
  // Loops: batch, rows and columns of the output, group, output channel of the
  // group, rows and columns of the filter, input channel of the group.
  enum Loop : unsigned { N, P, Q, G, K, R, S, C, NumLoops };
  AffineExpr d[NumLoops];
  for (unsigned i = 0; i < NumLoops; ++i)
    d[i] = e.builder.getAffineDimExpr(i);
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
    return AffineMap::get(NumLoops, 0, results, e.builder.getContext());
  };
  unsigned imageDims[] = {op.getBatchDim(), op.getHeightDim(), op.getWidthDim(),
                          op.getChannelDim()};
  unsigned filterDims[] = {op.getFilterOutDim(), op.getFilterHeightDim(),
                           op.getFilterWidthDim(), op.getFilterInDim()};
  imageMap = ordered(imageDims, {{d[N]}, {row}, {column}, {d[G], d[C]}});
  filterMap = ordered(filterDims, {{d[G], d[K]}, {d[R]}, {d[S]}, {d[C]}});
  outputMap = ordered(imageDims, {{d[N]}, {d[P]}, {d[Q]}, {d[G], d[K]}});
}

ChannelSplit ConvolutionEmitter::split(RankedTensorType type,
                                       Emitter::Sizes sizes, unsigned dim) {
  int64_t groups = op.getGroups();
  ChannelSplit split;
  SmallVector<int64_t> shape;
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

Value ConvolutionEmitter::expand(Value tensor, unsigned dim) {
  ChannelSplit parts =
      split(cast<RankedTensorType>(tensor.getType()), e.sizes(tensor), dim);
  return e.make<tensor::ExpandShapeOp>(parts.type, tensor, parts.reassociation,
                                       parts.sizes);
}

Value ConvolutionEmitter::zeros(const Emitter::Sizes &sizes) {
  return e.filled(sizes, e.zero(acc));
}

Emitter::Sizes ConvolutionEmitter::getPaddedSizes(Value image) {
  Emitter::Sizes sizes = e.sizes(image);
  ArrayRef<int64_t> pads = op.getPads();
  for (auto [dim, axis] :
       {std::pair(op.getHeightDim(), 0), std::pair(op.getWidthDim(), 1)})
    sizes[dim] = affine::makeComposedFoldedAffineApply(
        e.builder, e.loc,
        e.builder.getAffineDimExpr(0) + (pads[axis] + pads[axis + 2]),
        {sizes[dim]});
  return sizes;
}

Value ConvolutionEmitter::padImage(Value image) {
  ArrayRef<int64_t> pads = op.getPads();
  if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
    return image;
  SmallVector<OpFoldResult> low(4, e.builder.getIndexAttr(0)), high = low;
  low[op.getHeightDim()] = e.builder.getIndexAttr(pads[0]);
  low[op.getWidthDim()] = e.builder.getIndexAttr(pads[1]);
  high[op.getHeightDim()] = e.builder.getIndexAttr(pads[2]);
  high[op.getWidthDim()] = e.builder.getIndexAttr(pads[3]);
  Value zero = e.zero(Emitter::elementType(image));
  if (!llvm::is_contained(cast<RankedTensorType>(image.getType()).getShape(),
                          0))
    return e.make<tensor::PadOp>(Type(), image, low, high, zero);
  // There is nothing to pad, and bufferization rejects the empty slice.
  return e.filled(getPaddedSizes(image), zero);
}

static bool isEmpty(Value tensor) {
  return llvm::is_contained(cast<RankedTensorType>(tensor.getType()).getShape(),
                            0);
}

/// Whether the operation computes nothing, or a sum of nothing, for which
/// windows beyond the image would not verify.
template <typename OpTy>
static bool replaceEmpty(OpTy op, PatternRewriter &rewriter) {
  bool isSum = !isEmpty(op.getInit());
  if (isSum && !isEmpty(op->getOperand(0)) && !isEmpty(op->getOperand(1)))
    return false;
  // No loop is left whose extents have to agree.
  emitExtentChecks(rewriter, cast<ConvolutionOpInterface>(op.getOperation()));
  rewriter.setInsertionPoint(op);
  if (!isSum) {
    rewriter.replaceOp(op, op.getInit());
    return true;
  }
  Emitter e(rewriter, op.getLoc());
  Value zero = e.filled(e.sizes(op.getInit()), e.zero(op.getAccumulatorType()));
  rewriter.replaceOp(op, e.finish(op, zero));
  return true;
}

namespace {
struct Conv2DDefinition : OpRewritePattern<Conv2DOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(Conv2DOp op,
                                PatternRewriter &rewriter) const override {
    // Windows that reach beyond the image would not verify.
    if (isEmpty(op.getInit())) {
      rewriter.replaceOp(op, op.getInit());
      return success();
    }
    Emitter e(rewriter, op.getLoc());
    ConvolutionEmitter conv(e, cast<ConvolutionOpInterface>(op.getOperation()));
    Value image = conv.padImage(op.getImage());
    ChannelSplit result =
        conv.split(cast<RankedTensorType>(op.getInit().getType()),
                   e.sizes(op.getInit()), op.getChannelDim());
    Value sum =
        e.generic({conv.expand(image, op.getChannelDim()),
                   conv.expand(op.getFilter(), op.getFilterOutDim())},
                  {conv.imageMap, conv.filterMap}, conv.zeros(result.sizes),
                  conv.outputMap, Emitter::multiplyAdd);
    Type accumulated = cast<RankedTensorType>(op.getInit().getType())
                           .clone(op.getAccumulatorType());
    Value merged =
        e.make<tensor::CollapseShapeOp>(accumulated, sum, result.reassociation);
    rewriter.replaceOp(op, e.finish(op, merged));
    return success();
  }
};

struct Conv2DDGradDefinition : OpRewritePattern<Conv2DDGradOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(Conv2DDGradOp op,
                                PatternRewriter &rewriter) const override {
    if (replaceEmpty(op, rewriter))
      return success();
    Emitter e(rewriter, op.getLoc());
    ConvolutionEmitter conv(e, cast<ConvolutionOpInterface>(op.getOperation()));
    Emitter::Sizes sizes = conv.getPaddedSizes(op.getInit());
    auto padded = RankedTensorType::get(decomposeMixedValues(sizes).first,
                                        op.getAccumulatorType());
    ChannelSplit result = conv.split(padded, sizes, op.getChannelDim());
    Value sum =
        e.generic({conv.expand(op.getGradient(), op.getChannelDim()),
                   conv.expand(op.getFilter(), op.getFilterOutDim())},
                  {conv.outputMap, conv.filterMap}, conv.zeros(result.sizes),
                  conv.imageMap, Emitter::multiplyAdd);
    Value merged =
        e.make<tensor::CollapseShapeOp>(padded, sum, result.reassociation);
    SmallVector<OpFoldResult> offsets(4, rewriter.getIndexAttr(0)),
        steps(4, rewriter.getIndexAttr(1));
    offsets[op.getHeightDim()] = rewriter.getIndexAttr(op.getPads()[0]);
    offsets[op.getWidthDim()] = rewriter.getIndexAttr(op.getPads()[1]);
    Value inside = e.make<tensor::ExtractSliceOp>(
        cast<RankedTensorType>(op.getInit().getType())
            .clone(op.getAccumulatorType()),
        merged, offsets, e.sizes(op.getInit()), steps);
    rewriter.replaceOp(op, e.finish(op, inside));
    return success();
  }
};

struct Conv2DWGradDefinition : OpRewritePattern<Conv2DWGradOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(Conv2DWGradOp op,
                                PatternRewriter &rewriter) const override {
    if (replaceEmpty(op, rewriter))
      return success();
    Emitter e(rewriter, op.getLoc());
    ConvolutionEmitter conv(e, cast<ConvolutionOpInterface>(op.getOperation()));
    Value image = conv.padImage(op.getImage());
    auto type = cast<RankedTensorType>(op.getInit().getType());
    ChannelSplit result =
        conv.split(type, e.sizes(op.getInit()), op.getFilterOutDim());
    Value sum =
        e.generic({conv.expand(op.getGradient(), op.getChannelDim()),
                   conv.expand(image, op.getChannelDim())},
                  {conv.outputMap, conv.imageMap}, conv.zeros(result.sizes),
                  conv.filterMap, Emitter::multiplyAdd);
    Value merged = e.make<tensor::CollapseShapeOp>(
        type.clone(op.getAccumulatorType()), sum, result.reassociation);
    rewriter.replaceOp(op, e.finish(op, merged));
    return success();
  }
};
} // namespace

void mlir::tracea::populateConvolutionPatterns(RewritePatternSet &patterns) {
  patterns.add<Conv2DDefinition, Conv2DDGradDefinition, Conv2DWGradDefinition>(
      patterns.getContext());
}
