//===- Evaluator.h - Values of expressions at a point ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact, each term once for each point; nothing that does not fit 64 bits.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_ANALYSIS_COVERAGE_EVALUATOR_H
#define TRACEA_LIB_ANALYSIS_COVERAGE_EVALUATOR_H

#include "tracea/Analysis/Coverage/Space.h"

namespace tracea::coverage {

class Evaluator {
public:
  explicit Evaluator(const Space &space) : space(space), slots(space.size()) {}

  void set(Term variable, int64_t value);
  std::optional<int64_t> value(const Expr &expr);
  std::optional<bool> holds(const Constraint &constraint);

private:
  struct Slot {
    int64_t value = 0;
    /// Of which round the value is; variables are of every round once set.
    uint64_t round = 0;
    bool known = false;
  };
  bool compute(Term term);

  const Space &space;
  std::vector<Slot> slots;
  uint64_t round = 1;
};

} // namespace tracea::coverage

#endif // TRACEA_LIB_ANALYSIS_COVERAGE_EVALUATOR_H
