//===- Rows.cpp - Attention, softmax and norms of tracea.ops ------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operators.h"

#include <algorithm>
#include <cmath>

namespace tracea::python {

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

void addRows(nb::module_ &m) {
  using namespace nb::literals;
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
}

} // namespace tracea::python
