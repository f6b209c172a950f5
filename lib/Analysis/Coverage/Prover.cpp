//===- Prover.cpp - Implications between constraints ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Prover.h"
#include "Evaluator.h"
#include <algorithm>

using namespace tracea::coverage;

/// From so many cases on it is worth looking for the one that matters.
static constexpr int kManyCases = 8;

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
      // Nothing is known of a division by what may be 0.
      bool isGiven = std::any_of(constraints.begin(), constraints.end(),
                                 [&](const Constraint &constraint) {
                                   return saysPositive(constraint, d);
                                 });
      if (!d.isConstant() && !isGiven && !isPositive(d))
        break;
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
    case TermKind::Product: {
      std::vector<Term> factors = space.factors(term);
      for (Term factor : factors)
        mention(factor);
      // lo <= u <= hi gives lo·d <= u·d <= hi·d for d >= 0, and the reverse for
      // d <= 0.
      for (size_t which : {0, 1}) {
        Term u = factors[which], d = factors[1 - which];
        std::optional<std::pair<int64_t, int64_t>> ends;
        int sign = 0;
        if (factors.size() == 2 && (ends = space.bounds(u)) &&
            (sign = signOf(d))) {
          add(atLeast(sign * Expr(term), ends->first * (sign * Expr(d))));
          add(atMost(sign * Expr(term), ends->second * (sign * Expr(d))));
        }
      }
      break;
    }
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
  int64_t last =
      std::min(options.maxQueries, lastQuery.value_or(options.maxQueries));
  if (statistics.queries >= last)
    return giveUp("more than " + std::to_string(last) + " queries");
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
  auto now = [] { return std::chrono::steady_clock::now(); };
  std::chrono::steady_clock::time_point before = now();
  LinearSystem::Answer answer = system.findPoint(point, bound);
  double milliseconds =
      std::chrono::duration<double, std::milli>(now() - before).count();
  statistics.longestMilliseconds =
      std::max(statistics.longestMilliseconds, milliseconds);
  if (answer == LinearSystem::Unknown)
    give("a counterexample does not fit into 64 bits, or its search was given "
         "up");
  return answer;
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

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
  // Where few cases are left there is nothing to gain from asking the promising
  // ones first.
  std::vector<Constraints> split;
  if (options.maxCases - cases > kManyCases)
    split = singleCase(constraints, mentioned, relaxed, closure.terms);
  if (split.empty())
    split = casesOf(relaxed, closure.terms, tangents);
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
  auto within = [&](int64_t limit) {
    bound = limit;
    LinearSystem::Point smaller;
    cases = options.maxCases;
    Answer again = search(all, mentioned, smaller, cases, 0);
    bound.reset();
    if (again == Found)
      point = std::move(smaller);
    return again == Found;
  };
  int64_t below = 0;
  for (int64_t limit : {1, 4, 16, 64, 150, 300, 1100, 10000}) {
    if (limit >= size)
      break;
    if (within(limit)) {
      for (int step = 0; step < 5 && limit - below > 1; ++step) {
        int64_t middle = below + (limit - below) / 2;
        (within(middle) ? limit : below) = middle;
      }
      break;
    }
    below = limit;
  }
  return Found;
}
