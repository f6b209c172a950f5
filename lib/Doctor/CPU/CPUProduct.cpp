//===- CPUProduct.cpp - Matrix products on CPUs, in parts -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CPUProduct.h"
#include "../Numbers.h"
#include "../Variants.h"

#include <algorithm>

namespace tracea::doctor {

static int64_t splitOf(const Plan &plan) {
  return plan.as<schedule::CPUGemm>().split;
}

/// The product that one part of its sums is, of `k` elements. Parts are summed
/// as they are, and another kernel makes results of them.
static Problem partOf(Problem problem, int64_t k) {
  problem.k = k;
  problem.result = problem.accumulator;
  problem.extras = 0;
  return problem;
}

/// The elements of k of the longest of a plan's parts.
static int64_t depthOf(const Problem &problem, const Plan &plan) {
  int64_t k = assumed(problem.k), step = plan.tile[2];
  return std::min(k, ceilDiv(ceilDiv(k, step), splitOf(plan)) * step);
}

/// Tiles of m x n that all products of the batch have.
static double countTiles(const Problem &problem, const Plan &plan) {
  return static_cast<double>(
             ceilDiv(std::max<int64_t>(1, assumed(problem.m)), plan.tile[0])) *
         static_cast<double>(
             ceilDiv(std::max<int64_t>(1, assumed(problem.n)), plan.tile[1])) *
         static_cast<double>(assumed(problem.batch, 1));
}

std::vector<Plan> CPUProduct::plans(const Problem &problem,
                                    const TargetDescription &target) const {
  std::vector<Plan> plans;
  for (UnitKind unit : unitsFor(problem, target)) {
    int64_t cores = modelOf(unit, problem, target).cores;
    plans.push_back(planOn(unit, problem, target));
    // Parts are for cores that would have nothing to do, or what others do as
    // well: only where extents tell.
    bool knowsExtents = true;
    for (int64_t extent : {problem.batch, problem.m, problem.n, problem.k})
      knowsExtents &= extent != kUnknownExtent;
    if (!knowsExtents)
      continue;
    for (int64_t split : splitsOfSums()) {
      if (split == 1 || split > cores || split > problem.k)
        continue;
      Plan plan = planOf(unit, partOf(problem, ceilDiv(problem.k, split)),
                         target, ceilDiv(cores, split));
      plan.as<schedule::CPUGemm>().split = split;
      plans.push_back(plan);
    }
  }
  return plans;
}

double CPUProduct::readCycles(const Problem &problem, const Plan &plan) {
  // From the last level, which copies and multiplies hide in part.
  constexpr double bytesPerCycle = 16;
  int64_t m = std::min(std::max<int64_t>(1, assumed(problem.m)), plan.tile[0]);
  int64_t n = std::min(std::max<int64_t>(1, assumed(problem.n)), plan.tile[1]);
  return static_cast<double>(assumed(problem.k)) *
         static_cast<double>(m * bytesOf(problem.operand) +
                             n * bytesOf(problem.second)) /
         bytesPerCycle;
}

double CPUProduct::cycles(const Problem &problem,
                          const TargetDescription &target,
                          const Plan &plan) const {
  CPUModel model = modelOf(plan.unit, problem, target);
  int64_t split = splitOf(plan);
  double tiles = countTiles(problem, plan) * static_cast<double>(split);
  auto cyclesOf = [&](const Problem &part) {
    return model.spread(tiles, tileCycles(part, target, plan) +
                                   readCycles(part, plan));
  };
  if (split == 1)
    return cyclesOf(problem);
  double parts = cyclesOf(partOf(problem, depthOf(problem, plan)));
  // Parts are read from where other cores left them. They have to save more
  // than the model's own error.
  constexpr double bytesPerCycle = 8, worthwhile = 0.97;
  double bytes = static_cast<double>(bytesOf(problem.accumulator)) *
                 static_cast<double>(split + 1) *
                 static_cast<double>(assumed(problem.batch, 1)) *
                 static_cast<double>(problem.m) *
                 static_cast<double>(problem.n);
  auto cores = static_cast<double>(model.cores);
  return (parts + model.spread(cores, bytes / bytesPerCycle / cores)) /
         worthwhile;
}

Reason CPUProduct::whyAlone(const Problem &, const TargetDescription &,
                            const Plan &plan) const {
  return splitOf(plan) > 1 ? "another kernel adds up the parts of its sums"
                           : "";
}

std::string CPUProduct::reasoning(const Problem &, const TargetDescription &,
                                  const Plan &plan) const {
  if (splitOf(plan) == 1)
    return "";
  return "its result has too few tiles for the cores, which take " +
         text(splitOf(plan)) +
         " parts of its sums; another kernel adds them up in their order";
}

Reason CPUProduct::checkSplit(const Problem &problem, const Plan &plan) {
  return checkParts(problem.k, plan.tile[2], splitOf(plan));
}

} // namespace tracea::doctor
