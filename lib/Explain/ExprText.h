//===- ExprText.h - Sizes and indices as they are read ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model numbers names that occur twice, and knows sums that are not negative.
// A reader wants short names, and comparisons of two sides.

#ifndef TRACEA_LIB_EXPLAIN_EXPRTEXT_H
#define TRACEA_LIB_EXPLAIN_EXPRTEXT_H

#include "tracea/Analysis/Coverage/Space.h"
#include <set>

namespace tracea::explain {

class ExprText {
public:
  explicit ExprText(const coverage::Space &space) : space(space) {}

  /// From here on: names lose their number where that leaves them apart among
  /// these variables.
  void use(const std::vector<coverage::Term> &variables);

  const std::string &name(coverage::Term variable) const;
  std::string names(const std::vector<coverage::Term> &variables) const;
  /// "128*tile + i"
  std::string text(const coverage::Expr &expr) const;
  /// The text as a factor or behind a minus sign: in parentheses where it is a
  /// sum, "(M + 1)".
  std::string inParentheses(const coverage::Expr &expr) const;
  /// "128*tile + i < M"
  std::string text(const coverage::Constraint &constraint) const;
  /// "[0, ceil)"
  std::string text(const coverage::Range &range) const;
  /// "(i, j + 1)"
  std::string tuple(const std::vector<coverage::Expr> &exprs) const;
  /// "i in [0, 4), j in [0, 8)"
  std::string ranges(const std::vector<coverage::Term> &variables) const;

private:
  std::string term(coverage::Term term, bool isFactor) const;

  const coverage::Space &space;
  std::map<coverage::Term, std::string> shortNames;
};

} // namespace tracea::explain

#endif // TRACEA_LIB_EXPLAIN_EXPRTEXT_H
