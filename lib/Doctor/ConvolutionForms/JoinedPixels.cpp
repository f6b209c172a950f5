//===- JoinedPixels.cpp - Pixels of all rows as those of one row ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A register tile has a few pixels of a row, one of a tile unit sixteen: of a
// row of seven some are of no use, and of a small image few pixels share the
// filters that are read for them. What one tap sees of an image that it does
// not step over or leave is the pixels as they lie in memory: images and rows
// of them are one row, and nothing is copied.

#include "ConvolutionForms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tracea;

/// The dimensions of pixels that become one, and the others: with channels last
/// those of all images, where their number is known.
static SmallVector<ReassociationIndices> getRow(RankedTensorType type,
                                                ImageLayout layout) {
  if (layout == ImageLayout::NCHW)
    return {{0}, {1}, {2, 3}};
  if (type.isDynamicDim(0))
    return {{0}, {1, 2}, {3}};
  return {{0, 1, 2}, {3}};
}

/// `tensor`, pixels with their channels, as one whose images are a row each, or
/// are all one row.
static Value join(RewriterBase &rewriter, Value tensor, ImageLayout layout) {
  RankedTensorType type = getTensorType(tensor);
  SmallVector<ReassociationIndices> row = getRow(type, layout);
  Location loc = tensor.getLoc();
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, tensor);
  for (const ReassociationIndices &dims : row) {
    auto last = static_cast<size_t>(dims.back());
    for (int64_t dim : ArrayRef(dims).drop_back()) {
      shape[last] *= std::exchange(shape[static_cast<size_t>(dim)], 1);
      sizes[static_cast<size_t>(dim)] = rewriter.getIndexAttr(1);
    }
    if (dims.size() > 1)
      sizes[last] = rewriter.getIndexAttr(shape[last]);
  }
  Value joined = tensor::CollapseShapeOp::create(rewriter, loc, tensor, row);
  return tensor::ExpandShapeOp::create(rewriter, loc, type.clone(shape), joined,
                                       row, sizes);
}

/// Whether an operand of an epilogue is like the result, or has none of its
/// pixels.
static bool hasAllOrNoPixels(Conv2DOp op, AffineMap map) {
  const unsigned pixels[] = {op.getBatchDim(), op.getHeightDim(),
                             op.getWidthDim()};
  return map.isIdentity() || llvm::none_of(pixels, [&](unsigned dim) {
           return map.isFunctionOfDim(dim);
         });
}

std::optional<ConvolutionForm>
mlir::tracea::joinPixels(RewriterBase &rewriter, const ConvolutionForm &form) {
  ConvolutionForm made = form;
  auto op = dyn_cast<Conv2DOp>(made.conv.getOperation());
  if (!op || op.getGroups() != 1 ||
      !llvm::all_of(op.getStrides(), [](int64_t s) { return s == 1; }) ||
      !llvm::all_of(op.getPads(), [](int64_t pad) { return pad == 0; }))
    return std::nullopt;
  RankedTensorType image = getTensorType(op.getImage()),
                   output = getTensorType(op.getInit());
  ImageLayout layout = op.getLayout();
  // Of one tap an image is as large as the result; there is more than a row.
  int64_t height = image.getDimSize(op.getHeightDim());
  int64_t width = image.getDimSize(op.getWidthDim());
  bool isOneRow = layout == ImageLayout::NCHW || image.isDynamicDim(0) ||
                  image.getDimSize(0) == 1;
  if (image.getDimSize(0) == 0 || height <= 0 || width <= 0 ||
      output.getDimSize(op.getHeightDim()) != height ||
      output.getDimSize(op.getWidthDim()) != width ||
      output.getDimSize(0) != image.getDimSize(0) || (height == 1 && isOneRow))
    return std::nullopt;
  auto maps = op.getEpilogueMaps().getAsValueRange<AffineMapAttr>();
  if (!llvm::all_of(maps,
                    [&](AffineMap map) { return hasAllOrNoPixels(op, map); }))
    return std::nullopt;

  auto joinTensor = [&](Value tensor) {
    return join(rewriter, tensor, layout);
  };
  ConvolutionOperands operands{
      joinTensor(op.getImage()), op.getFilter(), joinTensor(op.getInit()), {}};
  for (auto [extra, map] : llvm::zip(op.getExtras(), maps))
    operands.extras.push_back(map.isIdentity() ? joinTensor(extra) : extra);
  Conv2DOp conv = makeConvolution(rewriter, op, operands, {});
  made.conv = cast<ConvolutionOpInterface>(conv.getOperation());
  Location loc = op.getLoc();
  SmallVector<ReassociationIndices> row = getRow(output, layout);
  Value joined =
      tensor::CollapseShapeOp::create(rewriter, loc, conv.getResult(), row);
  made.result = tensor::ExpandShapeOp::create(
      rewriter, loc, output, joined, row,
      tensor::getMixedSizes(rewriter, loc, op.getInit()));
  return made;
}
