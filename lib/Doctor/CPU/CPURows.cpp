//===- CPURows.cpp - Softmax and norms by rows of vectors -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../Numbers.h"
#include "../Variants.h"
#include "tracea/Doctor/CPUModel.h"

#include <algorithm>

using namespace tracea::doctor;

namespace {

//===----------------------------------------------------------------------===//
// row
//===----------------------------------------------------------------------===//

class RowVariant final : public CPUVariant {
public:
  std::string_view name() const override { return "row"; }
  std::string_view summary() const override {
    return "runs over each row with several vectors at a time: once for each "
           "reduction, once for the result";
  }
  bool serves(OpKind op) const override {
    return op == OpKind::Softmax || op == OpKind::LayerNorm ||
           op == OpKind::RMSNorm;
  }

  Plan plan(const Problem &problem,
            const TargetDescription &target) const override {
    CPUModel model(target, problem.accumulator);
    // Four vectors hide the latency of the reduction's chain.
    int64_t vectors = 4;
    if (problem.columns != kUnknownExtent)
      vectors = std::clamp<int64_t>(ceilDiv(problem.columns, model.lanes), 1,
                                    vectors);
    Plan plan = emptyPlan();
    plan.tile = {1, vectors * model.lanes};
    plan.registers() = {plan.tile[0], plan.tile[1]};
    return plan;
  }
  Reason checkTiles(const Problem &problem, const TargetDescription &target,
                    const Plan &plan) const override {
    CPUModel model(target, problem.accumulator);
    if (Reason reason = checkTile(model, plan, {{"rows"}, {"columns"}});
        !reason.empty())
      return reason;
    if (plan.tile[0] != plan.registers()[0] ||
        plan.tile[1] != plan.registers()[1])
      return "the tile and the register tile must be equal";
    if (plan.tile[0] != 1)
      return "the tile must have one row, found " +
             std::to_string(plan.tile[0]);
    return "";
  }
  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &) const override {
    CPUModel model(target, problem.accumulator);
    // Two passes that read, one that writes; an exponential costs about a dozen
    // instructions a vector. Rows next to each other in memory cost a gather.
    double perVector = problem.kind == OpKind::Softmax ? 30 : 8;
    double gather = problem.innermost ? 1 : static_cast<double>(model.lanes);
    double vectors = elementsOf(problem) / static_cast<double>(model.lanes);
    return model.spread(static_cast<double>(model.cores),
                        vectors * perVector * gather /
                            static_cast<double>(model.cores));
  }
};

} // namespace

void tracea::doctor::addCPURowVariants(Registry &registry) {
  registry.add(std::make_unique<RowVariant>());
}
