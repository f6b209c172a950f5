//===- CPUDots.h - What variants by dot products share ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Their kernels are those of the variants that multiply element by element,
// with words of neighbours along k in place of elements. Their names end in
// ".dot".

#ifndef TRACEA_LIB_DOCTOR_CPUDOTS_H
#define TRACEA_LIB_DOCTOR_CPUDOTS_H

#include "tracea/Doctor/CPUModel.h"

namespace tracea::doctor {

/// Why the target has no dot products for the problem; empty: it has.
Reason whyNoDots(const Problem &problem, const TargetDescription &target);

/// Elements of a word of the problem's dot products; 1 where there are none.
int64_t dotWordLength(const Problem &problem, const TargetDescription &target);

/// The units of the target that multiply the problem's words.
std::vector<UnitKind> dotUnits(const Problem &problem,
                               const TargetDescription &target);

/// Whether this is one of them. Where there are none nothing stands against
/// any: that has a reason of its own.
bool multipliesDots(UnitKind unit, const Problem &problem,
                    const TargetDescription &target);

/// Whether a constant right operand of the unit's products is packed once for
/// many runs: words whose columns are summed up as well are staged.
bool packsConstants(const Problem &problem, const TargetDescription &target,
                    UnitKind unit);

/// The model of a processor that multiplies words on one of these.
CPUModel dotModel(const Problem &problem, const TargetDescription &target,
                  UnitKind unit);

/// Elements along k that the unit adds up together.
int64_t dotStepLength(const Problem &problem, const TargetDescription &target,
                      UnitKind unit);

/// What is wrong with `extent` of a tile, which is to hold whole steps of
/// `length` elements.
Reason checkWords(const Plan &plan, size_t extent, std::string_view name,
                  int64_t length);

/// The variant that multiplies words of a dot product where `Base`, whose loops
/// and plans it has, multiplies elements.
template <typename Base>
class ByDots : public Base {
public:
  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override {
    if (Reason reason = whyNoDots(problem, target); !reason.empty())
      return reason;
    return Base::whyNot(problem, target);
  }
  Reason checkTiles(const Problem &problem, const TargetDescription &target,
                    const Plan &plan) const override {
    if (Reason reason = this->whyNot(problem, target); !reason.empty())
      return reason;
    if (Reason reason =
            checkSteps(plan, dotStepLength(problem, target, plan.unit));
        !reason.empty())
      return reason;
    return Base::checkTiles(problem, target, plan);
  }

protected:
  /// What is wrong with the extent of a plan that holds whole steps of `length`
  /// elements.
  virtual Reason checkSteps(const Plan &plan, int64_t length) const = 0;
  std::vector<UnitKind>
  unitsFor(const Problem &problem,
           const TargetDescription &target) const override {
    return dotUnits(problem, target);
  }
  CPUModel modelOf(UnitKind unit, const Problem &problem,
                   const TargetDescription &target) const override {
    return dotModel(problem, target, unit);
  }
  int64_t wordLength(const Problem &problem,
                     const TargetDescription &target) const override {
    return dotWordLength(problem, target);
  }
  bool multipliesOn(UnitKind unit, const Problem &problem,
                    const TargetDescription &target) const override {
    return multipliesDots(unit, problem, target);
  }
};

} // namespace tracea::doctor

#endif // TRACEA_LIB_DOCTOR_CPUDOTS_H
