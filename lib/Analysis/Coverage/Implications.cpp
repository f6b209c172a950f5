//===- Implications.cpp - Premises that imply an alternative -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each alternative is a conjunction. Where one of its constraints fails, the
// next alternative has to hold: a search over failing constraints, cut off
// where they contradict the premises.

#include "Prover.h"
#include <algorithm>

using namespace tracea::coverage;

bool tracea::coverage::saysPositive(const Constraint &constraint,
                                    const Expr &divisor) {
  Expr rest = constraint.expr - divisor;
  return !constraint.equality && rest.isValid() && rest.isConstant() &&
         rest.constant() <= -1;
}

std::vector<Constraint>
tracea::coverage::negations(const Constraint &constraint) {
  Constraint below{-constraint.expr - 1, false};
  if (!constraint.equality)
    return {below};
  return {below, {constraint.expr - 1, false}};
}

void tracea::coverage::addRange(Constraints &constraints, const Expr &value,
                                const Range &range) {
  constraints.push_back(atLeast(value, range.lower));
  if (range.upper)
    constraints.push_back(less(value, *range.upper));
}

const std::vector<Term> &Prover::variablesOf(const Expr &expr) {
  auto [place, isNew] = mentions.try_emplace(expr);
  if (isNew)
    place->second = space.variables(expr);
  return place->second;
}

/// Whether the sum of both is negative in plain sight.
static bool contradict(const Constraint &a, const Constraint &b) {
  const auto &left = a.expr.terms(), &right = b.expr.terms();
  if (!a.expr.isValid() || !b.expr.isValid() || left.size() != right.size())
    return false;
  for (size_t i = 0; i < left.size(); ++i)
    if (left[i].first != right[i].first || left[i].second != -right[i].second)
      return false;
  return __int128(a.expr.constant()) + b.expr.constant() < 0;
}

bool Prover::mentionsProduct(const Expr &expr) const {
  for (auto [term, coefficient] : expr.terms()) {
    if (space.kind(term) == TermKind::Product)
      return true;
    if (!space.isVariable(term) && (mentionsProduct(space.operand(term, 0)) ||
                                    mentionsProduct(space.operand(term, 1))))
      return true;
  }
  return false;
}

std::vector<Term>
Prover::withLinearRange(const std::vector<Term> &variables) const {
  auto isLinear = [&](const Expr &expr) {
    return std::all_of(expr.terms().begin(), expr.terms().end(),
                       [&](const Expr::Summand &summand) {
                         return space.isVariable(summand.first);
                       });
  };
  std::vector<Term> result;
  for (Term variable : variables) {
    const Range &range = space.range(variable);
    if (isLinear(range.lower) && (!range.upper || isLinear(*range.upper)))
      result.push_back(variable);
  }
  return result;
}

/// The premises that have to do with the goal: dimensions that share nothing
/// but symbols are left out. Fewer premises are a weaker query, so that its
/// emptiness is enough.
Constraints Prover::slice(const Constraints &premises, const Constraint &goal) {
  std::set<Term> reached, symbols;
  auto reach = [&](const std::vector<Term> &variables) {
    for (Term variable : variables)
      (space.kind(variable) == TermKind::Symbol ? symbols : reached)
          .insert(variable);
  };
  reach(variablesOf(goal.expr));
  std::vector<const std::vector<Term> *> variables;
  for (const Constraint &premise : premises)
    variables.push_back(&variablesOf(premise.expr));
  std::vector<bool> taken(premises.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < premises.size(); ++i) {
      if (taken[i])
        continue;
      bool symbolic = true, shares = false, sharesSymbols = false;
      for (Term variable : *variables[i]) {
        bool isSymbol = space.kind(variable) == TermKind::Symbol;
        symbolic &= isSymbol;
        shares |= !isSymbol && reached.count(variable);
        sharesSymbols |= isSymbol && symbols.count(variable);
      }
      if (shares || (symbolic && sharesSymbols)) {
        taken[i] = changed = true;
        reach(*variables[i]);
      }
    }
  }
  Constraints result;
  for (size_t i = 0; i < premises.size(); ++i)
    if (taken[i])
      result.push_back(premises[i]);
  return result;
}

Prover::Answer Prover::refuteFrom(Constraints &premises,
                                  const std::vector<Constraints> &alternatives,
                                  size_t first,
                                  const std::vector<Term> &mentioned,
                                  LinearSystem::Point &point, size_t *failed) {
  if (first == alternatives.size())
    return findPoint(premises, mentioned, point);
  Answer result = Empty;
  size_t before = premises.size();
  for (size_t number = 0; number < alternatives[first].size(); ++number) {
    const Constraint &constraint = alternatives[first][number];
    for (const Constraint &negation : negations(constraint)) {
      if (negation.expr.isValid() && negation.expr.isConstant() &&
          negation.expr.constant() < 0)
        continue;
      if (std::any_of(premises.begin(), premises.end(),
                      [&](const Constraint &premise) {
                        return contradict(premise, negation);
                      }))
        continue;
      Constraints relevant = slice(premises, negation);
      relevant.push_back(negation);
      LinearSystem::Point ignored;
      // Products of ids and sizes make cases of their own. Often it is enough
      // that something runs, and where.
      Constraints linear;
      for (const Constraint &constraint : relevant)
        if (!mentionsProduct(constraint.expr))
          linear.push_back(constraint);
      int few = options.maxCases;
      if (linear.size() < relevant.size() &&
          search(linear, withLinearRange(mentioned), ignored, few,
                 /*tangents=*/0) == Empty)
        continue;
      int cases = options.maxCases;
      if (search(relevant, {}, ignored, cases, /*tangents=*/6) == Empty)
        continue;
      premises.push_back(negation);
      Answer answer = refuteFrom(premises, alternatives, first + 1, mentioned,
                                 point, failed);
      premises.pop_back();
      if (answer == Found) {
        if (failed && first == 0)
          *failed = number;
        premises.resize(before);
        return Found;
      }
      if (answer == Unknown)
        result = Unknown;
    }
    premises.push_back(constraint);
  }
  premises.resize(before);
  return result;
}

Prover::Answer Prover::refute(const Constraints &premises,
                              const std::vector<Constraints> &alternatives,
                              const std::vector<Term> &mentioned,
                              LinearSystem::Point &point, size_t *failed) {
  Constraints all = premises;
  return refuteFrom(all, alternatives, 0, mentioned, point, failed);
}

bool Prover::impliesAlways(const Constraint &constraint) {
  LinearSystem::Point ignored;
  return refute({}, {{constraint}}, {}, ignored) == Empty;
}
