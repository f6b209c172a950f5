//===- GPUSimtGemm.cpp - Matrix products by the lanes of a GPU ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The variant for what no matrix unit may or can compute: single precision that
// must not be rounded, double precision, orders of 8-bit integers that the
// units do not read, and GPUs without such units. A step of k is bound by the
// multiply-adds, by what lanes read from shared memory for them, or by the
// copies into it; a multiprocessor that holds few warps waits for each of their
// instructions.

#include "GPULaneModel.h"
#include "Variants.h"

#include <algorithm>

using namespace tracea::doctor;

namespace {

/// The tile of a workgroup and of a lane; `depth` bytes of k are a step.
struct LaneTile {
  int64_t m, n, depth, laneM, laneN, slots;
};

/// The preferred one of equals first.
constexpr LaneTile tiles[] = {
    {128, 128, 128, 8, 8, 3}, {64, 128, 64, 8, 8, 4}, {128, 64, 64, 8, 8, 4},
    {64, 64, 64, 4, 8, 4},    {32, 128, 64, 4, 8, 4}, {128, 32, 64, 8, 4, 4},
    {32, 64, 64, 4, 4, 4},    {16, 128, 64, 4, 4, 4}, {64, 32, 64, 4, 4, 4},
    {16, 64, 128, 2, 4, 4},   {4, 128, 128, 1, 4, 4}, {8, 64, 128, 1, 4, 4},
    {32, 32, 128, 4, 2, 4},
};
constexpr int64_t lanesAlongM = 4, lanesAlongN = 8;
constexpr int64_t groupOfRaster = 16;
constexpr int64_t heldDepth = 32, leastDepth = 4;

bool isInteger(ElementType type) {
  return type == ElementType::I8 || type == ElementType::I32;
}

class SimtGemm final : public Variant {
public:
  std::string_view name() const override { return "gemm.simt"; }
  std::string_view summary() const override {
    return "lets all lanes copy blocks of both operands ahead, and each lane "
           "multiply and add up a tile of its own";
  }
  bool serves(OpKind op) const override { return op == OpKind::Gemm; }
  bool runsOn(TargetKind kind) const override {
    return kind == TargetKind::CUDA;
  }

  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override;
  Plan plan(const Problem &problem,
            const TargetDescription &target) const override {
    return cheapestPlan(*this, problem, target);
  }
  Reason whyAlone(const Problem &, const TargetDescription &,
                  const Plan &plan) const override {
    return whyPartsAlone(plan);
  }
  std::vector<Plan> plans(const Problem &problem,
                          const TargetDescription &target) const override;
  Reason checkPlan(const Problem &problem, const TargetDescription &target,
                   const Plan &plan) const override;
  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &plan) const override;
  std::string reasoning(const Problem &problem, const TargetDescription &target,
                        const Plan &plan) const override;

private:
  static int64_t warpsOf(const Plan &plan) {
    return plan.tile[0] / (plan.registers()[0] * lanesAlongM) *
           (plan.tile[1] / (plan.registers()[1] * lanesAlongN));
  }
  /// Operations of one multiprocessor in a cycle, a multiply-add as two.
  static double rateOf(const Problem &problem, const TargetDescription &target);
};

} // namespace

Reason SimtGemm::whyNot(const Problem &problem,
                        const TargetDescription &) const {
  if (problem.second != problem.operand)
    return "expected both operands of one type, found " +
           std::string(stringify(problem.operand)) + " and " +
           std::string(stringify(problem.second));
  switch (problem.operand) {
  case ElementType::F64:
  case ElementType::F32:
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::I32:
  case ElementType::I8:
    break;
  default:
    return "lanes do not multiply " + std::string(stringify(problem.operand));
  }
  if (isInteger(problem.operand) ? problem.accumulator != ElementType::I32
                                 : problem.accumulator != ElementType::F32 &&
                                       problem.accumulator != ElementType::F64)
    return "expected sums in " +
           std::string(isInteger(problem.operand) ? "i32" : "f32 or f64") +
           ", found " + std::string(stringify(problem.accumulator));
  if (bytesOf(problem.accumulator) < bytesOf(problem.operand))
    return "expected sums no narrower than the operands";
  return "";
}

Reason SimtGemm::checkPlan(const Problem &problem,
                           const TargetDescription &target,
                           const Plan &plan) const {
  constexpr int64_t mostRegisters = 16, mostSums = 96;
  constexpr int64_t leastRow = 32, mostRow = 256;
  if (Reason reason = checkLanePlan(plan, UnitKind::Vector); !reason.empty())
    return reason;
  int64_t warps = 1;
  for (int dim : {0, 1}) {
    int64_t extent = plan.registers()[dim];
    if (!isPowerOf2(extent) || extent > mostRegisters)
      return "register tile extents must be powers of two up to 16, found " +
             text(extent);
    int64_t span = extent * (dim ? lanesAlongN : lanesAlongM);
    if (plan.tile[dim] < 1 || plan.tile[dim] % span ||
        !isPowerOf2(plan.tile[dim] / span))
      return std::string("tile extent ") + (dim ? "n" : "m") + " must be " +
             text(span) + " times a power of two, found " +
             text(plan.tile[dim]);
    warps *= std::min<int64_t>(plan.tile[dim] / span, kMostWarps + 1);
  }
  if (warps > kMostWarps)
    return "at most 32 warps are expected";
  if (plan.registers()[0] * plan.registers()[1] * bytesOf(problem.accumulator) >
      mostSums * 4)
    return "the sums of a lane take more than 96 registers";
  int64_t row = plan.tile[2] * bytesOf(problem.operand);
  if (!isPowerOf2(plan.tile[2]) || plan.tile[2] > mostRow || row < leastRow ||
      row > mostRow)
    return "tile extent k must be a power of two of 32 to 256 bytes, found " +
           text(plan.tile[2]) + " elements";
  return checkRing(problem, target, plan);
}

std::vector<Plan> SimtGemm::plans(const Problem &problem,
                                  const TargetDescription &target) const {
  std::vector<Plan> found;
  for (const LaneTile &tile : tiles) {
    Plan plan = emptyPlan();
    auto &ring = plan.as<schedule::LaneRing>();
    // Copies that pass through registers take some of them for each byte.
    int64_t depth = target.async.asyncCopy ? tile.depth : heldDepth;
    plan.tile = {tile.m, tile.n,
                 std::max(depth / bytesOf(problem.operand), leastDepth)};
    plan.registers() = {tile.laneM, tile.laneN};
    // They are one step ahead.
    ring.slots = target.async.asyncCopy ? tile.slots : 2;
    ring.group = groupOfRaster;
    // Two workgroups share a multiprocessor.
    while (ring.slots > 2 &&
           2 * ringBytesOf(problem, plan) > target.shared.perMultiprocessor)
      --ring.slots;
    // Lanes that find the pixels of a convolution have no registers left for
    // the places of parts.
    if (problem.kind == OpKind::Conv2D)
      found.push_back(std::move(plan));
    else
      addParts(problem, target, plan, found);
  }
  return found;
}

double SimtGemm::rateOf(const Problem &problem,
                        const TargetDescription &target) {
  constexpr double usual = 128;
  double single = target.peakFlopsPerCycle(UnitKind::Vector, ElementType::F32);
  if (single <= 0)
    single = usual;
  if (problem.accumulator == ElementType::F64) {
    double found = target.peakFlopsPerCycle(UnitKind::Vector, ElementType::F64);
    return found > 0 ? found : single / 64;
  }
  // Multiply-adds of integers go at half the rate; four of bytes are one, where
  // rows of both operands run along k.
  if (problem.operand == ElementType::I8 && !problem.transposeFirst &&
      problem.transposeSecond)
    return 2 * single;
  return isInteger(problem.operand) ? single / 2 : single;
}

double SimtGemm::cycles(const Problem &problem, const TargetDescription &target,
                        const Plan &plan) const {
  // Of one multiprocessor, in bytes and cycles. The share of the rate that
  // lanes reach who also read operands and copy is an estimate.
  constexpr double sharedBytesPerCycle = 128, copyBytesPerCycle = 40;
  constexpr double reached = 0.85, stepCycles = 30, copyLatency = 800;
  constexpr double elementCycles = 1.0 / 20, startCycles = 3000;
  constexpr double schedulers = 4, busyWarps = 12, loneWarp = 0.85;
  constexpr int64_t fewSums = 64;
  int64_t m = plan.tile[0], n = plan.tile[1], k = plan.tile[2];
  int64_t bytes = bytesOf(problem.operand);
  int64_t warps = warpsOf(plan);
  int64_t sums = plan.registers()[0] * plan.registers()[1];
  // Warps that a multiprocessor holds: as many as registers, memory and tiles
  // allow.
  double tilesOfGrid = tilesOf(problem, plan);
  double cores = std::max(target.cores, 1);
  double residents = std::max<double>((sums > fewSums ? 8 : 16) / warps, 1);
  residents = std::min(
      residents,
      std::max(1.0, double(target.shared.perMultiprocessor) /
                        std::max<int64_t>(ringBytesOf(problem, plan), 1)));
  residents = std::min(residents, std::max(tilesOfGrid / cores, 1.0));
  // Each scheduler needs a warp; a few hide each other's waits.
  double held = residents * warps;
  double busy = std::min(1.0, held / schedulers) *
                (loneWarp + (1 - loneWarp) * std::min(1.0, held / busyWarps));
  // Instructions besides a multiply-add: a quarter for what a lane reads, which
  // also holds up others, and two for an element that it copies.
  double perSum = double(plan.registers()[0] + plan.registers()[1]) / sums;
  double copied = 2.0 * (m + n) / (double(m) * n);
  double multiplies = 2.0 * m * n * k / (rateOf(problem, target) * reached) *
                      (1 + perSum / 2 + copied) / busy;
  double reads =
      double(warps) *
      (plan.registers()[0] * lanesAlongM + plan.registers()[1] * lanesAlongN) *
      k * bytes * 2 / sharedBytesPerCycle;
  double copies = double(m + n) * k * bytes / copyBytesPerCycle;
  double waits = copyLatency /
                 (residents * std::max<int64_t>(
                                  plan.as<schedule::LaneRing>().slots - 1, 1));
  double step =
      std::max({multiplies, reads, copies, waits}) + stepCycles / residents;
  double waves = wavesOf(tilesOfGrid, cores);
  double tile = static_cast<double>(stepsOf(problem, plan)) * step +
                (copyLatency + m * n * elementCycles) / residents;
  return withMemory(problem, target, plan, startCycles + waves * tile);
}

std::string SimtGemm::reasoning(const Problem &problem,
                                const TargetDescription &target,
                                const Plan &plan) const {
  if (problem.operand == ElementType::F32 && !problem.allowTF32x3 &&
      target.findShape(UnitKind::MMASync, ElementType::TF32, ElementType::F32))
    return "the units would round f32 to tf32, which neither "
           "'tracea.allow_tf32' nor 'tracea.allow_tf32x3' allows";
  if (target.units.empty())
    return "target '" + target.name + "' has no unit that multiplies " +
           std::string(stringify(problem.operand)) + " for other variants";
  return "";
}

void tracea::doctor::addGPUSimtGemmVariants(Registry &registry) {
  registry.add(std::make_unique<SimtGemm>());
}
