//===- Conv2D.cpp - Convolutions ------------------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whichever order the caller names dimensions in, memory says what is used:
// images with channels innermost, or channels first; filters likewise.
//
//===----------------------------------------------------------------------===//

#include "Operators/Operator.h"
#include "Operators/OperatorKinds.h"
#include "Params.h"

#include <cstring>

namespace tracea::capi {

namespace {
enum ConvOperand : size_t { X, W, B, Residual, Out };
using Order = std::array<uint8_t, maxRank>;

/// Where the dimensions that a name lists stand among those of another one.
Order orderOf(const char *memory, const char *named) {
  Order order{};
  for (size_t i = 0; i < 4; ++i)
    order[i] = static_cast<uint8_t>(std::strchr(named, memory[i]) - named);
  return order;
}

bool isSame(const Order &a, const Order &b) {
  return std::memcmp(a.data(), b.data(), 4) == 0;
}
} // namespace

static Status buildConv2D(const OperatorCall &call, OperatorModule &module) {
  const TraceaConv2dParams &params =
      *static_cast<const TraceaConv2dParams *>(call.context);
  for (size_t i : {X, W, Out})
    if (call.operands[i].view.rank != 4)
      return Status::invalid(std::string(call.operands[i].name) +
                             ": expected 4 dimensions, found " +
                             call.operands[i].view.describe());
  bool isNamedLast = params.layout == TRACEA_LAYOUT_NHWC;
  const char *image = isNamedLast ? "nhwc" : "nchw";
  const char *filter = isNamedLast ? "krsc" : "kcrs";
  Order last = orderOf("nhwc", image), first = orderOf("nchw", image);

  Conv2DOperands conv;
  conv.params = params;
  Expected<Stored> x = module.argument(X, {last, first});
  if (!x)
    return x.status();
  conv.channelsLast = !isSame(x->order, first);
  conv.x = x->value;
  if (!isSame(x->order, last) && !isSame(x->order, first)) {
    std::vector<uint32_t> moves;
    for (size_t i = 0; i < 4; ++i)
      for (uint32_t j = 0; j < 4; ++j)
        if (x->order[j] == last[i])
          moves.push_back(j);
    Expected<Value> moved = module.text.transpose(x->value, moves);
    if (!moved)
      return moved.status();
    conv.x = *moved;
  }

  const char *forms[] = {"krsc", "kcrs", "rsck"};
  std::vector<Order> orders;
  for (const char *form : forms)
    orders.push_back(orderOf(form, filter));
  // What the image's layout goes with comes first.
  if (!conv.channelsLast)
    std::swap(orders[0], orders[1]);
  Expected<Stored> w = module.argument(W, orders);
  if (!w)
    return w.status();
  conv.filter = filter;
  bool isKnown = false;
  for (const char *form : forms)
    if (isSame(w->order, orderOf(form, filter))) {
      conv.filter = form;
      conv.w = w->value;
      isKnown = true;
    }
  if (!isKnown) {
    Expected<Value> moved = module.toOrder(*w);
    if (!moved)
      return moved.status();
    conv.w = *moved;
  }

  // Where a dimension of the caller's stands in the result.
  const Order &order = conv.channelsLast ? last : first;
  auto place = [&](unsigned dim) {
    unsigned at = 0;
    while (order[at] != dim)
      ++at;
    return at;
  };
  if (call.has(B)) {
    Expected<Stored> bias = module.argument(B);
    if (!bias)
      return bias.status();
    conv.epilogue.operands.push_back(
        {bias->value, {conv.channelsLast ? 3u : 1u}});
  }
  if (call.has(Residual)) {
    Expected<Stored> residual = module.argument(Residual);
    if (!residual)
      return residual.status();
    EpilogueOperand operand{residual->value, {}};
    for (size_t i = 0; i < residual->value.rank(); ++i)
      operand.dims.push_back(place(residual->order[i]));
    conv.epilogue.operands.push_back(operand);
  }
  conv.epilogue.function = params.epilogue;
  conv.type = call.operands[Out].view.type;
  module.text.allow(params.precision);
  Expected<Value> result = module.text.conv2d(conv);
  if (!result)
    return result.status();
  return module.result(Out, *result, order);
}

} // namespace tracea::capi

using namespace tracea::capi;

TraceaStatus tracea_conv2d(TraceaTensorView x, TraceaTensorView w,
                           const TraceaTensorView *b, TraceaTensorView *out,
                           TraceaConv2dParams params) {
  return guarded(__func__, deviceError(x.device_id), [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requirePointer(out, "out"));
    TRACEA_RETURN_IF_ERROR(checkReserved(params));
    TRACEA_RETURN_IF_ERROR(checkPrecision(params.precision));
    TRACEA_RETURN_IF_ERROR(checkLayout(params.layout));
    OperatorCall call;
    call.function = "tracea_conv2d";
    call.kind = kindConv2D;
    call.stream = params.stream;
    call.build = buildConv2D;
    call.context = &params;
    for (uint32_t number :
         {params.stride_h, params.stride_w, params.pad_top, params.pad_left,
          params.pad_bottom, params.pad_right, params.dilation_h,
          params.dilation_w, params.groups})
      call.param(number);
    call.param(params.layout);
    call.param(params.epilogue);
    call.param(params.precision);
    TRACEA_RETURN_IF_ERROR(call.add("x", x, false));
    TRACEA_RETURN_IF_ERROR(call.add("w", w, false));
    TRACEA_RETURN_IF_ERROR(call.addOptional("b", b));
    TRACEA_RETURN_IF_ERROR(call.addOptional("residual", params.residual));
    TRACEA_RETURN_IF_ERROR(call.add("out", *out, true));
    // The images.
    call.openExtent({{0, 0}, {3, 0}, {4, 0}});
    return runOperator(call);
  });
}
