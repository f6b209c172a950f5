//===- CoverageView.h - Who writes what, in words ---------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_EXPLAIN_COVERAGEVIEW_H
#define TRACEA_EXPLAIN_COVERAGEVIEW_H

#include "tracea/Analysis/Coverage/Problem.h"

namespace tracea::explain {

/// The theorem, then its stages: for which ids each writer writes, under which
/// guard, and what.
std::string coverageText(const coverage::Problem &problem);

} // namespace tracea::explain

#endif // TRACEA_EXPLAIN_COVERAGEVIEW_H
