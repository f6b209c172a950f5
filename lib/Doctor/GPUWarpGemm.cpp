//===- GPUWarpGemm.cpp - Matrix products by the units of warps ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The variant for GPUs without a unit of four warps, and for memory that bulk
// copies cannot read. A step of k is bound by the multiplies, by the fragments
// that warps read from shared memory, or by the copies into it: small tiles of
// warps read each byte more often for the same multiplies.
//
// The units round f32 to tf32. A second variant multiplies the two parts of
// tf32 that each operand is split into, which takes three multiplies for one.

#include "GPULaneModel.h"
#include "Variants.h"

#include <algorithm>

using namespace tracea::doctor;

namespace {

/// The tile of a workgroup and of a warp; `depth` bytes of k are a step.
struct WarpTile {
  int64_t m, n, depth, warpM, warpN, slots;
};

/// The preferred one of equals first.
constexpr WarpTile tiles[] = {
    {128, 128, 64, 64, 32, 4}, {128, 256, 64, 64, 64, 3},
    {256, 128, 64, 64, 64, 3}, {64, 128, 64, 32, 64, 4},
    {128, 64, 64, 64, 32, 4},  {64, 64, 128, 32, 32, 4},
    {32, 64, 128, 16, 32, 5},  {16, 128, 128, 16, 32, 5},
    {16, 64, 128, 16, 16, 6}, // products that only read weights
};
constexpr int64_t depthOfUnit = 32; // bytes
constexpr int64_t groupOfRaster = 16;

class WarpGemm final : public Variant {
public:
  explicit WarpGemm(bool isSplit) : isSplit(isSplit) {}

  std::string_view name() const override {
    return isSplit ? "gemm.tf32x3" : "gemm.warp";
  }
  std::string_view summary() const override {
    return isSplit
               ? "lets all lanes copy blocks of both operands ahead, splits "
                 "fragments in the registers of each warp into two parts of "
                 "tf32, and multiplies those"
               : "lets all lanes copy blocks of both operands ahead, and "
                 "multiplies fragments in the registers of each warp";
  }
  bool serves(OpKind op) const override { return op == OpKind::Gemm; }
  bool runsOn(TargetKind kind) const override {
    return kind == TargetKind::CUDA;
  }

  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override;
  Reason whyNotUnasked(const Problem &problem,
                       const TargetDescription &target) const override;
  Plan plan(const Problem &problem,
            const TargetDescription &target) const override {
    return cheapestPlan(*this, problem, target);
  }
  std::vector<Plan> plans(const Problem &problem,
                          const TargetDescription &target) const override;
  Reason checkPlan(const Problem &problem, const TargetDescription &target,
                   const Plan &plan) const override;
  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &plan) const override;
  Reason whyAlone(const Problem &, const TargetDescription &,
                  const Plan &plan) const override {
    return whyPartsAlone(plan);
  }

private:
  /// Whether rows of both operands may begin at multiples of 16 bytes.
  static bool areRowsAligned(const Problem &problem) {
    return hasAlignedRows(rowOf(problem, true), problem.operand) &&
           hasAlignedRows(rowOf(problem, false), problem.operand);
  }
  /// The type that the unit multiplies in: it has none for f32, and takes tf32.
  static ElementType unitElementOf(const Problem &problem) {
    return problem.operand == ElementType::F32 ? ElementType::TF32
                                               : problem.operand;
  }

  bool isSplit;
};

} // namespace

Reason WarpGemm::whyNot(const Problem &problem,
                        const TargetDescription &target) const {
  if (!target.findUnit(UnitKind::MMASync))
    return "target '" + target.name + "' has no unit 'mma_sync'";
  if (!target.async.asyncCopy)
    return "target '" + target.name + "' has no copies that run beside lanes";
  if (problem.second != problem.operand)
    return "expected both operands of one type, found " +
           std::string(stringify(problem.operand)) + " and " +
           std::string(stringify(problem.second));
  int64_t bytes = bytesOf(problem.operand);
  if (isSplit && problem.operand != ElementType::F32)
    return "expected operands of f32, found " +
           std::string(stringify(problem.operand));
  if (bytes > 4 || !target.findShape(UnitKind::MMASync, unitElementOf(problem),
                                     problem.accumulator))
    return "target '" + target.name + "' does not multiply " +
           std::string(stringify(problem.operand)) + " into " +
           std::string(stringify(problem.accumulator)) + " by fragments";
  bool isInteger = problem.operand == ElementType::I8;
  if (problem.accumulator != (isInteger ? ElementType::I32 : ElementType::F32))
    return "expected sums in " + std::string(isInteger ? "i32" : "f32") +
           ", found " + std::string(stringify(problem.accumulator));
  if (bytes == 1 && (problem.transposeFirst || !problem.transposeSecond))
    return "expected operands of 8 bits whose rows run along k";
  return "";
}

Reason WarpGemm::whyNotUnasked(const Problem &problem,
                               const TargetDescription &) const {
  if (problem.operand != ElementType::F32)
    return "";
  if (isSplit && !problem.allowTF32x3)
    return "it keeps 21 bits of the fraction of f32; the attribute "
           "'tracea.allow_tf32x3' of the function or the module allows it, or "
           "a schedule asks for it";
  if (!isSplit && !problem.allowTF32)
    return "the unit rounds f32 to tf32; the attribute 'tracea.allow_tf32' of "
           "the function or the module allows it, or a schedule asks for it";
  return "";
}

Reason WarpGemm::checkPlan(const Problem &problem,
                           const TargetDescription &target,
                           const Plan &plan) const {
  constexpr int64_t fragment = 16;
  if (Reason reason = checkLanePlan(plan, UnitKind::MMASync); !reason.empty())
    return reason;
  int64_t warps = 1;
  for (int dim : {0, 1}) {
    int64_t extent = plan.registers()[dim];
    if (extent < fragment || extent % fragment || plan.tile[dim] % extent ||
        !isPowerOf2(plan.tile[dim] / extent))
      return "register tile extents must be multiples of 16, a power of two of "
             "which make the tile's, found " +
             text(extent) + " in " + text(plan.tile[dim]);
    warps *= std::min<int64_t>(plan.tile[dim] / extent, kMostWarps + 1);
  }
  if (warps > kMostWarps)
    return "at most 32 warps are expected";
  // The sums of a step stand beside those of all steps where each has its own,
  // and rows that begin anywhere are copied element by element.
  int64_t most = !isSplit                  ? 64 * 64
                 : areRowsAligned(problem) ? 64 * 32
                                           : 32 * 32;
  if (plan.registers()[0] * plan.registers()[1] > most)
    return "a register tile has at most " + text(most) + " elements";
  int64_t bytes = bytesOf(problem.operand);
  auto isRow = [&](int64_t elements) {
    return elements > 0 && elements * bytes % depthOfUnit == 0;
  };
  if (!isRow(plan.tile[2]) || plan.tile[2] > 1024)
    return "tile extent k must be a multiple of " + text(depthOfUnit / bytes) +
           " up to 1024, found " + text(plan.tile[2]);
  if (plan.tile[0] > 1024 || plan.tile[1] > 1024)
    return "tile extents must be at most 1024";
  // Rows of blocks that run along m or n are cut into panels.
  auto isPanels = [&](int64_t elements) {
    return isRow(elements) && isPowerOf2(elements);
  };
  if (problem.transposeFirst && !isPanels(plan.tile[0]))
    return "tile extent m must be a power of two where rows of the first "
           "operand run along m, found " +
           text(plan.tile[0]);
  if (!problem.transposeSecond && !isPanels(plan.tile[1]))
    return "tile extent n must be a power of two where rows of the second "
           "operand run along n, found " +
           text(plan.tile[1]);
  return checkRing(problem, target, plan);
}

std::vector<Plan> WarpGemm::plans(const Problem &problem,
                                  const TargetDescription &target) const {
  std::vector<Plan> found;
  for (const WarpTile &tile : tiles) {
    Plan plan = emptyPlan(UnitKind::MMASync);
    auto &ring = plan.as<schedule::LaneRing>();
    // The sums of a step are added outside of the unit. Copies of single
    // elements leave registers for shorter ones.
    int64_t depth =
        isSplit && areRowsAligned(problem) ? 2 * tile.depth : tile.depth;
    plan.tile = {tile.m, tile.n, depth / bytesOf(problem.operand)};
    plan.registers() = {tile.warpM, tile.warpN};
    ring.slots = tile.slots;
    ring.group = groupOfRaster;
    while (ring.slots > 2 &&
           ringBytesOf(problem, plan) > target.shared.perWorkgroup)
      --ring.slots;
    addParts(problem, target, plan, found);
  }
  return found;
}

double WarpGemm::cycles(const Problem &problem, const TargetDescription &target,
                        const Plan &plan) const {
  // Of one multiprocessor, in bytes and cycles. The share of the unit's rate
  // that warps reach who also read fragments is an estimate.
  constexpr double sharedBytesPerCycle = 128, copyBytesPerCycle = 40;
  constexpr double reached = 0.8, stepCycles = 40, copyLatency = 1000;
  constexpr double elementCycles = 1.0 / 20, startCycles = 2500;
  double flops =
      target.peakFlopsPerCycle(UnitKind::MMASync, unitElementOf(problem));
  // Of Hopper only the rate of the large unit is published. Lanes that gather
  // pixels, measured on an H200, reach what half of it gives: 27 us for 32
  // images of 56 by 56 in 64 channels, 28 us for 14 by 14 in 256. Where bulk
  // copies would do it the estimate stays cautious.
  if (flops <= 0 && problem.kind == OpKind::Conv2D &&
      !whyNotWalked(problem).empty())
    flops =
        target.peakFlopsPerCycle(UnitKind::WGMMA, unitElementOf(problem)) / 2;
  if (flops <= 0)
    flops = 1024;
  int64_t m = plan.tile[0], n = plan.tile[1], k = plan.tile[2];
  int64_t bytes = bytesOf(problem.operand);
  double multiplies = 2.0 * m * n * k / (flops * reached) * (isSplit ? 3 : 1);
  double warps = double(m / plan.registers()[0]) * (n / plan.registers()[1]);
  double fragments = warps * (plan.registers()[0] + plan.registers()[1]) * k *
                     bytes / sharedBytesPerCycle;
  double copies = double(m + n) * k * bytes / copyBytesPerCycle;
  double waits = copyLatency /
                 std::max<int64_t>(plan.as<schedule::LaneRing>().slots - 1, 1);
  double step = std::max({multiplies, fragments, copies, waits}) + stepCycles;
  double waves = wavesOf(tilesOf(problem, plan), std::max(target.cores, 1));
  double tile = static_cast<double>(stepsOf(problem, plan)) * step +
                copyLatency + m * n * elementCycles;
  return withMemory(problem, target, plan, startCycles + waves * tile);
}

void tracea::doctor::addGPUWarpGemmVariants(Registry &registry) {
  for (bool isSplit : {false, true})
    registry.add(std::make_unique<WarpGemm>(isSplit));
}
