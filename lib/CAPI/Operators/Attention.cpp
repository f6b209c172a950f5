//===- Attention.cpp - Scaled dot-product attention -----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operators/Operator.h"
#include "Operators/OperatorKinds.h"
#include "Params.h"

namespace tracea::capi {

namespace {
enum AttentionOperand : size_t { Q, K, V, Out, LogSumExp };
} // namespace

static Status buildAttention(const OperatorCall &call, OperatorModule &module) {
  const TraceaAttentionParams &params =
      *static_cast<const TraceaAttentionParams *>(call.context);
  Value operands[3];
  for (size_t i : {Q, K, V}) {
    if (call.operands[i].view.rank != 4)
      return Status::invalid(std::string(call.operands[i].name) +
                             ": expected 4 dimensions, found " +
                             call.operands[i].view.describe());
    Expected<Value> value = module.inOrder(i);
    if (!value)
      return value.status();
    operands[i] = *value;
  }
  module.text.allow(params.precision);
  Value lse;
  Expected<Value> result =
      module.text.attention(operands[Q], operands[K], operands[V], params,
                            call.has(LogSumExp) ? &lse : nullptr);
  if (!result)
    return result.status();
  std::array<uint8_t, maxRank> order = {0, 1, 2, 3};
  TRACEA_RETURN_IF_ERROR(module.result(Out, *result, order));
  return call.has(LogSumExp) ? module.result(LogSumExp, lse, order)
                             : Status::success();
}

} // namespace tracea::capi

using namespace tracea::capi;

TraceaStatus tracea_attention(TraceaTensorView q, TraceaTensorView k,
                              TraceaTensorView v, TraceaTensorView *out,
                              TraceaAttentionParams params) {
  return guarded(__func__, deviceError(q.device_id), [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requirePointer(out, "out"));
    TRACEA_RETURN_IF_ERROR(checkReserved(params));
    TRACEA_RETURN_IF_ERROR(checkPrecision(params.precision));
    OperatorCall call;
    call.function = "tracea_attention";
    call.kind = kindAttention;
    call.stream = params.stream;
    call.build = buildAttention;
    call.context = &params;
    call.param(params.causal != 0);
    call.param(params.window_left);
    call.param(params.window_right);
    call.param(params.precision);
    call.param(bitsOf(params.scale));
    TRACEA_RETURN_IF_ERROR(call.add("q", q, false));
    TRACEA_RETURN_IF_ERROR(call.add("k", k, false));
    TRACEA_RETURN_IF_ERROR(call.add("v", v, false));
    TRACEA_RETURN_IF_ERROR(call.add("out", *out, true));
    if (params.lse)
      TRACEA_RETURN_IF_ERROR(call.add("lse", *params.lse, true));
    // The batch, the queries and the keys.
    call.openExtent({{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}});
    call.openExtent({{0, 2}, {3, 2}, {4, 2}});
    call.openExtent({{1, 2}, {2, 2}});
    return runOperator(call);
  });
}
