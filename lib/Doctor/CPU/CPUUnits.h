//===- CPUUnits.h - Variants with a plan for each unit ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_DOCTOR_CPU_CPUUNITS_H
#define TRACEA_LIB_DOCTOR_CPU_CPUUNITS_H

#include "../Variants.h"
#include "tracea/Doctor/CPUModel.h"

namespace tracea::doctor {

/// A base of variants that have plans for each unit that multiplies the
/// problem: one, or what they make of more.
class CPUUnitVariant : public CPUVariant {
public:
  Plan plan(const Problem &problem,
            const TargetDescription &target) const final {
    return cheapestPlan(*this, problem, target);
  }
  std::vector<Plan> plans(const Problem &problem,
                          const TargetDescription &target) const override {
    std::vector<Plan> plans;
    for (UnitKind unit : unitsFor(problem, target))
      if (multipliesOn(unit, problem, target))
        plans.push_back(planOn(unit, problem, target));
    return plans;
  }

protected:
  /// The units that a plan is made for.
  virtual std::vector<UnitKind> unitsFor(const Problem &,
                                         const TargetDescription &) const {
    return {UnitKind::Vector};
  }
  /// The best plan for one of the units.
  virtual Plan planOn(UnitKind unit, const Problem &problem,
                      const TargetDescription &target) const = 0;
  virtual CPUModel modelOf(UnitKind, const Problem &problem,
                           const TargetDescription &target) const {
    return CPUModel(target, problem.accumulator);
  }
  /// Elements along k that are multiplied as one.
  virtual int64_t wordLength(const Problem &, const TargetDescription &) const {
    return 1;
  }
};

} // namespace tracea::doctor

#endif // TRACEA_LIB_DOCTOR_CPU_CPUUNITS_H
