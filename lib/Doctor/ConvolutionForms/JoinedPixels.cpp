//===- JoinedPixels.cpp - Pixels of all rows as those of one row ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile unit multiplies sixteen pixels of a row at a time, and of a row of
// seven less than half of them are of use. What one tap sees of an image that
// it does not step over or leave is the pixels as they lie in memory: images
// and rows of them are one row, and nothing is copied.

#include "ConvolutionForms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tracea;

std::optional<ConvolutionForm>
mlir::tracea::joinPixels(RewriterBase &rewriter, const ConvolutionForm &form) {
  ConvolutionForm made = form;
  auto op = dyn_cast<Conv2DOp>(made.conv.getOperation());
  if (!op || !isOfWords(op) ||
      !llvm::all_of(op.getStrides(), [](int64_t s) { return s == 1; }) ||
      !llvm::all_of(op.getPads(), [](int64_t pad) { return pad == 0; }))
    return std::nullopt;
  ArrayRef<int64_t> image = getTensorType(op.getImage()).getShape();
  ArrayRef<int64_t> output = getTensorType(op.getInit()).getShape();
  if (image.drop_back() != output.drop_back() ||
      (image[0] == 1 && image[1] == 1))
    return std::nullopt;
  // An operand of the epilogue is like the result, or has none of its pixels.
  for (AffineMap map : op.getEpilogueMaps().getAsValueRange<AffineMapAttr>())
    if (!map.isIdentity() &&
        llvm::any_of(llvm::seq<unsigned>(0, 3),
                     [&](unsigned dim) { return map.isFunctionOfDim(dim); }))
      return std::nullopt;

  Location loc = op.getLoc();
  SmallVector<ReassociationIndices> row = {{0, 1, 2}, {3}};
  auto join = [&](Value tensor) -> Value {
    RankedTensorType type = getTensorType(tensor);
    int64_t pixels =
        type.getDimSize(0) * type.getDimSize(1) * type.getDimSize(2);
    Value joined = tensor::CollapseShapeOp::create(rewriter, loc, tensor, row);
    return tensor::ExpandShapeOp::create(
        rewriter, loc, type.clone({1, 1, pixels, type.getDimSize(3)}), joined,
        row);
  };
  ConvolutionOperands operands{
      join(op.getImage()), op.getFilter(), join(op.getInit()), {}};
  for (auto [extra, map] :
       llvm::zip(op.getExtras(),
                 op.getEpilogueMaps().getAsValueRange<AffineMapAttr>()))
    operands.extras.push_back(map.isIdentity() ? join(extra) : extra);
  Conv2DOp conv = makeConvolution(rewriter, op, operands, {});
  made.conv = cast<ConvolutionOpInterface>(conv.getOperation());
  Value joined =
      tensor::CollapseShapeOp::create(rewriter, loc, conv.getResult(), row);
  made.result = tensor::ExpandShapeOp::create(
      rewriter, loc, op.getInit().getType(), joined, row);
  return made;
}
