//===- GPUSimtAttention.cpp - Attention by the lanes of a GPU -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For what the units of warps would round, and for GPUs without such units.
//
//===----------------------------------------------------------------------===//
#include "GPUAttentionModel.h"
#include "GPULaneModel.h"
#include "Variants.h"

#include <algorithm>

using namespace tracea::doctor;

namespace {

/// Queries and keys of a workgroup, and queries of a lane.
struct Tile {
  int64_t m, n, laneM;
};

/// The preferred one of equals first.
constexpr Tile tiles[] = {{64, 32, 4}, {128, 32, 8}, {32, 32, 4}, {64, 32, 2},
                          {32, 32, 2}, {16, 32, 4},  {16, 32, 2}, {8, 32, 2}};
/// Lanes of a warp along queries and keys, and elements of a run.
constexpr int64_t lanesAlongM = 4, lanesAlongN = 8, run = 4;
constexpr int64_t mostExtent = 128;
/// Multiplies of a block, each of which reads its operands at once.
constexpr int64_t products = 4;
/// Registers of a lane that scores, outputs and fragments may take.
constexpr int64_t mostHeld = 245;

class SimtAttention final : public Variant {
public:
  std::string_view name() const override { return "attention.simt"; }
  std::string_view summary() const override {
    return "keeps scores and outputs in the registers of lanes, which multiply "
           "without a unit, and lets them copy blocks of keys and values ahead";
  }
  bool serves(OpKind op) const override { return op == OpKind::Attention; }
  bool runsOn(TargetKind kind) const override {
    return kind == TargetKind::CUDA;
  }
  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override;
  Plan plan(const Problem &problem,
            const TargetDescription &target) const override;
  std::vector<Plan> plans(const Problem &problem,
                          const TargetDescription &target) const override;
  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &plan) const override;
  Reason whyAlone(const Problem &problem, const TargetDescription &,
                  const Plan &plan) const override {
    return whyOtherKernels(problem, plan);
  }

protected:
  Reason checkPlan(const Problem &problem, const TargetDescription &target,
                   const Plan &plan) const override;

private:
  /// Columns for a head's extent.
  static int64_t columnsOf(int64_t extent) {
    int64_t columns = lanesAlongN * run;
    while (columns < extent)
      columns *= 2;
    return columns;
  }
  static int64_t sharedBytesOf(const Problem &problem, const Plan &plan) {
    int64_t slots = plan.as<schedule::AttentionRing>().slots;
    int64_t staged = slots * plan.tile[1] *
                         (columnsOf(problem.k) + columnsOf(problem.valueDim)) +
                     plan.tile[0] * columnsOf(problem.k);
    return staged * bytesOf(problem.operand) +
           plan.tile[0] * plan.tile[1] * bytesOf(problem.accumulator);
  }
  static int64_t heldOf(const Problem &problem, const Plan &plan) {
    int64_t rows = plan.registers()[0];
    int64_t outputs = columnsOf(problem.valueDim);
    int64_t read = std::max(plan.tile[1], outputs);
    int64_t depth = std::clamp<int64_t>(plan.tile[1] / products, run, 4 * run);
    int64_t fragments = depth * (rows + read / lanesAlongN);
    return rows * (plan.tile[1] + outputs) / lanesAlongN + fragments;
  }
};

} // namespace

Reason SimtAttention::whyNot(const Problem &problem,
                             const TargetDescription &) const {
  return whyNotOperands(problem, mostExtent);
}

std::vector<Plan> SimtAttention::plans(const Problem &problem,
                                       const TargetDescription &target) const {
  std::vector<Plan> found;
  constexpr int64_t usual = 2, fewQueries = 16;
  for (const Tile &tile : tiles)
    for (int64_t slots : {int64_t(2), int64_t(1)}) {
      Plan plan = emptyPlan(UnitKind::Vector);
      auto &fields = plan.as<schedule::SimtAttention>();
      plan.tile = {tile.m, tile.n};
      fields.registers = {tile.laneM, tile.n / lanesAlongN};
      fields.slots = slots;
      fields.pack = assumed(problem.m) <= fewQueries && !problem.hasWindow &&
                    !problem.maskRows &&
                    problem.sharedHeads != kUnknownExtent &&
                    problem.sharedHeads > assumed(problem.m);
      fields.residents = sharedBytesOf(problem, plan) * usual <=
                                 target.shared.perMultiprocessor
                             ? usual
                             : 1;
      found.push_back(std::move(plan));
    }
  return found;
}

Plan SimtAttention::plan(const Problem &problem,
                         const TargetDescription &target) const {
  return cheapestPlan(*this, problem, target);
}

Reason SimtAttention::checkPlan(const Problem &problem,
                                const TargetDescription &target,
                                const Plan &plan) const {
  if (Reason reason = checkAttentionRing(problem, plan, UnitKind::Vector);
      !reason.empty())
    return reason;
  int64_t rows = plan.registers()[0], span = rows * lanesAlongM;
  if (!isPowerOf2(rows) || plan.tile[0] % span ||
      !isPowerOf2(plan.tile[0] / span) || plan.tile[0] / span > kMostWarps)
    return "rows of the register tile must be a power of two, of which four "
           "times up to 32, a power of two, make the tile's, found " +
           text(rows) + " in " + text(plan.tile[0]);
  if (!isPowerOf2(plan.tile[1]) || plan.tile[1] < lanesAlongN * run ||
      plan.registers()[1] * lanesAlongN != plan.tile[1])
    return "the register tile must have an eighth of the tile's columns, a "
           "power of two from 32 on, found " +
           text(plan.registers()[1]) + " of " + text(plan.tile[1]);
  return checkRoom(target, "scores, outputs and fragments",
                   heldOf(problem, plan), mostHeld,
                   sharedBytesOf(problem, plan));
}

double SimtAttention::cycles(const Problem &problem,
                             const TargetDescription &target,
                             const Plan &plan) const {
  // Of one multiprocessor. What lanes reach who also read fragments, and what a
  // warp alone waits for, are estimates.
  constexpr double flopsPerCycle = 256, powersPerCycle = 16, reached = 0.7;
  constexpr double blockCycles = 400, startCycles = 2500, mergeCycles = 4000;
  constexpr double fullWarps = 8, exposedShare = 0.25;
  const auto &fields = plan.as<schedule::AttentionRing>();
  auto m = static_cast<double>(plan.tile[0]);
  auto n = static_cast<double>(plan.tile[1]);
  auto extents =
      static_cast<double>(columnsOf(problem.k) + columnsOf(problem.valueDim));
  auto rows = static_cast<double>(plan.registers()[0]);
  // Of an element of either operand a lane makes so many products.
  double perRead = 1 / rows + 8 / n;
  double warps = m / (rows * lanesAlongM);
  auto residents = static_cast<double>(fields.residents);
  double busy = std::min(1.0, warps * residents / fullWarps);
  double multiplies =
      2 * m * n * extents / (flopsPerCycle * reached) * (1 + perRead) / busy;
  double waits = fields.slots > 1 ? blockCycles : 3 * blockCycles;
  double block = multiplies + m * n / powersPerCycle + waits / residents;
  auto blocks = static_cast<double>(
      ceilDiv(ceilDiv(extentOf(problem.n), plan.tile[1]), fields.split));
  double waves = wavesOf(workgroupsOf(problem, plan),
                         std::max(target.cores, 1) * residents);
  double compute = waves * residents * blocks * block;
  double memory =
      keyCyclesOf(problem, target, plan,
                  columnsOf(problem.k) + columnsOf(problem.valueDim));
  return startCycles + (fields.split > 1 ? mergeCycles : 0) +
         std::max(compute, memory) + exposedShare * std::min(compute, memory);
}

void tracea::doctor::addGPUSimtAttentionVariants(Registry &registry) {
  registry.add(std::make_unique<SimtAttention>());
}
