//===- Decide.cpp - Decides a coverage problem for all sizes --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Witness.h"
#include <algorithm>
#include <set>

using namespace tracea::coverage;

const char *tracea::coverage::propertyName(Property property) {
  switch (property) {
  case Property::Cover:
    return "cover";
  case Property::Unique:
    return "unique";
  case Property::Bounds:
    return "bounds";
  case Property::Claim:
    return "claim";
  }
  return "?";
}

static std::string
printPoint(const std::vector<std::pair<std::string, int64_t>> &point) {
  std::string text;
  for (const auto &[name, value] : point)
    text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(value);
  return text;
}

std::string Finding::str() const {
  std::string text = message;
  if (!point.empty())
    text += " (" + printPoint(point) + ")";
  if (property == Property::Unique && !otherPoint.empty())
    text += " and (" + printPoint(otherPoint) + ")";
  return text;
}

std::string tracea::coverage::listNames(const Space &space,
                                        const std::vector<Term> &terms) {
  std::string text;
  for (Term term : terms)
    text += (text.empty() ? "'" : ", '") + space.name(term) + "'";
  return text;
}

std::vector<std::pair<std::string, int64_t>>
tracea::coverage::showPoint(const Space &space,
                            const LinearSystem::Point &point,
                            const std::vector<Term> &variables) {
  std::vector<std::pair<std::string, int64_t>> result;
  for (auto [term, value] : point)
    if (space.kind(term) == TermKind::Symbol)
      result.emplace_back(space.name(term), value);
  for (Term term : variables) {
    auto found = point.find(term);
    if (found != point.end() && space.kind(term) != TermKind::Symbol)
      result.emplace_back(space.name(term), found->second);
  }
  return result;
}

namespace {
class Decider {
public:
  Decider(const Problem &problem, const Options &options)
      : problem(problem), space(problem.space), options(options),
        prover(space, problem.assumptions, this->options, result.statistics) {}

  Result run();

private:
  std::string checkDivisors();
  Outcome decideStage(Prover &with, size_t number);
  std::optional<LinearSystem::Point> sizesOf(const Finding &finding,
                                             int64_t least);
  std::optional<Finding> follow(const Finding &finding);
  Outcome confirm(size_t number, Outcome outcome);
  void take(Outcome outcome, const std::string &where);

  const Problem &problem;
  Space space;
  Options options;
  Result result;
  Prover prover;
};
} // namespace

namespace {
/// The terms that a problem is about, and the conditions under which it is.
struct Mentions {
  explicit Mentions(const Problem &problem);

  std::set<Term> terms;
  std::vector<Constraint> conditions;

private:
  void add(const Expr &expr);
  void addRange(const Range &range);
  void addAll(const std::vector<Expr> &exprs) {
    for (const Expr &expr : exprs)
      add(expr);
  }
  void addAll(const std::vector<Constraint> &constraints, bool areConditions) {
    for (const Constraint &constraint : constraints) {
      add(constraint.expr);
      if (areConditions)
        conditions.push_back(constraint);
    }
  }

  const Space &space;
};
} // namespace

Mentions::Mentions(const Problem &problem) : space(problem.space) {
  addAll(problem.assumptions, false);
  for (const Stage &stage : problem.stages) {
    if (const auto *affine = std::get_if<AffineStage>(&stage.kind)) {
      for (Term coordinate : affine->coordinates)
        add(coordinate);
      for (const Writer &writer : affine->writers) {
        for (Term id : writer.ids)
          add(id);
        addAll(writer.map);
        addAll(writer.guard, true);
      }
    } else if (const auto *euclid = std::get_if<EuclidStage>(&stage.kind)) {
      for (Term term : {euclid->whole, euclid->quotient, euclid->remainder})
        add(term);
      add(euclid->divisor);
    } else if (const auto *raster = std::get_if<RasterStage>(&stage.kind)) {
      for (Term term : {raster->linear, raster->row, raster->column})
        add(term);
      add(raster->group);
    }
  }
  for (const Access &access : problem.accesses) {
    addAll(access.map);
    addAll(access.guard, true);
    for (const Range &range : access.bounds)
      addRange(range);
  }
  for (const Claim &claim : problem.claims) {
    addAll(claim.premises, true);
    addAll(claim.conclusions, false);
    for (const std::vector<Expr> &witness : claim.witnesses)
      addAll(witness);
    for (Term term : claim.exists)
      add(term);
  }
}

void Mentions::addRange(const Range &range) {
  add(range.lower);
  if (range.upper)
    add(*range.upper);
}

void Mentions::add(const Expr &expr) {
  for (auto [term, coefficient] : expr.terms()) {
    if (!terms.insert(term).second)
      continue;
    switch (space.kind(term)) {
    case TermKind::Quotient:
    case TermKind::Minimum:
      add(space.operand(term, 0));
      add(space.operand(term, 1));
      break;
    case TermKind::Product:
      for (Term factor : space.factors(term))
        add(factor);
      break;
    default:
      addRange(space.range(term));
    }
  }
}

/// Nothing is known of a division by less than 1. So a divisor is a size that
/// is at least 1, or one that is where it matters.
std::string Decider::checkDivisors() {
  Mentions mentions(problem);
  for (Term term : mentions.terms) {
    if (space.kind(term) != TermKind::Quotient)
      continue;
    Expr divisor = space.operand(term, 1);
    if (divisor.isConstant() ||
        std::any_of(mentions.conditions.begin(), mentions.conditions.end(),
                    [&](const Constraint &condition) {
                      return saysPositive(condition, divisor);
                    }))
      continue;
    if (!space.isSymbolic(divisor))
      return "the divisor " + space.str(divisor) +
             " depends on more than sizes";
    if (!prover.impliesAlways(atLeast(divisor, 1)))
      return "the divisor " + space.str(divisor) + " may be less than 1";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Decision
//===----------------------------------------------------------------------===//

Outcome Decider::decideStage(Prover &with, size_t number) {
  const Stage &stage = problem.stages[number];
  if (const auto *affine = std::get_if<AffineStage>(&stage.kind))
    return decideAffine(with, *affine);
  if (const auto *lanes = std::get_if<LaneStage>(&stage.kind))
    return decideLanes(with, *lanes);
  if (const auto *euclid = std::get_if<EuclidStage>(&stage.kind))
    return decideEuclid(with, *euclid);
  return decideRaster(with, std::get<RasterStage>(stage.kind));
}

/// Sizes at which the finding was made; those that it does not name are at
/// least `least`, if that can be.
std::optional<LinearSystem::Point> Decider::sizesOf(const Finding &finding,
                                                    int64_t least) {
  Constraints known, all;
  std::vector<Term> symbols;
  for (uint32_t index = 0; index < problem.space.size(); ++index) {
    if (space.kind({index}) != TermKind::Symbol)
      continue;
    symbols.push_back({index});
    auto found = std::find_if(
        finding.point.begin(), finding.point.end(),
        [&](auto &entry) { return entry.first == space.name({index}); });
    if (found != finding.point.end())
      known.push_back(equal(Term{index}, found->second));
    else
      all.push_back(atLeast(Term{index}, least));
  }
  all.insert(all.end(), known.begin(), known.end());
  LinearSystem::Point point;
  if (prover.findPoint(all, symbols, point) != Prover::Found &&
      prover.findPoint(known, symbols, point) != Prover::Found)
    return std::nullopt;
  LinearSystem::Point sizes;
  for (Term symbol : symbols)
    sizes[symbol] = point[symbol];
  return sizes;
}

/// Sizes that a finding does not name must be large enough to show it.
static constexpr int64_t kLeastSizes[] = {1, 16, 40, 130, 300};

std::optional<Finding> Decider::follow(const Finding &finding) {
  for (int64_t least : kLeastSizes)
    if (std::optional<LinearSystem::Point> sizes = sizesOf(finding, least))
      if (std::optional<Finding> whole =
              Witness(problem, prover, *sizes).confirm(finding))
        return whole;
  return std::nullopt;
}

/// A stage may claim more than the kernel needs. A fault between stages is
/// confirmed from end to end: along the way of one element, or by counting all
/// events.
Outcome Decider::confirm(size_t number, Outcome outcome) {
  if (problem.stages.size() == 1)
    return outcome;
  if (std::optional<Finding> whole = follow(outcome.finding))
    return Outcome::refuted(std::move(*whole));
  // At the smallest sizes there may be nothing behind the stage.
  for (int64_t least : {1, 2, 40, 300}) {
    Constraints larger = problem.assumptions;
    for (uint32_t index = 0; index < problem.space.size(); ++index)
      if (space.kind({index}) == TermKind::Symbol)
        larger.push_back(atLeast(Term{index}, least));
    Prover other(space, larger, options, result.statistics);
    other.continueFrom(prover);
    Outcome again = decideStage(other, number);
    if (again.verdict != Verdict::Refuted)
      break;
    again.finding.stage = int(number);
    if (std::optional<Finding> whole = follow(again.finding))
      return Outcome::refuted(std::move(*whole));
  }
  Problem stagesOnly = problem;
  stagesOnly.accesses.clear();
  stagesOnly.claims.clear();
  Result whole;
  for (int64_t least : kLeastSizes) {
    std::optional<LinearSystem::Point> point = sizesOf(outcome.finding, least);
    if (!point)
      return Outcome::notDecided(outcome.finding.str());
    std::map<std::string, int64_t> sizes;
    for (auto [symbol, value] : *point)
      sizes[space.name(symbol)] = value;
    whole = enumerate(stagesOnly, sizes, options.maxEvents);
    if (whole.verdict == Verdict::Refuted) {
      Finding &finding = outcome.finding;
      for (const auto &size : sizes)
        if (std::none_of(
                finding.point.begin(), finding.point.end(),
                [&](auto &named) { return named.first == size.first; }))
          finding.point.insert(finding.point.begin(), size);
      return outcome;
    }
    if (whole.verdict == Verdict::NotDecided)
      break;
  }
  std::string reason = outcome.finding.str();
  if (whole.verdict == Verdict::Proved)
    reason +=
        "; at these sizes every element is written once nevertheless: the "
        "stage claims more than it needs to";
  else
    reason += "; not confirmed from end to end: " + whole.reason;
  return Outcome::notDecided(reason);
}

void Decider::take(Outcome outcome, const std::string &where) {
  if (outcome.verdict == Verdict::Refuted &&
      result.verdict != Verdict::Refuted) {
    result.verdict = Verdict::Refuted;
    result.reason.clear();
    result.finding = std::move(outcome.finding);
    result.finding.message = where + ": " + result.finding.message;
  } else if (outcome.verdict == Verdict::NotDecided &&
             result.verdict == Verdict::Proved) {
    result.verdict = Verdict::NotDecided;
    result.reason = where + ": " + outcome.reason;
  }
}

Result Decider::run() {
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
  auto finish = [&] {
    result.statistics.milliseconds =
        std::chrono::duration<double, std::milli>(
            std::chrono::steady_clock::now() - start)
            .count();
    return result;
  };
  result.reason = checkExpressions(problem);
  if (result.reason.empty())
    result.reason = checkChain(problem);
  if (result.reason.empty())
    result.reason = checkDivisors();
  if (!result.reason.empty())
    return finish();
  // Where the assumptions exclude all sizes every claim holds, and says
  // nothing.
  std::vector<Term> symbols;
  for (uint32_t index = 0; index < problem.space.size(); ++index)
    if (space.kind({index}) == TermKind::Symbol)
      symbols.push_back({index});
  LinearSystem::Point sizes;
  if (!symbols.empty() &&
      prover.findPoint({}, symbols, sizes) != Prover::Found) {
    result.reason = "no sizes were found that satisfy the assumptions";
    return finish();
  }
  result.verdict = Verdict::Proved;
  for (size_t number = 0; number < problem.stages.size(); ++number) {
    Outcome outcome = decideStage(prover, number);
    outcome.finding.stage = int(number);
    if (outcome.verdict == Verdict::Refuted)
      outcome = confirm(number, std::move(outcome));
    take(std::move(outcome), "stage '" + problem.stages[number].name + "'");
    if (result.verdict == Verdict::Refuted)
      return finish();
  }
  bool stagesProved = result.verdict == Verdict::Proved;
  auto usesCoordinates = [&](const std::vector<Term> &variables) {
    return std::any_of(variables.begin(), variables.end(), [&](Term term) {
      return space.kind(term) == TermKind::Coordinate;
    });
  };
  for (size_t number = 0; number < problem.accesses.size(); ++number) {
    const Access &access = problem.accesses[number];
    Outcome outcome = decideAccess(prover, access);
    outcome.finding.access = int(number);
    // Of coordinates only a stage that is proved says that all values occur.
    if (outcome.verdict == Verdict::Refuted && !stagesProved &&
        usesCoordinates(access.ids))
      outcome = Outcome::notDecided(outcome.finding.str());
    take(std::move(outcome), "access '" + access.name + "'");
    if (result.verdict == Verdict::Refuted)
      return finish();
  }
  for (size_t number = 0; number < problem.claims.size(); ++number) {
    Outcome outcome = decideClaim(prover, problem.claims[number]);
    outcome.finding.claim = int(number);
    if (outcome.verdict == Verdict::Refuted && !stagesProved &&
        usesCoordinates(problem.claims[number].forAll))
      outcome = Outcome::notDecided(outcome.finding.str());
    take(std::move(outcome), "claim '" + problem.claims[number].name + "'");
    if (result.verdict == Verdict::Refuted)
      return finish();
  }
  return finish();
}

Result tracea::coverage::decide(const Problem &problem,
                                const Options &options) {
  return Decider(problem, options).run();
}
