//===- IndexArithmetic.h - Integers of a kernel, simplified -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on the expressions of a coverage problem that uses the ranges of
// its variables: minima that are decided by them disappear, quotients lose what
// divides, and division moves inside of minima, so that bounds become
// conjunctions.

#ifndef TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_INDICES_INDEXARITHMETIC_H
#define TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_INDICES_INDEXARITHMETIC_H

#include "mlir/IR/AffineExpr.h"
#include "tracea/Analysis/Coverage/Problem.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::tracea {
namespace cov = ::tracea::coverage;

/// What is known of a value; nothing where it is not bounded.
struct IndexInterval {
  std::optional<int64_t> lower, upper;
};

class IndexArithmetic {
public:
  explicit IndexArithmetic(cov::Space &space) : space(space) {}

  IndexInterval getInterval(const cov::Expr &expr);
  bool isNonNegative(const cov::Expr &expr);
  /// Whether sizes are multiplied somewhere in it.
  bool hasProduct(const cov::Expr &expr) const;
  /// The only value that `expr` can have.
  std::optional<int64_t> getConstant(const cov::Expr &expr);

  cov::Expr min(const cov::Expr &a, const cov::Expr &b);
  cov::Expr max(const cov::Expr &a, const cov::Expr &b) { return -min(-a, -b); }
  /// Rounded down, by a divisor of at least 1.
  cov::Expr floorDiv(const cov::Expr &a, const cov::Expr &divisor);
  cov::Expr ceilDiv(const cov::Expr &a, const cov::Expr &divisor) {
    return floorDiv(a + divisor - 1, divisor);
  }
  cov::Expr mod(const cov::Expr &a, const cov::Expr &divisor) {
    return a - product(divisor, floorDiv(a, divisor));
  }
  /// The extent of quotients: what, times the divisor, is `extent`, where there
  /// is such an expression; rounded up otherwise.
  cov::Expr getQuotientExtent(const cov::Expr &extent,
                              const cov::Expr &divisor);
  cov::Expr product(const cov::Expr &a, const cov::Expr &b) {
    return space.product(a, b);
  }

  /// What a map makes of its operands, dimensions first; `divide` does the
  /// divisions.
  cov::Expr
  apply(AffineExpr expr, unsigned numDims,
        llvm::function_ref<cov::Expr(unsigned)> operand,
        llvm::function_ref<cov::Expr(AffineExprKind, cov::Expr, cov::Expr)>
            divide);

  /// Adds `expr` >= 0 as a conjunction; what holds by the ranges is left out.
  void require(const cov::Expr &expr,
               llvm::SmallVectorImpl<cov::Constraint> &conjunction);
  void requireZero(const cov::Expr &expr,
                   llvm::SmallVectorImpl<cov::Constraint> &conjunction);
  /// The expressions whose minimum `expr` is.
  llvm::SmallVector<cov::Expr> splitMinima(const cov::Expr &expr);

  cov::Space &space;

private:
  IndexInterval getInterval(cov::Term term);
  /// Replaces the term by its first and its second operand.
  std::pair<cov::Expr, cov::Expr> splitAt(const cov::Expr &expr, cov::Term term,
                                          int64_t coefficient);
  cov::Expr floorDiv(const cov::Expr &a, int64_t divisor, unsigned depth);

  std::map<cov::Term, IndexInterval> intervals;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_INDICES_INDEXARITHMETIC_H
