//===- ConvolutionForms.cpp - What forms of convolutions share ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionForms.h"

using namespace mlir;
using namespace mlir::tracea;

bool mlir::tracea::isOfWords(Conv2DOp op) {
  auto isStatic = [](Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    return type.hasStaticShape() && type.getNumElements() > 0;
  };
  return op.getLayout() == ImageLayout::NHWC &&
         op.getFilterLayout() != FilterLayout::KCRS && op.getGroups() == 1 &&
         getElementTypeOrSelf(op.getImage()) != op.getAccumulatorType() &&
         isStatic(op.getImage()) && isStatic(op.getFilter()) &&
         isStatic(op.getInit());
}

Conv2DOp mlir::tracea::makeConvolution(RewriterBase &rewriter, Conv2DOp op,
                                       const ConvolutionOperands &operands,
                                       const ConvolutionSteps &steps) {
  auto made = Conv2DOp::create(
      rewriter, op.getLoc(), operands.init.getType(), operands.image,
      operands.filter, operands.extras, operands.init, op.getLayout(),
      op.getFilterLayout(), steps.strides, steps.pads, steps.dilations,
      op.getGroups(), op.getAccAttr(), op.getEpilogueMaps(), ScheduleAttr());
  rewriter.cloneRegionBefore(op.getEpilogue(), made.getEpilogue(),
                             made.getEpilogue().end());
  return made;
}
