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
  // Image, row and column of a pixel, in 64 bits.
  constexpr int64_t pixelBytes = 3 * 8;
  const auto &ring = plan.as<schedule::LaneRing>();
  return ring.slots * (plan.tile[0] + plan.tile[1]) * plan.tile[2] *
             bytesOf(problem.operand) +
         ring.table * plan.tile[0] * pixelBytes;
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
  return checkParts(problem.k, plan.tile[2],
                    plan.as<schedule::LaneRing>().split);
}

void addParts(const Problem &problem, const TargetDescription &target,
              const Plan &plan, std::vector<Plan> &plans) {
  plans.push_back(plan);
  // Parts of an unknown sum would often be empty. Two are not worth another
  // kernel.
  constexpr double worthwhile = 3;
  if (problem.k == kUnknownExtent || problem.hasOpenRows ||
      tilesOf(problem, plan) * worthwhile > std::max(target.cores, 1))
    return;
  for (int64_t split : splitsOfSums()) {
    if (split == 1)
      continue;
    Plan cut = plan;
    cut.as<schedule::LaneRing>().split = split;
    if (!checkParts(problem.k, plan.tile[2], split).empty())
      return;
    plans.push_back(std::move(cut));
  }
}

Reason whyPartsAlone(const Plan &plan) {
  return plan.as<schedule::LaneRing>().split > 1
             ? "another kernel adds up the parts of its sums"
             : "";
}

double tilesOf(const Problem &problem, const Plan &plan) {
  return static_cast<double>(ceilDiv(extentOf(problem.m), plan.tile[0])) *
         static_cast<double>(ceilDiv(extentOf(problem.n), plan.tile[1])) *
         static_cast<double>(plan.as<schedule::LaneRing>().split) *
         batchOf(problem);
}

int64_t stepsOf(const Problem &problem, const Plan &plan) {
  return ceilDiv(ceilDiv(extentOf(problem.k), plan.tile[2]),
                 plan.as<schedule::LaneRing>().split);
}

double withMemory(const Problem &problem, const TargetDescription &target,
                  const Plan &plan, double compute) {
  // Copies of lanes reach this much of what copies in bulk do, and the two do
  // not overlap wholly.
  constexpr double reached = 0.9, exposed = 0.1;
  // Parts are written and read in the type of sums.
  constexpr double nextKernelCycles = 6000, partBytesPerCycle = 40;
  auto m = static_cast<double>(extentOf(problem.m));
  auto n = static_cast<double>(extentOf(problem.n));
  double memory = 0;
  if (target.memoryGBs > 0 && target.clockGHz > 0) {
    double moved =
        batchOf(problem) *
        (firstElementsOf(problem) + secondElementsOf(problem) + m * n) *
        static_cast<double>(bytesOf(problem.operand));
    memory = moved / (reached * target.memoryGBs / target.clockGHz);
  }
  double sum = 0;
  if (int64_t split = plan.as<schedule::LaneRing>().split; split > 1)
    sum = nextKernelCycles +
          2 * static_cast<double>(bytesOf(problem.accumulator)) *
              static_cast<double>(split) * batchOf(problem) * m * n /
              (partBytesPerCycle * std::max(target.cores, 1));
  return std::max(compute, memory) + exposed * std::min(compute, memory) + sum;
}

} // namespace tracea::doctor
