//===- Chain.cpp - Whether stages fit together ---------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Syntax alone: the box of a coordinate is its range, so that what one stage
// makes and another one takes is the same box.

#include "Stages.h"
#include <algorithm>

using namespace tracea::coverage;

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

/// Expressions that are invalid, or of terms that the space does not have.
std::string tracea::coverage::checkExpressions(const Problem &problem) {
  const Space &space = problem.space;
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

std::string tracea::coverage::checkChain(const Problem &problem) {
  const Space &space = problem.space;
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
