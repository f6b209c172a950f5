//===- Lemmas.cpp - Division by symbols, rasters, claims ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// docs/Proofs/Coverage.md proves the lemmas once; here their premises are
// checked.

#include "Stages.h"

using namespace tracea::coverage;

static bool startsAtZero(const Space &space, Term term) {
  return space.range(term).lower == Expr(0);
}

static std::string printExtent(const Space &space, Term term) {
  const Range &range = space.range(term);
  return range.upper ? space.str(*range.upper) : "infinity";
}

AffineStage tracea::coverage::toAffine(Space &space, const EuclidStage &stage) {
  Expr whole =
      space.product(stage.divisor, stage.quotient) + Expr(stage.remainder);
  Expr quotient = space.floorDiv(stage.whole, stage.divisor);
  Expr remainder = space.mod(stage.whole, stage.divisor);
  if (stage.direction == EuclidStage::Split)
    return {{stage.quotient, stage.remainder},
            {{"split", {stage.whole}, {}, {quotient, remainder}, {whole}}}};
  Constraints guard;
  const Range range = space.range(stage.whole);
  if (stage.masked && range.upper)
    guard.push_back(less(whole, *range.upper));
  return {{stage.whole},
          {{"join",
            {stage.quotient, stage.remainder},
            guard,
            {whole},
            {quotient, remainder}}}};
}

Outcome tracea::coverage::decideEuclid(Prover &prover,
                                       const EuclidStage &stage) {
  Space &space = prover.space;
  if (!space.isSymbolic(stage.divisor))
    return Outcome::notDecided("the divisor " + space.str(stage.divisor) +
                               " depends on more than sizes");
  for (Term term : {stage.whole, stage.quotient, stage.remainder})
    if (space.range(term).upper && !space.isSymbolic(*space.range(term).upper))
      return Outcome::notDecided("extent of '" + space.name(term) +
                                 "': expected one of sizes, found " +
                                 printExtent(space, term));
  const Range whole = space.range(stage.whole),
              quotient = space.range(stage.quotient),
              remainder = space.range(stage.remainder);
  bool fits = startsAtZero(space, stage.whole) &&
              startsAtZero(space, stage.quotient) &&
              startsAtZero(space, stage.remainder) && remainder.upper &&
              *remainder.upper == stage.divisor && whole.upper;
  if (fits) {
    bool exact = quotient.upper &&
                 space.product(*quotient.upper, stage.divisor) == *whole.upper;
    bool enough = !quotient.upper ||
                  *quotient.upper == space.ceilDiv(*whole.upper, stage.divisor);
    // For a divisor of 0 there is neither a whole nor a remainder.
    if (exact && prover.impliesAlways(atLeast(stage.divisor, 0)))
      return {};
    if (stage.direction == EuclidStage::Join && stage.masked && enough &&
        prover.impliesAlways(atLeast(stage.divisor, 1)))
      return {};
  }
  // What the lemma does not fit may still be so, or have a counterexample.
  return decideAffine(prover, toAffine(space, stage));
}

/// A raster over `found` tiles of `all`.
static Outcome decideExtent(Prover &prover, const RasterStage &stage,
                            const Expr &all, const Expr &found) {
  Space &space = prover.space;
  Finding finding;
  LinearSystem::Point point;
  Constraints tooMany{less(all, found)},
      tooFew{less(found, all), atLeast(found, 0)};
  std::vector<Term> sizes = space.variables(stage.group + all + found);
  Prover::Answer answer = prover.findPoint(tooMany, sizes, point);
  if (answer == Prover::Found) {
    finding.property = Property::Bounds;
    finding.message = "'" + space.name(stage.linear) + "' = " + space.str(all) +
                      " is behind the last tile";
    finding.point = showPoint(space, point, {});
    return Outcome::refuted(std::move(finding));
  }
  Prover::Answer other = prover.findPoint(tooFew, sizes, point);
  if (other == Prover::Found) {
    finding.property = Property::Cover;
    finding.message = "the tile of '" + space.name(stage.linear) +
                      "' = " + space.str(found) + " is left out";
    finding.point = showPoint(space, point, {});
    return Outcome::refuted(std::move(finding));
  }
  if (answer == Prover::Unknown || other == Prover::Unknown)
    return Outcome::notDecided("extent of '" + space.name(stage.linear) +
                               "': expected " + space.str(all) + ", found " +
                               space.str(found) + ": " + prover.reason());
  return {};
}

Outcome tracea::coverage::decideRaster(Prover &prover,
                                       const RasterStage &stage) {
  Space &space = prover.space;
  for (Term term : {stage.linear, stage.row, stage.column})
    if (!startsAtZero(space, term) || !space.range(term).upper)
      return Outcome::notDecided("range of '" + space.name(term) +
                                 "': expected one from 0 with an end");
  if (!space.isSymbolic(stage.group) ||
      !prover.impliesAlways(atLeast(stage.group, 1)))
    return Outcome::notDecided("rows of a group: expected at least 1, found " +
                               space.str(stage.group));
  for (Term term : {stage.row, stage.column})
    if (!space.isSymbolic(*space.range(term).upper))
      return Outcome::notDecided("extent of '" + space.name(term) +
                                 "': expected one of sizes, found " +
                                 printExtent(space, term));
  Expr rows = *space.range(stage.row).upper,
       columns = *space.range(stage.column).upper;
  // Never negative: an extent below 0 is an empty box, but a positive product.
  for (const Expr &extent : {rows, columns})
    if (!prover.impliesAlways(atLeast(extent, 0)))
      return Outcome::notDecided("the extent " + space.str(extent) +
                                 " of a raster may be negative");
  Expr all = space.product(rows, columns),
       found = *space.range(stage.linear).upper;
  if (all == found)
    return {};
  if (!space.isSymbolic(found))
    return Outcome::notDecided("extent of '" + space.name(stage.linear) +
                               "': expected " + space.str(all) + ", found " +
                               space.str(found));
  return decideExtent(prover, stage, all, found);
}

Outcome tracea::coverage::decideAccess(Prover &prover, const Access &access) {
  Space &space = prover.space;
  if (access.map.size() != access.bounds.size())
    return Outcome::notDecided(
        "expected " + std::to_string(access.bounds.size()) +
        " indices, found " + std::to_string(access.map.size()));
  for (size_t i = 0; i < access.map.size(); ++i) {
    Constraints inside;
    addRange(inside, access.map[i], access.bounds[i]);
    LinearSystem::Point point;
    switch (prover.refute(access.guard, {inside}, access.ids, point)) {
    case Prover::Empty:
      continue;
    case Prover::Unknown:
      return Outcome::notDecided("index " + std::to_string(i) + ": " +
                                 prover.reason());
    case Prover::Found:
      break;
    }
    Finding finding;
    finding.property = Property::Bounds;
    std::optional<int64_t> value = space.evaluate(access.map[i], point);
    finding.message =
        "index " + std::to_string(i) + " is " +
        (value ? std::to_string(*value) : "?") + ", expected " +
        space.str(access.bounds[i].lower) + " to below " +
        (access.bounds[i].upper ? space.str(*access.bounds[i].upper)
                                : "infinity");
    finding.point = showPoint(space, point, access.ids);
    return Outcome::refuted(std::move(finding));
  }
  return {};
}

Outcome tracea::coverage::decideClaim(Prover &prover, const Claim &claim) {
  Space &space = prover.space;
  std::vector<Constraints> alternatives;
  if (claim.exists.empty())
    alternatives.push_back(claim.conclusions);
  for (const std::vector<Expr> &witness : claim.witnesses) {
    if (claim.exists.empty())
      break;
    if (witness.size() != claim.exists.size())
      return Outcome::notDecided("expected a witness for each of " +
                                 std::to_string(claim.exists.size()) +
                                 " variables, found " +
                                 std::to_string(witness.size()));
    std::map<Term, Expr> values;
    for (const Expr &hint : witness)
      if (!dependsOnlyOn(space, hint, claim.forAll))
        return Outcome::notDecided("the witness " + space.str(hint) +
                                   " depends on more than what it is for");
    for (size_t i = 0; i < witness.size(); ++i)
      values[claim.exists[i]] = witness[i];
    Constraints alternative;
    for (Term term : claim.exists)
      addRange(alternative, term, Range(space.range(term)));
    alternative.insert(alternative.end(), claim.conclusions.begin(),
                       claim.conclusions.end());
    for (Constraint &constraint : alternative)
      constraint = space.substitute(constraint, values);
    alternatives.push_back(std::move(alternative));
  }
  LinearSystem::Point point;
  size_t failed = 0;
  switch (prover.refute(claim.premises, alternatives, claim.forAll, point,
                        &failed)) {
  case Prover::Empty:
    return {};
  case Prover::Unknown:
    return Outcome::notDecided(prover.reason());
  case Prover::Found:
    break;
  }
  Finding finding;
  finding.property = Property::Claim;
  finding.point = showPoint(space, point, claim.forAll);
  if (claim.exists.empty()) {
    finding.message =
        "does not hold: " + (failed < claim.conclusions.size()
                                 ? space.str(claim.conclusions[failed])
                                 : std::string("?"));
    return Outcome::refuted(std::move(finding));
  }
  // The witnesses fail; perhaps there are others.
  Constraints here = claim.conclusions;
  std::map<Term, Expr> values;
  for (auto [term, value] : point) {
    values[term] = value;
    here.push_back(equal(term, value));
  }
  LinearSystem::Point other;
  switch (prover.findPoint(here, claim.exists, other)) {
  case Prover::Empty:
    finding.message =
        "there is no " + listNames(space, claim.exists) + " as claimed";
    return Outcome::refuted(std::move(finding));
  case Prover::Found:
    return Outcome::notDecided("no witness that was given fits everywhere");
  case Prover::Unknown:
    break;
  }
  return Outcome::notDecided(prover.reason());
}
