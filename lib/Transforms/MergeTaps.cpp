//===- MergeTaps.cpp - Taps of windows side by side become channels -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel takes the channels of one tap at a time. Where windows lie side by
// side, as those of patches do, each row of a window is as contiguous in memory
// as the channels of one pixel are: they are counted as such.

#include "EpilogueUtils.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "tracea/Dialect/Tracea/IR/TraceaOps.h"
#include "tracea/Transforms/Passes.h"

#define DEBUG_TYPE "tracea-merge-taps"

namespace mlir::tracea {
#define GEN_PASS_DEF_MERGETAPS
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

/// Whether windows lie side by side along a dimension, from its first element
/// to its last.
static bool areSideBySide(int64_t image, int64_t taps, int64_t stride,
                          int64_t dilation, int64_t padBefore,
                          int64_t padBehind) {
  return !ShapedType::isDynamic(image) && taps > 1 && stride == taps &&
         dilation == 1 && padBefore == 0 && padBehind == 0 && image % taps == 0;
}

/// Whether the rows of a window can be counted as channels of a pixel.
static bool hasWideTaps(Conv2DOp op) {
  // Slices have gaps between their rows.
  if (op.getScheduleAttr() || op.getGroups() != 1 ||
      op.getLayout() != ImageLayout::NHWC ||
      op.getFilterLayout() == FilterLayout::KCRS ||
      peelCasts(op.getImage()).getDefiningOp<tensor::ExtractSliceOp>())
    return false;
  auto image = cast<RankedTensorType>(op.getImage().getType());
  auto filter = cast<RankedTensorType>(op.getFilter().getType());
  return filter.hasStaticShape() && !image.isDynamicDim(op.getChannelDim()) &&
         areSideBySide(image.getDimSize(op.getWidthDim()),
                       filter.getDimSize(op.getFilterWidthDim()),
                       op.getStrides()[1], op.getDilations()[1],
                       op.getPads()[1], op.getPads()[3]);
}

/// Whether an operand of the epilogue is read alike in all rows of the result,
/// or is known to be as large as the result.
static bool followsRows(Value extra, AffineMap map) {
  return map.isIdentity() ? cast<ShapedType>(extra.getType()).hasStaticShape()
                          : !map.isFunctionOfDim(0) && !map.isFunctionOfDim(1);
}

/// Whether each row of windows can be an image of its own.
static bool hasTallTaps(Conv2DOp op) {
  auto image = cast<RankedTensorType>(op.getImage().getType());
  auto filter = cast<RankedTensorType>(op.getFilter().getType());
  auto epilogue = cast<EpilogueOpInterface>(op.getOperation());
  for (unsigned i = 0; i < op.getExtras().size(); ++i)
    if (!followsRows(op.getExtras()[i], getEpilogueMap(epilogue, i)))
      return false;
  return areSideBySide(image.getDimSize(op.getHeightDim()),
                       filter.getDimSize(op.getFilterHeightDim()),
                       op.getStrides()[0], op.getDilations()[0],
                       op.getPads()[0], op.getPads()[2]);
}

/// `tensor` with other extents, by way of those that divide both.
static Value reshape(OpBuilder &builder, Location loc, Value tensor,
                     ArrayRef<OpFoldResult> parts,
                     ArrayRef<ReassociationIndices> apart,
                     ArrayRef<ReassociationIndices> together) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> ignored;
  SmallVector<int64_t> shape;
  dispatchIndexOpFoldResults(parts, ignored, shape);
  Value expanded = tensor::ExpandShapeOp::create(
      builder, loc, type.clone(shape), tensor, apart, parts);
  return tensor::CollapseShapeOp::create(builder, loc, expanded, together);
}

namespace {
/// The extents of a convolution whose windows lie side by side.
struct Windows {
  explicit Windows(Conv2DOp op)
      : isTall(hasTallTaps(op)),
        images(cast<RankedTensorType>(op.getImage().getType())),
        taps(cast<RankedTensorType>(op.getFilter().getType())),
        filterHeight(taps.getDimSize(op.getFilterHeightDim())),
        filterWidth(taps.getDimSize(op.getFilterWidthDim())) {}

  /// Whether rows of windows are images of their own.
  bool isTall;
  RankedTensorType images, taps;
  int64_t filterHeight, filterWidth;
};
} // namespace

/// [n, h, w, c] as [n, h, q, s c], or as [n p, r, q, s c].
static Value mergeImage(OpBuilder &builder, Conv2DOp op,
                        const Windows &windows) {
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, op.getImage());
  auto number = [&](int64_t value) { return builder.getIndexAttr(value); };
  OpFoldResult columns =
      number(windows.images.getDimSize(2) / windows.filterWidth);
  if (!windows.isTall)
    return reshape(
        builder, loc, op.getImage(),
        {sizes[0], sizes[1], columns, number(windows.filterWidth), sizes[3]},
        {{0}, {1}, {2, 3}, {4}}, {{0}, {1}, {2}, {3, 4}});
  OpFoldResult rows =
      number(windows.images.getDimSize(1) / windows.filterHeight);
  return reshape(builder, loc, op.getImage(),
                 {sizes[0], rows, number(windows.filterHeight), columns,
                  number(windows.filterWidth), sizes[3]},
                 {{0}, {1, 2}, {3, 4}, {5}}, {{0, 1}, {2}, {3}, {4, 5}});
}

/// [k, r, s, c] as [k, r, 1, s c], and [r, s, c, k] as [r, 1, s c, k].
static Value mergeFilter(OpBuilder &builder, Conv2DOp op) {
  unsigned width = op.getFilterWidthDim();
  SmallVector<ReassociationIndices> apart, together;
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < 4; ++dim) {
    int64_t extent =
        cast<RankedTensorType>(op.getFilter().getType()).getDimSize(dim);
    if (dim == width) {
      apart.push_back({dim, dim + 1});
      together.push_back({dim});
      shape.push_back(1);
    } else {
      apart.push_back({dim > width ? dim + 1 : dim});
    }
    shape.push_back(extent);
    if (dim == width)
      together.push_back({dim + 1, dim + 2});
    else if (dim != width + 1)
      together.push_back({dim > width ? dim + 1 : dim});
  }
  SmallVector<OpFoldResult> parts;
  for (int64_t extent : shape)
    parts.push_back(builder.getIndexAttr(extent));
  return reshape(builder, op.getLoc(), op.getFilter(), parts, apart, together);
}

/// [n, p, q, k] as [n p, 1, q, k].
static Value toRows(OpBuilder &builder, Location loc, Value tensor) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
  if (tensor.getDefiningOp<tensor::EmptyOp>()) {
    AffineExpr images, rows;
    bindSymbols(builder.getContext(), images, rows);
    OpFoldResult all = affine::makeComposedFoldedAffineApply(
        builder, loc, images * rows, {sizes[0], sizes[1]});
    return tensor::EmptyOp::create(
        builder, loc, {all, builder.getIndexAttr(1), sizes[2], sizes[3]},
        getElementTypeOrSelf(tensor.getType()));
  }
  sizes.insert(sizes.begin() + 2, builder.getIndexAttr(1));
  return reshape(builder, loc, tensor, sizes, {{0}, {1, 2}, {3}, {4}},
                 {{0, 1}, {2}, {3}, {4}});
}

/// The reverse, to the extents of `like`.
static Value toImages(OpBuilder &builder, Location loc, Value tensor,
                      Value like) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, like);
  auto type = cast<RankedTensorType>(like.getType());
  SmallVector<ReassociationIndices> together = {{0, 1}, {2}, {3}};
  Value collapsed =
      tensor::CollapseShapeOp::create(builder, loc, tensor, together);
  return tensor::ExpandShapeOp::create(builder, loc, type, collapsed, together,
                                       sizes);
}

static void mergeTaps(RewriterBase &rewriter, Conv2DOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Windows windows(op);
  SmallVector<Value> extras(op.getExtras());
  Value init = op.getInit();
  SmallVector<int64_t> strides = {op.getStrides()[0], 1};
  if (windows.isTall) {
    auto epilogue = cast<EpilogueOpInterface>(op.getOperation());
    for (auto [index, extra] : llvm::enumerate(extras))
      if (getEpilogueMap(epilogue, index).isIdentity())
        extra = toRows(rewriter, loc, extra);
    init = toRows(rewriter, loc, init);
    strides.front() = 1;
  }
  auto merged = Conv2DOp::create(
      rewriter, loc, init.getType(), mergeImage(rewriter, op, windows),
      mergeFilter(rewriter, op), extras, init, op.getLayout(),
      op.getFilterLayout(), strides, op.getPads(), op.getDilations(),
      op.getGroups(), op.getAccAttr(), op.getEpilogueMapsAttr(),
      /*schedule=*/ScheduleAttr());
  merged->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.inlineRegionBefore(op.getEpilogue(), merged.getEpilogue(),
                              merged.getEpilogue().end());
  remark::passed(loc,
                 remark::RemarkOpts::name("TapsMerged").category(DEBUG_TYPE))
      << llvm::formatv("windows of {0}x{1} pixels lie side by side: {2} "
                       "channels of a tap",
                       windows.filterHeight, windows.filterWidth,
                       windows.filterWidth *
                           windows.images.getDimSize(op.getChannelDim()))
             .str();
  rewriter.replaceOp(
      op, windows.isTall
              ? toImages(rewriter, loc, merged.getResult(), op.getInit())
              : merged.getResult());
}

namespace {
struct MergeTapsPass : public mlir::tracea::impl::MergeTapsBase<MergeTapsPass> {
  using MergeTapsBase::MergeTapsBase;

  void runOnOperation() override {
    SmallVector<Conv2DOp> found;
    getOperation()->walk([&](Conv2DOp op) {
      if (hasWideTaps(op))
        found.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Conv2DOp op : found) {
      mergeTaps(rewriter, op);
      ++numMerged;
    }
  }
};
} // namespace
