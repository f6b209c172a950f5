//===- CoverageView.cpp - Who writes what, in words -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Explain/CoverageView.h"
#include "tracea/Explain/LaneView.h"

using namespace tracea::explain;
using namespace tracea::coverage;

static std::string rangeOf(const Space &space, const Range &range) {
  return "[" + space.str(range.lower) + ", " +
         (range.upper ? space.str(*range.upper) : "infinity") + ")";
}

/// "t in [0, ceildiv(M, 128)), i in [0, 128)".
static std::string rangesOf(const Space &space,
                            const std::vector<Term> &terms) {
  std::string text;
  for (Term term : terms)
    text += (text.empty() ? "" : ", ") + space.name(term) + " in " +
            rangeOf(space, space.range(term));
  return text.empty() ? "nothing" : text;
}

static std::string conditions(const Space &space,
                              const std::vector<Constraint> &guard) {
  std::string text;
  for (const Constraint &constraint : guard)
    text += (text.empty() ? ", if " : " and ") + space.str(constraint);
  return text;
}

static std::string tuple(const Space &space, const std::vector<Expr> &exprs) {
  std::string text;
  for (const Expr &expr : exprs)
    text += (text.empty() ? "" : ", ") + space.str(expr);
  return "(" + text + ")";
}

static std::string namesOf(const Space &space, const std::vector<Term> &terms) {
  std::string text;
  for (Term term : terms)
    text += (text.empty() ? "" : ", ") + space.name(term);
  return "(" + text + ")";
}

static std::string textOf(const Space &space, const Stage &stage) {
  std::string text = "  stage '" + stage.name + "'";
  if (const auto *affine = std::get_if<AffineStage>(&stage.kind)) {
    text += ": the elements " + namesOf(space, affine->coordinates) + " of " +
            rangesOf(space, affine->coordinates) + ", each by one of\n";
    for (const Writer &writer : affine->writers)
      text += "    '" + writer.name + "' for " + rangesOf(space, writer.ids) +
              conditions(space, writer.guard) + ": " +
              tuple(space, writer.map) + "\n";
    return text;
  }
  if (const auto *lanes = std::get_if<LaneStage>(&stage.kind))
    return text + ": registers and lanes hold " +
           namesOf(space, lanes->coordinates) + ": " +
           describeLanes(lanes->map) + "\n";
  if (std::holds_alternative<EuclidStage>(stage.kind))
    return text + ": a quotient and a remainder for each whole number, and "
                  "back\n";
  return text + ": the tiles of a grid in another order, each once\n";
}

std::string tracea::explain::coverageText(const Problem &problem) {
  const Space &space = problem.space;
  std::string text = "theorem";
  std::string theorem = describe(problem);
  for (size_t begin = 0; begin <= theorem.size();) {
    size_t end = std::min(theorem.find("; ", begin), theorem.size());
    text += (begin ? ";\n  " : ":\n  ") + theorem.substr(begin, end - begin);
    begin = end + 2;
  }
  text += "\n";
  for (const Stage &stage : problem.stages)
    text += textOf(space, stage);
  for (const Access &access : problem.accesses)
    text += "  in bounds: '" + access.name + "' at " +
            tuple(space, access.map) + " for " + rangesOf(space, access.ids) +
            conditions(space, access.guard) + "\n";
  for (const Claim &claim : problem.claims)
    text += "  holds: '" + claim.name + "' for " +
            rangesOf(space, claim.forAll) + "\n";
  return text;
}
