//===- Evaluator.cpp - Values of expressions at a point -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Evaluator.h"

using namespace tracea::coverage;

void Evaluator::set(Term variable, int64_t value) {
  if (variable.index >= slots.size() || !space.isVariable(variable))
    return;
  slots[variable.index] = {value, 0, true};
  ++round;
}

std::optional<int64_t> Evaluator::value(const Expr &expr) {
  if (!expr.isValid())
    return std::nullopt;
  // Sums of 64-bit products fit 128 bits for as many summands as there are.
  __int128 sum = expr.constant();
  for (auto [term, coefficient] : expr.terms()) {
    if (!compute(term))
      return std::nullopt;
    sum += __int128(coefficient) * slots[term.index].value;
  }
  if (sum < INT64_MIN || sum > INT64_MAX)
    return std::nullopt;
  return int64_t(sum);
}

std::optional<bool> Evaluator::holds(const Constraint &constraint) {
  std::optional<int64_t> result = value(constraint.expr);
  if (!result)
    return std::nullopt;
  return constraint.equality ? *result == 0 : *result >= 0;
}

bool Evaluator::compute(Term term) {
  if (term.index >= slots.size())
    return false;
  if (space.isVariable(term))
    return slots[term.index].known;
  if (slots[term.index].round == round)
    return slots[term.index].known;
  Slot result{0, round, false};
  switch (space.kind(term)) {
  case TermKind::Quotient: {
    std::optional<int64_t> a = value(space.operand(term, 0)),
                           d = value(space.operand(term, 1));
    if (a && d && *d >= 1)
      result = {*a / *d - (*a % *d < 0 ? 1 : 0), round, true};
    break;
  }
  case TermKind::Minimum: {
    std::optional<int64_t> a = value(space.operand(term, 0)),
                           b = value(space.operand(term, 1));
    if (a && b)
      result = {*a < *b ? *a : *b, round, true};
    break;
  }
  default: {
    int64_t product = 1;
    bool fits = true;
    for (Term factor : space.factors(term))
      fits =
          fits && compute(factor) &&
          !__builtin_mul_overflow(product, slots[factor.index].value, &product);
    result = {product, round, fits};
  }
  }
  slots[term.index] = result;
  return result.known;
}
