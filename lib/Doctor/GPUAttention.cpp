//===- GPUAttention.cpp - Attention by the matrix units of warps ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The form of FlashAttention-2 (Dao, 2023). Registers decide: a warp holds its
// rows of queries, scores and outputs. Two workgroups of four warps share a
// multiprocessor, so that one computes exponentials while the other multiplies.
//
//===----------------------------------------------------------------------===//
#include "GPUAttentionModel.h"
#include "GPULaneModel.h"
#include "Variants.h"

#include <algorithm>

using namespace tracea::doctor;

namespace {

/// Queries and keys of a workgroup, and queries of a warp.
struct Tile {
  int64_t m, n, warpM, reread = 0;
};

/// The preferred one of equals first.
constexpr Tile tiles[] = {
    {128, 64, 32},   {64, 64, 16},  {64, 32, 16},    {32, 64, 16},
    {16, 64, 16},    {128, 32, 32}, {64, 16, 16},    {32, 32, 16},
    {16, 32, 16},    {16, 16, 16},  {64, 64, 16, 1}, {64, 32, 16, 1},
    {64, 16, 16, 1},
};
/// Those for few queries, which wait for keys and values: one warp, many
/// workgroups of them on a multiprocessor, and copies further ahead.
constexpr Tile tilesOfFew[] = {
    {16, 32, 16}, {16, 64, 16}, {16, 16, 16}, {16, 32, 16, 1}};
constexpr int64_t fewQueries = 16;
constexpr int64_t slotsOfRing = 2, slotsForFew = 3, residentsForFew = 4;
/// A third workgroup of small tiles hides more of the others' exponentials, if
/// copies run further ahead. The loop that masks edges takes registers which
/// three do not have: with causal keys it was up to 5 % slower.
constexpr Tile tileOfThree = {64, 32, 16};
constexpr int64_t slotsOfThree = 4, three = 3;
/// Extents of heads whose outputs a warp can hold.
constexpr int64_t mostExtent = 256;
/// Registers of a lane that scores, outputs and queries may take; the others
/// are for addresses and fragments of keys and values.
constexpr int64_t mostHeld = 190;

class WarpAttention final : public Variant {
public:
  std::string_view name() const override { return "attention.warp"; }
  std::string_view summary() const override {
    return "keeps rows of queries and outputs in the registers of each warp, "
           "and lets all lanes copy blocks of keys and values ahead";
  }
  bool serves(OpKind op) const override { return op == OpKind::Attention; }
  bool runsOn(TargetKind kind) const override {
    return kind == TargetKind::CUDA;
  }
  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override;
  Reason whyNotUnasked(const Problem &problem,
                       const TargetDescription &) const override {
    if (problem.operand == ElementType::F32 && !problem.allowTF32)
      return "the unit rounds f32 to tf32; the attribute 'tracea.allow_tf32' "
             "of the function or the module allows it, or a schedule asks for "
             "it";
    return "";
  }
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
  static ElementType unitElementOf(const Problem &problem) {
    return problem.operand == ElementType::F32 ? ElementType::TF32
                                               : problem.operand;
  }
  static int64_t sharedBytesOf(const Problem &problem, const Plan &plan) {
    const auto &fields = plan.as<schedule::WarpAttention>();
    int64_t columns =
        fields.slots * plan.tile[1] *
        (stagedColumnsOf(problem.k) + stagedColumnsOf(problem.valueDim));
    if (fields.reread)
      columns += plan.tile[0] * stagedColumnsOf(problem.k);
    return columns * bytesOf(problem.operand);
  }
  /// Registers of a lane for scores, weights, outputs and queries.
  static int64_t heldOf(const Problem &problem, const Plan &plan) {
    constexpr int64_t lanes = 32, word = 4;
    int64_t bytes = bytesOf(problem.operand);
    int64_t columns = plan.tile[1] + plan.tile[1] * bytes / word / 2 +
                      roundUp(problem.valueDim, kFragment);
    if (!plan.as<schedule::WarpAttention>().reread)
      columns += roundUp(problem.k, kFragment) * bytes / word;
    return plan.registers()[0] * columns / lanes;
  }
};

} // namespace

Reason WarpAttention::whyNot(const Problem &problem,
                             const TargetDescription &target) const {
  if (Reason reason =
          whyNotWarps(problem, target, unitElementOf(problem), mostExtent);
      !reason.empty())
    return reason;
  if (problem.maskRows % kFragment || problem.maskColumns % kFragment)
    return "a mask block of " + text(problem.maskRows) + " x " +
           text(problem.maskColumns) + " is no multiple of " + text(kFragment) +
           " x " + text(kFragment);
  return "";
}

std::vector<Plan> WarpAttention::plans(const Problem &problem,
                                       const TargetDescription &target) const {
  std::vector<Plan> found;
  for (const Tile &tile : tiles)
    for (int64_t rings : {1, 2}) {
      Plan plan = emptyPlan(UnitKind::MMASync);
      auto &fields = plan.as<schedule::WarpAttention>();
      plan.tile = {tile.m, tile.n};
      fields.registers = {tile.warpM, tile.n};
      fields.slots = slotsOfRing;
      fields.rings = rings;
      fields.reread = tile.reread;
      // As many as registers and memory have room for.
      constexpr int64_t usual = 2;
      fields.residents =
          sharedBytesOf(problem, plan) * usual <= target.shared.perWorkgroup
              ? usual
              : 1;
      found.push_back(std::move(plan));
    }
  if (!problem.isCausal && !problem.hasWindow) {
    Plan plan = emptyPlan(UnitKind::MMASync);
    auto &fields = plan.as<schedule::WarpAttention>();
    plan.tile = {tileOfThree.m, tileOfThree.n};
    fields.registers = {tileOfThree.warpM, tileOfThree.n};
    fields.slots = slotsOfThree;
    fields.residents = three;
    if (sharedBytesOf(problem, plan) * three <= target.shared.perMultiprocessor)
      found.push_back(std::move(plan));
  }
  if (assumed(problem.m) > fewQueries || problem.maskRows)
    return found;
  // Of a window few keys are seen.
  int64_t mostParts =
      problem.hasWindow ? 1 : schedule::AttentionRing::kMostParts;
  for (const Tile &tile : tilesOfFew)
    for (int64_t split = 1; split <= mostParts; split *= 2) {
      Plan plan = emptyPlan(UnitKind::MMASync);
      auto &fields = plan.as<schedule::WarpAttention>();
      plan.tile = {tile.m, tile.n};
      fields.registers = {tile.warpM, tile.n};
      fields.slots = slotsForFew;
      fields.reread = tile.reread;
      fields.split = split;
      // Rows are queries where there are more of them than heads.
      fields.pack = problem.sharedHeads != kUnknownExtent &&
                    problem.sharedHeads > assumed(problem.m);
      fields.residents = std::clamp<int64_t>(
          target.shared.perWorkgroup /
              std::max<int64_t>(sharedBytesOf(problem, plan), 1),
          1, residentsForFew);
      found.push_back(std::move(plan));
    }
  return found;
}

Plan WarpAttention::plan(const Problem &problem,
                         const TargetDescription &target) const {
  return cheapestPlan(*this, problem, target);
}

Reason WarpAttention::checkPlan(const Problem &problem,
                                const TargetDescription &target,
                                const Plan &plan) const {
  if (Reason reason = checkAttentionRing(problem, plan, UnitKind::MMASync);
      !reason.empty())
    return reason;
  if (Reason reason = checkWarpRows(plan); !reason.empty())
    return reason;
  return checkRoom(target, "scores, outputs and queries", heldOf(problem, plan),
                   mostHeld, sharedBytesOf(problem, plan));
}

double WarpAttention::cycles(const Problem &problem,
                             const TargetDescription &target,
                             const Plan &plan) const {
  // Of one multiprocessor, in bytes and cycles. The share of the unit's rate
  // that warps reach who also read fragments is an estimate.
  constexpr double sharedBytesPerCycle = 128, powersPerCycle = 16;
  constexpr double reached = 0.8, blockCycles = 120, startCycles = 2500;
  // What a block of keys waits for where values are waited for later, and what
  // it takes the warps to meet once more. On an H100 two rings took as long as
  // one, or up to 6 % longer.
  constexpr double keyCycles = 70, meetCycles = 60;
  double flops =
      target.peakFlopsPerCycle(UnitKind::MMASync, unitElementOf(problem));
  if (flops <= 0)
    flops = 1024;
  auto m = static_cast<double>(plan.tile[0]);
  auto n = static_cast<double>(plan.tile[1]);
  auto extents = static_cast<double>(std::max<int64_t>(problem.k, 1) +
                                     std::max<int64_t>(problem.valueDim, 1));
  double warps = m / static_cast<double>(plan.registers()[0]);
  double multiplies = 2 * m * n * extents / (flops * reached);
  double fragments = warps * n * extents *
                     static_cast<double>(bytesOf(problem.operand)) /
                     sharedBytesPerCycle;
  if (plan.as<schedule::WarpAttention>().reread)
    fragments += m * static_cast<double>(problem.k * bytesOf(problem.operand)) /
                 sharedBytesPerCycle;
  // Workgroups that share a multiprocessor hide what one of them waits for;
  // fewer warps hide less, and more of them exponentials too.
  constexpr double fullWarps = 8;
  auto residents =
      static_cast<double>(plan.as<schedule::WarpAttention>().residents);
  double hidden = fullWarps / (warps * residents);
  double powers = m * n / powersPerCycle * std::min(1.0, hidden);
  double exposed = std::max(1.0, hidden);
  double waits = plan.as<schedule::WarpAttention>().rings == 1
                     ? blockCycles
                     : keyCycles + meetCycles;
  double block = (std::max(multiplies, fragments) + powers) + waits * exposed;
  int64_t split = plan.as<schedule::WarpAttention>().split;
  auto blocks = static_cast<double>(
      ceilDiv(ceilDiv(extentOf(problem.n), plan.tile[1]), split));
  double waves = wavesOf(workgroupsOf(problem, plan),
                         std::max(target.cores, 1) * residents);
  // A warp alone waits for its own instructions: estimates for an H200.
  constexpr double multiplyCycles = 9, chainCycles = 1000;
  constexpr double multiplied = 2 * 16 * 8 * 16;
  double alone = 2 * static_cast<double>(plan.registers()[0]) * n * extents /
                     multiplied * multiplyCycles +
                 chainCycles;
  double compute = waves * blocks * std::max(residents * block, alone);
  double memory = keyCyclesOf(problem, target, plan,
                              stagedColumnsOf(problem.k) +
                                  stagedColumnsOf(problem.valueDim));
  // Parts are merged by another launch; and the two do not overlap wholly.
  constexpr double mergeCycles = 4000, exposedShare = 0.25;
  return startCycles + (split > 1 ? mergeCycles : 0) +
         std::max(compute, memory) + exposedShare * std::min(compute, memory);
}

void tracea::doctor::addGPUAttentionVariants(Registry &registry) {
  registry.add(std::make_unique<WarpAttention>());
}
