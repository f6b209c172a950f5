//===- IndexArithmetic.h - Simplified expressions ---------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on the expressions of a coverage problem that uses the ranges of
// its variables: minima that are decided by them disappear, quotients lose what
// divides, and division moves inside of minima, so that bounds become
// conjunctions.

#ifndef TRACEA_ANALYSIS_COVERAGE_INDEXARITHMETIC_H
#define TRACEA_ANALYSIS_COVERAGE_INDEXARITHMETIC_H

#include "tracea/Analysis/Coverage/Problem.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tracea::coverage {

/// What is known of a value; nothing where it is not bounded.
struct IndexInterval {
  std::optional<int64_t> lower, upper;
};

class IndexArithmetic {
public:
  explicit IndexArithmetic(Space &space) : space(space) {}

  IndexInterval getInterval(const Expr &expr);
  bool isNonNegative(const Expr &expr);
  /// Whether sizes are multiplied somewhere in it.
  bool hasProduct(const Expr &expr) const;
  /// The only value that `expr` can have.
  std::optional<int64_t> getConstant(const Expr &expr);

  Expr min(const Expr &a, const Expr &b);
  Expr max(const Expr &a, const Expr &b) { return -min(-a, -b); }
  /// Rounded down, by a divisor of at least 1.
  Expr floorDiv(const Expr &a, const Expr &divisor);
  Expr ceilDiv(const Expr &a, const Expr &divisor) {
    return floorDiv(a + divisor - 1, divisor);
  }
  Expr mod(const Expr &a, const Expr &divisor) {
    return a - product(divisor, floorDiv(a, divisor));
  }
  /// The extent of quotients: what, times the divisor, is `extent`, where there
  /// is such an expression; rounded up otherwise.
  Expr getQuotientExtent(const Expr &extent, const Expr &divisor);
  Expr product(const Expr &a, const Expr &b) { return space.product(a, b); }

  /// Adds `expr` >= 0 as a conjunction; what holds by the ranges is left out.
  void require(const Expr &expr,
               llvm::SmallVectorImpl<Constraint> &conjunction);
  void requireZero(const Expr &expr,
                   llvm::SmallVectorImpl<Constraint> &conjunction);
  /// The expressions whose minimum `expr` is.
  llvm::SmallVector<Expr> splitMinima(const Expr &expr);

  Space &space;

private:
  /// A term without the factors of another one, if it has them all.
  std::optional<Expr> divideTerm(const Expr::Summand &term,
                                 const Expr::Summand &by);
  IndexInterval getInterval(Term term);
  /// Replaces the term by its first and its second operand.
  std::pair<Expr, Expr> splitAt(const Expr &expr, Term term,
                                int64_t coefficient);
  Expr floorDiv(const Expr &a, int64_t divisor, unsigned depth);

  std::map<Term, IndexInterval> intervals;
};

/// An expression of another space, with its variables replaced, and other terms
/// that have a replacement; invalid where a variable has none.
Expr transfer(const Expr &expr, const Space &from, IndexArithmetic &to,
              llvm::function_ref<std::optional<Expr>(Term)> replace);

} // namespace tracea::coverage

#endif // TRACEA_ANALYSIS_COVERAGE_INDEXARITHMETIC_H
