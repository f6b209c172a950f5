//===- NumericsSchedules.cpp - Schedules by chance ------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NumericsSchedules.h"

#include "tracea/Doctor/Doctor.h"
#include "tracea/Doctor/Registry.h"

using namespace mlir;
using namespace mlir::tracea;
using ::tracea::doctor::Plan;
using ::tracea::doctor::Problem;
using ::tracea::doctor::Registry;
using ::tracea::doctor::Variant;
using ::tracea::numerics::Random;
using ::tracea::target::TargetDescription;

/// The plans that may be given to an operation, whatever they would cost.
static std::vector<Plan> getPlans(const Variant &variant,
                                  const Problem &problem,
                                  const TargetDescription &target) {
  std::vector<Plan> plans;
  if (!variant.serves(problem.kind) || !variant.runsOn(target.kind) ||
      !variant.whyNot(problem, target).empty())
    return plans;
  for (Plan &plan : variant.plans(problem, target))
    if (checkSchedule(Registry::builtin(), problem, target, variant.name(),
                      plan)
            .empty())
      plans.push_back(std::move(plan));
  return plans;
}

int ::tracea::numerics::giveSchedules(ModuleOp module, std::string_view name,
                                      Random &random) {
  const Variant *variant = Registry::builtin().find(name);
  auto attr = module->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName);
  if (!variant || !attr)
    return 0;
  FailureOr<TargetDescription> target =
      getTargetDescription(attr, [&] { return module.emitError(); });
  if (failed(target))
    return 0;
  int given = 0;
  module.walk([&](ScheduledOpInterface op) {
    FailureOr<Problem> problem = getProblem(op);
    if (failed(problem))
      return;
    std::vector<Plan> plans = getPlans(*variant, *problem, *target);
    if (plans.empty())
      return;
    const Plan &plan = plans[random.below(int64_t(plans.size()))];
    op.setScheduleAttr(getScheduleAttr(
        module.getContext(), StringRef(name.data(), name.size()), plan));
    ++given;
  });
  return given;
}

int ::tracea::numerics::getSumDigits(ModuleOp module) {
  auto attr = module->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName);
  FailureOr<TargetDescription> target =
      getTargetDescription(attr, [&] { return module.emitError(); });
  if (failed(target))
    return 0;
  int digits = 0;
  module.walk([&](ScheduledOpInterface op) {
    FailureOr<Problem> problem = getProblem(op);
    for (ScheduleAttr schedule = op.getScheduleAttr();
         schedule && succeeded(problem); schedule = schedule.getOtherwise()) {
      const ::tracea::target::MatrixShape *shape = target->findShape(
          getPlan(schedule).unit, problem->operand, problem->accumulator);
      if (shape && shape->sumDigits)
        digits = digits ? std::min(digits, shape->sumDigits) : shape->sumDigits;
    }
  });
  return digits;
}

bool ::tracea::numerics::roundsWeights(ModuleOp module) {
  return module
      .walk([](AttentionOp op) {
        for (ScheduleAttr schedule = op.getScheduleAttr(); schedule;
             schedule = schedule.getOtherwise())
          if (schedule.getVariant() == "attention.dot")
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

bool ::tracea::numerics::hasVariant(std::string_view variant) {
  return Registry::builtin().find(variant);
}
