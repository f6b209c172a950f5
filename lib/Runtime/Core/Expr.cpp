//===- Expr.cpp - Evaluates the expressions of an entry -------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One pass over the nodes, which only refer backwards. An undefined value is
// carried as the number of the node where it began.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/Expr.h"

#include <algorithm>
#include <limits>

namespace tracea::runtime {

/// a / b rounded down; the caller has excluded b = 0 and the one overflow.
static int64_t floorDivide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return quotient - ((a % b != 0) && ((a < 0) != (b < 0)));
}

/// The logarithm to base 2, rounded up; 0 of what is below 1.
static int64_t log2Ceil(int64_t value) {
  return value <= 1 ? 0
                    : 64 - __builtin_clzll(static_cast<uint64_t>(value - 1));
}

/// [GM94], figure 4.1, for 64 bits: m = 1 + the quotient of 2^64 (2^l - d) by
/// d. It is less than 2^64, for 2^l < 2 d.
static int64_t getDivMultiplier(int64_t divisor) {
  if (divisor < 1)
    return 0;
  unsigned __int128 rest =
      (static_cast<unsigned __int128>(1) << log2Ceil(divisor)) -
      static_cast<unsigned __int128>(divisor);
  return static_cast<int64_t>(static_cast<uint64_t>(
      (rest << 64) / static_cast<unsigned __int128>(divisor) + 1));
}

std::optional<int64_t> applyExprOp(ExprOp op, int64_t a, int64_t b, int64_t c) {
  int64_t result = 0;
  bool dividesBadly =
      b == 0 || (a == std::numeric_limits<int64_t>::min() && b == -1);
  switch (op) {
  case ExprOp::Const:
  case ExprOp::Dim:
  case ExprOp::Value:
    return std::nullopt;
  case ExprOp::Add:
    if (__builtin_add_overflow(a, b, &result))
      return std::nullopt;
    return result;
  case ExprOp::Sub:
    if (__builtin_sub_overflow(a, b, &result))
      return std::nullopt;
    return result;
  case ExprOp::Mul:
    if (__builtin_mul_overflow(a, b, &result))
      return std::nullopt;
    return result;
  case ExprOp::FloorDiv:
    if (dividesBadly)
      return std::nullopt;
    return floorDivide(a, b);
  case ExprOp::CeilDiv:
    if (dividesBadly)
      return std::nullopt;
    return floorDivide(a, b) + (a % b != 0);
  case ExprOp::Mod:
    if (b == 0)
      return std::nullopt;
    // Not by the quotient, whose product with b need not fit.
    if (b == -1)
      return 0;
    result = a % b;
    return result != 0 && (result < 0) != (b < 0) ? result + b : result;
  case ExprOp::Min:
    return std::min(a, b);
  case ExprOp::Max:
    return std::max(a, b);
  case ExprOp::Eq:
    return a == b;
  case ExprOp::Ne:
    return a != b;
  case ExprOp::Lt:
    return a < b;
  case ExprOp::Le:
    return a <= b;
  case ExprOp::Select:
    return a != 0 ? b : c;
  case ExprOp::DivMultiplier:
    return getDivMultiplier(a);
  case ExprOp::DivShift:
    return log2Ceil(a);
  }
  return std::nullopt;
}

void ExprValues::evaluate(Span<const Expr> exprs,
                          Span<const std::vector<int64_t> *const> shapes,
                          Span<const int64_t> scalars) {
  nodes = exprs;
  values.assign(exprs.size(), 0);
  origin.assign(exprs.size(), -1);
  for (size_t i = 0; i < exprs.size(); ++i) {
    const Expr &expr = exprs[i];
    if (expr.op == ExprOp::Const) {
      values[i] = expr.a;
      continue;
    }
    if (expr.op == ExprOp::Dim) {
      values[i] =
          (*shapes[static_cast<size_t>(expr.a)])[static_cast<size_t>(expr.b)];
      continue;
    }
    if (expr.op == ExprOp::Value) {
      values[i] = scalars[static_cast<size_t>(expr.a)];
      continue;
    }
    if (expr.op == ExprOp::Select) {
      int64_t chosen =
          defined(expr.a) ? (values[expr.a] != 0 ? expr.b : expr.c) : expr.a;
      values[i] = values[chosen];
      origin[i] = origin[chosen];
      continue;
    }
    origin[i] = defined(expr.a) ? origin[expr.b] : origin[expr.a];
    if (origin[i] >= 0)
      continue;
    std::optional<int64_t> value =
        applyExprOp(expr.op, values[expr.a], values[expr.b], 0);
    if (value)
      values[i] = *value;
    else
      origin[i] = static_cast<int64_t>(i);
  }
}

Expected<int64_t> ExprValues::get(int64_t i) const {
  if (defined(i))
    return values[i];
  const Expr &expr = nodes[static_cast<size_t>(origin[i])];
  bool division = expr.op == ExprOp::FloorDiv || expr.op == ExprOp::CeilDiv ||
                  expr.op == ExprOp::Mod;
  return Status::error(
      "expression " + std::to_string(origin[i]) + ", " + nameOf(expr.op) +
      " of " + std::to_string(values[expr.a]) + " and " +
      std::to_string(values[expr.b]) +
      (division && values[expr.b] == 0 ? ", divides by zero"
                                       : ", does not fit into 64 bits"));
}

} // namespace tracea::runtime
