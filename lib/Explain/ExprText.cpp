//===- ExprText.cpp - Sizes and indices as they are read -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ExprText.h"

using namespace tracea::explain;
using namespace tracea::coverage;

/// "e0.2.1" as "e0".
static std::string withoutNumber(const std::string &name) {
  size_t end = name.find('.');
  return end == 0 ? name : name.substr(0, end);
}

void ExprText::use(const std::vector<Term> &variables) {
  shortNames.clear();
  std::map<std::string, Term> owners;
  std::set<std::string> shared;
  for (Term variable : variables) {
    auto [owner, isNew] =
        owners.emplace(withoutNumber(space.name(variable)), variable);
    if (!isNew && owner->second != variable)
      shared.insert(owner->first);
  }
  for (Term variable : variables) {
    std::string name = withoutNumber(space.name(variable));
    if (!shared.count(name))
      shortNames[variable] = std::move(name);
  }
}

const std::string &ExprText::name(Term variable) const {
  auto known = shortNames.find(variable);
  return known == shortNames.end() ? space.name(variable) : known->second;
}

std::string ExprText::names(const std::vector<Term> &variables) const {
  std::string text;
  for (Term variable : variables)
    text += (text.empty() ? "" : ", ") + name(variable);
  return "(" + text + ")";
}

/// Whether −expr reads better.
static bool isNegative(const Expr &expr) {
  for (auto [term, coefficient] : expr.terms())
    if (coefficient > 0)
      return false;
  return expr.constant() <= 0;
}

std::string ExprText::inParentheses(const Expr &expr) const {
  bool isOne = expr.isConstant()
                   ? expr.constant() >= 0
                   : expr.terms().size() == 1 && expr.constant() == 0 &&
                         expr.terms()[0].second == 1 &&
                         space.isVariable(expr.terms()[0].first);
  // −min(−a, −b) is a name and a pair of parentheses as well.
  if (!isOne && expr.terms().size() == 1 && expr.constant() == 0) {
    auto [only, coefficient] = expr.terms()[0];
    isOne = space.kind(only) == TermKind::Minimum &&
            (coefficient == 1 ||
             (coefficient == -1 && isNegative(space.operand(only, 0)) &&
              isNegative(space.operand(only, 1))));
  }
  return isOne ? text(expr) : "(" + text(expr) + ")";
}

std::string ExprText::term(Term term, bool isFactor) const {
  std::string result;
  switch (space.kind(term)) {
  case TermKind::Quotient:
    result = inParentheses(space.operand(term, 0)) + "/" +
             inParentheses(space.operand(term, 1));
    return isFactor ? "(" + result + ")" : result;
  case TermKind::Minimum:
    return "min(" + text(space.operand(term, 0)) + ", " +
           text(space.operand(term, 1)) + ")";
  case TermKind::Product:
    for (Term factor : space.factors(term))
      result += (result.empty() ? "" : "*") + this->term(factor, true);
    return result;
  default:
    return name(term);
  }
}

std::string ExprText::text(const Expr &expr) const {
  if (!expr.isValid())
    return "?";
  std::string positive, negative;
  auto append = [&](bool isNegative, const std::string &part) {
    std::string &side = isNegative ? negative : positive;
    side += (isNegative ? " - " : side.empty() ? "" : " + ") + part;
  };
  for (auto [t, coefficient] : expr.terms()) {
    std::string part;
    bool isBelow = coefficient < 0;
    uint64_t size = isBelow ? 0 - uint64_t(coefficient) : uint64_t(coefficient);
    if (isBelow && space.kind(t) == TermKind::Minimum &&
        isNegative(space.operand(t, 0)) && isNegative(space.operand(t, 1))) {
      part = "max(" + text(-space.operand(t, 0)) + ", " +
             text(-space.operand(t, 1)) + ")";
      isBelow = false;
    } else {
      part = term(t, size != 1 || isBelow);
    }
    append(isBelow, size == 1 ? part : std::to_string(size) + "*" + part);
  }
  if (int64_t constant = expr.constant())
    append(constant < 0, std::to_string(constant < 0 ? 0 - uint64_t(constant)
                                                     : uint64_t(constant)));
  if (positive.empty() && !negative.empty())
    return "-" + negative.substr(3);
  return positive.empty() ? "0" : positive + negative;
}

/// What is added on the left and on the right of 0 <= expr, as two sums.
std::string ExprText::text(const Constraint &constraint) const {
  Expr left, right;
  for (auto [term, coefficient] : constraint.expr.terms()) {
    bool isMaximum = space.kind(term) == TermKind::Minimum &&
                     isNegative(space.operand(term, 0)) &&
                     isNegative(space.operand(term, 1));
    if ((coefficient < 0) != isMaximum)
      left -= coefficient * Expr(term);
    else
      right += coefficient * Expr(term);
  }
  int64_t constant = constraint.expr.constant();
  if (!left.isValid() || !right.isValid() || !constraint.expr.isValid())
    return space.str(constraint);
  if (constraint.equality) {
    (constant < 0 ? left : right) += constant < 0 ? -Expr(constant) : constant;
    return text(right) + " = " + text(left);
  }
  // c <= right rather than c − 1 < right.
  if (left.isConstant())
    return text(right) + " >= " + text(-Expr(constant));
  if (constant >= 0)
    return text(left) + " <= " + text(right + constant);
  if (right.isConstant())
    return text(left) + " <= " + text(Expr(constant));
  return text(left - (Expr(constant) + 1)) + " < " + text(right);
}

std::string ExprText::text(const Range &range) const {
  return "[" + text(range.lower) + ", " +
         (range.upper ? text(*range.upper) : "infinity") + ")";
}

std::string ExprText::tuple(const std::vector<Expr> &exprs) const {
  std::string result;
  for (const Expr &expr : exprs)
    result += (result.empty() ? "" : ", ") + text(expr);
  return "(" + result + ")";
}

std::string ExprText::ranges(const std::vector<Term> &variables) const {
  std::string result;
  for (Term variable : variables)
    result += (result.empty() ? "" : ", ") + name(variable) + " in " +
              text(space.range(variable));
  return result;
}
