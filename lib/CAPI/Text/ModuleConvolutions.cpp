//===- ModuleConvolutions.cpp - Convolutions and their gradients as text --===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A gradient is checked as the convolution that it belongs to: its image and
// its filter, one of which is the result, have to give a tensor of the
// gradient's shape.
//
//===----------------------------------------------------------------------===//

#include "Text/ModuleText.h"
#include "Text/TextPieces.h"
#include "tracea/Runtime/Tensor.h"

namespace tracea::capi {

static Status checkPositive(const char *name, uint32_t value) {
  return value > 0 && value <= (1u << 30)
             ? Status::success()
             : Status::invalid(std::string(name) +
                               ": expected a number from 1 to 2^30, found " +
                               std::to_string(value));
}

static Status checkGroups(const char *xName, const Extent &channels,
                          const char *wName, const Value &w,
                          const Extent &filters, const Extent &filterChannels,
                          int64_t groups) {
  auto divides = [&](const char *name, const Extent &extent, const char *what) {
    if (extent.isOpen() || extent.size % groups == 0)
      return Status::success();
    return Status::invalid(std::string("groups: expected a divisor of ") +
                           name + "'s " + sizeText(extent) + " " + what +
                           ", found " + std::to_string(groups));
  };
  TRACEA_RETURN_IF_ERROR(divides(xName, channels, "channels"));
  TRACEA_RETURN_IF_ERROR(divides(wName, filters, "filters"));
  if (!channels.isOpen() && !filterChannels.isOpen() &&
      filterChannels.size * groups != channels.size)
    return mismatch(wName,
                    std::to_string(channels.size / groups) + " channels, " +
                        xName + "'s " + sizeText(channels) + " by " +
                        std::to_string(groups) + " groups",
                    w);
  return Status::success();
}

Expected<std::vector<Extent>>
ModuleText::convolvedShape(const Convolution &convolution, const char *xName,
                           const Value &x, const char *wName, const Value &w) {
  const TraceaConv2dParams &params = convolution.params;
  if (x.rank() != 4)
    return mismatch(xName, "4 dimensions", x);
  if (w.rank() != 4)
    return mismatch(wName, "4 dimensions", w);
  TRACEA_RETURN_IF_ERROR(checkPositive("stride_h", params.stride_h));
  TRACEA_RETURN_IF_ERROR(checkPositive("stride_w", params.stride_w));
  TRACEA_RETURN_IF_ERROR(checkPositive("dilation_h", params.dilation_h));
  TRACEA_RETURN_IF_ERROR(checkPositive("dilation_w", params.dilation_w));
  TRACEA_RETURN_IF_ERROR(checkPositive("groups", params.groups));
  size_t c = convolution.channelsLast ? 3 : 1;
  size_t h = convolution.channelsLast ? 1 : 2;
  auto ofFilter = [&](char dim) -> const Extent & {
    return w.shape[convolution.filter.find(dim)];
  };
  TRACEA_RETURN_IF_ERROR(checkGroups(xName, x.shape[c], wName, w, ofFilter('k'),
                                     ofFilter('c'), params.groups));
  std::vector<Extent> shape(4);
  shape[0] = x.shape[0];
  shape[c] = ofFilter('k');
  const uint32_t pads[2][2] = {{params.pad_top, params.pad_bottom},
                               {params.pad_left, params.pad_right}};
  const uint32_t strides[2] = {params.stride_h, params.stride_w};
  const uint32_t dilations[2] = {params.dilation_h, params.dilation_w};
  for (size_t i = 0; i < 2; ++i) {
    const Extent &image = x.shape[h + i];
    const Extent &taps = ofFilter(i ? 's' : 'r');
    if (taps.isOpen())
      return mismatch(wName, "a filter whose height and width are known", w);
    if (taps.size < 1)
      return mismatch(wName, "a filter of one tap at least", w);
    int64_t pad = int64_t(pads[i][0]) + pads[i][1];
    int64_t reach = dilations[i] * (taps.size - 1) + 1;
    if (image.isOpen()) {
      Extent room = arithmetic("arith.addi", image, {pad - reach, ""});
      room = arithmetic("arith.floordivsi", room, {strides[i], ""});
      shape[h + i] = arithmetic("arith.addi", room, {1, ""});
      continue;
    }
    if (image.size + pad < reach)
      return mismatch(wName,
                      std::string("a filter within the padded image's ") +
                          std::to_string(image.size + pad) +
                          (i ? " columns" : " rows") + ", found one of " +
                          std::to_string(reach) + ";",
                      w);
    shape[h + i] = {(image.size + pad - reach) / strides[i] + 1, ""};
  }
  return shape;
}

Value ModuleText::convolutionLine(const char *op,
                                  const Convolution &convolution,
                                  const Value &a, const Value &b,
                                  const std::vector<Extent> &shape,
                                  ElementType type, const Epilogue &epilogue) {
  const TraceaConv2dParams &params = convolution.params;
  auto list = [](std::initializer_list<uint32_t> numbers) {
    std::string text;
    for (uint32_t number : numbers)
      text += (text.empty() ? "[" : ", ") + std::to_string(number);
    return text + "]";
  };
  Value result = empty(type, shape);
  result.name =
      line(std::string("tracea.") + op + " layout " +
           (convolution.channelsLast ? "nhwc" : "nchw") + " filter " +
           convolution.filter + " strides " +
           list({params.stride_h, params.stride_w}) + " pads " +
           list({params.pad_top, params.pad_left, params.pad_bottom,
                 params.pad_right}) +
           " dilations " + list({params.dilation_h, params.dilation_w}) +
           " groups " + std::to_string(params.groups) + " ins(" + a.name +
           ", " + b.name + " : " + a.typeText() + ", " + b.typeText() +
           ") outs(" + result.name + " : " + result.typeText() + ")" +
           epilogueText(epilogue, 4, accumulatorOf(a.type), type));
  return result;
}

Expected<Value> ModuleText::conv2d(const Conv2DOperands &operands) {
  const Value &x = operands.x, &w = operands.w;
  TRACEA_RETURN_IF_ERROR(checkFactors("x", x, "w", w));
  TRACEA_RETURN_IF_ERROR(checkEpilogue(operands.epilogue.function));
  Expected<std::vector<Extent>> shape =
      convolvedShape(operands, "x", x, "w", w);
  if (!shape)
    return shape.status();
  for (const EpilogueOperand &operand : operands.epilogue.operands) {
    std::vector<Extent> expected;
    for (unsigned dim : operand.dims)
      expected.push_back((*shape)[dim]);
    TRACEA_RETURN_IF_ERROR(checkShape(
        operand.dims.size() == 1 ? "b" : "residual", operand.value, expected));
  }
  return convolutionLine("conv2d", operands, x, w, *shape, operands.type,
                         operands.epilogue);
}

Expected<Value>
ModuleText::conv2dGradient(const Conv2DGradientOperands &operands) {
  bool isByImage = operands.x.name.empty();
  const Value &x = operands.x, &w = operands.w, &grad = operands.grad;
  const char *xName = isByImage ? "out" : "x";
  const char *wName = isByImage ? "w" : "out";
  const Value &factor = isByImage ? w : x;
  const Value &result = isByImage ? x : w;
  if (!runtime::isFloat(grad.type))
    return mismatch("grad", "floats", grad);
  TRACEA_RETURN_IF_ERROR(
      checkFactors("grad", grad, isByImage ? "w" : "x", factor));
  if (!runtime::isFloat(result.type))
    return mismatch("out", "floats", result);
  Expected<std::vector<Extent>> shape =
      convolvedShape(operands, xName, x, wName, w);
  if (!shape)
    return shape.status();
  TRACEA_RETURN_IF_ERROR(checkShape("grad", grad, *shape));
  return isByImage ? convolutionLine("conv2d_dgrad", operands, grad, w, x.shape,
                                     x.type, {})
                   : convolutionLine("conv2d_wgrad", operands, x, grad, w.shape,
                                     w.type, {});
}

} // namespace tracea::capi
