//===- Conv2DOp.cpp - Two-dimensional convolution -------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Verification.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

using namespace mlir;
using namespace mlir::tracea;

Type Conv2DOp::getAccumulatorType() {
  if (std::optional<Type> acc = getAcc())
    return *acc;
  return getDefaultAccumulatorType(getElementTypeOrSelf(getImage().getType()));
}

//===----------------------------------------------------------------------===//
// Positions of the dimensions
//===----------------------------------------------------------------------===//

unsigned Conv2DOp::getBatchDim() { return 0; }
unsigned Conv2DOp::getHeightDim() {
  return getLayout() == ImageLayout::NHWC ? 1 : 2;
}
unsigned Conv2DOp::getWidthDim() {
  return getLayout() == ImageLayout::NHWC ? 2 : 3;
}
unsigned Conv2DOp::getChannelDim() {
  return getLayout() == ImageLayout::NHWC ? 3 : 1;
}

unsigned Conv2DOp::getFilterOutDim() {
  return getFilterLayout() == FilterLayout::RSCK ? 3 : 0;
}
unsigned Conv2DOp::getFilterHeightDim() {
  switch (getFilterLayout()) {
  case FilterLayout::KRSC:
    return 1;
  case FilterLayout::KCRS:
    return 2;
  case FilterLayout::RSCK:
    return 0;
  }
  llvm_unreachable("unknown filter layout");
}
unsigned Conv2DOp::getFilterWidthDim() { return getFilterHeightDim() + 1; }
unsigned Conv2DOp::getFilterInDim() {
  switch (getFilterLayout()) {
  case FilterLayout::KRSC:
    return 3;
  case FilterLayout::KCRS:
    return 1;
  case FilterLayout::RSCK:
    return 2;
  }
  llvm_unreachable("unknown filter layout");
}

bool Conv2DOp::isDepthwise() {
  int64_t groups = getGroups();
  int64_t channels =
      cast<RankedTensorType>(getImage().getType()).getDimSize(getChannelDim());
  if (ShapedType::isDynamic(channels)) {
    // The image leaves its channels open; the filter's shape says how many
    // there are.
    channels = cast<RankedTensorType>(getFilter().getType())
                           .getDimSize(getFilterInDim()) == 1
                   ? groups
                   : ShapedType::kDynamic;
  }
  return groups == channels;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Each group reads C/groups channels and writes K/groups.
static LogicalResult verifyChannels(Conv2DOp op) {
  RankedTensorType image = cast<RankedTensorType>(op.getImage().getType());
  RankedTensorType filter = cast<RankedTensorType>(op.getFilter().getType());
  RankedTensorType init = cast<RankedTensorType>(op.getInit().getType());
  int64_t groups = op.getGroups();
  if (groups < 1)
    return op.emitOpError("expected 'groups' of at least 1, found ") << groups;

  int64_t in = image.getDimSize(op.getChannelDim());
  int64_t filterIn = filter.getDimSize(op.getFilterInDim());
  if (ShapedType::isStatic(in)) {
    if (in % groups != 0)
      return op.emitOpError("expected 'groups' to divide the ")
             << in << " channels of the image, found " << groups;
    if (!areCompatibleExtents(filterIn, in / groups))
      return op.emitOpError("expected the filter to have ")
             << in / groups << " input channels (" << in << " in " << groups
             << (groups == 1 ? " group" : " groups") << "), found " << filterIn;
  }
  int64_t out = filter.getDimSize(op.getFilterOutDim());
  if (failed(verifyExtent(op, "output channels", "the filter", out,
                          "the result", init.getDimSize(op.getChannelDim()))))
    return failure();
  if (ShapedType::isDynamic(out))
    out = init.getDimSize(op.getChannelDim());
  if (ShapedType::isStatic(out) && out % groups != 0)
    return op.emitOpError("expected 'groups' to divide the ")
           << out << " output channels, found " << groups;
  return success();
}

/// One spatial dimension of the result follows from the image and the filter.
static LogicalResult verifySpatial(Conv2DOp op, StringRef name, unsigned dim,
                                   unsigned filterDim, unsigned axis) {
  int64_t extent =
      cast<RankedTensorType>(op.getImage().getType()).getDimSize(dim);
  int64_t taps =
      cast<RankedTensorType>(op.getFilter().getType()).getDimSize(filterDim);
  int64_t found =
      cast<RankedTensorType>(op.getInit().getType()).getDimSize(dim);
  if (taps == 0)
    return op.emitOpError("expected a filter of ")
           << name << " 1 or more, found 0";
  if (ShapedType::isDynamic(extent) || ShapedType::isDynamic(taps))
    return success();
  int64_t padLow = op.getPads()[axis], padHigh = op.getPads()[axis + 2];
  int64_t stride = op.getStrides()[axis], dilation = op.getDilations()[axis];
  std::optional<int64_t> expected =
      getConvolvedExtent(extent, padLow, padHigh, taps, stride, dilation);
  if (!expected)
    return op.emitOpError("expected the ")
           << name << " of the result to fit 64 bits, found image " << extent
           << ", filter " << taps;
  if (!areCompatibleExtents(found, *expected))
    return op.emitOpError("expected the result to have ")
           << name << " " << *expected << " (image " << extent << ", pads "
           << padLow << " and " << padHigh << ", filter " << taps << ", stride "
           << stride << ", dilation " << dilation << "), found " << found;
  return success();
}

LogicalResult Conv2DOp::verify() {
  RankedTensorType image = cast<RankedTensorType>(getImage().getType());
  RankedTensorType filter = cast<RankedTensorType>(getFilter().getType());
  RankedTensorType init = cast<RankedTensorType>(getInit().getType());
  if (failed(verifyRank(*this, "the image", image, 4)) ||
      failed(verifyRank(*this, "the filter", filter, 4)) ||
      failed(verifyRank(*this, "the result", init, 4)))
    return failure();

  if (failed(verifyEntries(*this, "strides", getStrides(), 2, 1)) ||
      failed(verifyEntries(*this, "pads", getPads(), 4, 0)) ||
      failed(verifyEntries(*this, "dilations", getDilations(), 2, 1)))
    return failure();

  if (image.getElementType() != filter.getElementType())
    return emitOpError("expected the filter to have elements of type ")
           << image.getElementType() << " as the image has, found "
           << filter.getElementType();
  if (!image.getElementType().isSignlessInteger(8) &&
      failed(verifyFloat(*this, "operands that are not i8",
                         image.getElementType())))
    return failure();
  if (failed(verifyAccumulator(*this, image.getElementType(),
                               getAccumulatorType())))
    return failure();

  if (failed(verifyExtent(*this, "batch", "the image",
                          image.getDimSize(getBatchDim()), "the result",
                          init.getDimSize(getBatchDim()))) ||
      failed(verifyChannels(*this)) ||
      failed(verifySpatial(*this, "height", getHeightDim(),
                           getFilterHeightDim(), 0)) ||
      failed(
          verifySpatial(*this, "width", getWidthDim(), getFilterWidthDim(), 1)))
    return failure();
  return success();
}
