//===- LaunchGuard.cpp - Sizes for which no index overflows ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interval arithmetic over expressions of the sizes: each id becomes the ends
// of its range. Positive and negative summands are kept apart, so that the
// bounds hold for every order of additions.

#include "Evaluator.h"
#include "tracea/Analysis/Coverage/Decide.h"
#include <algorithm>
#include <set>

using namespace tracea::coverage;

namespace {
struct Interval {
  Expr low, high;
};

class Bounder {
public:
  explicit Bounder(Problem &problem) : space(problem.space) {}

  /// Every partial sum of the expression; nothing when there is no bound.
  std::optional<Interval> partialSums(const Expr &expr);
  std::optional<Interval> bounds(Term term);
  bool isNonNegative(const Expr &expr) const;

  std::string reason;

private:
  std::optional<Interval> compute(Term term);

  Space &space;
  std::map<Term, std::optional<Interval>> done;
};

class Collector {
public:
  explicit Collector(Problem &problem)
      : problem(problem), space(problem.space), bounder(problem) {}

  LaunchGuard run();

private:
  void add(const Expr &expr, const std::string &what);
  void addSides(const Constraint &constraint, const std::string &what);
  void addRange(const Range &range, const std::string &what);

  Problem &problem;
  Space &space;
  Bounder bounder;
  LaunchGuard guard;
  std::set<Term> seen;
  std::set<std::pair<Expr, Expr>> kept;
};
} // namespace

bool Bounder::isNonNegative(const Expr &expr) const {
  if (expr.constant() < 0)
    return false;
  for (auto [term, coefficient] : expr.terms()) {
    if (coefficient < 0)
      return false;
    switch (space.kind(term)) {
    case TermKind::Quotient:
      if (!isNonNegative(space.operand(term, 0)))
        return false;
      break;
    case TermKind::Minimum:
      if (!isNonNegative(space.operand(term, 0)) ||
          !isNonNegative(space.operand(term, 1)))
        return false;
      break;
    case TermKind::Product:
      for (Term factor : space.factors(term))
        if (!isNonNegative(factor))
          return false;
      break;
    default:
      if (!isNonNegative(space.range(term).lower))
        return false;
    }
  }
  return true;
}

std::optional<Interval> Bounder::compute(Term term) {
  // Copies: terms that are made here move the originals.
  switch (space.kind(term)) {
  case TermKind::Symbol:
    return Interval{term, term};
  case TermKind::Id:
  case TermKind::Coordinate: {
    Range range = space.range(term);
    if (!range.upper) {
      reason = "'" + space.name(term) + "' has no upper bound";
      return std::nullopt;
    }
    std::optional<Interval> low = partialSums(range.lower),
                            high = partialSums(*range.upper);
    if (!low || !high)
      return std::nullopt;
    // A loop compares the end itself.
    return Interval{isNonNegative(range.lower) ? Expr(0) : low->low,
                    high->high};
  }
  case TermKind::Quotient: {
    Expr a = space.operand(term, 0), d = space.operand(term, 1);
    std::optional<Interval> numerator = partialSums(a),
                            divisor = partialSums(d);
    if (!numerator || !divisor)
      return std::nullopt;
    if (!d.isConstant()) // at least 1
      return Interval{isNonNegative(a) ? Expr(0) : numerator->low,
                      numerator->high};
    return Interval{isNonNegative(a) ? Expr(0)
                                     : space.floorDiv(numerator->low, d),
                    space.floorDiv(numerator->high, d)};
  }
  case TermKind::Minimum: {
    Expr a = space.operand(term, 0), b = space.operand(term, 1);
    std::optional<Interval> left = partialSums(a), right = partialSums(b);
    if (!left || !right)
      return std::nullopt;
    return Interval{space.min(left->low, right->low),
                    space.min(left->high, right->high)};
  }
  case TermKind::Product: {
    Interval result{1, 1};
    for (Term factor : std::vector<Term>(space.factors(term))) {
      std::optional<Interval> part = bounds(factor);
      if (!part)
        return std::nullopt;
      if (!isNonNegative(factor)) {
        reason = "a factor of " + space.str(term) + " may be negative";
        return std::nullopt;
      }
      result = {0, space.product(result.high, part->high)};
    }
    return result;
  }
  }
  return std::nullopt;
}

std::optional<Interval> Bounder::bounds(Term term) {
  auto found = done.find(term);
  if (found != done.end())
    return found->second;
  std::optional<Interval> result = compute(term);
  return done[term] = result;
}

std::optional<Interval> Bounder::partialSums(const Expr &expr) {
  Interval sum{std::min<int64_t>(expr.constant(), 0),
               std::max<int64_t>(expr.constant(), 0)};
  if (!expr.isValid()) {
    reason = "an expression is invalid";
    return std::nullopt;
  }
  for (auto [term, coefficient] : expr.terms()) {
    std::optional<Interval> part = bounds(term);
    if (!part)
      return std::nullopt;
    Expr low = coefficient > 0 ? coefficient * part->low
                               : coefficient * part->high,
         high = coefficient > 0 ? coefficient * part->high
                                : coefficient * part->low;
    // A summand pulls each way only as far as it goes beyond zero.
    bool nonNegative = isNonNegative(term);
    if (!(nonNegative && coefficient > 0))
      sum.low += nonNegative ? low : space.min(low, 0);
    if (!(nonNegative && coefficient < 0))
      sum.high += nonNegative ? high : space.max(high, 0);
  }
  return sum;
}

void Collector::add(const Expr &expr, const std::string &what) {
  // What is computed on the way: numerators and products.
  for (auto [term, coefficient] : std::vector<Expr::Summand>(expr.terms())) {
    if (space.isVariable(term) || !seen.insert(term).second)
      continue;
    if (space.kind(term) == TermKind::Product)
      continue; // its factors are smaller
    Expr first = space.operand(term, 0), second = space.operand(term, 1);
    add(first, what);
    add(second, what);
    // ⌈a/d⌉ and a mod d go as far as a + d.
    if (space.kind(term) == TermKind::Quotient)
      add(first + second, what);
  }
  std::optional<Interval> interval = bounder.partialSums(expr);
  if (!interval) {
    if (guard.reason.empty())
      guard.reason = what + ": " + bounder.reason;
    return;
  }
  auto isSmall = [](const Expr &bound) {
    return bound.isConstant() && bound.constant() <= INT32_MAX &&
           bound.constant() >= INT32_MIN;
  };
  if (isSmall(interval->low) && isSmall(interval->high))
    return;
  if (kept.emplace(interval->low, interval->high).second)
    guard.bounds.push_back({interval->low, interval->high, what});
}

/// Both sides of a comparison: what has a positive and a negative sign.
void Collector::addSides(const Constraint &constraint,
                         const std::string &what) {
  Expr left = std::max<int64_t>(constraint.expr.constant(), 0),
       right = std::max<int64_t>(-constraint.expr.constant(), 0);
  for (auto [term, coefficient] : constraint.expr.terms())
    (coefficient > 0 ? left : right) +=
        (coefficient > 0 ? coefficient : -coefficient) * Expr(term);
  add(left, what);
  add(right, what);
}

void Collector::addRange(const Range &range, const std::string &what) {
  add(range.lower, what);
  if (range.upper)
    add(*range.upper, what);
}

LaunchGuard Collector::run() {
  size_t numVariables = space.size();
  for (uint32_t index = 0; index < numVariables; ++index)
    if (space.isVariable({index}) && space.kind({index}) != TermKind::Symbol)
      addRange(Range(space.range({index})),
               "range of '" + space.name({index}) + "'");
  for (const Stage &stage : std::vector<Stage>(problem.stages)) {
    std::string what = "stage '" + stage.name + "'";
    if (const auto *affine = std::get_if<AffineStage>(&stage.kind)) {
      for (const Writer &writer : affine->writers) {
        for (const Expr &expr : writer.map)
          add(expr, what);
        for (const Constraint &constraint : writer.guard)
          addSides(constraint, what);
      }
    } else if (const auto *euclid = std::get_if<EuclidStage>(&stage.kind)) {
      // A loop ends within one step behind the last number.
      const Range whole = space.range(euclid->whole);
      if (euclid->masked && whole.upper && !space.range(euclid->quotient).upper)
        add(*whole.upper + euclid->divisor, what);
      else
        add(space.product(euclid->divisor, euclid->quotient) +
                Expr(euclid->remainder),
            what);
    } else if (const auto *raster = std::get_if<RasterStage>(&stage.kind)) {
      Range columns = space.range(raster->column);
      if (columns.upper)
        add(space.product(raster->group, *columns.upper), what);
      add(Expr(raster->linear) + Expr(raster->row) + raster->group, what);
    }
  }
  for (const Access &access : problem.accesses) {
    for (const Expr &expr : access.map)
      add(expr, "access '" + access.name + "'");
    for (const Constraint &constraint : access.guard)
      addSides(constraint, "access '" + access.name + "'");
  }
  for (const Expr &expr : problem.intermediates)
    add(expr, "an intermediate value");
  return std::move(guard);
}

LaunchGuard tracea::coverage::launchGuard(Problem &problem) {
  return Collector(problem).run();
}

std::optional<std::string>
tracea::coverage::violates(const Problem &problem, const LaunchGuard &guard,
                           const std::map<std::string, int64_t> &sizes,
                           unsigned width) {
  const Space &space = problem.space;
  Evaluator evaluator(space);
  auto value = [&](const Expr &expr) { return evaluator.value(expr); };
  if (width < 2 || width > 64)
    return "expected a width of 2 to 64 bits, found " + std::to_string(width);
  for (uint32_t index = 0; index < space.size(); ++index) {
    if (space.kind({index}) != TermKind::Symbol)
      continue;
    auto found = sizes.find(space.name({index}));
    if (found == sizes.end())
      return "no value for '" + space.name({index}) + "'";
    evaluator.set({index}, found->second);
  }
  for (auto [name, size] : sizes) {
    std::optional<Term> symbol = space.find(name);
    if (!symbol || space.kind(*symbol) != TermKind::Symbol)
      return "'" + name + "' is no size of this problem";
    const Range &range = space.range(*symbol);
    std::optional<int64_t> low = value(range.lower);
    if (!low || size < *low)
      return "'" + name + "' is " + std::to_string(size) +
             ", expected at least " + space.str(range.lower);
    if (range.upper) {
      std::optional<int64_t> high = value(*range.upper);
      if (!high || size >= *high)
        return "'" + name + "' is " + std::to_string(size) +
               ", expected less than " + space.str(*range.upper);
    }
  }
  for (const Constraint &assumption : problem.assumptions)
    if (!evaluator.holds(assumption).value_or(false))
      return "the sizes do not satisfy " + space.str(assumption);
  if (!guard.reason.empty())
    return "indices are not bounded: " + guard.reason;
  int64_t largest = width == 64 ? INT64_MAX : (int64_t(1) << (width - 1)) - 1;
  for (const IndexBound &bound : guard.bounds) {
    std::optional<int64_t> low = value(bound.smallest),
                           high = value(bound.largest);
    if (!low || !high || *low < -largest - 1 || *high > largest)
      return bound.what + ": an index of up to " +
             (high ? std::to_string(*high) : space.str(bound.largest)) +
             " does not fit into " + std::to_string(width) + " bits";
  }
  return std::nullopt;
}

std::vector<Constraint> tracea::coverage::constraints(const LaunchGuard &guard,
                                                      unsigned width) {
  std::vector<Constraint> result;
  if (width < 2 || width > 63)
    return result;
  int64_t largest = (int64_t(1) << (width - 1)) - 1;
  for (const IndexBound &bound : guard.bounds) {
    result.push_back(atMost(bound.largest, largest));
    if (bound.smallest != Expr(0))
      result.push_back(atLeast(bound.smallest, -largest - 1));
  }
  return result;
}
