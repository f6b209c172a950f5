//===- CPUProduct.h - Matrix products on CPUs, in parts ---------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_DOCTOR_CPU_CPUPRODUCT_H
#define TRACEA_LIB_DOCTOR_CPU_CPUPRODUCT_H

#include "CPUUnits.h"

namespace tracea::doctor {

/// A base of matrix products. Threads share the tiles of a result; where these
/// are few and sums long, sums are cut into parts, which threads share as well.
/// The processors of the target say how many, so that results do not depend on
/// how many threads run.
class CPUProduct : public CPUUnitVariant {
public:
  bool serves(OpKind op) const final { return op == OpKind::Gemm; }
  /// For each unit those of whole sums, then those of parts.
  std::vector<Plan> plans(const Problem &problem,
                          const TargetDescription &target) const final;
  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &plan) const final;
  Reason whyAlone(const Problem &, const TargetDescription &,
                  const Plan &plan) const final;
  std::string reasoning(const Problem &problem, const TargetDescription &target,
                        const Plan &plan) const final;

protected:
  /// Of whole sums.
  Plan planOn(UnitKind unit, const Problem &problem,
              const TargetDescription &target) const final {
    return planOf(unit, problem, target, modelOf(unit, problem, target).cores);
  }
  /// The best plan for the unit and one part of sums, whose k the problem has,
  /// where `shares` cores are left for it.
  virtual Plan planOf(UnitKind unit, const Problem &part,
                      const TargetDescription &target,
                      int64_t shares) const = 0;
  /// Cycles of one tile of a plan, for the k of the problem, beside those of
  /// reading its operands once.
  virtual double tileCycles(const Problem &problem,
                            const TargetDescription &target,
                            const Plan &plan) const = 0;

  /// What is wrong with the number of parts.
  static Reason checkSplit(const Problem &problem, const Plan &plan);

private:
  /// Cycles of reading a tile's operands once.
  static double readCycles(const Problem &problem, const Plan &plan);
};

} // namespace tracea::doctor

#endif // TRACEA_LIB_DOCTOR_CPU_CPUPRODUCT_H
