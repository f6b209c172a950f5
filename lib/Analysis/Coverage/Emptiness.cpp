//===- Emptiness.cpp - Integer points of a conjunction --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emptiness.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include <numeric>

using namespace tracea::coverage;
using mlir::presburger::BoundType;
using mlir::presburger::IntegerPolyhedron;
using mlir::presburger::PresburgerSpace;

void LinearSystem::add(const Constraint &constraint) {
  const Expr &expr = constraint.expr;
  if (!expr.isValid()) {
    invalid = true;
    return;
  }
  int64_t constant = expr.constant();
  if (expr.isConstant()) {
    contradictory |= constraint.equality ? constant != 0 : constant < 0;
    return;
  }
  int64_t gcd = 0;
  for (auto [term, coefficient] : expr.terms())
    gcd = std::gcd(gcd, coefficient);
  Summands left = expr.terms(), negated;
  bool flip = constraint.equality && left.front().second < 0;
  for (Expr::Summand &summand : left) {
    summand.second /= flip ? -gcd : gcd;
    columns.try_emplace(summand.first, columns.size());
    negated.emplace_back(summand.first, -summand.second);
  }
  if (constraint.equality) {
    if (constant % gcd != 0) {
      contradictory = true;
      return;
    }
    constant /= flip ? -gcd : gcd;
    auto [place, isNew] = equalities.try_emplace(std::move(left), constant);
    contradictory |= !isNew && place->second != constant;
    return;
  }
  constant = constant / gcd - (constant % gcd < 0 ? 1 : 0);
  auto opposite = inequalities.find(negated);
  if (opposite != inequalities.end())
    contradictory |= __int128(opposite->second) + constant < 0;
  auto [place, isNew] = inequalities.try_emplace(std::move(left), constant);
  if (!isNew && constant < place->second)
    place->second = constant;
}

LinearSystem::Answer
LinearSystem::findPoint(Point &point, std::optional<int64_t> bound) const {
  if (contradictory)
    return Empty;
  // All variables are dimensions: emptiness does not tell them apart. Columns:
  // one for each term, then the constant.
  IntegerPolyhedron set(PresburgerSpace::getSetSpace(columns.size()));
  auto row = [&](const Summands &left, int64_t constant) {
    llvm::SmallVector<int64_t, 16> result(columns.size() + 1, 0);
    for (auto [term, coefficient] : left)
      result[columns.at(term)] = coefficient;
    result.back() = constant;
    return result;
  };
  for (const auto &[left, constant] : equalities)
    set.addEquality(row(left, constant));
  for (const auto &[left, constant] : inequalities)
    set.addInequality(row(left, constant));
  if (bound)
    for (unsigned column = 0; column < columns.size(); ++column) {
      set.addBound(BoundType::LB, column, -*bound);
      set.addBound(BoundType::UB, column, *bound);
    }
  // What isIntegerEmpty() asks, with the point at hand.
  std::optional<llvm::SmallVector<llvm::DynamicAPInt, 8>> sample =
      set.findIntegerSample();
  if (!sample)
    return Empty;
  if (sample->size() < columns.size())
    return Unknown;
  for (auto [term, column] : columns) {
    const llvm::DynamicAPInt &value = (*sample)[column];
    if (value > llvm::DynamicAPInt(INT64_MAX) ||
        value < llvm::DynamicAPInt(INT64_MIN))
      return Unknown;
    point[term] = int64_t(value);
  }
  return Found;
}
