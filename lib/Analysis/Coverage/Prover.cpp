//===- Prover.cpp - Implications between constraints ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Prover.h"
#include "Evaluator.h"
#include <algorithm>

using namespace tracea::coverage;

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

Prover::Prover(Space &space, const Constraints &assumptions,
               const Options &options, Statistics &statistics)
    : space(space), assumptions(assumptions), options(options),
      statistics(statistics), start(std::chrono::steady_clock::now()) {}

//===----------------------------------------------------------------------===//
// What a query means
//===----------------------------------------------------------------------===//

Prover::Closure Prover::close(const Constraints &constraints,
                              const std::vector<Term> &mentioned) {
  Closure closure;
  std::set<Term> seen;
  std::vector<Term> work;
  auto mention = [&](Term term) {
    if (!seen.insert(term).second)
      return;
    closure.terms.push_back(term);
    closure.system.mention(term);
    work.push_back(term);
  };
  auto add = [&](const Constraint &original) {
    Constraint constraint =
        fixed.empty() ? original : space.substitute(original, fixed);
    closure.system.add(constraint);
    for (auto [term, coefficient] : constraint.expr.terms())
      mention(term);
    closure.constraints.push_back(std::move(constraint));
  };
  auto define = [&](Term term) {
    // Copies: terms that are made meanwhile move the originals.
    switch (space.kind(term)) {
    case TermKind::Symbol:
    case TermKind::Id:
    case TermKind::Coordinate: {
      Constraints range;
      addRange(range, term, Range(space.range(term)));
      for (const Constraint &constraint : range)
        add(constraint);
      break;
    }
    case TermKind::Quotient: {
      Expr a = space.operand(term, 0), d = space.operand(term, 1);
      Expr multiple = space.product(d, term);
      add(atLeast(a, multiple));
      add(less(a, multiple + d));
      break;
    }
    case TermKind::Minimum: {
      Expr a = space.operand(term, 0), b = space.operand(term, 1);
      add(atMost(term, a));
      add(atMost(term, b));
      break;
    }
    case TermKind::Product:
      for (Term factor : std::vector<Term>(space.factors(term)))
        mention(factor);
      break;
    }
  };
  for (const Constraint &constraint : constraints)
    add(constraint);
  for (Term term : mentioned)
    if (!fixed.count(term))
      mention(term);
  // Symbols that have been given values still satisfy their ranges.
  for (const auto &[symbol, value] : fixed) {
    Constraints range;
    addRange(range, symbol, Range(space.range(symbol)));
    for (const Constraint &constraint : range)
      add(constraint);
  }
  std::vector<bool> used(assumptions.size());
  do {
    while (!work.empty()) {
      Term term = work.back();
      work.pop_back();
      define(term);
    }
    for (size_t i = 0; i < assumptions.size(); ++i) {
      if (used[i])
        continue;
      for (Term variable : space.variables(assumptions[i].expr))
        if (seen.count(variable) || fixed.count(variable))
          used[i] = true;
      if (used[i])
        add(assumptions[i]);
    }
  } while (!work.empty());
  return closure;
}

LinearSystem::Answer Prover::ask(const LinearSystem &system,
                                 LinearSystem::Point &point) {
  if (system.isContradictory())
    return LinearSystem::Empty;
  auto giveUp = [&](std::string reason) {
    give(std::move(reason));
    return LinearSystem::Unknown;
  };
  if (system.isInvalid())
    return giveUp("an expression is outside of what can be represented");
  if (system.numVariables() > options.maxVariables ||
      system.numConstraints() > options.maxConstraints)
    return giveUp("a query has " + std::to_string(system.numVariables()) +
                  " variables and " + std::to_string(system.numConstraints()) +
                  " constraints, expected at most " +
                  std::to_string(options.maxVariables) + " and " +
                  std::to_string(options.maxConstraints));
  if (statistics.queries >= options.maxQueries)
    return giveUp("more than " + std::to_string(options.maxQueries) +
                  " queries");
  if (options.maxMilliseconds > 0 && statistics.queries % 16 == 0 &&
      std::chrono::duration<double, std::milli>(
          std::chrono::steady_clock::now() - start)
              .count() > options.maxMilliseconds)
    return giveUp("out of time");
  ++statistics.queries;
  statistics.variables =
      std::max<int64_t>(statistics.variables, system.numVariables());
  statistics.constraints =
      std::max<int64_t>(statistics.constraints, system.numConstraints());
  LinearSystem::Answer answer = system.findPoint(point, bound);
  if (answer == LinearSystem::Unknown)
    give("a counterexample does not fit into 64 bits");
  return answer;
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

bool Prover::isNonNegative(Term term) {
  auto [place, isNew] = nonNegative.try_emplace(term, false);
  if (!isNew)
    return place->second;
  // Without the values and bounds of the search that asks; what is asked for
  // in turn counts as not known meanwhile.
  LinearSystem::Point ignored;
  std::map<Term, Expr> values;
  std::optional<int64_t> noBound;
  std::swap(fixed, values);
  std::swap(bound, noBound);
  Constraints below{less(term, 0)};
  int cases = 9;
  bool holds = search(below, {}, ignored, cases, /*tangents=*/0) == Empty;
  std::swap(fixed, values);
  std::swap(bound, noBound);
  return nonNegative[term] = holds;
}

/// The value of a sum of terms at a point of the relaxation.
static std::optional<__int128> valueAt(const Expr &expr,
                                       const LinearSystem::Point &point) {
  __int128 sum = expr.constant();
  for (auto [term, coefficient] : expr.terms()) {
    auto found = point.find(term);
    if (found == point.end())
      return std::nullopt;
    sum += __int128(coefficient) * found->second;
  }
  return sum;
}

/// Monotony of multiplication with d >= 0, where the point violates it:
/// u > v gives u·d − v·d >= d, u = v equality, u < v the reverse.
std::vector<Constraints>
Prover::casesOfProduct(const LinearSystem::Point &point, Term product,
                       const std::vector<Term> &terms, int &tangents) {
  std::vector<Term> factors = space.factors(product);
  auto rest = [&](const std::vector<Term> &of, Term without) {
    Expr result = 1;
    bool dropped = false;
    for (Term factor : of) {
      if (!dropped && factor == without)
        dropped = true;
      else
        result = space.product(result, factor);
    }
    return result;
  };
  auto violates = [&](const Expr &u, const Expr &v, const Expr &ud,
                      const Expr &vd, Term d) {
    std::optional<__int128> a = valueAt(u, point), b = valueAt(v, point),
                            p = valueAt(ud, point), q = valueAt(vd, point),
                            by = valueAt(d, point);
    if (!a || !b || !p || !q || !by)
      return false;
    return *a > *b ? *p - *q < *by : *a == *b ? *p != *q : *q - *p < *by;
  };
  auto split = [&](const Expr &u, const Expr &v, const Expr &ud, const Expr &vd,
                   Term d) {
    return std::vector<Constraints>{{atLeast(u, v + 1), atLeast(ud - vd, d)},
                                    {equal(u, v), equal(ud, vd)},
                                    {atMost(u, v - 1), atLeast(vd - ud, d)}};
  };
  std::set<Term> tried;
  for (Term d : factors) {
    if (!tried.insert(d).second || !isNonNegative(d))
      continue;
    Expr u = rest(factors, d);
    for (Term other : terms) {
      if (other == product || space.kind(other) != TermKind::Product)
        continue;
      std::vector<Term> otherFactors = space.factors(other);
      if (std::find(otherFactors.begin(), otherFactors.end(), d) ==
          otherFactors.end())
        continue;
      Expr v = rest(otherFactors, d);
      if (violates(u, v, product, other, d))
        return split(u, v, product, other, d);
    }
    if (violates(u, 0, product, 0, d))
      return split(u, 0, product, 0, d);
  }
  // The tangent at the point.
  for (Term d : tried) {
    Expr u = rest(factors, d);
    std::optional<__int128> at = valueAt(u, point);
    if (tangents <= 0 || !isNonNegative(d) || !at || *at > INT32_MAX ||
        *at < INT32_MIN)
      continue;
    int64_t v = int64_t(*at);
    if (violates(u, v, product, v * Expr(d), d)) {
      --tangents;
      return split(u, v, product, v * Expr(d), d);
    }
  }
  return {};
}

std::vector<Constraints> Prover::casesOf(const LinearSystem::Point &point,
                                         const std::vector<Term> &terms,
                                         int &tangents) {
  for (Term term : terms) {
    if (space.kind(term) != TermKind::Minimum)
      continue;
    Expr a = space.operand(term, 0), b = space.operand(term, 1);
    std::optional<__int128> left = valueAt(a, point), right = valueAt(b, point);
    if (left && right && point.at(term) != std::min(*left, *right))
      return {{atMost(a, b), equal(term, a)}, {less(b, a), equal(term, b)}};
  }
  for (Term term : terms) {
    if (space.kind(term) != TermKind::Product)
      continue;
    std::vector<Constraints> cases =
        casesOfProduct(point, term, terms, tangents);
    if (!cases.empty())
      return cases;
  }
  return {};
}

Prover::Answer Prover::search(Constraints &constraints,
                              const std::vector<Term> &mentioned,
                              LinearSystem::Point &point, int &cases,
                              int tangents) {
  Closure closure = close(constraints, mentioned);
  LinearSystem::Point relaxed;
  switch (ask(closure.system, relaxed)) {
  case LinearSystem::Empty:
    return Empty;
  case LinearSystem::Unknown:
    return Unknown;
  case LinearSystem::Found:
    break;
  }
  Evaluator evaluator(space);
  LinearSystem::Point variables;
  for (const auto &[symbol, value] : fixed)
    variables[symbol] = value.constant();
  for (auto [term, value] : relaxed)
    if (space.isVariable(term))
      variables[term] = value;
  for (auto [term, value] : variables)
    evaluator.set(term, value);
  bool exact = true;
  for (const Constraint &constraint : closure.constraints)
    exact = exact && evaluator.holds(constraint).value_or(false);
  if (exact) {
    point = std::move(variables);
    return Found;
  }
  std::vector<Constraints> split = casesOf(relaxed, closure.terms, tangents);
  if (split.empty())
    return give("a product of sizes is beyond the axioms of multiplication");
  Answer answer = Empty;
  for (const Constraints &additional : split) {
    if (--cases < 0)
      return give("more than " + std::to_string(options.maxCases) +
                  " cases of minima and products");
    size_t before = constraints.size();
    constraints.insert(constraints.end(), additional.begin(), additional.end());
    Answer inCase = search(constraints, mentioned, point, cases, tangents);
    constraints.resize(before);
    if (inCase == Found)
      return Found;
    if (inCase == Unknown)
      answer = Unknown;
  }
  return answer;
}

/// Products become linear where symbols have values: enough for a
/// counterexample, not for a proof.
Prover::Answer Prover::specialize(Constraints &constraints,
                                  const std::vector<Term> &mentioned,
                                  LinearSystem::Point &point) {
  std::set<Term> symbols;
  for (Term term : close(constraints, mentioned).terms)
    if (space.kind(term) == TermKind::Product)
      for (Term factor : space.factors(term))
        for (Term variable : space.variables(factor))
          if (space.kind(variable) == TermKind::Symbol)
            symbols.insert(variable);
  if (symbols.empty() || symbols.size() > 8)
    return Unknown;
  static const int64_t kValues[] = {1, 2, 3, 5, 4, 8, 7, 16, 0, 32, 64, 128};
  const size_t numValues = std::size(kValues);
  for (size_t attempt = 0; attempt < 3 * numValues; ++attempt) {
    // The same for all of them, then mixtures.
    size_t position = 0;
    for (Term symbol : symbols) {
      size_t choice = attempt + (attempt / numValues) * position * 5;
      fixed[symbol] = kValues[choice % numValues];
      ++position;
    }
    if (symbols.size() == 1 && attempt >= numValues)
      break;
    int cases = options.maxCases;
    Answer answer = search(constraints, mentioned, point, cases, 0);
    if (answer == Found) {
      fixed.clear();
      return Found;
    }
  }
  fixed.clear();
  return Unknown;
}

Prover::Answer Prover::findPoint(const Constraints &constraints,
                                 const std::vector<Term> &mentioned,
                                 LinearSystem::Point &point) {
  Constraints all = constraints;
  int cases = options.maxCases;
  Answer answer = search(all, mentioned, point, cases, /*tangents=*/6);
  if (answer == Unknown) {
    std::string first = why;
    answer = specialize(all, mentioned, point);
    why = first;
  }
  if (answer != Found)
    return answer;
  // A small point is a better explanation.
  int64_t size = 0;
  for (auto [term, value] : point)
    size = std::max(size, value < 0 ? -(value + 1) : value);
  for (int64_t limit : {1, 4, 16, 64, 150, 300, 1100, 10000}) {
    if (limit >= size)
      break;
    bound = limit;
    LinearSystem::Point smaller;
    cases = options.maxCases;
    Answer again = search(all, mentioned, smaller, cases, 0);
    bound.reset();
    if (again == Found) {
      point = std::move(smaller);
      break;
    }
  }
  return Found;
}

//===----------------------------------------------------------------------===//
// Implications
//===----------------------------------------------------------------------===//

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
  reach(space.variables(goal.expr));
  std::vector<std::vector<Term>> variables;
  for (const Constraint &premise : premises)
    variables.push_back(space.variables(premise.expr));
  std::vector<bool> taken(premises.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < premises.size(); ++i) {
      if (taken[i])
        continue;
      bool symbolic = true, shares = false, sharesSymbols = false;
      for (Term variable : variables[i]) {
        bool isSymbol = space.kind(variable) == TermKind::Symbol;
        symbolic &= isSymbol;
        shares |= !isSymbol && reached.count(variable);
        sharesSymbols |= isSymbol && symbols.count(variable);
      }
      if (shares || (symbolic && sharesSymbols)) {
        taken[i] = changed = true;
        reach(variables[i]);
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
      Constraints relevant = slice(premises, negation);
      relevant.push_back(negation);
      LinearSystem::Point ignored;
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
