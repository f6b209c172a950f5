//===- Emptiness.h - Integer points of a conjunction ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only place that talks to MLIR's Presburger library, and it asks only one
// kind of question: has this conjunction of linear constraints an integer
// point? Set differences of that library are unsound (a unit test shows it).
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_ANALYSIS_COVERAGE_EMPTINESS_H
#define TRACEA_LIB_ANALYSIS_COVERAGE_EMPTINESS_H

#include "tracea/Analysis/Coverage/Space.h"

namespace tracea::coverage {

/// A conjunction of constraints over terms, of which each is a variable here.
/// Inequalities with the same left side are kept once, made tight, and
/// contradictions of two of them are noticed without the library.
class LinearSystem {
public:
  void add(const Constraint &constraint);
  /// Gives the term a value in points even if no constraint names it.
  void mention(Term term) { columns.try_emplace(term, columns.size()); }

  /// An added constraint was invalid.
  bool isInvalid() const { return invalid; }
  bool isContradictory() const { return contradictory; }
  size_t numVariables() const { return columns.size(); }
  size_t numConstraints() const {
    return inequalities.size() + equalities.size();
  }

  using Point = std::map<Term, int64_t>;
  enum Answer { Empty, Found, Unknown };
  /// Unknown: a coordinate of the point does not fit into 64 bits, or the
  /// search was given up. Terms within [-bound, bound] if a bound is given.
  Answer findPoint(Point &point, std::optional<int64_t> bound = {}) const;

private:
  using Summands = std::vector<Expr::Summand>;
  /// Left side without constant -> the smallest constant; sum >= -constant.
  std::map<Summands, int64_t> inequalities;
  std::map<Summands, int64_t> equalities;
  std::map<Term, unsigned> columns;
  bool invalid = false, contradictory = false;
};

} // namespace tracea::coverage

#endif // TRACEA_LIB_ANALYSIS_COVERAGE_EMPTINESS_H
