//===- AffineStage.cpp - Decides a stage of writers -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With w the writers' maps and σ their supposed inverses, for all symbols:
//
//   bounds   guard(ids) ⇒ w(ids) in the box
//   cover    x in the box ⇒ for some writer guard(σ(x)) and w(σ(x)) = x
//   unique   guard(ids) ⇒ σ(w(ids)) = ids, and what two writers claim,
//            { x : guard(σ(x)) and w(σ(x)) = x }, has nothing in common
//
// A σ that is wrong makes cover fail (then the point is fixed and all writers
// are asked, exactly) or unique (then pairs of events are).

#include "Inverse.h"
#include "Stages.h"
#include <algorithm>
#include <set>

using namespace tracea::coverage;

namespace {
class AffineDecider {
public:
  AffineDecider(Prover &prover, const AffineStage &stage)
      : prover(prover), space(prover.space), stage(stage) {}

  Outcome run();

private:
  Outcome checkShape() const;
  Outcome decideBounds(size_t number);
  std::vector<Constraints> getGoals() const;
  Outcome decideCover();
  Outcome decideUnique();
  Outcome confirmUnwritten(const LinearSystem::Point &point);
  Outcome decidePair(size_t first, size_t second);
  Outcome decideClaims(size_t first, size_t second);
  /// What an inequality says of more than sizes -> what it adds of sizes.
  using Sides = std::map<Expr, std::vector<Expr>>;
  Sides sidesOf(const Constraints &claim) const;
  bool excludeEachOther(const Sides &a, const Sides &b);
  void addDivisors(const std::vector<Constraints> &goals, Constraints &premises,
                   const std::vector<Term> &mentioned);
  Outcome doubled(size_t first, size_t second, LinearSystem::Point a,
                  LinearSystem::Point b);

  Prover &prover;
  Space &space;
  const AffineStage &stage;
  std::vector<std::vector<Expr>> inverses;
  /// What each writer claims: constraints over the coordinates.
  std::vector<Constraints> claims;
  std::vector<Sides> sides;
  /// Sums of symbols known to be negative or not.
  std::map<Expr, bool> negative;
};
} // namespace

static std::string quoted(const std::string &name) { return "'" + name + "'"; }

bool tracea::coverage::dependsOnlyOn(const Space &space, const Expr &expr,
                                     const std::vector<Term> &variables) {
  for (Term variable : space.variables(expr))
    if (space.kind(variable) != TermKind::Symbol &&
        std::find(variables.begin(), variables.end(), variable) ==
            variables.end())
      return false;
  return true;
}

static std::vector<Expr> endsOf(const Range &range) {
  if (!range.upper)
    return {range.lower};
  return {range.lower, *range.upper};
}

Outcome AffineDecider::checkShape() const {
  for (const Writer &writer : stage.writers) {
    if (writer.map.size() != stage.coordinates.size())
      return Outcome::notDecided(
          "writer " + quoted(writer.name) + ": expected " +
          std::to_string(stage.coordinates.size()) + " indices, found " +
          std::to_string(writer.map.size()));
    if (!writer.inverse.empty() && writer.inverse.size() != writer.ids.size())
      return Outcome::notDecided("writer " + quoted(writer.name) +
                                 ": expected an inverse for each of " +
                                 std::to_string(writer.ids.size()) +
                                 " ids, found " +
                                 std::to_string(writer.inverse.size()));
    // What the writer computes must depend on nothing but its ids.
    auto check = [&](const Expr &expr) {
      return dependsOnlyOn(space, expr, writer.ids)
                 ? Outcome()
                 : Outcome::notDecided(
                       "writer " + quoted(writer.name) +
                       " depends on more than its ids: " + space.str(expr));
    };
    for (const Expr &expr : writer.map)
      if (Outcome outcome = check(expr); outcome.verdict != Verdict::Proved)
        return outcome;
    for (const Constraint &constraint : writer.guard)
      if (Outcome outcome = check(constraint.expr);
          outcome.verdict != Verdict::Proved)
        return outcome;
    for (Term id : writer.ids)
      for (const Expr &expr : endsOf(space.range(id)))
        if (Outcome outcome = check(expr); outcome.verdict != Verdict::Proved)
          return outcome;
  }
  for (Term coordinate : stage.coordinates)
    for (const Expr &expr : endsOf(space.range(coordinate)))
      if (!dependsOnlyOn(space, expr, stage.coordinates))
        return Outcome::notDecided("the range of " +
                                   quoted(space.name(coordinate)) +
                                   " depends on more than coordinates of its "
                                   "stage and sizes");
  return {};
}

Outcome AffineDecider::decideBounds(size_t number) {
  const Writer &writer = stage.writers[number];
  std::map<Term, Expr> written;
  for (size_t i = 0; i < stage.coordinates.size(); ++i)
    written[stage.coordinates[i]] = writer.map[i];
  for (size_t i = 0; i < stage.coordinates.size(); ++i) {
    Constraints inside;
    addRange(inside, writer.map[i], Range(space.range(stage.coordinates[i])));
    for (Constraint &constraint : inside)
      constraint = space.substitute(constraint, written);
    LinearSystem::Point point;
    switch (prover.refute(writer.guard, {inside}, writer.ids, point)) {
    case Prover::Empty:
      continue;
    case Prover::Unknown:
      return Outcome::notDecided("bounds of " +
                                 quoted(space.name(stage.coordinates[i])) +
                                 ": " + prover.reason());
    case Prover::Found:
      break;
    }
    Finding finding;
    finding.property = Property::Bounds;
    finding.writer = int(number);
    std::optional<int64_t> value = space.evaluate(writer.map[i], point);
    finding.message = "writer " + quoted(writer.name) + " writes " +
                      quoted(space.name(stage.coordinates[i])) + " = " +
                      (value ? std::to_string(*value) : "?") + ", expected " +
                      space.str(space.range(stage.coordinates[i]).lower) +
                      " to below " +
                      (space.range(stage.coordinates[i]).upper
                           ? space.str(*space.range(stage.coordinates[i]).upper)
                           : "infinity");
    finding.point = showPoint(space, point, writer.ids);
    return Outcome::refuted(std::move(finding));
  }
  return {};
}

Outcome AffineDecider::confirmUnwritten(const LinearSystem::Point &point) {
  Constraints here;
  std::map<Term, Expr> values;
  for (auto [term, value] : point) {
    values[term] = value;
    if (space.kind(term) == TermKind::Symbol)
      here.push_back(equal(term, value));
  }
  for (const Writer &writer : stage.writers) {
    Constraints constraints = here;
    for (const Constraint &constraint : writer.guard)
      constraints.push_back(space.substitute(constraint, values));
    for (size_t i = 0; i < stage.coordinates.size(); ++i)
      constraints.push_back(equal(space.substitute(writer.map[i], values),
                                  point.at(stage.coordinates[i])));
    LinearSystem::Point reached;
    Prover::Answer answer = prover.findPoint(constraints, writer.ids, reached);
    if (answer == Prover::Unknown)
      return Outcome::notDecided("cover: " + prover.reason());
    if (answer == Prover::Found)
      return Outcome::notDecided("cover: the inverse of writer " +
                                 quoted(writer.name) +
                                 " that was given or guessed misses elements "
                                 "that it writes");
  }
  Finding finding;
  finding.property = Property::Cover;
  finding.message = "no writer writes this element";
  finding.point = showPoint(space, point, stage.coordinates);
  return Outcome::refuted(std::move(finding));
}

/// Inverses divide by sizes that may be 0 where there is no element. Those that
/// are at least 1 wherever the premises hold are said to be.
void AffineDecider::addDivisors(const std::vector<Constraints> &goals,
                                Constraints &premises,
                                const std::vector<Term> &mentioned) {
  std::set<Term> seen;
  std::vector<Term> work;
  auto add = [&](const Expr &expr) {
    for (auto [term, coefficient] : expr.terms())
      if (seen.insert(term).second)
        work.push_back(term);
  };
  for (const Constraints &goal : goals)
    for (const Constraint &constraint : goal)
      add(constraint.expr);
  std::set<Expr> divisors;
  while (!work.empty()) {
    Term term = work.back();
    work.pop_back();
    if (space.isVariable(term))
      continue;
    if (space.kind(term) == TermKind::Product) {
      for (Term factor : space.factors(term))
        add(factor);
      continue;
    }
    add(space.operand(term, 0));
    add(space.operand(term, 1));
    if (space.kind(term) == TermKind::Quotient &&
        !space.operand(term, 1).isConstant() &&
        space.isSymbolic(space.operand(term, 1)))
      divisors.insert(space.operand(term, 1));
  }
  for (const Expr &divisor : divisors) {
    LinearSystem::Point ignored;
    Constraint positive = atLeast(divisor, 1);
    if (!prover.impliesAlways(positive) &&
        prover.refute(premises, {{positive}}, mentioned, ignored) ==
            Prover::Empty)
      premises.push_back(positive);
  }
}

/// The claims in the order in which they are refuted: first those with the
/// fewest divisions. What these leave, a border's inside say, decides most
/// conditions of the others, pieces of steps, which each would decide anew.
std::vector<Constraints> AffineDecider::getGoals() const {
  auto divides = [&](const Constraint &constraint) {
    return std::any_of(constraint.expr.terms().begin(),
                       constraint.expr.terms().end(), [&](const auto &summand) {
                         return space.kind(summand.first) == TermKind::Quotient;
                       });
  };
  std::vector<std::pair<size_t, size_t>> order;
  for (size_t number = 0; number < claims.size(); ++number)
    order.emplace_back(
        std::count_if(claims[number].begin(), claims[number].end(), divides),
        number);
  std::sort(order.begin(), order.end());
  std::vector<Constraints> goals;
  for (auto [divisions, number] : order)
    goals.push_back(claims[number]);
  return goals;
}

Outcome AffineDecider::decideCover() {
  LinearSystem::Point point;
  Constraints premises;
  addDivisors(claims, premises, stage.coordinates);
  switch (prover.refute(premises, getGoals(), stage.coordinates, point)) {
  case Prover::Empty:
    return {};
  case Prover::Unknown:
    return Outcome::notDecided("cover: " + prover.reason());
  case Prover::Found:
    break;
  }
  return confirmUnwritten(point);
}

Outcome AffineDecider::doubled(size_t first, size_t second,
                               LinearSystem::Point a, LinearSystem::Point b) {
  Finding finding;
  finding.property = Property::Unique;
  finding.writer = int(first);
  finding.otherWriter = int(second);
  finding.message = "one element is written twice, by writer " +
                    quoted(stage.writers[first].name) + " and by writer " +
                    quoted(stage.writers[second].name);
  finding.point = showPoint(space, a, stage.writers[first].ids);
  std::vector<std::pair<std::string, int64_t>> other;
  for (Term id : stage.writers[second].ids)
    other.emplace_back(space.name(id), b.at(id));
  finding.otherPoint = std::move(other);
  return Outcome::refuted(std::move(finding));
}

/// Two events that write one element: exact, without inverses.
Outcome AffineDecider::decidePair(size_t first, size_t second) {
  const Writer &a = stage.writers[first], &b = stage.writers[second];
  std::map<Term, Expr> copies;
  std::vector<Term> mentioned = a.ids, copied;
  for (Term id : b.ids) {
    Range range = space.range(id);
    range.lower = space.substitute(range.lower, copies);
    if (range.upper)
      range.upper = space.substitute(*range.upper, copies);
    Term copy = space.id(space.name(id) + "'", range);
    copies[id] = copy;
    copied.push_back(copy);
  }
  mentioned.insert(mentioned.end(), copied.begin(), copied.end());
  Constraints both = a.guard;
  for (const Constraint &constraint : b.guard)
    both.push_back(space.substitute(constraint, copies));
  for (size_t i = 0; i < stage.coordinates.size(); ++i)
    both.push_back(equal(a.map[i], space.substitute(b.map[i], copies)));
  // Events of one writer differ in some id first.
  size_t numCases = first == second ? a.ids.size() : 1;
  for (size_t differs = 0; differs < numCases; ++differs) {
    Constraints constraints = both;
    if (first == second) {
      for (size_t i = 0; i < differs; ++i)
        constraints.push_back(equal(a.ids[i], copied[i]));
      constraints.push_back(less(a.ids[differs], copied[differs]));
    }
    LinearSystem::Point point;
    switch (prover.findPoint(constraints, mentioned, point)) {
    case Prover::Empty:
      continue;
    case Prover::Unknown:
      return Outcome::notDecided("unique: " + prover.reason());
    case Prover::Found:
      break;
    }
    LinearSystem::Point other;
    for (size_t i = 0; i < b.ids.size(); ++i)
      other[b.ids[i]] = point.at(copied[i]);
    return doubled(first, second, point, other);
  }
  return {};
}

/// Inequalities by what they say of more than sizes.
AffineDecider::Sides AffineDecider::sidesOf(const Constraints &claim) const {
  Sides sides;
  for (const Constraint &constraint : claim)
    for (int sign : {1, -1}) {
      // An equality is two inequalities.
      if (sign < 0 && !constraint.equality)
        continue;
      Expr whole = sign * constraint.expr, moving, sizes = whole.constant();
      for (auto [term, coefficient] : whole.terms())
        (space.isSymbolic(term) ? sizes : moving) += coefficient * Expr(term);
      if (moving.isValid() && sizes.isValid())
        sides[moving].push_back(sizes);
    }
  return sides;
}

/// Whether a + b < 0 for one of each, up to sizes: cheap and enough for most.
bool AffineDecider::excludeEachOther(const Sides &a, const Sides &b) {
  for (const auto &[moving, leftSizes] : a) {
    auto opposite = b.find(-moving);
    if (opposite == b.end())
      continue;
    for (const Expr &left : leftSizes)
      for (const Expr &right : opposite->second) {
        Expr sum = left + right;
        if (!sum.isValid())
          continue;
        if (sum.isConstant()) {
          if (sum.constant() < 0)
            return true;
          continue;
        }
        auto [place, isNew] = negative.try_emplace(sum, false);
        if (isNew)
          place->second = prover.impliesAlways(less(sum, 0));
        if (place->second)
          return true;
      }
  }
  return false;
}

/// Elements that two writers claim, both of which have an inverse.
Outcome AffineDecider::decideClaims(size_t first, size_t second) {
  if (excludeEachOther(sides[first], sides[second]))
    return {};
  Constraints both = claims[first];
  both.insert(both.end(), claims[second].begin(), claims[second].end());
  LinearSystem::Point point;
  switch (prover.findPoint(both, stage.coordinates, point)) {
  case Prover::Empty:
    return {};
  case Prover::Unknown:
    return Outcome::notDecided("unique: " + prover.reason());
  case Prover::Found:
    break;
  }
  LinearSystem::Point events[2] = {point, {}};
  for (int which : {0, 1}) {
    size_t number = which ? second : first;
    const Writer &writer = stage.writers[number];
    for (size_t i = 0; i < writer.ids.size(); ++i) {
      std::optional<int64_t> value = space.evaluate(inverses[number][i], point);
      if (!value)
        return Outcome::notDecided("unique: a counterexample does not fit into "
                                   "64 bits");
      events[which][writer.ids[i]] = *value;
    }
  }
  return doubled(first, second, events[0], events[1]);
}

Outcome AffineDecider::decideUnique() {
  std::vector<bool> invertible;
  for (size_t number = 0; number < stage.writers.size(); ++number) {
    const Writer &writer = stage.writers[number];
    std::map<Term, Expr> written;
    for (size_t i = 0; i < stage.coordinates.size(); ++i)
      written[stage.coordinates[i]] = writer.map[i];
    Constraints inverse;
    for (size_t i = 0; i < writer.ids.size(); ++i)
      inverse.push_back(
          equal(space.substitute(inverses[number][i], written), writer.ids[i]));
    LinearSystem::Point ignored;
    Constraints premises = writer.guard;
    addDivisors({inverse}, premises, writer.ids);
    invertible.push_back(prover.refute(premises, {inverse}, writer.ids,
                                       ignored) == Prover::Empty);
    if (!invertible.back())
      if (Outcome outcome = decidePair(number, number);
          outcome.verdict != Verdict::Proved)
        return outcome;
    for (size_t other = 0; other < number; ++other) {
      Outcome outcome = invertible[number] && invertible[other]
                            ? decideClaims(other, number)
                            : decidePair(other, number);
      if (outcome.verdict != Verdict::Proved)
        return outcome;
    }
  }
  return {};
}

Outcome AffineDecider::run() {
  if (Outcome outcome = checkShape(); outcome.verdict != Verdict::Proved)
    return outcome;
  for (const Writer &writer : stage.writers) {
    // Hints may name coordinates and symbols only, or they would assume what is
    // to be shown.
    for (const Expr &hint : writer.inverse)
      if (!dependsOnlyOn(space, hint, stage.coordinates))
        return Outcome::notDecided(
            "the inverse of writer " + quoted(writer.name) +
            " depends on more than coordinates and sizes");
    inverses.push_back(writer.inverse.empty()
                           ? guessInverse(space, writer, stage.coordinates)
                           : writer.inverse);
    for (Expr &guess : inverses.back())
      if (!dependsOnlyOn(space, guess, stage.coordinates))
        guess = 0;
    std::map<Term, Expr> values;
    for (size_t i = 0; i < writer.ids.size(); ++i)
      values[writer.ids[i]] = inverses.back()[i];
    Constraints claim;
    for (Term id : writer.ids)
      addRange(claim, id, Range(space.range(id)));
    claim.insert(claim.end(), writer.guard.begin(), writer.guard.end());
    for (size_t i = 0; i < stage.coordinates.size(); ++i)
      claim.push_back(equal(writer.map[i], stage.coordinates[i]));
    for (Constraint &constraint : claim) {
      // The coordinates are no ids, and stay.
      constraint = space.substitute(constraint, values);
    }
    sides.push_back(sidesOf(claim));
    claims.push_back(std::move(claim));
  }
  // A fault outweighs what could not be decided.
  Outcome result;
  auto take = [&](Outcome outcome) {
    if (outcome.verdict != Verdict::Proved &&
        result.verdict != Verdict::Refuted &&
        (result.verdict == Verdict::Proved ||
         outcome.verdict == Verdict::Refuted))
      result = std::move(outcome);
    return result.verdict == Verdict::Refuted;
  };
  for (size_t number = 0; number < stage.writers.size(); ++number)
    if (take(decideBounds(number)))
      return result;
  if (take(decideCover()))
    return result;
  take(decideUnique());
  return result;
}

Outcome tracea::coverage::decideAffineAsGiven(Prover &prover,
                                              const AffineStage &stage) {
  Outcome outcome = AffineDecider(prover, stage).run();
  if (outcome.verdict != Verdict::NotDecided)
    return outcome;
  // A hint that does not help gives way to the guess.
  AffineStage guessed = stage;
  bool hinted = false;
  for (Writer &writer : guessed.writers) {
    hinted |= writer.inverse.size() == writer.ids.size() && !writer.ids.empty();
    writer.inverse.clear();
  }
  if (!hinted)
    return outcome;
  Outcome again = AffineDecider(prover, guessed).run();
  return again.verdict == Verdict::NotDecided ? outcome : again;
}
