//===- Conv2DOp.cpp - Two-dimensional convolution and its gradients -------===//
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

Type Conv2DDGradOp::getAccumulatorType() {
  return getAcc().value_or(
      getDefaultAccumulatorType(getElementTypeOrSelf(getGradient().getType())));
}

Type Conv2DWGradOp::getAccumulatorType() {
  return getAcc().value_or(
      getDefaultAccumulatorType(getElementTypeOrSelf(getImage().getType())));
}

//===----------------------------------------------------------------------===//
// Positions of the dimensions
//===----------------------------------------------------------------------===//

unsigned mlir::tracea::detail::getFilterDim(FilterLayout layout,
                                            unsigned number) {
  // Of k, r, s, c.
  static constexpr unsigned kDims[][4] = {
      {0, 1, 2, 3}, {0, 2, 3, 1}, {3, 0, 1, 2}};
  switch (layout) {
  case FilterLayout::KRSC:
    return kDims[0][number];
  case FilterLayout::KCRS:
    return kDims[1][number];
  case FilterLayout::RSCK:
    return kDims[2][number];
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

namespace {
/// A convolution or a gradient of one, and the tensors of it by name.
struct Convolution {
  explicit Convolution(ConvolutionOpInterface op)
      : op(op), parts(op.getParts()),
        image(cast<RankedTensorType>(parts.image.getType())),
        filter(cast<RankedTensorType>(parts.filter.getType())),
        output(cast<RankedTensorType>(parts.output.getType())) {}

  InFlightDiagnostic emitError() { return op->emitOpError("expected "); }

  ConvolutionOpInterface op;
  ConvolutionParts parts;
  RankedTensorType image, filter, output;
};
} // namespace

static std::string withArticle(StringRef name) { return ("the " + name).str(); }

/// Each group reads C/groups channels and writes K/groups.
static LogicalResult verifyChannels(Convolution conv) {
  auto [op, parts, image, filter, output] = conv;
  int64_t groups = op.getGroups();
  if (groups < 1)
    return conv.emitError() << "'groups' of at least 1, found " << groups;

  int64_t in = image.getDimSize(op.getChannelDim());
  int64_t filterIn = filter.getDimSize(op.getFilterInDim());
  if (ShapedType::isStatic(in)) {
    if (in % groups != 0)
      return conv.emitError()
             << "'groups' to divide the " << in << " channels of the "
             << parts.imageName << ", found " << groups;
    if (!areCompatibleExtents(filterIn, in / groups))
      return conv.emitError()
             << "the " << parts.filterName << " to have " << in / groups
             << " input channels (" << in << " in " << groups
             << (groups == 1 ? " group" : " groups") << "), found " << filterIn;
  }
  int64_t out = filter.getDimSize(op.getFilterOutDim());
  if (failed(verifyExtent(op, "output channels", withArticle(parts.filterName),
                          out, withArticle(parts.outputName),
                          output.getDimSize(op.getChannelDim()))))
    return failure();
  if (ShapedType::isDynamic(out))
    out = output.getDimSize(op.getChannelDim());
  if (ShapedType::isStatic(out) && out % groups != 0)
    return conv.emitError() << "'groups' to divide the " << out
                            << " output channels, found " << groups;
  return success();
}

/// One spatial dimension of the output follows from the image and the filter.
static LogicalResult verifySpatial(Convolution conv, StringRef name,
                                   unsigned dim, unsigned filterDim,
                                   unsigned axis) {
  auto [op, parts, image, filter, output] = conv;
  int64_t extent = image.getDimSize(dim);
  int64_t taps = filter.getDimSize(filterDim);
  int64_t found = output.getDimSize(dim);
  if (taps == 0)
    return conv.emitError()
           << (parts.filterName == "filter" ? "a " : "the ") << parts.filterName
           << " of " << name << " 1 or more, found 0";
  if (ShapedType::isDynamic(extent) || ShapedType::isDynamic(taps))
    return success();
  int64_t padLow = op.getPads()[axis], padHigh = op.getPads()[axis + 2];
  int64_t stride = op.getStrides()[axis], dilation = op.getDilations()[axis];
  std::optional<int64_t> expected =
      getConvolvedExtent(extent, padLow, padHigh, taps, stride, dilation);
  if (!expected)
    return conv.emitError()
           << "the " << name << " of the " << parts.outputName
           << " to fit 64 bits, found " << parts.imageName << " " << extent
           << ", " << parts.filterName << " " << taps;
  if (!areCompatibleExtents(found, *expected))
    return conv.emitError()
           << "the " << parts.outputName << " to have " << name << " "
           << *expected << " (" << parts.imageName << " " << extent << ", pads "
           << padLow << " and " << padHigh << ", " << parts.filterName << " "
           << taps << ", stride " << stride << ", dilation " << dilation
           << "), found " << found;
  return success();
}

/// `first` and `second` are the operands, by their names in messages.
static LogicalResult verifyConvolution(ConvolutionOpInterface op, Value first,
                                       StringRef firstName, Value second,
                                       StringRef secondName, Type accumulator) {
  Convolution conv(op);
  const ConvolutionParts &parts = conv.parts;
  // Operands first, as they are written.
  for (bool isResult : {false, true})
    for (auto [value, name] : {std::pair(parts.image, parts.imageName),
                               std::pair(parts.filter, parts.filterName),
                               std::pair(parts.output, parts.outputName)})
      if ((name == "result") == isResult &&
          failed(verifyRank(op, withArticle(name), value.getType(), 4)))
        return failure();

  if (failed(verifyEntries(op, "strides", op.getStrides(), 2, 1)) ||
      failed(verifyEntries(op, "pads", op.getPads(), 4, 0)) ||
      failed(verifyEntries(op, "dilations", op.getDilations(), 2, 1)))
    return failure();

  Type element = getElementTypeOrSelf(first),
       other = getElementTypeOrSelf(second);
  if (element != other)
    return conv.emitError()
           << "the " << secondName << " to have elements of type " << element
           << " as the " << firstName << " has, found " << other;
  if (!element.isSignlessInteger(8) &&
      failed(verifyFloat(op, "operands that are not i8", element)))
    return failure();
  if (failed(verifyAccumulator(op, element, accumulator)))
    return failure();

  if (failed(verifyExtent(op, "batch", withArticle(parts.imageName),
                          conv.image.getDimSize(op.getBatchDim()),
                          withArticle(parts.outputName),
                          conv.output.getDimSize(op.getBatchDim()))) ||
      failed(verifyChannels(conv)) ||
      failed(verifySpatial(conv, "height", op.getHeightDim(),
                           op.getFilterHeightDim(), 0)) ||
      failed(verifySpatial(conv, "width", op.getWidthDim(),
                           op.getFilterWidthDim(), 1)))
    return failure();
  return success();
}

LogicalResult Conv2DOp::verify() {
  return verifyConvolution(*this, getImage(), "image", getFilter(), "filter",
                           getAccumulatorType());
}

LogicalResult Conv2DDGradOp::verify() {
  return verifyConvolution(*this, getGradient(), "gradient", getFilter(),
                           "filter", getAccumulatorType());
}

LogicalResult Conv2DWGradOp::verify() {
  return verifyConvolution(*this, getImage(), "image", getGradient(),
                           "gradient", getAccumulatorType());
}
