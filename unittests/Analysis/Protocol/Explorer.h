//===- Explorer.h - Every interleaving of a small protocol ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the checker's verdicts are compared with. It shares nothing with the
// checker but the programs: items have absolute numbers, barriers real
// parities, copies land whenever they like, races are seen where they happen,
// and every order of steps is walked, for all trip counts up to a bound.

#ifndef TRACEA_UNITTESTS_ANALYSIS_PROTOCOL_EXPLORER_H
#define TRACEA_UNITTESTS_ANALYSIS_PROTOCOL_EXPLORER_H

#include "tracea/Analysis/Protocol/Protocol.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tracea::analysis {

struct Exploration {
  /// The first violation met; empty if there is none.
  std::string violation;
  /// Gave up at the bound on states.
  bool exhausted = false;
  int64_t states = 0;
};

/// `iterations[t]` bounds the iterations of trip count t in the whole run.
Exploration explore(const Protocol &protocol,
                    const std::vector<int> &iterations, int64_t maxStates);

} // namespace tracea::analysis

#endif // TRACEA_UNITTESTS_ANALYSIS_PROTOCOL_EXPLORER_H
