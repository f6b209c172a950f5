//===- AllTaps.cpp - All taps of a filter as the channels of one ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of small images, whose rows fill no tile of a unit, the image is copied once
// for each tap (im2col): what the taps see of a pixel lies together, as the
// channels of one tap, and so do then the pixels of all rows.

#include "ConvolutionForms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tracea;

std::optional<ConvolutionForm>
mlir::tracea::joinAllTaps(RewriterBase &rewriter, const ConvolutionForm &form) {
  ConvolutionForm made = form;
  auto op = dyn_cast<Conv2DOp>(made.conv.getOperation());
  if (!op || !isOfWords(op) ||
      !llvm::all_of(op.getPads(), [](int64_t pad) { return pad == 0; }))
    return std::nullopt;
  RankedTensorType filter = getTensorType(op.getFilter());
  ArrayRef<int64_t> output = getTensorType(op.getInit()).getShape();
  int64_t height = filter.getDimSize(op.getFilterHeightDim());
  int64_t width = filter.getDimSize(op.getFilterWidthDim());
  int64_t channels = filter.getDimSize(op.getFilterInDim());
  if (height * width == 1)
    return std::nullopt;

  Location loc = op.getLoc();
  SmallVector<int64_t> shape = {output[0], output[1], output[2],
                                height,    width,     channels};
  Type element = getElementTypeOrSelf(op.getImage());
  Value init = tensor::EmptyOp::create(rewriter, loc, shape, element);
  MLIRContext *context = rewriter.getContext();
  AffineExpr n, p, q, r, s, c;
  bindDims(context, n, p, q, r, s, c);
  AffineMap window =
      AffineMap::get(6, 0,
                     {n, p * op.getStrides()[0] + r * op.getDilations()[0],
                      q * op.getStrides()[1] + s * op.getDilations()[1], c},
                     context);
  auto windows = linalg::GenericOp::create(
      rewriter, loc, init.getType(), op.getImage(), init,
      ArrayRef<AffineMap>{window, rewriter.getMultiDimIdentityMap(6)},
      SmallVector<utils::IteratorType>(6, utils::IteratorType::parallel),
      [](OpBuilder &b, Location at, ValueRange arguments) {
        linalg::YieldOp::create(b, at, arguments.front());
      });
  ++made.numCopies;
  made.copiedBytes += 2 * countBytes(init);
  Value image = tensor::CollapseShapeOp::create(
      rewriter, loc, windows.getResult(0),
      SmallVector<ReassociationIndices>{{0}, {1}, {2}, {3, 4, 5}});

  // All taps of a filter lie together, before the filters or behind them.
  int64_t seen = height * width * channels;
  bool isFirst = op.getFilterOutDim() == 0;
  int64_t filters = filter.getDimSize(op.getFilterOutDim());
  SmallVector<ReassociationIndices> all = {{0}, {1, 2, 3}};
  if (!isFirst)
    all = {{0, 1, 2}, {3}};
  SmallVector<int64_t> one = {filters, 1, 1, seen};
  if (!isFirst)
    one = {1, 1, seen, filters};
  Value weights =
      tensor::CollapseShapeOp::create(rewriter, loc, op.getFilter(), all);
  weights = tensor::ExpandShapeOp::create(rewriter, loc, filter.clone(one),
                                          weights, all);
  Conv2DOp conv = makeConvolution(
      rewriter, op, {image, weights, op.getInit(), op.getExtras()}, {});
  made.conv = cast<ConvolutionOpInterface>(conv.getOperation());
  made.result = conv.getResult();
  return made;
}
