//===- GPULaneModel.cpp - What lanes' products share ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GPULaneModel.h"

#include <algorithm>

namespace tracea::doctor {

/// Of products that the program does not count there is one.
static double batchOf(const Problem &problem) {
  return static_cast<double>(extentOf(assumed(problem.batch, 1)));
}

int64_t ringBytesOf(const Problem &problem, const Plan &plan) {
  return plan.as<schedule::LaneRing>().slots * (plan.tile[0] + plan.tile[1]) *
         plan.tile[2] * bytesOf(problem.operand);
}

Plan cheapestPlan(const Variant &variant, const Problem &problem,
                  const TargetDescription &target) {
  std::vector<Plan> all = variant.plans(problem, target);
  const Plan *best = nullptr;
  double least = 0;
  for (const Plan &plan : all) {
    double cost = variant.cycles(problem, target, plan);
    if ((best && cost >= least) ||
        !variant.check(problem, target, plan).empty())
      continue;
    best = &plan;
    least = cost;
  }
  return best ? *best : all.front();
}

Reason checkLanePlan(const Plan &plan, UnitKind unit) {
  if (plan.unit != unit)
    return "the unit must be " + std::string(stringify(unit)) + ", found " +
           std::string(stringify(plan.unit));
  if (plan.tile.size() != 3)
    return "the tile [m, n, k] must have 3 extents, found " +
           text(static_cast<int64_t>(plan.tile.size()));
  return "";
}

Reason checkRing(const Problem &problem, const TargetDescription &target,
                 const Plan &plan) {
  int64_t shared = ringBytesOf(problem, plan);
  if (shared > target.shared.perWorkgroup)
    return "it takes " + text(shared) + " bytes of shared memory, more than " +
           text(target.shared.perWorkgroup);
  return "";
}

double tilesOf(const Problem &problem, const Plan &plan) {
  return static_cast<double>(ceilDiv(extentOf(problem.m), plan.tile[0])) *
         static_cast<double>(ceilDiv(extentOf(problem.n), plan.tile[1])) *
         batchOf(problem);
}

double withMemory(const Problem &problem, const TargetDescription &target,
                  double compute) {
  // Copies of lanes reach this much of what copies in bulk do, and the two do
  // not overlap wholly.
  constexpr double reached = 0.9, exposed = 0.1;
  double memory = 0;
  if (target.memoryGBs > 0 && target.clockGHz > 0) {
    auto m = static_cast<double>(extentOf(problem.m));
    auto n = static_cast<double>(extentOf(problem.n));
    auto k = static_cast<double>(extentOf(problem.k));
    double moved = batchOf(problem) *
                   (firstElementsOf(problem) + k * n + m * n) *
                   static_cast<double>(bytesOf(problem.operand));
    memory = moved / (reached * target.memoryGBs / target.clockGHz);
  }
  return std::max(compute, memory) + exposed * std::min(compute, memory);
}

} // namespace tracea::doctor
