//===- Graph.cpp - Modules built by calls ---------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values are numbers here; tracea/graph.py gives them names and arithmetic.
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "Tensor.h"

namespace tracea::python {

namespace {

class GraphHandle {
public:
  GraphHandle() { check(tracea_graph_create(&graph)); }
  ~GraphHandle() { tracea_graph_free(graph); }
  GraphHandle(const GraphHandle &) = delete;

  TraceaGraph *graph = nullptr;
};

} // namespace

/// A function's number in a list that begins at 1.
template <typename Enum, size_t count>
static Enum parseFunction(const std::string &given,
                          const char *const (&names)[count]) {
  std::string all;
  for (size_t i = 0; i < count; ++i) {
    if (given == names[i])
      return static_cast<Enum>(i + 1);
    all += (i ? ", '" : "'") + std::string(names[i]) + "'";
  }
  throwError(TRACEA_INVALID_PARAMS,
             "function: expected one of " + all + ", found '" + given + "'");
}

void addGraphs(nb::module_ &m) {
  using namespace nb::literals;
  nb::class_<GraphHandle>(m, "Graph")
      .def(nb::init<>())
      .def("input",
           [](GraphHandle &self, const std::string &name, nb::handle dtype,
              const Sizes &shape, bool isConstant) {
             TraceaValue value = 0;
             check(tracea_graph_input(self.graph, name.c_str(),
                                      parseDType(dtype),
                                      static_cast<uint32_t>(shape.size()),
                                      shape.data(), isConstant, &value));
             return value;
           })
      .def("output",
           [](GraphHandle &self, TraceaValue value) {
             check(tracea_graph_output(self.graph, value));
           })
      .def(
          "gemm",
          [](GraphHandle &self, TraceaValue a, TraceaValue b, TraceaValue bias,
             TraceaValue residual, bool transposeA, bool transposeB,
             double alpha, nb::handle epilogue, nb::handle precision) {
            TraceaGemmParams params = TRACEA_GEMM_PARAMS_INIT;
            params.transpose_a = transposeA;
            params.transpose_b = transposeB;
            params.alpha = static_cast<float>(alpha);
            params.epilogue = parseEpilogue(epilogue);
            params.precision = parsePrecision(precision);
            TraceaValue value = 0;
            check(tracea_graph_gemm(self.graph, a, b, bias, residual, &params,
                                    &value));
            return value;
          },
          "a"_a, "b"_a, "bias"_a, "residual"_a, "transpose_a"_a,
          "transpose_b"_a, "alpha"_a, "epilogue"_a.none(), "precision"_a.none())
      .def(
          "conv2d",
          [](GraphHandle &self, TraceaValue x, TraceaValue w, TraceaValue bias,
             TraceaValue residual, nb::handle stride, nb::handle padding,
             nb::handle dilation, int64_t groups, nb::handle layout,
             const std::vector<uint32_t> &taps, nb::handle epilogue,
             nb::handle precision) {
            TraceaConv2dParams params = TRACEA_CONV2D_PARAMS_INIT;
            parseConv2d(stride, padding, dilation, groups, layout, taps.data(),
                        params);
            params.epilogue = parseEpilogue(epilogue);
            params.precision = parsePrecision(precision);
            TraceaValue value = 0;
            check(tracea_graph_conv2d(self.graph, x, w, bias, residual, &params,
                                      &value));
            return value;
          },
          "x"_a, "w"_a, "bias"_a, "residual"_a, "stride"_a, "padding"_a,
          "dilation"_a, "groups"_a, "layout"_a, "taps"_a, "epilogue"_a.none(),
          "precision"_a.none())
      .def(
          "attention",
          [](GraphHandle &self, TraceaValue q, TraceaValue k, TraceaValue v,
             bool causal, int32_t left, int32_t right, double scale,
             nb::handle precision) {
            TraceaAttentionParams params = TRACEA_ATTENTION_PARAMS_INIT;
            params.causal = causal;
            params.window_left = left;
            params.window_right = right;
            params.scale = scale;
            params.precision = parsePrecision(precision);
            TraceaValue value = 0;
            check(tracea_graph_attention(self.graph, q, k, v, &params, &value));
            return value;
          },
          "q"_a, "k"_a, "v"_a, "causal"_a, "left"_a, "right"_a, "scale"_a,
          "precision"_a.none())
      .def("softmax",
           [](GraphHandle &self, TraceaValue x, int32_t dim, bool log) {
             TraceaSoftmaxParams params = TRACEA_SOFTMAX_PARAMS_INIT;
             params.dim = dim;
             params.log = log;
             TraceaValue value = 0;
             check(tracea_graph_softmax(self.graph, x, &params, &value));
             return value;
           })
      .def("layer_norm",
           [](GraphHandle &self, TraceaValue x, TraceaValue scale,
              TraceaValue bias, double epsilon) {
             TraceaNormParams params = TRACEA_NORM_PARAMS_INIT;
             params.epsilon = epsilon;
             TraceaValue value = 0;
             check(tracea_graph_layer_norm(self.graph, x, scale, bias, &params,
                                           &value));
             return value;
           })
      .def("rms_norm",
           [](GraphHandle &self, TraceaValue x, TraceaValue scale,
              double epsilon) {
             TraceaNormParams params = TRACEA_NORM_PARAMS_INIT;
             params.epsilon = epsilon;
             TraceaValue value = 0;
             check(
                 tracea_graph_rms_norm(self.graph, x, scale, &params, &value));
             return value;
           })
      .def("unary",
           [](GraphHandle &self, const std::string &function, TraceaValue x) {
             static constexpr const char *names[] = {
                 "relu",    "relu6", "silu",   "gelu", "gelu_tanh",
                 "sigmoid", "tanh",  "negate", "abs",  "exp",
                 "log",     "sqrt",  "rsqrt"};
             TraceaValue value = 0;
             check(tracea_graph_unary(
                 self.graph, parseFunction<TraceaUnary>(function, names), x,
                 &value));
             return value;
           })
      .def("binary",
           [](GraphHandle &self, const std::string &function, TraceaValue a,
              TraceaValue b) {
             static constexpr const char *names[] = {
                 "add", "subtract", "multiply", "divide", "maximum", "minimum"};
             TraceaValue value = 0;
             check(tracea_graph_binary(
                 self.graph, parseFunction<TraceaBinary>(function, names), a, b,
                 &value));
             return value;
           })
      .def("cast",
           [](GraphHandle &self, TraceaValue x, nb::handle dtype) {
             TraceaValue value = 0;
             check(tracea_graph_cast(self.graph, x, parseDType(dtype), &value));
             return value;
           })
      .def("transpose",
           [](GraphHandle &self, TraceaValue x,
              const std::vector<uint32_t> &order) {
             TraceaValue value = 0;
             check(tracea_graph_transpose(self.graph, x, order.data(), &value));
             return value;
           })
      .def("reshape",
           [](GraphHandle &self, TraceaValue x, const Sizes &shape) {
             TraceaValue value = 0;
             check(tracea_graph_reshape(self.graph, x,
                                        static_cast<uint32_t>(shape.size()),
                                        shape.data(), &value));
             return value;
           })
      .def("text",
           [](GraphHandle &self) {
             return readText([&](char *buffer, size_t size, size_t *length) {
               return tracea_graph_text(self.graph, buffer, size, length);
             });
           })
      .def(
          "compile",
          [](GraphHandle &self, const std::string &target,
             const std::string &fuse, int threads, bool requireProof,
             bool cache) {
            CompileArguments arguments(target, std::nullopt, fuse, threads,
                                       requireProof, cache);
            TraceaProgram *program = nullptr;
            TraceaStatus status;
            {
              nb::gil_scoped_release release;
              status =
                  tracea_graph_compile(self.graph, arguments.get(), &program);
            }
            check(status);
            return wrapProgram(program);
          },
          nb::kw_only(), "target"_a, "fuse"_a = "safe", "threads"_a = 0,
          "require_proof"_a = false, "cache"_a = true);
}

} // namespace tracea::python
