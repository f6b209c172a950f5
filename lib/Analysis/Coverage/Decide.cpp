//===- Decide.cpp - Decides a coverage problem for all sizes --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Stages.h"
#include <algorithm>

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

//===----------------------------------------------------------------------===//
// The chain of stages
//===----------------------------------------------------------------------===//

std::vector<Term> tracea::coverage::inputsOf(const Stage &stage) {
  std::vector<Term> result;
  if (const auto *affine = std::get_if<AffineStage>(&stage.kind)) {
    for (const Writer &writer : affine->writers)
      for (Term id : writer.ids)
        if (std::find(result.begin(), result.end(), id) == result.end())
          result.push_back(id);
  } else if (const auto *lanes = std::get_if<LaneStage>(&stage.kind)) {
    for (const std::optional<Term> &id : lanes->ids)
      if (id)
        result.push_back(*id);
  } else if (const auto *euclid = std::get_if<EuclidStage>(&stage.kind)) {
    if (euclid->direction == EuclidStage::Join)
      result = {euclid->quotient, euclid->remainder};
    else
      result = {euclid->whole};
  } else if (const auto *raster = std::get_if<RasterStage>(&stage.kind)) {
    result = {raster->linear};
  }
  return result;
}

std::vector<Term> tracea::coverage::outputsOf(const Stage &stage) {
  if (const auto *affine = std::get_if<AffineStage>(&stage.kind))
    return affine->coordinates;
  if (const auto *lanes = std::get_if<LaneStage>(&stage.kind))
    return lanes->coordinates;
  if (const auto *euclid = std::get_if<EuclidStage>(&stage.kind)) {
    if (euclid->direction == EuclidStage::Join)
      return {euclid->whole};
    return {euclid->quotient, euclid->remainder};
  }
  if (const auto *raster = std::get_if<RasterStage>(&stage.kind))
    return {raster->row, raster->column};
  return {};
}

namespace {
class Decider {
public:
  Decider(const Problem &problem, const Options &options)
      : problem(problem), space(problem.space), options(options),
        prover(space, problem.assumptions, this->options, result.statistics) {}

  Result run();

private:
  std::string checkExpressions();
  std::string checkChain() const;
  std::string checkDivisors();
  Outcome decideStage(size_t number);
  Outcome confirm(Outcome outcome);
  void take(Outcome outcome, const std::string &where);

  const Problem &problem;
  Space space;
  Options options;
  Result result;
  Prover prover;
};
} // namespace

/// Expressions that are invalid, or of terms that the space does not have.
std::string Decider::checkExpressions() {
  auto bad = [&](const Expr &expr) {
    return !expr.isValid() ||
           std::any_of(expr.terms().begin(), expr.terms().end(),
                       [&](auto &summand) {
                         return summand.first.index >= space.size();
                       });
  };
  auto badVariable = [&](Term term) {
    return term.index >= space.size() || !space.isVariable(term);
  };
  auto badRange = [&](const Range &range) {
    return bad(range.lower) || (range.upper && bad(*range.upper));
  };
  auto badAll = [&](const std::vector<Constraint> &constraints) {
    return std::any_of(constraints.begin(), constraints.end(),
                       [&](const Constraint &c) { return bad(c.expr); });
  };
  auto message = [](const std::string &where) {
    return where + " has an expression that is invalid: a division by zero, a "
                   "number beyond 64 bits or too many summands";
  };
  for (uint32_t index = 0; index < space.size(); ++index) {
    if (!space.isVariable({index}))
      continue;
    if (badRange(space.range({index})))
      return message("the range of '" + space.name({index}) + "'");
    for (const Expr &expr : {space.range({index}).lower,
                             space.range({index}).upper.value_or(Expr(0))})
      for (Term variable : space.variables(expr))
        if (variable.index >= index ||
            (space.kind({index}) == TermKind::Symbol &&
             space.kind(variable) != TermKind::Symbol))
          return "the range of '" + space.name({index}) + "' names '" +
                 space.name(variable) + "', expected earlier variables";
  }
  if (badAll(problem.assumptions))
    return message("an assumption");
  for (const Constraint &assumption : problem.assumptions)
    if (!space.isSymbolic(assumption.expr))
      return "the assumption " + space.str(assumption) +
             " is not about symbols alone";
  for (const Stage &stage : problem.stages) {
    for (const std::vector<Term> &terms : {inputsOf(stage), outputsOf(stage)})
      for (Term term : terms)
        if (badVariable(term))
          return "stage '" + stage.name +
                 "' names something that is no variable";
    if (const auto *affine = std::get_if<AffineStage>(&stage.kind))
      for (const Writer &writer : affine->writers)
        if (badAll(writer.guard) ||
            std::any_of(writer.map.begin(), writer.map.end(), bad) ||
            std::any_of(writer.inverse.begin(), writer.inverse.end(), bad))
          return message("writer '" + writer.name + "'");
    if (const auto *euclid = std::get_if<EuclidStage>(&stage.kind))
      if (bad(euclid->divisor))
        return message("stage '" + stage.name + "'");
    if (const auto *raster = std::get_if<RasterStage>(&stage.kind))
      if (bad(raster->group))
        return message("stage '" + stage.name + "'");
  }
  for (const Access &access : problem.accesses)
    if (badAll(access.guard) ||
        std::any_of(access.map.begin(), access.map.end(), bad) ||
        std::any_of(access.ids.begin(), access.ids.end(), badVariable) ||
        std::any_of(access.bounds.begin(), access.bounds.end(), badRange))
      return message("access '" + access.name + "'");
  for (const Claim &claim : problem.claims) {
    bool wrong =
        badAll(claim.premises) || badAll(claim.conclusions) ||
        std::any_of(claim.forAll.begin(), claim.forAll.end(), badVariable) ||
        std::any_of(claim.exists.begin(), claim.exists.end(), badVariable);
    for (const std::vector<Expr> &witness : claim.witnesses)
      wrong = wrong || std::any_of(witness.begin(), witness.end(), bad);
    if (wrong)
      return message("claim '" + claim.name + "'");
  }
  for (Term term : problem.outputs)
    if (badVariable(term))
      return "an output is no variable";
  return "";
}

std::string Decider::checkChain() const {
  if (problem.stages.empty())
    return problem.outputs.empty() ? "" : "no stage makes the outputs";
  std::map<Term, size_t> madeBy, usedBy;
  for (size_t number = 0; number < problem.stages.size(); ++number) {
    const Stage &stage = problem.stages[number];
    for (Term input : inputsOf(stage)) {
      if (space.kind(input) == TermKind::Symbol)
        return "stage '" + stage.name + "' has the symbol '" +
               space.name(input) + "' as an id";
      if (!usedBy.emplace(input, number).second)
        return "'" + space.name(input) + "' is used twice, in stage '" +
               stage.name + "' again";
      if (space.kind(input) == TermKind::Coordinate && !madeBy.count(input))
        return "stage '" + stage.name + "' uses '" + space.name(input) +
               "', which no stage before it makes";
      // What another stage made is part of every event.
      if (const auto *affine = std::get_if<AffineStage>(&stage.kind))
        if (madeBy.count(input))
          for (const Writer &writer : affine->writers)
            if (std::find(writer.ids.begin(), writer.ids.end(), input) ==
                writer.ids.end())
              return "writer '" + writer.name + "' of stage '" + stage.name +
                     "' lacks '" + space.name(input) + "'";
    }
    for (Term output : outputsOf(stage)) {
      if (space.kind(output) != TermKind::Coordinate)
        return "stage '" + stage.name + "' makes '" + space.name(output) +
               "', which is no coordinate";
      if (!madeBy.emplace(output, number).second)
        return "'" + space.name(output) + "' is made twice, in stage '" +
               stage.name + "' again";
    }
  }
  for (Term output : problem.outputs)
    if (!madeBy.count(output) || usedBy.count(output))
      return "output '" + space.name(output) + "' is " +
             (usedBy.count(output) ? "used by a stage" : "made by no stage");
  std::set<Term> outputs(problem.outputs.begin(), problem.outputs.end());
  if (outputs.size() != problem.outputs.size())
    return "an output is named twice";
  for (auto [made, number] : madeBy)
    if (!usedBy.count(made) && !outputs.count(made))
      return "'" + space.name(made) + "' is neither used nor an output";
  // An id that no stage has would write everything again.
  std::set<Term> elsewhere;
  for (const Access &access : problem.accesses)
    elsewhere.insert(access.ids.begin(), access.ids.end());
  for (const Claim &claim : problem.claims) {
    elsewhere.insert(claim.forAll.begin(), claim.forAll.end());
    elsewhere.insert(claim.exists.begin(), claim.exists.end());
  }
  for (uint32_t index = 0; index < problem.space.size(); ++index)
    if (space.isVariable({index}) && space.kind({index}) == TermKind::Id &&
        !usedBy.count({index}) && !elsewhere.count({index}))
      return "id '" + space.name({index}) + "' is in no stage";
  return "";
}

std::string Decider::checkDivisors() {
  for (uint32_t index = 0; index < problem.space.size(); ++index) {
    if (space.kind({index}) != TermKind::Quotient)
      continue;
    Expr divisor = space.operand({index}, 1);
    if (divisor.isConstant())
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

Outcome Decider::decideStage(size_t number) {
  const Stage &stage = problem.stages[number];
  if (const auto *affine = std::get_if<AffineStage>(&stage.kind))
    return decideAffine(prover, *affine);
  if (const auto *lanes = std::get_if<LaneStage>(&stage.kind))
    return decideLanes(prover, *lanes);
  if (const auto *euclid = std::get_if<EuclidStage>(&stage.kind))
    return decideEuclid(prover, *euclid);
  return decideRaster(prover, std::get<RasterStage>(stage.kind));
}

/// A stage may claim more than the kernel needs. A fault between stages is
/// confirmed from end to end, at the sizes where it was found.
Outcome Decider::confirm(Outcome outcome) {
  if (problem.stages.size() == 1)
    return outcome;
  Constraints known, positive;
  std::vector<Term> symbols;
  for (uint32_t index = 0; index < problem.space.size(); ++index) {
    if (space.kind({index}) != TermKind::Symbol)
      continue;
    symbols.push_back({index});
    auto found = std::find_if(
        outcome.finding.point.begin(), outcome.finding.point.end(),
        [&](auto &entry) { return entry.first == space.name({index}); });
    if (found != outcome.finding.point.end())
      known.push_back(equal(Term{index}, found->second));
    else
      positive.push_back(atLeast(Term{index}, 1));
  }
  Constraints all = known;
  all.insert(all.end(), positive.begin(), positive.end());
  LinearSystem::Point point;
  if (prover.findPoint(all, symbols, point) != Prover::Found &&
      prover.findPoint(known, symbols, point) != Prover::Found)
    return Outcome::notDecided(outcome.finding.str());
  std::map<std::string, int64_t> sizes;
  for (Term symbol : symbols)
    sizes[space.name(symbol)] = point[symbol];
  Problem stagesOnly = problem;
  stagesOnly.accesses.clear();
  stagesOnly.claims.clear();
  Result whole = enumerate(stagesOnly, sizes, options.maxEvents);
  if (whole.verdict == Verdict::Refuted)
    return outcome;
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
  result.reason = checkExpressions();
  if (result.reason.empty())
    result.reason = checkChain();
  if (result.reason.empty())
    result.reason = checkDivisors();
  if (!result.reason.empty())
    return finish();
  // Of no sizes everything is true.
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
    Outcome outcome = decideStage(number);
    if (outcome.verdict == Verdict::Refuted)
      outcome = confirm(std::move(outcome));
    outcome.finding.stage = int(number);
    take(std::move(outcome), "stage '" + problem.stages[number].name + "'");
    if (result.verdict == Verdict::Refuted)
      return finish();
  }
  for (size_t number = 0; number < problem.accesses.size(); ++number) {
    Outcome outcome = decideAccess(prover, problem.accesses[number]);
    outcome.finding.access = int(number);
    take(std::move(outcome), "access '" + problem.accesses[number].name + "'");
    if (result.verdict == Verdict::Refuted)
      return finish();
  }
  for (size_t number = 0; number < problem.claims.size(); ++number) {
    Outcome outcome = decideClaim(prover, problem.claims[number]);
    outcome.finding.claim = int(number);
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
