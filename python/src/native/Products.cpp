//===- Products.cpp - Products and convolutions of tracea.ops -----------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operators.h"

namespace tracea::python {

static nb::object gemm(nb::handle aIn, nb::handle bIn, nb::handle biasIn,
                       nb::handle out, nb::handle residualIn, bool transposeA,
                       bool transposeB, double alpha, nb::handle epilogue,
                       nb::handle precision) {
  Tensor a, b, bias, residual;
  a.read("a", aIn);
  b.read("b", bIn);
  bias.readOptional("bias", biasIn);
  residual.readOptional("residual", residualIn);
  if (wantsGradient({&a, &b, &bias, &residual}, out))
    return torchOperator("gemm")(
        aIn, bIn, biasIn, nb::arg("residual") = residualIn,
        nb::arg("transpose_a") = transposeA,
        nb::arg("transpose_b") = transposeB, nb::arg("alpha") = alpha,
        nb::arg("epilogue") = epilogue, nb::arg("precision") = precision);
  TraceaGemmParams params = TRACEA_GEMM_PARAMS_INIT;
  params.transpose_a = transposeA;
  params.transpose_b = transposeB;
  params.alpha = static_cast<float>(alpha);
  params.epilogue = parseEpilogue(epilogue);
  params.precision = parsePrecision(precision);
  params.residual = residual.optional();
  params.stream = a.currentStream();
  for (const auto &[name, tensor] :
       {std::pair<const char *, const Tensor *>{"a", &a}, {"b", &b}})
    if (tensor->rank() < 2)
      throwError(TRACEA_INVALID_PARAMS,
                 std::string(name) +
                     ": expected at least 2 dimensions, found " +
                     std::to_string(tensor->rank()));
  Result result(out, a);
  const Tensor &batch = a.rank() >= b.rank() ? a : b;
  Sizes sizes = batch.sizes();
  sizes[sizes.size() - 2] = a.size(a.rank() - (transposeA ? 1 : 2));
  sizes[sizes.size() - 1] = b.size(b.rank() - (transposeB ? 2 : 1));
  result.make(sizes, resultType(a.view.dtype));
  launch([&] {
    return tracea_gemm(a.view, b.view, bias.optional(), &result.tensor.view,
                       params);
  });
  return result.take();
}

static nb::object linear(nb::handle xIn, nb::handle weightIn, nb::handle biasIn,
                         nb::handle out, nb::handle residualIn,
                         nb::handle epilogue, nb::handle precision) {
  Tensor x, weight, bias, residual;
  x.read("x", xIn);
  weight.read("weight", weightIn);
  bias.readOptional("bias", biasIn);
  residual.readOptional("residual", residualIn);
  if (wantsGradient({&x, &weight, &bias, &residual}, out))
    return torchOperator("linear")(
        xIn, weightIn, biasIn, nb::arg("residual") = residualIn,
        nb::arg("epilogue") = epilogue, nb::arg("precision") = precision);
  if (x.rank() < 1 || weight.rank() != 2)
    throwError(TRACEA_INVALID_PARAMS,
               "weight: expected 2 dimensions, and at least one of x, found " +
                   std::to_string(weight.rank()) + " and " +
                   std::to_string(x.rank()));
  TraceaGemmParams params = TRACEA_GEMM_PARAMS_INIT;
  params.transpose_b = 1;
  params.epilogue = parseEpilogue(epilogue);
  params.precision = parsePrecision(precision);
  params.stream = x.currentStream();
  Result result(out, x);
  Sizes sizes = x.sizes();
  sizes.back() = weight.size(0);
  result.make(sizes, resultType(x.view.dtype));
  Tensor &y = result.tensor;
  if (y.sizes() != sizes || (residual.isSet() && residual.sizes() != sizes))
    throwError(TRACEA_INVALID_PARAMS,
               std::string(y.sizes() != sizes ? "out" : "residual") +
                   ": expected x's shape with " + std::to_string(sizes.back()) +
                   " columns, found another one");
  // Rows are rows, however many dimensions they have.
  Tensor *rows[] = {&x, &y, &residual};
  for (Tensor *tensor : rows) {
    if (tensor == &residual && !residual.isSet())
      continue;
    if (sizes.size() == 1)
      tensor->addRow();
    else if (!tensor->flattenRows()) {
      if (tensor != &x)
        throwError(TRACEA_UNSUPPORTED_CONFIG,
                   std::string(tensor == &y ? "out" : "residual") +
                       ": expected rows at one distance from each other");
      // A copy whose rows are: what torch does as well.
      nb::object copy = x.makeEmpty(x.sizes(), x.view.dtype);
      copy.attr("__setitem__")(nb::ellipsis(), xIn);
      x.read("x", copy);
      x.flattenRows();
    }
  }
  params.residual = residual.optional();
  launch([&] {
    return tracea_gemm(x.view, weight.view, bias.optional(), &y.view, params);
  });
  return result.take();
}

static nb::object groupedGemm(nb::handle aIn, nb::handle bIn, nb::handle endsIn,
                              nb::handle out, bool transposeB,
                              nb::handle precision) {
  Tensor a, b, ends;
  a.read("a", aIn);
  b.read("b", bIn);
  ends.read("ends", endsIn);
  if (a.requiresGrad() || b.requiresGrad()) {
    if (wantsGradient({&a, &b}, out))
      throwError(TRACEA_UNSUPPORTED_CONFIG,
                 "grouped_gemm has no gradient; call it under torch.no_grad()");
  }
  if (a.rank() != 2 || b.rank() != 3)
    throwError(TRACEA_INVALID_PARAMS,
               "expected 2 dimensions of a and 3 of b, found " +
                   std::to_string(a.rank()) + " and " +
                   std::to_string(b.rank()));
  TraceaGroupedGemmParams params = TRACEA_GROUPED_GEMM_PARAMS_INIT;
  params.transpose_b = transposeB;
  params.precision = parsePrecision(precision);
  params.stream = a.currentStream();
  Result result(out, a);
  result.make({a.size(0), b.size(transposeB ? 1 : 2)},
              resultType(a.view.dtype));
  launch([&] {
    return tracea_grouped_gemm(a.view, b.view, ends.view, &result.tensor.view,
                               params);
  });
  return result.take();
}

static void requireImages(
    std::initializer_list<std::pair<const char *, const Tensor *>> tensors) {
  for (const auto &[name, tensor] : tensors)
    if (tensor->rank() != 4)
      throwError(TRACEA_INVALID_PARAMS, std::string(name) +
                                            ": expected 4 dimensions, found " +
                                            std::to_string(tensor->rank()));
}

/// Makes a result whose dimensions are named as those of images or filters.
/// Channels stay where they are: the caller's next layer looks for them there.
static void makeImage(Result &result, Sizes sizes, bool isNHWC,
                      std::initializer_list<const Tensor *> operands,
                      TraceaDType dtype) {
  bool isLast = false;
  for (const Tensor *operand : operands)
    isLast |= operand->isChannelsLast();
  if (isNHWC || !isLast)
    return result.make(sizes, dtype);
  result.makeOrdered({sizes[0], sizes[2], sizes[3], sizes[1]}, {0, 3, 1, 2},
                     dtype);
}

static nb::object conv2d(nb::handle xIn, nb::handle weightIn, nb::handle biasIn,
                         nb::handle stride, nb::handle padding,
                         nb::handle dilation, int64_t groups, nb::handle layout,
                         nb::handle out, nb::handle residualIn,
                         nb::handle epilogue, nb::handle precision) {
  Tensor x, weight, bias, residual;
  x.read("x", xIn);
  weight.read("weight", weightIn);
  bias.readOptional("bias", biasIn);
  residual.readOptional("residual", residualIn);
  if (wantsGradient({&x, &weight, &bias, &residual}, out))
    return torchOperator("conv2d")(
        xIn, weightIn, biasIn, nb::arg("stride") = stride,
        nb::arg("padding") = padding, nb::arg("dilation") = dilation,
        nb::arg("groups") = groups, nb::arg("layout") = layout,
        nb::arg("residual") = residualIn, nb::arg("epilogue") = epilogue,
        nb::arg("precision") = precision);
  requireImages({{"x", &x}, {"weight", &weight}});
  TraceaConv2dParams params = TRACEA_CONV2D_PARAMS_INIT;
  bool isNHWC = parseLayout(layout) == TRACEA_LAYOUT_NHWC;
  size_t h = isNHWC ? 1 : 2;
  const uint32_t taps[2] = {static_cast<uint32_t>(weight.size(h)),
                            static_cast<uint32_t>(weight.size(h + 1))};
  parseConv2d(stride, padding, dilation, groups, layout, taps, params);
  params.epilogue = parseEpilogue(epilogue);
  params.precision = parsePrecision(precision);
  params.residual = residual.optional();
  params.stream = x.currentStream();
  auto extent = [](int64_t size, uint32_t before, uint32_t after, uint32_t taps,
                   uint32_t stride, uint32_t dilation) {
    int64_t room = size + before + after - int64_t(dilation) * (taps - 1) - 1;
    return room < 0 || stride == 0 ? 0 : room / stride + 1;
  };
  int64_t rows = extent(x.size(h), params.pad_top, params.pad_bottom, taps[0],
                        params.stride_h, params.dilation_h);
  int64_t columns = extent(x.size(h + 1), params.pad_left, params.pad_right,
                           taps[1], params.stride_w, params.dilation_w);
  Result result(out, x);
  Sizes sizes = {x.size(0), weight.size(0), rows, columns};
  if (isNHWC)
    sizes = {x.size(0), rows, columns, weight.size(0)};
  makeImage(result, sizes, isNHWC, {&x, &weight}, resultType(x.view.dtype));
  launch([&] {
    return tracea_conv2d(x.view, weight.view, bias.optional(),
                         &result.tensor.view, params);
  });
  return result.take();
}

/// Both gradients of a convolution: of its gradient and its filter, or of its
/// image and its gradient. `shape` is the result's.
static nb::object
conv2dGradient(const char *name, decltype(tracea_conv2d_dgrad) *function,
               const char *nameA, nb::handle aIn, const char *nameB,
               nb::handle bIn, const Sizes &shape, nb::handle stride,
               nb::handle padding, nb::handle dilation, int64_t groups,
               nb::handle layout, nb::handle out, nb::handle precision) {
  Tensor a, b;
  a.read(nameA, aIn);
  b.read(nameB, bIn);
  if (wantsGradient({&a, &b}, out))
    return torchOperator(name)(aIn, bIn, shape, stride, padding, dilation,
                               groups, nb::arg("layout") = layout,
                               nb::arg("precision") = precision);
  requireImages({{nameA, &a}, {nameB, &b}});
  if (shape.size() != 4)
    throwError(TRACEA_INVALID_PARAMS, "shape: expected 4 sizes, found " +
                                          std::to_string(shape.size()));
  for (int64_t size : shape)
    if (size < 0)
      throwError(TRACEA_INVALID_PARAMS,
                 "shape: expected sizes of at least 0, found " +
                     std::to_string(size));
  TraceaConv2dParams params = TRACEA_CONV2D_PARAMS_INIT;
  bool isNHWC = parseLayout(layout) == TRACEA_LAYOUT_NHWC;
  size_t h = isNHWC ? 1 : 2;
  bool isByImage = function == tracea_conv2d_dgrad;
  const uint32_t taps[2] = {
      static_cast<uint32_t>(isByImage ? b.size(h) : shape[h]),
      static_cast<uint32_t>(isByImage ? b.size(h + 1) : shape[h + 1])};
  parseConv2d(stride, padding, dilation, groups, layout, taps, params);
  params.precision = parsePrecision(precision);
  params.stream = a.currentStream();
  Result result(out, a);
  makeImage(result, shape, isNHWC, {&a, &b}, a.view.dtype);
  if (result.tensor.sizes() != shape)
    throwError(TRACEA_INVALID_PARAMS, "out: expected `shape`, found another");
  launch([&] { return function(a.view, b.view, &result.tensor.view, params); });
  return result.take();
}

static nb::object conv2dDGrad(nb::handle grad, nb::handle weight,
                              const Sizes &shape, nb::handle stride,
                              nb::handle padding, nb::handle dilation,
                              int64_t groups, nb::handle layout, nb::handle out,
                              nb::handle precision) {
  return conv2dGradient("conv2d_dgrad", tracea_conv2d_dgrad, "grad", grad,
                        "weight", weight, shape, stride, padding, dilation,
                        groups, layout, out, precision);
}

static nb::object conv2dWGrad(nb::handle x, nb::handle grad, const Sizes &shape,
                              nb::handle stride, nb::handle padding,
                              nb::handle dilation, int64_t groups,
                              nb::handle layout, nb::handle out,
                              nb::handle precision) {
  return conv2dGradient("conv2d_wgrad", tracea_conv2d_wgrad, "x", x, "grad",
                        grad, shape, stride, padding, dilation, groups, layout,
                        out, precision);
}

void addProducts(nb::module_ &m) {
  using namespace nb::literals;
  m.def("gemm", &gemm, "a"_a, "b"_a, "bias"_a.none() = nb::none(),
        nb::kw_only(), "out"_a.none() = nb::none(),
        "residual"_a.none() = nb::none(), "transpose_a"_a = false,
        "transpose_b"_a = false, "alpha"_a = 1.0,
        "epilogue"_a.none() = nb::none(), "precision"_a.none() = nb::none(),
        nb::sig("def gemm(a: typing.Any, b: typing.Any, bias: typing.Any = "
                "None, *, out: typing.Any = None, residual: typing.Any = None, "
                "transpose_a: bool = False, transpose_b: bool = False, alpha: "
                "float = 1.0, epilogue: str | None = None, precision: str | "
                "None = None) -> typing.Any"),
        "epilogue(alpha a b + bias + residual).\n\n"
        "a is [.., m, k], b [.., k, n], or with `transpose_b` [.., n, k]; bias "
        "is [n].\nepilogue: relu, relu6, silu, gelu, gelu_tanh, sigmoid or "
        "tanh.\nprecision: exact, tf32 or tf32x3.");
  m.def("linear", &linear, "x"_a, "weight"_a, "bias"_a.none() = nb::none(),
        nb::kw_only(), "out"_a.none() = nb::none(),
        "residual"_a.none() = nb::none(), "epilogue"_a.none() = nb::none(),
        "precision"_a.none() = nb::none(),
        nb::sig("def linear(x: typing.Any, weight: typing.Any, bias: "
                "typing.Any = None, *, out: typing.Any = None, residual: "
                "typing.Any = None, epilogue: str | None = None, precision: "
                "str | None = None) -> typing.Any"),
        "epilogue(x weight^T + bias + residual): x is [.., k], weight [n, k].");
  m.def("grouped_gemm", &groupedGemm, "a"_a, "b"_a, "ends"_a, nb::kw_only(),
        "out"_a.none() = nb::none(), "transpose_b"_a = false,
        "precision"_a.none() = nb::none(),
        nb::sig("def grouped_gemm(a: typing.Any, b: typing.Any, ends: "
                "typing.Any, *, out: typing.Any = None, transpose_b: bool = "
                "False, precision: str | None = None) -> typing.Any"),
        "Rows ends[g - 1] to ends[g] of a [rows, k] times b[g], b being "
        "[groups, k, n].");
  m.def("conv2d", &conv2d, "x"_a, "weight"_a, "bias"_a.none() = nb::none(),
        "stride"_a = nb::int_(1), "padding"_a = nb::int_(0),
        "dilation"_a = nb::int_(1), "groups"_a = 1, nb::kw_only(),
        "layout"_a = nb::str("nchw"), "out"_a.none() = nb::none(),
        "residual"_a.none() = nb::none(), "epilogue"_a.none() = nb::none(),
        "precision"_a.none() = nb::none(),
        nb::sig("def conv2d(x: typing.Any, weight: typing.Any, bias: "
                "typing.Any = None, stride: int | typing.Sequence[int] = 1, "
                "padding: int | str | typing.Sequence[int] = 0, dilation: int "
                "| typing.Sequence[int] = 1, groups: int = 1, *, layout: str = "
                "'nchw', out: typing.Any = None, residual: typing.Any = None, "
                "epilogue: str | None = None, precision: str | None = None) -> "
                "typing.Any"),
        "epilogue(convolution of x with weight + bias + residual).\n\n"
        "layout nchw: x [N, C, H, W], weight [K, C/groups, R, S]; nhwc: x [N, "
        "H, W, C], weight [K, R, S, C/groups]. Strides say what lies beside "
        "what: a\nchannels-last x gives a channels-last result.\npadding: a "
        "number, [h, w], [top, left, bottom, right], 'same' or 'valid'.");
  m.def("conv2d_dgrad", &conv2dDGrad, "grad"_a, "weight"_a, "shape"_a,
        "stride"_a = nb::int_(1), "padding"_a = nb::int_(0),
        "dilation"_a = nb::int_(1), "groups"_a = 1, nb::kw_only(),
        "layout"_a = nb::str("nchw"), "out"_a.none() = nb::none(),
        "precision"_a.none() = nb::none(),
        nb::sig("def conv2d_dgrad(grad: typing.Any, weight: typing.Any, shape: "
                "typing.Sequence[int], stride: int | typing.Sequence[int] = 1, "
                "padding: int | str | typing.Sequence[int] = 0, dilation: int "
                "| typing.Sequence[int] = 1, groups: int = 1, *, layout: str = "
                "'nchw', out: typing.Any = None, precision: str | None = None) "
                "-> typing.Any"),
        "The gradient of conv2d by x, which has the shape `shape`, from that "
        "by its\nresult. The other arguments are conv2d's. It is also the "
        "transposed convolution of\n`grad`.");
  m.def("conv2d_wgrad", &conv2dWGrad, "x"_a, "grad"_a, "shape"_a,
        "stride"_a = nb::int_(1), "padding"_a = nb::int_(0),
        "dilation"_a = nb::int_(1), "groups"_a = 1, nb::kw_only(),
        "layout"_a = nb::str("nchw"), "out"_a.none() = nb::none(),
        "precision"_a.none() = nb::none(),
        nb::sig("def conv2d_wgrad(x: typing.Any, grad: typing.Any, shape: "
                "typing.Sequence[int], stride: int | typing.Sequence[int] = 1, "
                "padding: int | str | typing.Sequence[int] = 0, dilation: int "
                "| typing.Sequence[int] = 1, groups: int = 1, *, layout: str = "
                "'nchw', out: typing.Any = None, precision: str | None = None) "
                "-> typing.Any"),
        "The gradient of conv2d by weight, which has the shape `shape`, from "
        "that by its\nresult.");
}

} // namespace tracea::python
