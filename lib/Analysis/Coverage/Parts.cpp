//===- Parts.cpp - Parts of symbolic length are one sequence --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A writer that names a part p in [0, a) and a place r in [0, d) of it only as
// the sum p·d + r, and that stops where the sum reaches T, has in their stead
// one id in [0, T): lemmas L1, L2 and L4. What is left has no product.

#include "Stages.h"
#include <algorithm>

using namespace tracea::coverage;

namespace {
/// part · length + place is `whole`.
struct Joined {
  Term whole, part, place;
  Expr length;
};

class PartJoiner {
public:
  PartJoiner(Prover &prover, Writer &writer)
      : prover(prover), space(prover.space), writer(writer) {}

  /// Joins one pair of ids into a single one, if a pair can be joined.
  std::optional<Joined> join();

private:
  bool isEnough(const Expr &parts, const Expr &length, const Expr &total);
  std::optional<Expr> totalOf(const Constraints &guard, Term whole,
                              const Expr &parts, const Expr &length);
  bool tryJoin(Term part, Term place, Joined &joined);
  bool mentions(const Expr &expr, Term a, Term b) const {
    std::vector<Term> variables = space.variables(expr);
    return std::any_of(variables.begin(), variables.end(),
                       [&](Term term) { return term == a || term == b; });
  }

  Prover &prover;
  Space &space;
  Writer &writer;
};
} // namespace

/// Whether parts · length >= total, or there is nothing to do: by the form of
/// the length (L4), by that of the number of parts, or as it stands.
bool PartJoiner::isEnough(const Expr &parts, const Expr &length,
                          const Expr &total) {
  // What has the form is few; only that is asked for.
  auto isCount = [&] { return prover.impliesAlways(atLeast(parts, 0)); };
  if (space.product(parts, length) == total)
    return isCount();
  std::vector<Expr> divisors{parts, space.max(1, parts)};
  if (length.terms().size() == 1 && length.constant() == 0 &&
      length.terms()[0].second == 1 &&
      space.kind(length.terms()[0].first) == TermKind::Quotient)
    divisors.push_back(space.operand(length.terms()[0].first, 1));
  for (const Expr &divisor : divisors)
    if (divisor.isValid() && space.ceilDiv(total, divisor) == length &&
        prover.impliesAlways(atLeast(divisor, 1)) &&
        prover.impliesAlways(atLeast(parts, divisor)))
      return true;
  return space.ceilDiv(total, length) == parts && isCount() &&
         prover.impliesAlways(atLeast(length, 1));
}

/// Where the sequence ends: a guard says it, or the last part is full.
std::optional<Expr> PartJoiner::totalOf(const Constraints &guard, Term whole,
                                        const Expr &parts, const Expr &length) {
  for (const Constraint &constraint : guard) {
    Expr total = constraint.expr + Expr(whole) + 1;
    if (!constraint.equality && constraint.expr.coefficient(whole) == -1 &&
        total.isValid() && space.isSymbolic(total) &&
        isEnough(parts, length, total))
      return total;
  }
  Expr total = space.product(parts, length);
  if (total.isValid() && isEnough(parts, length, total))
    return total;
  return std::nullopt;
}

bool PartJoiner::tryJoin(Term part, Term place, Joined &joined) {
  const Range parts = space.range(part), places = space.range(place);
  if (!parts.upper || parts.lower != Expr(0) || !space.isSymbolic(*parts.upper))
    return false;
  Expr length = *places.upper;
  Term whole = space.id("joined", Range(0));
  std::map<Term, Expr> values{
      {place, Expr(whole) - space.product(length, part)}};
  Writer changed = writer;
  changed.inverse.clear();
  bool isSum = false;
  auto change = [&](Expr &expr) {
    bool names = mentions(expr, part, place);
    expr = space.substitute(expr, values);
    isSum |= names;
    return expr.isValid() && !mentions(expr, part, place);
  };
  for (Expr &index : changed.map)
    if (!change(index))
      return false;
  for (Constraint &constraint : changed.guard)
    if (!change(constraint.expr))
      return false;
  for (Term id : writer.ids)
    for (const Expr &end :
         {space.range(id).lower, space.range(id).upper.value_or(Expr(0))})
      if (mentions(end, part, place))
        return false;
  if (!isSum)
    return false;
  std::optional<Expr> total =
      totalOf(changed.guard, whole, *parts.upper, length);
  if (!total)
    return false;
  // The range is known only now.
  Term ranged = space.id("joined", Range(*total));
  for (Expr &index : changed.map)
    index = space.substitute(index, {{whole, Expr(ranged)}});
  for (Constraint &constraint : changed.guard)
    constraint = space.substitute(constraint, {{whole, Expr(ranged)}});
  changed.ids.erase(
      std::remove_if(changed.ids.begin(), changed.ids.end(),
                     [&](Term id) { return id == part || id == place; }),
      changed.ids.end());
  changed.ids.push_back(ranged);
  joined = {ranged, part, place, length};
  writer = std::move(changed);
  return true;
}

std::optional<Joined> PartJoiner::join() {
  // Ids that a product has beside sizes, in what is written.
  std::vector<Term> multiplied;
  for (const Expr &index : writer.map)
    for (auto [term, coefficient] : index.terms())
      if (space.kind(term) == TermKind::Product)
        for (Term factor : space.factors(term))
          if (std::find(writer.ids.begin(), writer.ids.end(), factor) !=
              writer.ids.end())
            multiplied.push_back(factor);
  const std::vector<Term> ids = writer.ids;
  for (Term part : multiplied)
    for (Term place : ids) {
      const Range range = space.range(place);
      if (place == part || range.lower != Expr(0) || !range.upper ||
          range.upper->isConstant() || !space.isSymbolic(*range.upper))
        continue;
      Joined joined;
      if (tryJoin(part, place, joined))
        return joined;
    }
  return std::nullopt;
}

/// The values of a part and a place for one of the sequence; false: they are
/// not known.
static bool separate(const Space &space, const Joined &joined,
                     std::vector<std::pair<std::string, int64_t>> &point) {
  std::map<Term, int64_t> values;
  for (const auto &[name, value] : point)
    if (std::optional<Term> term = space.find(name))
      values[*term] = value;
  auto whole = values.find(joined.whole);
  if (whole == values.end())
    return true;
  std::optional<int64_t> length = space.evaluate(joined.length, values);
  if (!length || *length < 1 || whole->second < 0)
    return false;
  std::pair<std::string, int64_t> place(space.name(joined.place),
                                        whole->second % *length);
  for (auto &[name, value] : point)
    if (name == space.name(joined.whole)) {
      name = space.name(joined.part);
      value = whole->second / *length;
    }
  point.push_back(std::move(place));
  return true;
}

/// A counterexample of the sequence names no size that only the parts have:
/// any value will do.
static bool addSizes(Prover &prover, const std::vector<Joined> &parts,
                     std::vector<std::pair<std::string, int64_t>> &point) {
  Space &space = prover.space;
  Constraints here;
  for (const auto &[name, value] : point)
    if (std::optional<Term> term = space.find(name);
        term && space.kind(*term) == TermKind::Symbol)
      here.push_back(equal(*term, value));
  std::vector<Term> missing;
  for (const Joined &joined : parts)
    for (const Expr &expr : {joined.length, *space.range(joined.part).upper})
      for (Term size : space.variables(expr))
        if (std::none_of(point.begin(), point.end(), [&](const auto &one) {
              return one.first == space.name(size);
            }))
          missing.push_back(size);
  LinearSystem::Point found;
  if (missing.empty())
    return true;
  if (prover.findPoint(here, missing, found) != Prover::Found)
    return false;
  std::vector<std::pair<std::string, int64_t>> sizes;
  for (Term size : missing) {
    std::pair<std::string, int64_t> one(space.name(size), found.at(size));
    if (std::find(sizes.begin(), sizes.end(), one) == sizes.end())
      sizes.push_back(std::move(one));
  }
  point.insert(point.begin(), sizes.begin(), sizes.end());
  return true;
}

Outcome tracea::coverage::decideAffine(Prover &prover,
                                       const AffineStage &stage) {
  AffineStage joined = stage;
  std::vector<Joined> parts;
  // Without products tens of queries do.
  prover.limitQueries(100);
  for (Writer &writer : joined.writers)
    while (std::optional<Joined> found = PartJoiner(prover, writer).join())
      parts.push_back(*found);
  Outcome outcome = Outcome::notDecided("");
  if (!parts.empty())
    outcome = decideAffineAsGiven(prover, joined);
  prover.limitQueries(std::nullopt);
  if (outcome.verdict == Verdict::Proved)
    return outcome;
  // A fault is best shown in what was given, where all sizes have a say.
  Outcome given = decideAffineAsGiven(prover, stage);
  if (given.verdict != Verdict::NotDecided ||
      outcome.verdict != Verdict::Refuted)
    return given;
  bool isKnown = addSizes(prover, parts, outcome.finding.point);
  // The last one that was joined may be part of an earlier one.
  for (auto pair = parts.rbegin(); isKnown && pair != parts.rend(); ++pair)
    isKnown = separate(prover.space, *pair, outcome.finding.point) &&
              separate(prover.space, *pair, outcome.finding.otherPoint);
  return isKnown ? outcome : given;
}
