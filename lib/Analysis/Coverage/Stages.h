//===- Stages.h - Decides one stage ---------------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_ANALYSIS_COVERAGE_STAGES_H
#define TRACEA_LIB_ANALYSIS_COVERAGE_STAGES_H

#include "Prover.h"

namespace tracea::coverage {

struct Outcome {
  Verdict verdict = Verdict::Proved;
  std::string reason;
  Finding finding;

  static Outcome notDecided(std::string reason) {
    return {Verdict::NotDecided, std::move(reason), {}};
  }
  static Outcome refuted(Finding finding) {
    return {Verdict::Refuted, "", std::move(finding)};
  }
};

/// Whether the stage is a bijection onto the box of its coordinates.
Outcome decideAffine(Prover &prover, const AffineStage &stage);
/// Without joining parts of symbolic length.
Outcome decideAffineAsGiven(Prover &prover, const AffineStage &stage);
Outcome decideLanes(Prover &prover, const LaneStage &stage);
Outcome decideEuclid(Prover &prover, const EuclidStage &stage);
Outcome decideRaster(Prover &prover, const RasterStage &stage);

Outcome decideAccess(Prover &prover, const Access &access);
Outcome decideClaim(Prover &prover, const Claim &claim);

/// The same stage with the quotient spelled out.
AffineStage toAffine(Space &space, const EuclidStage &stage);

/// Why the problem is outside of the method before anything is asked; empty: it
/// is not.
std::string checkExpressions(const Problem &problem);
std::string checkChain(const Problem &problem);

/// Whether no variables but these and symbols occur.
bool dependsOnlyOn(const Space &space, const Expr &expr,
                   const std::vector<Term> &variables);

/// The ids (or coordinates) that a stage takes, and the coordinates it makes.
std::vector<Term> inputsOf(const Stage &stage);
std::vector<Term> outputsOf(const Stage &stage);

/// The values of some variables at a point, symbols first.
std::vector<std::pair<std::string, int64_t>>
showPoint(const Space &space, const LinearSystem::Point &point,
          const std::vector<Term> &variables);

/// "'row', 'column'"
std::string listNames(const Space &space, const std::vector<Term> &terms);

} // namespace tracea::coverage

#endif // TRACEA_LIB_ANALYSIS_COVERAGE_STAGES_H
