//===- TapRuns.cpp - Channels of a row of taps as taps of one channel -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With channels last the pixels of a row with all of their channels are a row
// of elements, and what the taps of a row see of it is a run. Of few channels
// such a run is one for kernels too: that of the taps of a row, where there is
// one channel. Nothing is copied.

#include "ConvolutionForms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tracea;

/// `tensor` with its dimensions `dim` and `dim + 1` as one, and one of a single
/// place behind it.
static Value joinDims(OpBuilder &b, Location loc, Value tensor, unsigned dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<ReassociationIndices> joined;
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (i == dim + 1)
      joined.back().push_back(i);
    else
      joined.push_back({i});
  }
  shape[dim] = ShapedType::isDynamic(shape[dim]) ? ShapedType::kDynamic
                                                 : shape[dim] * shape[dim + 1];
  shape[dim + 1] = 1;
  Value row = tensor::CollapseShapeOp::create(b, loc, tensor, joined);
  return tensor::ExpandShapeOp::create(b, loc, type.clone(shape), row, joined);
}

std::optional<ConvolutionForm>
mlir::tracea::putChannelsInTaps(RewriterBase &rewriter,
                                const ConvolutionForm &form) {
  ConvolutionForm made = form;
  auto op = dyn_cast<Conv2DOp>(made.conv.getOperation());
  if (!op || op.getLayout() != ImageLayout::NHWC || op.getGroups() != 1 ||
      op.getDilations()[1] != 1 ||
      op.getFilterInDim() != op.getFilterWidthDim() + 1)
    return std::nullopt;
  auto image = cast<RankedTensorType>(op.getImage().getType());
  auto filter = cast<RankedTensorType>(op.getFilter().getType());
  int64_t channels = image.getDimSize(op.getChannelDim());
  int64_t taps = filter.getDimSize(op.getFilterWidthDim());
  // Of many channels each tap is a run that is long enough.
  constexpr int64_t kMostChannels = 16;
  if (channels != filter.getDimSize(op.getFilterInDim()) || channels < 2 ||
      channels > kMostChannels || ShapedType::isDynamic(taps) || taps < 2)
    return std::nullopt;

  Location loc = op.getLoc();
  SmallVector<int64_t> strides(op.getStrides()), pads(op.getPads());
  strides[1] *= channels;
  pads[1] *= channels;
  pads[3] *= channels;
  Conv2DOp conv = makeConvolution(
      rewriter, op,
      {joinDims(rewriter, loc, op.getImage(), op.getWidthDim()),
       joinDims(rewriter, loc, op.getFilter(), op.getFilterWidthDim()),
       op.getInit(), op.getExtras()},
      {strides, pads, SmallVector<int64_t>(op.getDilations())});
  made.conv = cast<ConvolutionOpInterface>(conv.getOperation());
  made.result = conv.getResult();
  return made;
}
