//===- Expr.h - Evaluates the expressions of an entry -----------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions are int64. An addition, subtraction or multiplication that
// overflows and a division by zero make the node *undefined*, and so every
// node that uses it, except that `select` needs only the operand it selects.
// Asking for the value of an undefined node is an error that names the node
// where it began; an undefined node that nobody asks for does no harm.
//
// floordiv rounds down, ceildiv rounds up, mod is a - b * floordiv(a, b);
// comparisons give 0 or 1; select takes `a` where `c` is not zero.
//
// divmultiplier m and divshift l of a divisor d from 1 on divide every n of 64
// bits without a sign exactly: where t is the high word of m n,
// n / d = (t + ((n - t) >> min(l, 1))) >> max(l - 1, 0). The bits of m are
// those of a number without a sign. Both are 0 where d is less than 1. [GM94]
// T. Granlund, P. L. Montgomery, Division by Invariant Integers using
// Multiplication, PLDI 1994.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_EXPR_H
#define TRACEA_RUNTIME_EXPR_H

#include "tracea/Runtime/Manifest.h"

#include <optional>

namespace tracea::runtime {

/// One operator on values; no value where it is undefined. Not for const, dim
/// and value.
std::optional<int64_t> applyExprOp(ExprOp op, int64_t a, int64_t b, int64_t c);

/// Evaluates all nodes of an entry once and keeps their values. Reusable; a
/// second evaluation of the same entry allocates nothing.
class ExprValues {
public:
  /// `shapes[i]` is the shape of input i and `scalars[i]` its number, where it
  /// is a scalar; numbers may be left out where no expression takes one. The
  /// expressions must have passed `validate` and the shapes must have the ranks
  /// of the entry's inputs.
  void evaluate(Span<const Expr> exprs,
                Span<const std::vector<int64_t> *const> shapes,
                Span<const int64_t> scalars = {});

  /// Whether node `i` has a value.
  bool defined(int64_t i) const { return origin[i] < 0; }
  /// The value of a defined node.
  int64_t operator[](int64_t i) const { return values[i]; }
  /// The value, or why there is none.
  Expected<int64_t> get(int64_t i) const;
  Status check(int64_t i) const { return get(i).status(); }

private:
  Span<const Expr> nodes;
  std::vector<int64_t> values;
  /// The node at which the undefined value began, or -1.
  std::vector<int64_t> origin;
};

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_EXPR_H
