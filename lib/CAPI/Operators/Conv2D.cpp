//===- Conv2D.cpp - Convolutions and their gradients ----------------------===//
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

/// The two orders of images, by the names of the caller's dimensions.
struct ImageOrders {
  explicit ImageOrders(TraceaLayout layout)
      : last(orderOf("nhwc", named(layout))),
        first(orderOf("nchw", named(layout))) {}
  const Order &of(bool channelsLast) const {
    return channelsLast ? last : first;
  }

  Order last, first;

private:
  static const char *named(TraceaLayout layout) {
    return layout == TRACEA_LAYOUT_NHWC ? "nhwc" : "nchw";
  }
};

/// What operands lie in, and what is made of them.
class ConvolutionOperands {
public:
  ConvolutionOperands(OperatorModule &module, TraceaLayout layout)
      : module(module), images(layout),
        named(layout == TRACEA_LAYOUT_NHWC ? "krsc" : "kcrs") {}

  /// The image that decides whether channels are innermost.
  Expected<Value> firstImage(size_t operand, Convolution &convolution) {
    Expected<Stored> stored =
        module.argument(operand, {images.last, images.first});
    if (!stored)
      return stored.status();
    convolution.channelsLast = !isSame(stored->order, images.first);
    return moved(*stored, images.of(convolution.channelsLast));
  }
  /// An image beside that one.
  Expected<Value> image(size_t operand, const Convolution &convolution) {
    const Order &order = images.of(convolution.channelsLast);
    Expected<Stored> stored = module.argument(operand, {order});
    if (!stored)
      return stored.status();
    return moved(*stored, order);
  }

  Expected<Value> filter(size_t operand, Convolution &convolution) {
    Expected<Stored> stored = module.argument(operand, orders(convolution));
    if (!stored)
      return stored.status();
    convolution.filter = named;
    for (const char *form : forms)
      if (isSame(stored->order, orderOf(form, named))) {
        convolution.filter = form;
        return stored->value;
      }
    return module.toOrder(*stored);
  }
  /// The order for a filter that is a result: that of its memory, where filters
  /// may be so.
  Order filterOrder(const View &view, Convolution &convolution) {
    for (const Order &order : orders(convolution)) {
      MemoryForm form = formIn(view, order);
      if (form.isIrregular)
        continue;
      for (const char *name : forms)
        if (isSame(order, orderOf(name, named)))
          convolution.filter = name;
      return order;
    }
    convolution.filter = named;
    return orderOf(named, named);
  }

  const ImageOrders &imageOrders() const { return images; }

private:
  static constexpr const char *forms[] = {"krsc", "kcrs", "rsck"};

  /// What the image's layout goes with comes first.
  std::vector<Order> orders(const Convolution &convolution) const {
    std::vector<Order> list;
    for (const char *form : forms)
      list.push_back(orderOf(form, named));
    if (!convolution.channelsLast)
      std::swap(list[0], list[1]);
    return list;
  }

  Expected<Value> moved(const Stored &stored, const Order &order) {
    if (isSame(stored.order, order))
      return stored.value;
    std::vector<uint32_t> moves;
    for (size_t i = 0; i < 4; ++i)
      for (uint32_t j = 0; j < 4; ++j)
        if (stored.order[j] == order[i])
          moves.push_back(j);
    return module.text.transpose(stored.value, moves);
  }

  OperatorModule &module;
  ImageOrders images;
  const char *named;
};

/// The extents of a result, outermost in memory first; those that are open
/// are set by the caller.
Value shapeOf(const View &view, const Order &order) {
  Value value;
  value.type = view.type;
  for (unsigned i = 0; i < view.rank; ++i)
    value.shape.push_back({view.sizes[order[i]], ""});
  return value;
}
} // namespace

static Status checkRanks(const OperatorCall &call,
                         std::initializer_list<size_t> operands) {
  for (size_t i : operands)
    if (call.operands[i].view.rank != 4)
      return Status::invalid(std::string(call.operands[i].name) +
                             ": expected 4 dimensions, found " +
                             call.operands[i].view.describe());
  return Status::success();
}

//===----------------------------------------------------------------------===//
// The convolution
//===----------------------------------------------------------------------===//

namespace {
enum ConvOperand : size_t { X, W, B, Residual, Out };
}

static Status buildConv2D(const OperatorCall &call, OperatorModule &module) {
  TRACEA_RETURN_IF_ERROR(checkRanks(call, {X, W, Out}));
  Conv2DOperands conv;
  conv.params = *static_cast<const TraceaConv2dParams *>(call.context);
  ConvolutionOperands operands(module, conv.params.layout);
  Expected<Value> x = operands.firstImage(X, conv);
  if (!x)
    return x.status();
  Expected<Value> w = operands.filter(W, conv);
  if (!w)
    return w.status();
  conv.x = *x;
  conv.w = *w;

  const Order &order = operands.imageOrders().of(conv.channelsLast);
  if (call.has(B)) {
    Expected<Stored> bias = module.argument(B);
    if (!bias)
      return bias.status();
    conv.epilogue.operands.push_back(
        {bias->value, {conv.channelsLast ? 3u : 1u}});
  }
  TRACEA_RETURN_IF_ERROR(
      module.addResidual(Residual, Out, order, conv.epilogue));
  conv.epilogue.function = conv.params.epilogue;
  conv.type = call.operands[Out].view.type;
  module.text.allow(conv.params.precision);
  Expected<Value> result = module.text.conv2d(conv);
  if (!result)
    return result.status();
  return module.result(Out, *result, order);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

namespace {
/// Behind the two tensors that are given: the gradient and the filter, or the
/// image and the gradient.
constexpr size_t GradOut = 2;
} // namespace

static Status setGradient(OperatorModule &module,
                          const Conv2DGradientOperands &conv,
                          const Order &order) {
  module.text.allow(conv.params.precision);
  Expected<Value> result = module.text.conv2dGradient(conv);
  if (!result)
    return result.status();
  return module.result(GradOut, *result, order);
}

static Status buildDGrad(const OperatorCall &call, OperatorModule &module) {
  enum : size_t { Grad, Filter };
  TRACEA_RETURN_IF_ERROR(checkRanks(call, {Grad, Filter, GradOut}));
  Conv2DGradientOperands conv;
  conv.params = *static_cast<const TraceaConv2dParams *>(call.context);
  ConvolutionOperands operands(module, conv.params.layout);
  Expected<Value> grad = operands.firstImage(Grad, conv);
  if (!grad)
    return grad.status();
  Expected<Value> w = operands.filter(Filter, conv);
  if (!w)
    return w.status();
  conv.grad = *grad;
  conv.w = *w;
  const Order &order = operands.imageOrders().of(conv.channelsLast);
  conv.x = shapeOf(call.operands[GradOut].view, order);
  if (grad->shape[0].isOpen())
    conv.x.shape[0] = grad->shape[0];
  return setGradient(module, conv, order);
}

static Status buildWGrad(const OperatorCall &call, OperatorModule &module) {
  enum : size_t { Image, Grad };
  TRACEA_RETURN_IF_ERROR(checkRanks(call, {Image, Grad, GradOut}));
  Conv2DGradientOperands conv;
  conv.params = *static_cast<const TraceaConv2dParams *>(call.context);
  ConvolutionOperands operands(module, conv.params.layout);
  Expected<Value> x = operands.firstImage(Image, conv);
  if (!x)
    return x.status();
  Expected<Value> grad = operands.image(Grad, conv);
  if (!grad)
    return grad.status();
  conv.x = *x;
  conv.grad = *grad;
  const View &out = call.operands[GradOut].view;
  Order order = operands.filterOrder(out, conv);
  conv.w = shapeOf(out, order);
  return setGradient(module, conv, order);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// A call of an operation with these parameters, which are looked at.
static Status setParams(OperatorCall &call, const TraceaConv2dParams &params) {
  TRACEA_RETURN_IF_ERROR(checkReserved(params));
  TRACEA_RETURN_IF_ERROR(checkPrecision(params.precision));
  TRACEA_RETURN_IF_ERROR(checkLayout(params.layout));
  call.stream = params.stream;
  call.context = &params;
  for (uint32_t number : {params.stride_h, params.stride_w, params.pad_top,
                          params.pad_left, params.pad_bottom, params.pad_right,
                          params.dilation_h, params.dilation_w, params.groups})
    call.param(number);
  call.param(params.layout);
  call.param(params.epilogue);
  call.param(params.precision);
  return Status::success();
}

/// A gradient is that of the sum: what a convolution's epilogue does to it has
/// a gradient of its own, which the caller has been through.
static Status checkNoEpilogue(const TraceaConv2dParams &params) {
  if (params.epilogue != TRACEA_EPILOGUE_NONE)
    return Status::invalid(
        "epilogue: expected TRACEA_EPILOGUE_NONE (0), as `grad` is the "
        "gradient of the sum before an epilogue's function, found " +
        std::to_string(static_cast<int>(params.epilogue)));
  if (params.residual)
    return Status::invalid("residual: expected NULL, as the gradient by it is "
                           "`grad` itself, found a view");
  return Status::success();
}

static TraceaStatus
runGradient(const char *function, OperatorKind kind,
            Status (*build)(const OperatorCall &, OperatorModule &),
            const char *nameA, const TraceaTensorView &a, const char *nameB,
            const TraceaTensorView &b, TraceaTensorView *out,
            const TraceaConv2dParams &params) {
  return guarded(function, deviceError(a.device_id), [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requirePointer(out, "out"));
    OperatorCall call;
    call.function = function;
    call.kind = kind;
    call.build = build;
    TRACEA_RETURN_IF_ERROR(setParams(call, params));
    TRACEA_RETURN_IF_ERROR(checkNoEpilogue(params));
    TRACEA_RETURN_IF_ERROR(call.add(nameA, a, false));
    TRACEA_RETURN_IF_ERROR(call.add(nameB, b, false));
    TRACEA_RETURN_IF_ERROR(call.add("out", *out, true));
    // The images.
    if (kind == kindConv2DDGrad)
      call.openExtent({{0, 0}, {GradOut, 0}});
    else
      call.openExtent({{0, 0}, {1, 0}});
    return runOperator(call);
  });
}

} // namespace tracea::capi

using namespace tracea::capi;

TraceaStatus tracea_conv2d(TraceaTensorView x, TraceaTensorView w,
                           const TraceaTensorView *b, TraceaTensorView *out,
                           TraceaConv2dParams params) {
  return guarded(__func__, deviceError(x.device_id), [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requirePointer(out, "out"));
    OperatorCall call;
    call.function = "tracea_conv2d";
    call.kind = kindConv2D;
    call.build = buildConv2D;
    TRACEA_RETURN_IF_ERROR(setParams(call, params));
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

TraceaStatus tracea_conv2d_dgrad(TraceaTensorView grad, TraceaTensorView w,
                                 TraceaTensorView *out,
                                 TraceaConv2dParams params) {
  return runGradient(__func__, kindConv2DDGrad, buildDGrad, "grad", grad, "w",
                     w, out, params);
}

TraceaStatus tracea_conv2d_wgrad(TraceaTensorView x, TraceaTensorView grad,
                                 TraceaTensorView *out,
                                 TraceaConv2dParams params) {
  return runGradient(__func__, kindConv2DWGrad, buildWGrad, "x", x, "grad",
                     grad, out, params);
}
