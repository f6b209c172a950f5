//===- CPURows.cpp - Row-wise and elementwise operations, the fallback ----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Numbers.h"
#include "Variants.h"
#include "tracea/Doctor/CPUModel.h"

#include <algorithm>

using namespace tracea::doctor;

namespace {

/// Elements of the result; extents unknown or overflowing count as typical.
double elementsOf(const Problem &problem) {
  return static_cast<double>(assumed(problem.rows)) *
         static_cast<double>(assumed(problem.columns));
}

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

//===----------------------------------------------------------------------===//
// elementwise
//===----------------------------------------------------------------------===//

/// Variants without tiles: the lowering takes the shape as it comes.
class UntiledVariant : public CPUVariant {
public:
  Plan plan(const Problem &, const TargetDescription &) const final {
    return emptyPlan();
  }
  Reason checkTiles(const Problem &, const TargetDescription &,
                    const Plan &plan) const final {
    return plan.tile.empty() ? "" : "the variant takes no tile";
  }
};

class ElementwiseVariant final : public UntiledVariant {
public:
  std::string_view name() const override { return "elementwise"; }
  std::string_view summary() const override {
    return "computes each element of the result by itself";
  }
  bool serves(OpKind op) const override { return op == OpKind::BatchNorm; }

  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &) const override {
    CPUModel model(target, problem.accumulator);
    double vectors = elementsOf(problem) / static_cast<double>(model.lanes);
    return model.spread(static_cast<double>(model.cores),
                        vectors * 8 / static_cast<double>(model.cores));
  }
};

//===----------------------------------------------------------------------===//
// linalg
//===----------------------------------------------------------------------===//

class LinalgVariant final : public UntiledVariant {
public:
  std::string_view name() const override { return "linalg"; }
  std::string_view summary() const override {
    return "spells the operation out as loops over scalars";
  }
  bool serves(OpKind) const override { return true; }
  bool isFallback() const override { return true; }

  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &) const override {
    CPUModel model(target, problem.accumulator);
    // A dependent multiply-add or a few scalar instructions an operation.
    return model.spread(static_cast<double>(model.cores),
                        4 * operations(problem) /
                            static_cast<double>(model.cores));
  }

private:
  static double operations(const Problem &problem) {
    auto product = [](std::initializer_list<int64_t> extents) {
      double result = 1;
      for (int64_t extent : extents)
        result *= static_cast<double>(assumed(extent, 64));
      return result;
    };
    switch (problem.kind) {
    case OpKind::Gemm:
      return product({problem.batch, problem.m, problem.n, problem.k});
    case OpKind::GroupedGemm:
      return product({problem.m, problem.n, problem.k});
    case OpKind::Conv2D:
      return product({problem.images, problem.outputHeight, problem.outputWidth,
                      problem.groups, problem.groupFilters,
                      problem.groupChannels, problem.filterHeight,
                      problem.filterWidth});
    case OpKind::Attention:
      return product({problem.batch, problem.m, problem.n}) *
             (product({problem.k}) + product({problem.valueDim}));
    case OpKind::Softmax:
    case OpKind::BatchNorm:
    case OpKind::LayerNorm:
    case OpKind::RMSNorm:
      return 10 * elementsOf(problem);
    }
    return 0;
  }
};

} // namespace

void tracea::doctor::addCPURowVariants(Registry &registry) {
  registry.add(std::make_unique<RowVariant>());
  registry.add(std::make_unique<ElementwiseVariant>());
}

void tracea::doctor::addCPUFallbackVariants(Registry &registry) {
  registry.add(std::make_unique<LinalgVariant>());
}
