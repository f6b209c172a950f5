//===- WGradWindows.cpp - Filter gradients by a matrix of windows ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variant "wgrad.windows": what each pixel of the output sees of the image is
// written out as a row of a matrix, and the gradient is one product of matrices
// for each group. Rows are copied by loops of the host; the product is
// "gemm.packed", with the schedule's tile. A filter of one tap without strides
// and borders sees the image as it is.

#include "WGradContraction.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

using namespace mlir;
using namespace mlir::tracea;

namespace {
class WindowMatrix {
public:
  WindowMatrix(KernelRewriter &rewriter, Conv2DWGradOp op)
      : rewriter(rewriter), loc(op.getLoc()), op(op), groups(op.getGroups()),
        result(cast<RankedTensorType>(op.getInit().getType())) {}

  /// The gradient as [group, pixel, output channel].
  Value getPixels();
  /// What pixels see, as [group, pixel, (r, s, input channel)].
  Value getWindows();
  /// Stores the product [group, output channel, (r, s, input channel)].
  Value store(Value product);
  /// Stores sums of nothing.
  Value storeZeros();
  SmallVector<OpFoldResult> getProductSizes(Value pixels, Value windows);

private:
  using Sizes = SmallVector<OpFoldResult>;

  OpFoldResult apply(AffineExpr expr, ArrayRef<OpFoldResult> operands) {
    return affine::makeComposedFoldedAffineApply(rewriter, loc, expr, operands);
  }
  AffineExpr d(unsigned position) {
    return rewriter.getAffineDimExpr(position);
  }
  Sizes getSizes(Value tensor) {
    return tensor::getMixedSizes(rewriter, loc, tensor);
  }
  /// The channel of a tensor whose group and channel in it are loops.
  AffineExpr getChannel(unsigned group, unsigned channel, int64_t extent) {
    return groups == 1 ? d(channel) : d(group) * extent + d(channel);
  }
  Value copy(Value source, AffineMap map, const Sizes &sizes);
  /// Stores `sums`, whose element for one of the result is where `map` says.
  Value store(Value sums, AffineMap map);
  Value padImage();
  /// Input channels of a group, and output channels.
  int64_t getIns() { return result.getDimSize(op.getFilterInDim()); }
  int64_t getOuts() {
    int64_t outs = result.getDimSize(op.getFilterOutDim());
    return ShapedType::isDynamic(outs) ? outs : outs / groups;
  }
  OpFoldResult getGroupChannels(Value tensor) {
    return apply(d(0).floorDiv(groups), {getSizes(tensor)[op.getChannelDim()]});
  }

  KernelRewriter &rewriter;
  Location loc;
  Conv2DWGradOp op;
  int64_t groups;
  RankedTensorType result;
};
} // namespace

/// A tensor of `sizes` that has at each place what `source` has where `map`
/// says.
Value WindowMatrix::copy(Value source, AffineMap map, const Sizes &sizes) {
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes,
                                        getElementTypeOrSelf(source));
  AffineMap maps[] = {map, rewriter.getMultiDimIdentityMap(sizes.size())};
  return linalg::GenericOp::create(
             rewriter, loc, empty.getType(), source, empty, maps,
             SmallVector<utils::IteratorType>(sizes.size(),
                                              utils::IteratorType::parallel),
             [](OpBuilder &nested, Location nestedLoc, ValueRange elements) {
               linalg::YieldOp::create(nested, nestedLoc, elements.front());
             })
      .getResult(0);
}

Value WindowMatrix::padImage() {
  ArrayRef<int64_t> pads = op.getPads();
  Value image = op.getImage();
  if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
    return image;
  Sizes low(4, rewriter.getIndexAttr(0)), high = low;
  low[op.getHeightDim()] = rewriter.getIndexAttr(pads[0]);
  low[op.getWidthDim()] = rewriter.getIndexAttr(pads[1]);
  high[op.getHeightDim()] = rewriter.getIndexAttr(pads[2]);
  high[op.getWidthDim()] = rewriter.getIndexAttr(pads[3]);
  Value zero = arith::ConstantOp::create(
      rewriter, loc,
      cast<TypedAttr>(rewriter.getZeroAttr(getElementTypeOrSelf(image))));
  return tensor::PadOp::create(rewriter, loc, Type(), image, low, high, zero);
}

Value WindowMatrix::getPixels() {
  Value gradient = op.getGradient();
  SmallVector<ReassociationIndices> pixels = {{0, 1, 2}, {3}};
  if (groups == 1 && op.getLayout() == ImageLayout::NHWC)
    return tensor::CollapseShapeOp::create(rewriter, loc, gradient, pixels);
  // Loops: group, n, p, q, k.
  Sizes own = getSizes(gradient);
  Sizes sizes = {rewriter.getIndexAttr(groups), own[op.getBatchDim()],
                 own[op.getHeightDim()], own[op.getWidthDim()],
                 getGroupChannels(gradient)};
  SmallVector<AffineExpr> place(4);
  place[op.getBatchDim()] = d(1);
  place[op.getHeightDim()] = d(2);
  place[op.getWidthDim()] = d(3);
  place[op.getChannelDim()] = getChannel(0, 4, getOuts());
  Value copied =
      copy(gradient, AffineMap::get(5, 0, place, rewriter.getContext()), sizes);
  pixels = {{0}, {1, 2, 3}, {4}};
  if (groups == 1)
    pixels = {{0, 1, 2, 3}, {4}};
  return tensor::CollapseShapeOp::create(rewriter, loc, copied, pixels);
}

Value WindowMatrix::getWindows() {
  bool isImage =
      groups == 1 && op.getLayout() == ImageLayout::NHWC &&
      result.getDimSize(op.getFilterHeightDim()) == 1 &&
      result.getDimSize(op.getFilterWidthDim()) == 1 &&
      llvm::all_of(op.getStrides(), [](int64_t step) { return step == 1; }) &&
      llvm::all_of(op.getPads(), [](int64_t pad) { return pad == 0; });
  SmallVector<ReassociationIndices> dims = {{0, 1, 2}, {3}};
  if (isImage)
    return tensor::CollapseShapeOp::create(rewriter, loc, op.getImage(), dims);
  Value image = padImage();
  // Loops: group, n, p, q, r, s, c.
  Sizes pixels = getSizes(op.getGradient());
  Sizes sizes = {
      rewriter.getIndexAttr(groups),
      pixels[op.getBatchDim()],
      pixels[op.getHeightDim()],
      pixels[op.getWidthDim()],
      rewriter.getIndexAttr(result.getDimSize(op.getFilterHeightDim())),
      rewriter.getIndexAttr(result.getDimSize(op.getFilterWidthDim())),
      getGroupChannels(op.getImage())};
  SmallVector<AffineExpr> place(4);
  place[op.getBatchDim()] = d(1);
  place[op.getHeightDim()] =
      d(2) * op.getStrides()[0] + d(4) * op.getDilations()[0];
  place[op.getWidthDim()] =
      d(3) * op.getStrides()[1] + d(5) * op.getDilations()[1];
  place[op.getChannelDim()] = getChannel(0, 6, getIns());
  Value copied =
      copy(image, AffineMap::get(7, 0, place, rewriter.getContext()), sizes);
  dims = {{0}, {1, 2, 3}, {4, 5, 6}};
  if (groups == 1)
    dims = {{0, 1, 2, 3}, {4, 5, 6}};
  return tensor::CollapseShapeOp::create(rewriter, loc, copied, dims);
}

SmallVector<OpFoldResult> WindowMatrix::getProductSizes(Value pixels,
                                                        Value windows) {
  Sizes sizes;
  if (groups > 1)
    sizes.push_back(rewriter.getIndexAttr(groups));
  sizes.push_back(getSizes(pixels).back());
  sizes.push_back(getSizes(windows).back());
  return sizes;
}

Value WindowMatrix::store(Value product) {
  // As [(group, output channel), r, s, input channel].
  Value merged = product;
  SmallVector<ReassociationIndices> all = {{0, 1}, {2}};
  if (groups > 1)
    merged = tensor::CollapseShapeOp::create(rewriter, loc, merged, all);
  int64_t height = result.getDimSize(op.getFilterHeightDim());
  int64_t width = result.getDimSize(op.getFilterWidthDim());
  Sizes sizes = getSizes(merged);
  OpFoldResult ins = getGroupChannels(op.getImage());
  auto mergedType = cast<RankedTensorType>(merged.getType());
  SmallVector<int64_t> shape = {
      mergedType.getDimSize(0), height, width,
      getConstantIntValue(ins).value_or(ShapedType::kDynamic)};
  Sizes split = {sizes[0], rewriter.getIndexAttr(height),
                 rewriter.getIndexAttr(width), ins};
  SmallVector<ReassociationIndices> dims = {{0}, {1, 2, 3}};
  Value sums = tensor::ExpandShapeOp::create(
      rewriter, loc, mergedType.clone(shape), merged, dims, split);
  SmallVector<AffineExpr> place = {
      d(op.getFilterOutDim()), d(op.getFilterHeightDim()),
      d(op.getFilterWidthDim()), d(op.getFilterInDim())};
  return store(sums, AffineMap::get(4, 0, place, rewriter.getContext()));
}

Value WindowMatrix::storeZeros() {
  Value zero = arith::ConstantOp::create(
      rewriter, loc,
      cast<TypedAttr>(rewriter.getZeroAttr(op.getAccumulatorType())));
  Value empty = tensor::EmptyOp::create(rewriter, loc, getSizes(op.getInit()),
                                        op.getAccumulatorType());
  return store(linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0),
               rewriter.getMultiDimIdentityMap(4));
}

Value WindowMatrix::store(Value sums, AffineMap map) {
  SmallVector<AffineMap> maps = {map};
  llvm::append_range(maps,
                     op.getEpilogueMaps().getAsValueRange<AffineMapAttr>());
  maps.push_back(rewriter.getMultiDimIdentityMap(4));
  SmallVector<Value> inputs = {sums};
  llvm::append_range(inputs, op.getExtras());
  return linalg::GenericOp::create(
             rewriter, loc, op.getInit().getType(), inputs, op.getInit(), maps,
             SmallVector<utils::IteratorType>(4, utils::IteratorType::parallel),
             [&](OpBuilder &nested, Location nestedLoc, ValueRange scalars) {
               linalg::YieldOp::create(
                   nested, nestedLoc,
                   inlineEpilogue(nested, nestedLoc,
                                  cast<EpilogueOpInterface>(op.getOperation()),
                                  scalars.front(),
                                  scalars.drop_front().drop_back()));
             })
      .getResult(0);
}

LogicalResult mlir::tracea::lowerWGradByWindows(KernelRewriter &rewriter,
                                                Conv2DWGradOp op) {
  auto type = cast<RankedTensorType>(op.getInit().getType());
  if (type.isDynamicDim(op.getFilterHeightDim()) ||
      type.isDynamicDim(op.getFilterWidthDim()) ||
      (op.getGroups() > 1 && !type.hasStaticShape()))
    return op.emitOpError()
           << "expects a result of static height and width, and of static "
              "channels of groups, for the variant 'wgrad.windows', found "
           << type;
  emitExtentChecks(rewriter, cast<ConvolutionOpInterface>(op.getOperation()));
  rewriter.setInsertionPoint(op);
  WindowMatrix matrix(rewriter, op);
  auto isEmpty = [](Value tensor) {
    return llvm::is_contained(
        cast<RankedTensorType>(tensor.getType()).getShape(), 0);
  };
  if (isEmpty(op.getImage()) || isEmpty(op.getGradient())) {
    rewriter.replaceOp(op, matrix.storeZeros());
    return success();
  }
  Value pixels = matrix.getPixels(), windows = matrix.getWindows();
  Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(),
                                        matrix.getProductSizes(pixels, windows),
                                        op.getAccumulatorType());
  ScheduleAttr own = op.getScheduleAttr();
  auto product = GemmOp::create(
      rewriter, op.getLoc(), empty.getType(), pixels, windows,
      /*extras=*/ValueRange(), empty, /*aux_inits=*/ValueRange(),
      /*transpose_lhs=*/rewriter.getUnitAttr(), /*transpose_rhs=*/UnitAttr(),
      TypeAttr::get(op.getAccumulatorType()),
      /*epilogue_maps=*/rewriter.getArrayAttr({}),
      /*aux_maps=*/rewriter.getArrayAttr({}),
      /*aux_kinds=*/rewriter.getArrayAttr({}), ScheduleAttr());
  product.setScheduleAttr(
      ScheduleAttr::get(op.getContext(), "gemm.packed", own.getUnit(),
                        own.getTile(), own.getParams(), ScheduleAttr(), 0));
  rewriter.replaceOp(op, matrix.store(product.getResult()));
  rewriter.setInsertionPoint(product);
  return lowerGemm(rewriter, product);
}
