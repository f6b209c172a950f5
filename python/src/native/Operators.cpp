//===- Operators.cpp - tracea.ops -----------------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function reads its tensors, makes the result where none is given, and
// calls its counterpart of tracea.h, which checks all that is not Python's.
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "Tensor.h"

#include <algorithm>
#include <cmath>

namespace tracea::python {

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

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

static TraceaLayout parseLayout(nb::handle value) {
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

static TraceaDType resultType(TraceaDType factor) {
  return factor == TRACEA_INT8 ? TRACEA_INT32 : factor;
}

/// A result: the caller's tensor, or a new one.
class Result {
public:
  /// `producer` is whose library a new one comes from.
  Result(nb::handle out, const Tensor &producer) : producer(producer) {
    if (out.is_none())
      return;
    tensor.read("out", out, true);
    isGiven = true;
  }

  void make(const Sizes &sizes, TraceaDType dtype) {
    if (!isGiven)
      set(producer.makeEmpty(sizes, dtype));
  }

  /// Of this shape, in memory in another order: dimension i of the result is
  /// dimension order[i] of `stored`.
  void makeOrdered(const Sizes &stored, const std::array<int, 4> &order,
                   TraceaDType dtype) {
    if (isGiven)
      return;
    nb::object made = producer.makeEmpty(stored, dtype);
    const char *method = nb::hasattr(made, "permute") ? "permute" : "transpose";
    set(made.attr(method)(order[0], order[1], order[2], order[3]));
  }

  Tensor tensor;
  bool isGiven = false;

  nb::object take() const {
    return isGiven ? tensor.object : producer.finish(tensor.object);
  }

private:
  void set(nb::object made) { tensor.read("out", made, true); }
  const Tensor &producer;
};

/// Runs the call without the interpreter's lock: the first one compiles.
template <typename Function>
static void launch(Function &&function) {
  TraceaStatus status;
  {
    nb::gil_scoped_release release;
    status = function();
  }
  check(status);
}

/// Where a gradient is asked for, the operator that torch knows does the call.
/// A result of the caller's has none.
static bool wantsGradient(std::initializer_list<const Tensor *> tensors,
                          nb::handle out) {
  for (const Tensor *tensor : tensors)
    if (tensor->requiresGrad()) {
      nb::object torch = nb::module_::import_("torch");
      if (!nb::cast<bool>(torch.attr("is_grad_enabled")()))
        return false;
      if (!out.is_none())
        throwError(TRACEA_UNSUPPORTED_CONFIG,
                   "out: expected none where a gradient is asked for; call it "
                   "under torch.no_grad()");
      return true;
    }
  return false;
}

static nb::object torchOperator(const char *name) {
  return nb::module_::import_("tracea.torch.ops").attr(name);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

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
  for (const auto &[name, tensor] :
       {std::pair<const char *, const Tensor *>{"x", &x}, {"weight", &weight}})
    if (tensor->rank() != 4)
      throwError(TRACEA_INVALID_PARAMS, std::string(name) +
                                            ": expected 4 dimensions, found " +
                                            std::to_string(tensor->rank()));
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
  TraceaDType dtype = resultType(x.view.dtype);
  // Channels stay where they are: the caller's next layer looks for them there.
  if (isNHWC)
    result.make({x.size(0), rows, columns, weight.size(0)}, dtype);
  else if (x.isChannelsLast() || weight.isChannelsLast())
    result.makeOrdered({x.size(0), rows, columns, weight.size(0)}, {0, 3, 1, 2},
                       dtype);
  else
    result.make({x.size(0), weight.size(0), rows, columns}, dtype);
  launch([&] {
    return tracea_conv2d(x.view, weight.view, bias.optional(),
                         &result.tensor.view, params);
  });
  return result.take();
}

//===----------------------------------------------------------------------===//
// Attention and rows
//===----------------------------------------------------------------------===//

static nb::object attention(nb::handle qIn, nb::handle kIn, nb::handle vIn,
                            bool causal, nb::handle window, nb::handle scale,
                            nb::handle out, bool returnLse,
                            nb::handle precision) {
  Tensor q, k, v, lse;
  q.read("q", qIn);
  k.read("k", kIn);
  v.read("v", vIn);
  if (wantsGradient({&q, &k, &v}, out)) {
    if (returnLse)
      throwError(TRACEA_UNSUPPORTED_CONFIG,
                 "return_lse: expected False where a gradient is asked for");
    return torchOperator("attention")(
        qIn, kIn, vIn, nb::arg("causal") = causal, nb::arg("window") = window,
        nb::arg("scale") = scale, nb::arg("precision") = precision);
  }
  if (q.rank() != 4 || v.rank() != 4)
    throwError(TRACEA_INVALID_PARAMS,
               std::string(q.rank() != 4 ? "q" : "v") +
                   ": expected 4 dimensions, found " +
                   std::to_string(q.rank() != 4 ? q.rank() : v.rank()));
  TraceaAttentionParams params = TRACEA_ATTENTION_PARAMS_INIT;
  params.causal = causal;
  params.precision = parsePrecision(precision);
  if (!scale.is_none()) {
    params.scale = nb::cast<double>(scale);
    if (!(params.scale > 0) || !std::isfinite(params.scale))
      throwError(TRACEA_INVALID_PARAMS,
                 "scale: expected a positive number, found " +
                     std::to_string(params.scale));
  }
  if (!window.is_none()) {
    if (!nb::isinstance<nb::sequence>(window) || nb::len(window) != 2)
      throwError(TRACEA_INVALID_PARAMS,
                 "window: expected (left, right), -1 being all");
    params.window_left = nb::cast<int32_t>(window[0]);
    params.window_right = nb::cast<int32_t>(window[1]);
  }
  params.stream = q.currentStream();
  Result result(out, q);
  result.make({q.size(0), q.size(1), q.size(2), v.size(3)}, q.view.dtype);
  if (returnLse) {
    nb::object made = q.makeEmpty(
        {q.size(0), q.size(1), q.size(2)},
        q.view.dtype == TRACEA_FLOAT64 ? TRACEA_FLOAT64 : TRACEA_FLOAT32);
    lse.read("lse", made, true);
    params.lse = &lse.view;
  }
  launch([&] {
    return tracea_attention(q.view, k.view, v.view, &result.tensor.view,
                            params);
  });
  if (returnLse)
    return nb::make_tuple(result.take(), q.finish(lse.object));
  return result.take();
}

static nb::object softmaxOf(nb::handle xIn, int64_t dim, nb::handle out,
                            bool isLog) {
  Tensor x;
  x.read("x", xIn);
  if (wantsGradient({&x}, out))
    return torchOperator(isLog ? "log_softmax" : "softmax")(xIn, dim);
  TraceaSoftmaxParams params = TRACEA_SOFTMAX_PARAMS_INIT;
  params.dim =
      static_cast<int32_t>(std::clamp<int64_t>(dim, INT32_MIN, INT32_MAX));
  params.log = isLog;
  params.stream = x.currentStream();
  Result result(out, x);
  result.make(x.sizes(), x.view.dtype);
  launch([&] { return tracea_softmax(x.view, &result.tensor.view, params); });
  return result.take();
}

static nb::object layerNorm(nb::handle xIn, nb::handle weightIn,
                            nb::handle biasIn, double eps, nb::handle out) {
  Tensor x, weight, bias;
  x.read("x", xIn);
  weight.readOptional("weight", weightIn);
  bias.readOptional("bias", biasIn);
  if (wantsGradient({&x, &weight, &bias}, out))
    return torchOperator("layer_norm")(xIn, weightIn, biasIn,
                                       nb::arg("eps") = eps);
  TraceaNormParams params = TRACEA_NORM_PARAMS_INIT;
  params.epsilon = eps;
  params.stream = x.currentStream();
  Result result(out, x);
  result.make(x.sizes(), x.view.dtype);
  launch([&] {
    return tracea_layer_norm(x.view, weight.optional(), bias.optional(),
                             &result.tensor.view, params);
  });
  return result.take();
}

static nb::object rmsNorm(nb::handle xIn, nb::handle weightIn, double eps,
                          nb::handle out) {
  Tensor x, weight;
  x.read("x", xIn);
  weight.readOptional("weight", weightIn);
  if (wantsGradient({&x, &weight}, out))
    return torchOperator("rms_norm")(xIn, weightIn, nb::arg("eps") = eps);
  TraceaNormParams params = TRACEA_NORM_PARAMS_INIT;
  params.epsilon = eps;
  params.stream = x.currentStream();
  Result result(out, x);
  result.make(x.sizes(), x.view.dtype);
  launch([&] {
    return tracea_rms_norm(x.view, weight.optional(), &result.tensor.view,
                           params);
  });
  return result.take();
}

//===----------------------------------------------------------------------===//
// The module's functions
//===----------------------------------------------------------------------===//

void addOperators(nb::module_ &m) {
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
  m.def("attention", &attention, "q"_a, "k"_a, "v"_a, nb::kw_only(),
        "causal"_a = false, "window"_a.none() = nb::none(),
        "scale"_a.none() = nb::none(), "out"_a.none() = nb::none(),
        "return_lse"_a = false, "precision"_a.none() = nb::none(),
        nb::sig("def attention(q: typing.Any, k: typing.Any, v: typing.Any, *, "
                "causal: bool = False, window: typing.Sequence[int] | None = "
                "None, scale: float | None = None, out: typing.Any = None, "
                "return_lse: bool = False, precision: str | None = None) -> "
                "typing.Any"),
        "Scaled dot-product attention: q [B, H, I, D], k [B, G, J, D], v [B, "
        "G, J, E]; G divides H.\n\n"
        "With `return_lse` the log-sum-exp of the scores as well, [B, H, I].");
  m.def(
      "softmax",
      [](nb::handle x, int64_t dim, nb::handle out) {
        return softmaxOf(x, dim, out, false);
      },
      "x"_a, "dim"_a = -1, nb::kw_only(), "out"_a.none() = nb::none(),
      nb::sig("def softmax(x: typing.Any, dim: int = -1, *, out: typing.Any = "
              "None) -> typing.Any"));
  m.def(
      "log_softmax",
      [](nb::handle x, int64_t dim, nb::handle out) {
        return softmaxOf(x, dim, out, true);
      },
      "x"_a, "dim"_a = -1, nb::kw_only(), "out"_a.none() = nb::none(),
      nb::sig("def log_softmax(x: typing.Any, dim: int = -1, *, out: "
              "typing.Any = None) -> typing.Any"));
  m.def("layer_norm", &layerNorm, "x"_a, "weight"_a.none() = nb::none(),
        "bias"_a.none() = nb::none(), "eps"_a = 1e-5, nb::kw_only(),
        "out"_a.none() = nb::none(),
        nb::sig("def layer_norm(x: typing.Any, weight: typing.Any = None, "
                "bias: typing.Any = None, eps: float = 1e-05, *, out: "
                "typing.Any = None) -> typing.Any"),
        "(x - mean) / sqrt(variance + eps) weight + bias over the last "
        "dimensions, as many as weight has.");
  m.def("rms_norm", &rmsNorm, "x"_a, "weight"_a.none() = nb::none(),
        "eps"_a = 1e-5, nb::kw_only(), "out"_a.none() = nb::none(),
        nb::sig("def rms_norm(x: typing.Any, weight: typing.Any = None, eps: "
                "float = 1e-05, *, out: typing.Any = None) -> typing.Any"),
        "x / sqrt(mean of squares + eps) weight over the last dimensions, as "
        "many as weight has.");
  m.def("operator_counters", [] {
    return readText([](char *buffer, size_t size, size_t *length) {
      return tracea_operator_counters(buffer, size, length);
    });
  });
}

} // namespace tracea::python
