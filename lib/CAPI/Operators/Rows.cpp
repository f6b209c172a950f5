//===- Rows.cpp - Softmax and norms ---------------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operators/Operator.h"
#include "Operators/OperatorKinds.h"
#include "Params.h"

#include <algorithm>

namespace tracea::capi {

/// The place of a dimension of the caller's.
static unsigned placeOf(const Stored &stored, unsigned dim) {
  unsigned at = 0;
  while (stored.order[at] != dim)
    ++at;
  return at;
}

static Status buildSoftmax(const OperatorCall &call, OperatorModule &module) {
  const TraceaSoftmaxParams &params =
      *static_cast<const TraceaSoftmaxParams *>(call.context);
  const View &view = call.operands[0].view;
  Expected<Stored> x = module.argument(0);
  if (!x)
    return x.status();
  int64_t dim = params.dim, rank = view.rank;
  if (dim >= -rank && dim < rank)
    dim = placeOf(*x, static_cast<unsigned>(dim < 0 ? dim + rank : dim));
  Expected<Value> result = module.text.softmax(x->value, dim, params.log != 0,
                                               call.operands[1].view.type);
  if (!result)
    return result.status();
  return module.result(1, *result, x->order);
}

namespace {
enum NormOperand : size_t { X, Scale, Bias, Out };
} // namespace

static Status buildNorm(const OperatorCall &call, OperatorModule &module) {
  const TraceaNormParams &params =
      *static_cast<const TraceaNormParams *>(call.context);
  const View &view = call.operands[X].view;
  Expected<Stored> x = module.argument(X);
  if (!x)
    return x.status();
  uint32_t inner = call.has(Scale)  ? call.operands[Scale].view.rank
                   : call.has(Bias) ? call.operands[Bias].view.rank
                                    : 1;
  Value input = x->value;
  std::array<uint8_t, maxRank> order = x->order;
  // What is normalised has to lie innermost.
  bool isInnermost = true;
  for (unsigned i = view.rank - std::min(inner, view.rank); i < view.rank; ++i)
    isInnermost &= order[i] == i;
  if (!isInnermost) {
    Expected<Value> moved = module.toOrder(*x);
    if (!moved)
      return moved.status();
    input = *moved;
    for (unsigned i = 0; i < view.rank; ++i)
      order[i] = static_cast<uint8_t>(i);
  }
  Value scale, bias;
  if (call.has(Scale)) {
    Expected<Value> value = module.inOrder(Scale);
    if (!value)
      return value.status();
    scale = *value;
  }
  if (call.has(Bias)) {
    Expected<Value> value = module.inOrder(Bias);
    if (!value)
      return value.status();
    bias = *value;
  }
  Expected<Value> result =
      module.text.norm(call.kind == kindLayerNorm, input, scale, bias,
                       params.epsilon, call.operands[Out].view.type);
  if (!result)
    return result.status();
  return module.result(Out, *result, order);
}

static Status runNorm(int64_t kind, const char *function,
                      const TraceaTensorView &x, const TraceaTensorView *scale,
                      const TraceaTensorView *bias, TraceaTensorView *out,
                      const TraceaNormParams &params) {
  TRACEA_RETURN_IF_ERROR(requirePointer(out, "out"));
  TRACEA_RETURN_IF_ERROR(checkReserved(params));
  OperatorCall call;
  call.function = function;
  call.kind = kind;
  call.stream = params.stream;
  call.build = buildNorm;
  call.context = &params;
  call.param(bitsOf(params.epsilon));
  TRACEA_RETURN_IF_ERROR(call.add("x", x, false));
  TRACEA_RETURN_IF_ERROR(call.addOptional("scale", scale));
  TRACEA_RETURN_IF_ERROR(call.addOptional("bias", bias));
  TRACEA_RETURN_IF_ERROR(call.add("out", *out, true));
  if (x.rank > 1 && out->rank == x.rank)
    call.openExtent({{X, 0}, {Out, 0}});
  return runOperator(call);
}

} // namespace tracea::capi

using namespace tracea::capi;

TraceaStatus tracea_softmax(TraceaTensorView x, TraceaTensorView *out,
                            TraceaSoftmaxParams params) {
  return guarded(__func__, deviceError(x.device_id), [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requirePointer(out, "out"));
    TRACEA_RETURN_IF_ERROR(checkReserved(params));
    OperatorCall call;
    call.function = "tracea_softmax";
    call.kind = kindSoftmax;
    call.stream = params.stream;
    call.build = buildSoftmax;
    call.context = &params;
    call.param(params.dim);
    call.param(params.log != 0);
    TRACEA_RETURN_IF_ERROR(call.add("x", x, false));
    TRACEA_RETURN_IF_ERROR(call.add("out", *out, true));
    if (x.rank > 1 && out->rank == x.rank)
      call.openExtent({{0, 0}, {1, 0}});
    return runOperator(call);
  });
}

TraceaStatus tracea_layer_norm(TraceaTensorView x,
                               const TraceaTensorView *scale,
                               const TraceaTensorView *bias,
                               TraceaTensorView *out, TraceaNormParams params) {
  return guarded(__func__, deviceError(x.device_id), [&]() -> Status {
    return runNorm(kindLayerNorm, "tracea_layer_norm", x, scale, bias, out,
                   params);
  });
}

TraceaStatus tracea_rms_norm(TraceaTensorView x, const TraceaTensorView *scale,
                             TraceaTensorView *out, TraceaNormParams params) {
  return guarded(__func__, deviceError(x.device_id), [&]() -> Status {
    return runNorm(kindRMSNorm, "tracea_rms_norm", x, scale, nullptr, out,
                   params);
  });
}
