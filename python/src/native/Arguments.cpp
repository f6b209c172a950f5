//===- Arguments.cpp - Parameters of operators, read --------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "Tensor.h"

#include <algorithm>

namespace tracea::python {

template <typename Enum, size_t count>
static Enum parseName(const char *argument, nb::handle value,
                      const char *const (&names)[count]) {
  if (value.is_none())
    return Enum(0);
  if (!nb::isinstance<nb::str>(value))
    throw nb::type_error((std::string(argument) + ": expected a str").c_str());
  std::string given = nb::cast<std::string>(nb::str(value)), all;
  for (size_t i = 0; i < count; ++i) {
    if (given == names[i])
      return static_cast<Enum>(i);
    all += (i ? ", '" : "'") + std::string(names[i]) + "'";
  }
  throwError(TRACEA_INVALID_PARAMS, std::string(argument) +
                                        ": expected one of " + all +
                                        ", found '" + given + "'");
}

TraceaEpilogue parseEpilogue(nb::handle value) {
  static constexpr const char *names[] = {
      "none", "relu", "relu6", "silu", "gelu", "gelu_tanh", "sigmoid", "tanh"};
  return parseName<TraceaEpilogue>("epilogue", value, names);
}

TraceaPrecision parsePrecision(nb::handle value) {
  static constexpr const char *names[] = {"exact", "tf32", "tf32x3"};
  return parseName<TraceaPrecision>("precision", value, names);
}

TraceaLayout parseLayout(nb::handle value) {
  static constexpr const char *names[] = {"nchw", "nhwc"};
  return parseName<TraceaLayout>("layout", value, names);
}

static uint32_t parseNumber(const char *argument, nb::handle value) {
  int64_t number = 0;
  if (!nb::try_cast(value, number))
    throw nb::type_error((std::string(argument) + ": expected an int").c_str());
  if (number < 0 || number > INT32_MAX)
    throwError(TRACEA_INVALID_PARAMS,
               std::string(argument) +
                   ": expected a number from 0 to 2147483647, found " +
                   std::to_string(number));
  return static_cast<uint32_t>(number);
}

/// A number for height and width, or one for each.
static std::array<uint32_t, 2> parsePair(const char *argument,
                                         nb::handle value) {
  if (!nb::isinstance<nb::sequence>(value)) {
    uint32_t number = parseNumber(argument, value);
    return {number, number};
  }
  size_t length = nb::len(value);
  if (length != 1 && length != 2)
    throwError(TRACEA_INVALID_PARAMS, std::string(argument) +
                                          ": expected 1 or 2 numbers, found " +
                                          std::to_string(length));
  return {parseNumber(argument, value[0]),
          parseNumber(argument, value[length - 1])};
}

/// One number, [h, w], [top, left, bottom, right], "valid" or "same".
static void parsePadding(nb::handle value, const uint32_t taps[2],
                         TraceaConv2dParams &params) {
  uint32_t *pads[4] = {&params.pad_top, &params.pad_left, &params.pad_bottom,
                       &params.pad_right};
  if (nb::isinstance<nb::str>(value)) {
    std::string name = nb::cast<std::string>(nb::str(value));
    if (name == "same") {
      if (params.stride_h != 1 || params.stride_w != 1)
        throwError(TRACEA_INVALID_PARAMS,
                   "padding: 'same' needs strides of 1, found " +
                       std::to_string(params.stride_h) + " and " +
                       std::to_string(params.stride_w));
      const uint32_t dilations[2] = {params.dilation_h, params.dilation_w};
      for (size_t i = 0; i < 2; ++i) {
        uint32_t total = dilations[i] * (std::max(taps[i], 1u) - 1);
        *pads[i] = total / 2;
        *pads[i + 2] = total - total / 2;
      }
    } else if (name != "valid") {
      throwError(TRACEA_INVALID_PARAMS,
                 "padding: expected 'same', 'valid' or numbers, found '" +
                     name + "'");
    }
    return;
  }
  if (nb::isinstance<nb::sequence>(value) && nb::len(value) == 4) {
    for (size_t i = 0; i < 4; ++i)
      *pads[i] = parseNumber("padding", value[i]);
    return;
  }
  std::array<uint32_t, 2> both = parsePair("padding", value);
  for (size_t i = 0; i < 4; ++i)
    *pads[i] = both[i % 2];
}

void parseConv2d(nb::handle stride, nb::handle padding, nb::handle dilation,
                 int64_t groups, nb::handle layout, const uint32_t taps[2],
                 TraceaConv2dParams &params) {
  std::array<uint32_t, 2> strides = parsePair("stride", stride),
                          dilations = parsePair("dilation", dilation);
  params.stride_h = strides[0];
  params.stride_w = strides[1];
  params.dilation_h = dilations[0];
  params.dilation_w = dilations[1];
  params.groups = groups > 0 && groups < INT32_MAX
                      ? static_cast<uint32_t>(groups)
                      : 0; // which the library refuses
  params.layout = parseLayout(layout);
  parsePadding(padding, taps, params);
}

} // namespace tracea::python
