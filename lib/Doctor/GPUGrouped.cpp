//===- GPUGrouped.cpp - Products of groups of rows on GPUs ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups are products with the same n and k, whose rows only the run knows. The
// tiles are those of one product; what they cost beyond it is the last tile of
// each group, half empty on average, and a second operand for each group.

#include "GPUGemmModel.h"
#include "Numbers.h"
#include "Variants.h"

#include <cstdio>

using namespace tracea::doctor;

namespace {

class GroupedGemm final : public Variant {
public:
  /// `product` is the variant for one product by the same unit.
  explicit GroupedGemm(const Variant &product) : product(product) {}

  std::string_view name() const override { return "grouped.warpgroup"; }
  std::string_view summary() const override {
    return "walks over tiles of all groups, whose rows each workgroup finds "
           "from their ends";
  }
  bool serves(OpKind op) const override { return op == OpKind::GroupedGemm; }
  bool runsOn(TargetKind kind) const override {
    return kind == TargetKind::CUDA;
  }

  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override {
    if (problem.groups == 0)
      return "there are no groups";
    return product.whyNot(asProduct(problem), target);
  }
  Reason whyNotUnasked(const Problem &problem,
                       const TargetDescription &target) const override {
    if (problem.hasOpenRows)
      return "only the run knows where rows begin, and its copies need them at "
             "multiples of 16 bytes";
    return product.whyNotUnasked(asProduct(problem), target);
  }

  Plan plan(const Problem &problem,
            const TargetDescription &target) const override {
    bool isFound = false;
    return choose(problem, target, nullptr, isFound);
  }

  Reason checkPlan(const Problem &problem, const TargetDescription &target,
                   const Plan &plan) const override {
    // Tiles of a grouped product are checked as those of one product of the
    // same shape.
    Plan whole = plan;
    schedule::WarpgroupGemm fields;
    static_cast<schedule::WarpgroupRing &>(fields) =
        plan.as<schedule::WarpgroupRing>();
    whole.params = fields;
    return product.check(asProduct(problem), target, whole);
  }

  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &plan) const override {
    return estimate(problem, target, tileOf(plan), /*isTransposed=*/false)
        .cycles;
  }

  std::string reasoning(const Problem &problem, const TargetDescription &target,
                        const Plan &plan) const override;

private:
  static Problem asProduct(Problem problem) {
    problem.kind = OpKind::Gemm;
    problem.groups = 1;
    return problem;
  }
  /// The cheapest plan of the table's tiles but `except`.
  Plan choose(const Problem &problem, const TargetDescription &target,
              const Plan *except, bool &isFound) const;

  const Variant &product;
};

} // namespace

Plan GroupedGemm::choose(const Problem &problem,
                         const TargetDescription &target, const Plan *except,
                         bool &isFound) const {
  Plan best;
  double least = 0;
  isFound = false;
  for (WarpgroupTile tile : warpgroupTiles()) {
    tile.k = stagedRowOf(problem);
    while (tile.slots > 2 &&
           sharedBytesOf(problem, tile) > target.shared.perWorkgroup)
      --tile.slots;
    Plan plan = planOf(tile, /*isGrouped=*/true);
    if ((except && except->tile == plan.tile) ||
        !check(problem, target, plan).empty())
      continue;
    double cycles = this->cycles(problem, target, plan);
    if (isFound && cycles >= least)
      continue;
    isFound = true;
    best = plan;
    least = cycles;
  }
  return best;
}

std::string GroupedGemm::reasoning(const Problem &problem,
                                   const TargetDescription &target,
                                   const Plan &plan) const {
  WarpgroupEstimate what =
      estimate(problem, target, tileOf(plan), /*isTransposed=*/false);
  std::string result =
      "some " + text(what.tileRows) + " x " + text(what.tileColumns) +
      " tiles, half a tile of each group unused, are " + text(what.waves) +
      (what.waves == 1 ? " wave on " : " waves on ") + text(target.cores) +
      " multiprocessors, a step of k is bound by " + what.limit;
  if (problem.m == kUnknownExtent || problem.n == kUnknownExtent ||
      problem.k == kUnknownExtent)
    result += ", with 4096 for each extent that only the run knows";
  bool isFound = false;
  Plan next = choose(problem, target, &plan, isFound);
  if (isFound) {
    char ratio[32];
    std::snprintf(ratio, sizeof ratio, "%.2f",
                  cycles(problem, target, next) / what.cycles);
    result +=
        "; next is " + describe(next) + " with " + ratio + " times the cycles";
  }
  return result;
}

void tracea::doctor::addGPUGroupedVariants(Registry &registry) {
  if (const Variant *product = registry.find("gemm.warpgroup"))
    registry.add(std::make_unique<GroupedGemm>(*product));
}
