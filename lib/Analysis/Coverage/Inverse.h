//===- Inverse.h - Guesses the inverse of a writer's map ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing here is trusted: an inverse that is wrong proves nothing.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_ANALYSIS_COVERAGE_INVERSE_H
#define TRACEA_LIB_ANALYSIS_COVERAGE_INVERSE_H

#include "tracea/Analysis/Coverage/Problem.h"

namespace tracea::coverage {

/// For each id of the writer an expression in coordinates and symbols. Maps of
/// digits: tiles (id = ⌊x / T⌋), delinearization, fragments of lanes.
std::vector<Expr> guessInverse(Space &space, const Writer &writer,
                               const std::vector<Term> &coordinates);

} // namespace tracea::coverage

#endif // TRACEA_LIB_ANALYSIS_COVERAGE_INVERSE_H
