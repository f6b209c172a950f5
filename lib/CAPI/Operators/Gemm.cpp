//===- Gemm.cpp - Products ------------------------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands and results whose matrices lie the other way round are transposed
// ones: nothing is moved.
//
//===----------------------------------------------------------------------===//

#include "Operators/Operator.h"
#include "Operators/OperatorKinds.h"
#include "Params.h"

#include <algorithm>
#include <cstring>

namespace tracea::capi {

namespace {
enum GemmOperand : size_t { A, B, Bias, Residual, Out };
using Order = std::array<uint8_t, maxRank>;
} // namespace

/// The caller's order, and that with the last two dimensions exchanged.
static Order rowOrder(uint32_t rank) {
  Order order{};
  for (unsigned i = 0; i < rank; ++i)
    order[i] = static_cast<uint8_t>(i);
  return order;
}

static Order columnOrder(uint32_t rank) {
  Order order = rowOrder(rank);
  std::swap(order[rank - 1], order[rank - 2]);
  return order;
}

/// A factor without a copy where its matrices are rows or columns in one piece.
static Expected<Value> factor(OperatorModule &module, const OperatorCall &call,
                              size_t operand, bool &isTransposed) {
  uint32_t rank = call.operands[operand].view.rank;
  Order columns = columnOrder(rank);
  Expected<Stored> stored = module.argument(operand, {rowOrder(rank), columns});
  if (!stored)
    return stored.status();
  if (std::memcmp(stored->order.data(), columns.data(), rank) == 0) {
    isTransposed = !isTransposed;
    return stored->value;
  }
  return module.toOrder(*stored);
}

static Status buildGemm(const OperatorCall &call, OperatorModule &module) {
  const TraceaGemmParams &params =
      *static_cast<const TraceaGemmParams *>(call.context);
  const View &out = call.operands[Out].view;
  for (size_t i : {A, B, Out})
    if (call.operands[i].view.rank < 2)
      return Status::invalid(std::string(call.operands[i].name) +
                             ": expected at least 2 dimensions, found " +
                             call.operands[i].view.describe());
  GemmOperands gemm;
  gemm.transposeA = params.transpose_a != 0;
  gemm.transposeB = params.transpose_b != 0;
  Expected<Value> a = factor(module, call, A, gemm.transposeA);
  if (!a)
    return a.status();
  Expected<Value> b = factor(module, call, B, gemm.transposeB);
  if (!b)
    return b.status();
  gemm.a = *a;
  gemm.b = *b;
  // A result in columns is the transposed product, with the factors exchanged.
  bool isSwapped = formIn(out, rowOrder(out.rank)).isIrregular &&
                   !formIn(out, columnOrder(out.rank)).isIrregular;
  Order order = isSwapped ? columnOrder(out.rank) : rowOrder(out.rank);
  // What is added names dimensions of the result. An out of another rank has
  // none of these, and module.result() says what was expected of it.
  bool hasRank = out.rank == std::max(a->rank(), b->rank());
  if (hasRank && call.has(Bias)) {
    Expected<Stored> bias = module.argument(Bias);
    if (!bias)
      return bias.status();
    unsigned columns = isSwapped ? out.rank - 2 : out.rank - 1;
    gemm.epilogue.operands.push_back({bias->value, {columns}});
  }
  if (hasRank)
    TRACEA_RETURN_IF_ERROR(
        module.addResidual(Residual, Out, order, gemm.epilogue));
  gemm.epilogue.function = params.epilogue;
  gemm.epilogue.alpha = static_cast<double>(params.alpha);
  gemm.type = out.type;
  if (isSwapped) {
    std::swap(gemm.a, gemm.b);
    std::swap(gemm.transposeA, gemm.transposeB);
    gemm.transposeA = !gemm.transposeA;
    gemm.transposeB = !gemm.transposeB;
  }
  module.text.allow(params.precision);
  Expected<Value> result = module.text.gemm(gemm);
  if (!result)
    return result.status();
  return module.result(Out, *result, order);
}

static Status buildGrouped(const OperatorCall &call, OperatorModule &module) {
  const TraceaGroupedGemmParams &params =
      *static_cast<const TraceaGroupedGemmParams *>(call.context);
  enum : size_t { A, B, Ends, Out };
  if (call.operands[B].view.rank != 3)
    return Status::invalid("b: expected 3 dimensions, [groups, k, n], found " +
                           call.operands[B].view.describe());
  Expected<Value> a = module.inOrder(A);
  if (!a)
    return a.status();
  bool isTransposed = params.transpose_b != 0;
  Expected<Value> b = factor(module, call, B, isTransposed);
  if (!b)
    return b.status();
  Expected<Value> ends = module.inOrder(Ends);
  if (!ends)
    return ends.status();
  module.text.allow(params.precision);
  Expected<Value> result = module.text.groupedGemm(*a, *b, *ends, isTransposed);
  if (!result)
    return result.status();
  return module.result(Out, *result, rowOrder(2));
}

} // namespace tracea::capi

using namespace tracea::capi;

TraceaStatus tracea_gemm(TraceaTensorView a, TraceaTensorView b,
                         const TraceaTensorView *bias, TraceaTensorView *out,
                         TraceaGemmParams params) {
  return guarded(__func__, deviceError(a.device_id), [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requirePointer(out, "out"));
    TRACEA_RETURN_IF_ERROR(checkReserved(params));
    TRACEA_RETURN_IF_ERROR(checkPrecision(params.precision));
    OperatorCall call;
    call.function = "tracea_gemm";
    call.kind = kindGemm;
    call.stream = params.stream;
    call.build = buildGemm;
    call.context = &params;
    call.param(params.transpose_a != 0);
    call.param(params.transpose_b != 0);
    call.param(params.epilogue);
    call.param(params.precision);
    call.param(bitsOf(static_cast<double>(params.alpha)));
    TRACEA_RETURN_IF_ERROR(call.add("a", a, false));
    TRACEA_RETURN_IF_ERROR(call.add("b", b, false));
    TRACEA_RETURN_IF_ERROR(call.addOptional("bias", bias));
    TRACEA_RETURN_IF_ERROR(call.addOptional("residual", params.residual));
    TRACEA_RETURN_IF_ERROR(call.add("out", *out, true));
    // The rows of a product that has no batch.
    if (a.rank == 2 && b.rank == 2 && out->rank == 2)
      call.openExtent({{0, params.transpose_a ? 1 : 0}, {3, 0}, {4, 0}});
    // The batch.
    else if (out->rank > 2)
      call.openExtent({{0, a.rank == out->rank ? 0 : -1},
                       {1, b.rank == out->rank ? 0 : -1},
                       {3, 0},
                       {4, 0}});
    return runOperator(call);
  });
}

TraceaStatus tracea_grouped_gemm(TraceaTensorView a, TraceaTensorView b,
                                 TraceaTensorView ends, TraceaTensorView *out,
                                 TraceaGroupedGemmParams params) {
  return guarded(__func__, deviceError(a.device_id), [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requirePointer(out, "out"));
    TRACEA_RETURN_IF_ERROR(checkReserved(params));
    TRACEA_RETURN_IF_ERROR(checkPrecision(params.precision));
    OperatorCall call;
    call.function = "tracea_grouped_gemm";
    call.kind = kindGroupedGemm;
    call.stream = params.stream;
    call.build = buildGrouped;
    call.context = &params;
    call.param(params.transpose_b != 0);
    call.param(params.precision);
    TRACEA_RETURN_IF_ERROR(call.add("a", a, false));
    TRACEA_RETURN_IF_ERROR(call.add("b", b, false));
    TRACEA_RETURN_IF_ERROR(call.add("ends", ends, false));
    TRACEA_RETURN_IF_ERROR(call.add("out", *out, true));
    if (a.rank == 2 && out->rank == 2)
      call.openExtent({{0, 0}, {3, 0}});
    return runOperator(call);
  });
}
