//===- Graph.cpp - Modules built by calls ---------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "Params.h"
#include "Program.h"
#include "Text/ModuleText.h"
#include "View.h"

struct TraceaGraph {
  tracea::capi::ModuleText text;
  /// Value n is number n + 1.
  std::vector<tracea::capi::Value> values;
};

namespace tracea::capi {

static Expected<Value> find(const TraceaGraph &graph, const char *name,
                            TraceaValue value) {
  if (value == 0 || value > graph.values.size())
    return Status::invalid(std::string(name) +
                           ": expected a value of this graph from 1 to " +
                           std::to_string(graph.values.size()) + ", found " +
                           std::to_string(value));
  return graph.values[value - 1];
}

/// The values of an operation, by their names; 0 is a Value without a name
/// where the operand may be left out.
class Operands {
public:
  explicit Operands(const TraceaGraph &graph) : graph(graph) {}

  Value get(const char *name, TraceaValue value, bool isOptional = false) {
    if (value == 0 && isOptional)
      return {};
    Expected<Value> found = find(graph, name, value);
    if (found)
      return *found;
    if (failure.ok())
      failure = found.status();
    return {};
  }
  const Status &status() const { return failure; }

private:
  const TraceaGraph &graph;
  Status failure;
};

/// Runs what makes a value, and keeps that.
template <typename Make>
static TraceaStatus add(const char *function, TraceaGraph *graph,
                        TraceaValue *value, Make &&make) {
  return guarded(function, TRACEA_INTERNAL_ERROR, [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requireHandle(graph, "graph"));
    TRACEA_RETURN_IF_ERROR(requirePointer(value, "value"));
    Operands operands(*graph);
    Expected<Value> made = make(graph->text, operands);
    if (!made)
      return made.status();
    graph->values.push_back(std::move(*made));
    *value = static_cast<TraceaValue>(graph->values.size());
    return Status::success();
  });
}

/// Results of sums: of floats the operands' type, of i8 i32.
static ElementType resultType(ElementType type) {
  return runtime::isFloat(type) ? type : ElementType::I32;
}

static std::vector<unsigned> allDims(size_t rank) {
  std::vector<unsigned> dims;
  for (unsigned i = 0; i < rank; ++i)
    dims.push_back(i);
  return dims;
}

} // namespace tracea::capi

using namespace tracea;
using namespace tracea::capi;

TraceaStatus tracea_graph_create(TraceaGraph **graph) {
  return guarded(__func__, TRACEA_INTERNAL_ERROR, [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requirePointer(graph, "graph"));
    give(std::make_unique<TraceaGraph>(), graph);
    return Status::success();
  });
}

void tracea_graph_free(TraceaGraph *graph) { freeHandle(__func__, graph); }

TraceaStatus tracea_graph_input(TraceaGraph *graph, const char *name,
                                TraceaDType dtype, uint32_t rank,
                                const int64_t *shape, int32_t is_constant,
                                TraceaValue *value) {
  return add(
      __func__, graph, value,
      [&](ModuleText &text, Operands &) -> Expected<Value> {
        std::optional<ElementType> type = toElementType(dtype);
        if (!type)
          return Status::invalid("dtype: expected a number from 0 to "
                                 "10, found " +
                                 std::to_string(int(dtype)));
        if (rank > maxRank)
          return Status::invalid("rank: expected at most " +
                                 std::to_string(maxRank) + ", found " +
                                 std::to_string(rank));
        if (rank > 0)
          TRACEA_RETURN_IF_ERROR(requirePointer(shape, "shape"));
        int64_t count = 1;
        for (uint32_t i = 0; i < rank; ++i)
          if (shape[i] < TRACEA_DYNAMIC ||
              (shape[i] > 0 && __builtin_mul_overflow(count, shape[i], &count)))
            return Status::invalid(
                "shape: expected sizes of at least 0, or "
                "TRACEA_DYNAMIC, whose product can be counted, found " +
                std::to_string(shape[i]) + " in dimension " +
                std::to_string(i));
        return text.input(name ? name : "", *type, {shape, rank},
                          is_constant != 0);
      });
}

TraceaStatus tracea_graph_output(TraceaGraph *graph, TraceaValue value) {
  return guarded(__func__, TRACEA_INTERNAL_ERROR, [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requireHandle(graph, "graph"));
    Expected<Value> found = find(*graph, "value", value);
    if (!found)
      return found.status();
    graph->text.output(*found);
    return Status::success();
  });
}

TraceaStatus tracea_graph_gemm(TraceaGraph *graph, TraceaValue a, TraceaValue b,
                               TraceaValue bias, TraceaValue residual,
                               const TraceaGemmParams *given,
                               TraceaValue *value) {
  return add(__func__, graph, value,
             [&](ModuleText &text, Operands &operands) -> Expected<Value> {
               TraceaGemmParams params = TRACEA_GEMM_PARAMS_INIT;
               if (given)
                 params = *given;
               TRACEA_RETURN_IF_ERROR(checkReserved(params));
               TRACEA_RETURN_IF_ERROR(checkPrecision(params.precision));
               GemmOperands gemm;
               gemm.a = operands.get("a", a);
               gemm.b = operands.get("b", b);
               Value added = operands.get("bias", bias, true);
               Value skip = operands.get("residual", residual, true);
               TRACEA_RETURN_IF_ERROR(operands.status());
               size_t rank = std::max(gemm.a.rank(), gemm.b.rank());
               if (bias)
                 gemm.epilogue.operands.push_back(
                     {added, {static_cast<unsigned>(rank) - 1}});
               if (residual)
                 gemm.epilogue.operands.push_back({skip, allDims(rank)});
               gemm.transposeA = params.transpose_a != 0;
               gemm.transposeB = params.transpose_b != 0;
               gemm.epilogue.function = params.epilogue;
               gemm.epilogue.alpha = static_cast<double>(params.alpha);
               gemm.type = resultType(gemm.a.type);
               text.allow(params.precision);
               return text.gemm(gemm);
             });
}

TraceaStatus tracea_graph_conv2d(TraceaGraph *graph, TraceaValue x,
                                 TraceaValue w, TraceaValue bias,
                                 TraceaValue residual,
                                 const TraceaConv2dParams *given,
                                 TraceaValue *value) {
  return add(__func__, graph, value,
             [&](ModuleText &text, Operands &operands) -> Expected<Value> {
               TraceaConv2dParams params = TRACEA_CONV2D_PARAMS_INIT;
               if (given)
                 params = *given;
               TRACEA_RETURN_IF_ERROR(checkReserved(params));
               TRACEA_RETURN_IF_ERROR(checkPrecision(params.precision));
               TRACEA_RETURN_IF_ERROR(checkLayout(params.layout));
               Conv2DOperands conv;
               conv.x = operands.get("x", x);
               conv.w = operands.get("w", w);
               Value added = operands.get("b", bias, true);
               Value skip = operands.get("residual", residual, true);
               TRACEA_RETURN_IF_ERROR(operands.status());
               conv.channelsLast = params.layout == TRACEA_LAYOUT_NHWC;
               conv.filter = conv.channelsLast ? "krsc" : "kcrs";
               conv.params = params;
               if (bias)
                 conv.epilogue.operands.push_back(
                     {added, {conv.channelsLast ? 3u : 1u}});
               if (residual)
                 conv.epilogue.operands.push_back({skip, allDims(4)});
               conv.epilogue.function = params.epilogue;
               conv.type = resultType(conv.x.type);
               text.allow(params.precision);
               return text.conv2d(conv);
             });
}

TraceaStatus tracea_graph_attention(TraceaGraph *graph, TraceaValue q,
                                    TraceaValue k, TraceaValue v,
                                    const TraceaAttentionParams *given,
                                    TraceaValue *value) {
  return add(__func__, graph, value,
             [&](ModuleText &text, Operands &operands) -> Expected<Value> {
               TraceaAttentionParams params = TRACEA_ATTENTION_PARAMS_INIT;
               if (given)
                 params = *given;
               TRACEA_RETURN_IF_ERROR(checkReserved(params));
               TRACEA_RETURN_IF_ERROR(checkPrecision(params.precision));
               Value query = operands.get("q", q), key = operands.get("k", k),
                     values = operands.get("v", v);
               TRACEA_RETURN_IF_ERROR(operands.status());
               text.allow(params.precision);
               return text.attention(query, key, values, params, nullptr);
             });
}

TraceaStatus tracea_graph_softmax(TraceaGraph *graph, TraceaValue x,
                                  const TraceaSoftmaxParams *given,
                                  TraceaValue *value) {
  return add(__func__, graph, value,
             [&](ModuleText &text, Operands &operands) -> Expected<Value> {
               TraceaSoftmaxParams params = TRACEA_SOFTMAX_PARAMS_INIT;
               if (given)
                 params = *given;
               TRACEA_RETURN_IF_ERROR(checkReserved(params));
               Value input = operands.get("x", x);
               TRACEA_RETURN_IF_ERROR(operands.status());
               return text.softmax(input, params.dim, params.log != 0,
                                   input.type);
             });
}

static TraceaStatus addNorm(const char *function, bool isLayerNorm,
                            TraceaGraph *graph, TraceaValue x,
                            TraceaValue scale, TraceaValue bias,
                            const TraceaNormParams *given, TraceaValue *value) {
  return add(function, graph, value,
             [&](ModuleText &text, Operands &operands) -> Expected<Value> {
               TraceaNormParams params = TRACEA_NORM_PARAMS_INIT;
               if (given)
                 params = *given;
               TRACEA_RETURN_IF_ERROR(checkReserved(params));
               Value input = operands.get("x", x);
               Value factors = operands.get("scale", scale, true);
               Value added = operands.get("bias", bias, true);
               TRACEA_RETURN_IF_ERROR(operands.status());
               return text.norm(isLayerNorm, input, factors, added,
                                params.epsilon, input.type);
             });
}

TraceaStatus tracea_graph_layer_norm(TraceaGraph *graph, TraceaValue x,
                                     TraceaValue scale, TraceaValue bias,
                                     const TraceaNormParams *params,
                                     TraceaValue *value) {
  return addNorm(__func__, true, graph, x, scale, bias, params, value);
}

TraceaStatus tracea_graph_rms_norm(TraceaGraph *graph, TraceaValue x,
                                   TraceaValue scale,
                                   const TraceaNormParams *params,
                                   TraceaValue *value) {
  return addNorm(__func__, false, graph, x, scale, 0, params, value);
}

TraceaStatus tracea_graph_unary(TraceaGraph *graph, TraceaUnary function,
                                TraceaValue x, TraceaValue *value) {
  return add(__func__, graph, value,
             [&](ModuleText &text, Operands &operands) -> Expected<Value> {
               Value input = operands.get("x", x);
               TRACEA_RETURN_IF_ERROR(operands.status());
               return text.unary(function, input);
             });
}

TraceaStatus tracea_graph_binary(TraceaGraph *graph, TraceaBinary function,
                                 TraceaValue a, TraceaValue b,
                                 TraceaValue *value) {
  return add(__func__, graph, value,
             [&](ModuleText &text, Operands &operands) -> Expected<Value> {
               Value left = operands.get("a", a), right = operands.get("b", b);
               TRACEA_RETURN_IF_ERROR(operands.status());
               return text.binary(function, left, right);
             });
}

TraceaStatus tracea_graph_cast(TraceaGraph *graph, TraceaValue x,
                               TraceaDType dtype, TraceaValue *value) {
  return add(__func__, graph, value,
             [&](ModuleText &text, Operands &operands) -> Expected<Value> {
               std::optional<ElementType> type = toElementType(dtype);
               if (!type)
                 return Status::invalid("dtype: expected a number from 0 to "
                                        "10, found " +
                                        std::to_string(int(dtype)));
               Value input = operands.get("x", x);
               TRACEA_RETURN_IF_ERROR(operands.status());
               return text.cast(input, *type);
             });
}

TraceaStatus tracea_graph_transpose(TraceaGraph *graph, TraceaValue x,
                                    const uint32_t *order, TraceaValue *value) {
  return add(__func__, graph, value,
             [&](ModuleText &text, Operands &operands) -> Expected<Value> {
               Value input = operands.get("x", x);
               TRACEA_RETURN_IF_ERROR(operands.status());
               if (input.rank() > 0)
                 TRACEA_RETURN_IF_ERROR(requirePointer(order, "order"));
               return text.transpose(input, {order, input.rank()});
             });
}

TraceaStatus tracea_graph_reshape(TraceaGraph *graph, TraceaValue x,
                                  uint32_t rank, const int64_t *shape,
                                  TraceaValue *value) {
  return add(__func__, graph, value,
             [&](ModuleText &text, Operands &operands) -> Expected<Value> {
               Value input = operands.get("x", x);
               TRACEA_RETURN_IF_ERROR(operands.status());
               if (rank < 1 || rank > maxRank)
                 return Status::invalid("rank: expected a number from 1 to " +
                                        std::to_string(maxRank) + ", found " +
                                        std::to_string(rank));
               TRACEA_RETURN_IF_ERROR(requirePointer(shape, "shape"));
               return text.reshape(input, {shape, rank});
             });
}

static Expected<std::string> textOf(const TraceaGraph *graph) {
  TRACEA_RETURN_IF_ERROR(requireHandle(graph, "graph"));
  if (!graph->text.hasOutputs())
    return Status::invalid("graph: expected an output, found none "
                           "(tracea_graph_output)");
  return graph->text.str();
}

TraceaStatus tracea_graph_text(const TraceaGraph *graph, char *buffer,
                               size_t size, size_t *length) {
  return guarded(__func__, TRACEA_INTERNAL_ERROR, [&]() -> Status {
    Expected<std::string> text = textOf(graph);
    if (!text)
      return text.status();
    return copyText(*text, buffer, size, length);
  });
}

TraceaStatus tracea_graph_compile(const TraceaGraph *graph,
                                  const TraceaCompileOptions *options,
                                  TraceaProgram **program) {
  return guarded(__func__, TRACEA_INTERNAL_ERROR, [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requirePointer(program, "program"));
    Expected<std::string> text = textOf(graph);
    if (!text)
      return text.status();
    Expected<CompileRequest> request = capi::readOptions(options);
    if (!request)
      return request.status();
    request->name = "<graph>";
    Expected<Compiled> compiled = capi::compile(*text, *request);
    if (!compiled)
      return compiled.status();
    give(std::make_unique<TraceaProgram>(std::move(*compiled)), program);
    return Status::success();
  });
}
