//===- Borders.cpp - Images with the border that taps see -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that reads an image where it lies needs one that no tap leaves. A
// copy with zeros around it costs what staging costs, and less than the copy
// that other forms make of it anyway.

#include "ConvolutionForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tracea;

std::optional<ConvolutionForm>
mlir::tracea::putBorder(RewriterBase &rewriter, const ConvolutionForm &form) {
  ConvolutionForm made = form;
  auto op = dyn_cast<Conv2DOp>(made.conv.getOperation());
  if (!op || !isOfWords(op) ||
      llvm::all_of(op.getPads(), [](int64_t pad) { return pad == 0; }))
    return std::nullopt;
  RankedTensorType image = getTensorType(op.getImage()),
                   filter = getTensorType(op.getFilter()),
                   output = getTensorType(op.getInit());
  SmallVector<OpFoldResult> before(4, rewriter.getIndexAttr(0)), after(before);
  SmallVector<int64_t> shape(image.getShape());
  const unsigned taps[] = {op.getFilterHeightDim(), op.getFilterWidthDim()};
  const unsigned dims[] = {op.getHeightDim(), op.getWidthDim()};
  for (unsigned i = 0; i < 2; ++i) {
    int64_t low = op.getPads()[i];
    int64_t seen = (output.getDimSize(dims[i]) - 1) * op.getStrides()[i] +
                   (filter.getDimSize(taps[i]) - 1) * op.getDilations()[i] + 1;
    int64_t high = std::max<int64_t>(seen - low - shape[dims[i]], 0);
    before[dims[i]] = rewriter.getIndexAttr(low);
    after[dims[i]] = rewriter.getIndexAttr(high);
    shape[dims[i]] += low + high;
  }
  Location loc = op.getLoc();
  Value zero = arith::ConstantOp::create(
      rewriter, loc,
      cast<TypedAttr>(rewriter.getZeroAttr(image.getElementType())));
  Value padded = tensor::PadOp::create(rewriter, loc, image.clone(shape),
                                       op.getImage(), before, after, zero);
  ++made.numCopies;
  made.copiedBytes += countBytes(op.getImage()) + countBytes(padded);
  ConvolutionSteps steps;
  steps.strides = SmallVector<int64_t>(op.getStrides());
  steps.dilations = SmallVector<int64_t>(op.getDilations());
  Conv2DOp conv = makeConvolution(
      rewriter, op, {padded, op.getFilter(), op.getInit(), op.getExtras()},
      steps);
  made.conv = cast<ConvolutionOpInterface>(conv.getOperation());
  made.result = conv.getResult();
  return made;
}
