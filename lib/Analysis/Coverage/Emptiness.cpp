//===- Emptiness.cpp - Integer points of a conjunction --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emptiness.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "mlir/Analysis/Presburger/Simplex.h"
#include <numeric>

using namespace tracea::coverage;
using llvm::DynamicAPInt;
using mlir::presburger::BoundType;
using mlir::presburger::Fraction;
using mlir::presburger::IntegerPolyhedron;
using mlir::presburger::PresburgerSpace;
using mlir::presburger::Simplex;

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

/// Nearly all queries are answered by the first vertices. Where that takes
/// more, a reduced basis is found soon for few variables; of many (29 were
/// seen) it may take minutes, and nothing stops it.
static constexpr int kFewBranches = 16, kMostBranches = 1000;
static constexpr size_t kFewVariables = 16;

/// Branch and bound, depth first: where a vertex has a fraction, the points are
/// on one of its two sides. Unknown: \p branches are used up.
static LinearSystem::Answer
branchAndBound(Simplex &simplex, int &branches,
               llvm::SmallVectorImpl<DynamicAPInt> &point) {
  if (simplex.isEmpty())
    return LinearSystem::Empty;
  if (--branches < 0)
    return LinearSystem::Unknown;
  llvm::SmallVector<Fraction, 8> vertex = *simplex.getRationalSample();
  const Fraction *fraction = llvm::find_if(
      vertex, [](const Fraction &value) { return value.num % value.den != 0; });
  if (fraction == vertex.end()) {
    for (const Fraction &value : vertex)
      point.push_back(value.getAsInteger());
    return LinearSystem::Found;
  }
  llvm::SmallVector<DynamicAPInt, 16> side(vertex.size() + 1, DynamicAPInt(0));
  LinearSystem::Answer answer = LinearSystem::Empty;
  for (bool isAbove : {false, true}) {
    side[fraction - vertex.begin()] = isAbove ? 1 : -1;
    side.back() = isAbove ? -ceil(*fraction) : floor(*fraction);
    unsigned before = simplex.getSnapshot();
    simplex.addInequality(side);
    LinearSystem::Answer there = branchAndBound(simplex, branches, point);
    simplex.rollback(before);
    if (there == LinearSystem::Found)
      return there;
    if (there == LinearSystem::Unknown)
      answer = there;
  }
  return answer;
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
  bool areFew = columns.size() <= kFewVariables;
  int branches = areFew ? kFewBranches : kMostBranches;
  Simplex simplex(set);
  llvm::SmallVector<DynamicAPInt, 8> sample;
  Answer answer = branchAndBound(simplex, branches, sample);
  if (answer == Unknown && areFew) {
    // What isIntegerEmpty() asks, with the point at hand.
    std::optional<llvm::SmallVector<DynamicAPInt, 8>> found =
        set.findIntegerSample();
    answer = !found ? Empty : found->size() < columns.size() ? Unknown : Found;
    if (found)
      sample = std::move(*found);
  }
  if (answer != Found)
    return answer;
  for (auto [term, column] : columns) {
    const DynamicAPInt &value = sample[column];
    if (value > DynamicAPInt(INT64_MAX) || value < DynamicAPInt(INT64_MIN))
      return Unknown;
    point[term] = int64_t(value);
  }
  return Found;
}
