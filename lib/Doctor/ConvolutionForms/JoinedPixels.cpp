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

/// The dimensions of pixels that become one: those of all images, where their
/// number is known.
static SmallVector<ReassociationIndices> getRow(RankedTensorType type) {
  if (type.isDynamicDim(0))
    return {{0}, {1, 2}, {3}};
  return {{0, 1, 2}, {3}};
}

/// `tensor`, pixels with their channels, as one whose images are a row each, or
/// are all one row.
static Value join(RewriterBase &rewriter, Value tensor) {
  RankedTensorType type = getTensorType(tensor);
  SmallVector<ReassociationIndices> row = getRow(type);
  Location loc = tensor.getLoc();
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, tensor);
  for (int64_t dim : ArrayRef(*std::prev(row.end(), 2)).drop_back()) {
    shape[2] *= std::exchange(shape[static_cast<size_t>(dim)], 1);
    sizes[static_cast<size_t>(dim)] = rewriter.getIndexAttr(1);
  }
  sizes[2] = rewriter.getIndexAttr(shape[2]);
  Value joined = tensor::CollapseShapeOp::create(rewriter, loc, tensor, row);
  return tensor::ExpandShapeOp::create(rewriter, loc, type.clone(shape), joined,
                                       row, sizes);
}

std::optional<ConvolutionForm>
mlir::tracea::joinPixels(RewriterBase &rewriter, const ConvolutionForm &form) {
  ConvolutionForm made = form;
  auto op = dyn_cast<Conv2DOp>(made.conv.getOperation());
  if (!op || op.getLayout() != ImageLayout::NHWC || op.getGroups() != 1 ||
      !llvm::all_of(op.getStrides(), [](int64_t s) { return s == 1; }) ||
      !llvm::all_of(op.getPads(), [](int64_t pad) { return pad == 0; }))
    return std::nullopt;
  RankedTensorType image = getTensorType(op.getImage()),
                   output = getTensorType(op.getInit());
  // Of one tap an image is as large as the result; there is more than a row.
  ArrayRef<int64_t> pixels = image.getShape().drop_back();
  if (pixels != output.getShape().drop_back() ||
      !llvm::all_of(pixels.drop_front(),
                    [](int64_t size) { return size > 0; }) ||
      pixels[0] == 0 ||
      (pixels[1] == 1 && (pixels[0] == 1 || image.isDynamicDim(0))))
    return std::nullopt;
  // An operand of the epilogue is like the result, or has none of its pixels.
  for (AffineMap map : op.getEpilogueMaps().getAsValueRange<AffineMapAttr>())
    if (!map.isIdentity() &&
        llvm::any_of(llvm::seq<unsigned>(0, 3),
                     [&](unsigned dim) { return map.isFunctionOfDim(dim); }))
      return std::nullopt;

  ConvolutionOperands operands{join(rewriter, op.getImage()),
                               op.getFilter(),
                               join(rewriter, op.getInit()),
                               {}};
  for (auto [extra, map] :
       llvm::zip(op.getExtras(),
                 op.getEpilogueMaps().getAsValueRange<AffineMapAttr>()))
    operands.extras.push_back(map.isIdentity() ? join(rewriter, extra) : extra);
  Conv2DOp conv = makeConvolution(rewriter, op, operands, {});
  made.conv = cast<ConvolutionOpInterface>(conv.getOperation());
  Location loc = op.getLoc();
  SmallVector<ReassociationIndices> row = getRow(output);
  Value joined =
      tensor::CollapseShapeOp::create(rewriter, loc, conv.getResult(), row);
  made.result = tensor::ExpandShapeOp::create(
      rewriter, loc, output, joined, row,
      tensor::getMixedSizes(rewriter, loc, op.getInit()));
  return made;
}
