//===- SpaceText.cpp - Expressions as infix text -------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Coverage/Space.h"

using namespace tracea::coverage;

namespace {
struct Printer {
  const Space &space;

  bool isName(const Expr &expr) const {
    if (expr.isConstant())
      return expr.constant() >= 0;
    return expr.terms().size() == 1 && expr.constant() == 0 &&
           expr.terms()[0].second == 1 &&
           space.isVariable(expr.terms()[0].first);
  }
  std::string inParentheses(const Expr &expr) const {
    return isName(expr) ? sum(expr) : "(" + sum(expr) + ")";
  }
  /// `factor`: binds as tightly as one in a product.
  std::string term(Term t, bool factor) const {
    std::string text;
    switch (space.kind(t)) {
    case TermKind::Quotient:
      text = inParentheses(space.operand(t, 0)) + "/" +
             inParentheses(space.operand(t, 1));
      return factor ? "(" + text + ")" : text;
    case TermKind::Minimum:
      return "min(" + sum(space.operand(t, 0)) + ", " +
             sum(space.operand(t, 1)) + ")";
    case TermKind::Product:
      for (Term part : space.factors(t))
        text += (text.empty() ? "" : "*") + term(part, true);
      return text;
    default:
      return space.name(t);
    }
  }
  std::string sum(const Expr &expr) const {
    if (!expr.isValid())
      return "invalid";
    std::string text;
    auto append = [&](bool negative, const std::string &part) {
      if (text.empty())
        text = (negative ? "-" : "") + part;
      else
        text += (negative ? " - " : " + ") + part;
    };
    // Positive summands first, they read better.
    for (bool negative : {false, true}) {
      for (auto [t, coefficient] : expr.terms())
        if ((coefficient < 0) == negative) {
          int64_t size = negative ? -coefficient : coefficient;
          append(negative, size == 1
                               ? term(t, negative)
                               : std::to_string(size) + "*" + term(t, true));
        }
      if (expr.constant() && (expr.constant() < 0) == negative)
        append(negative,
               std::to_string(negative ? -expr.constant() : expr.constant()));
    }
    return text.empty() ? "0" : text;
  }
};
} // namespace

std::string Space::str(const Expr &expr) const {
  return Printer{*this}.sum(expr);
}

std::string Space::str(const Constraint &constraint) const {
  return str(constraint.expr) + (constraint.equality ? " = 0" : " >= 0");
}
