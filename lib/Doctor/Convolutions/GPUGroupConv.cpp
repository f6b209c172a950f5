//===- GPUGroupConv.cpp - Convolutions in small groups by warps -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups as deep as the shallow matrix instruction. The unit has little to do;
// what decides is memory, and how often tiles stage the same pixels.
//
//===----------------------------------------------------------------------===//
#include "../Numbers.h"
#include "../Variants.h"
#include "PatchModel.h"

#include <algorithm>
#include <cmath>

using namespace tracea::doctor;

namespace {

/// Channels and filters of a group, and pixels of an instruction.
constexpr int64_t kGroup = 8, kFragment = 16;
constexpr int64_t kMostTaps = 49, kMostWarps = 32;
constexpr int64_t kPieceBytes = 16;

class GroupConvVariant final : public Variant {
public:
  std::string_view name() const override { return "conv2d.groups"; }
  std::string_view summary() const override {
    return "stages a patch of the image in the channels of some groups, and "
           "multiplies the pixels of its rows by the filters of each group";
  }
  bool serves(OpKind op) const override { return op == OpKind::Conv2D; }
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
  std::string reasoning(const Problem &problem, const TargetDescription &target,
                        const Plan &plan) const override;

protected:
  Reason checkPlan(const Problem &problem, const TargetDescription &target,
                   const Plan &plan) const override;

private:
  static int64_t warpsOf(const Plan &plan) {
    return plan.tile[1] / plan.registers()[0];
  }
  static double patchBytesOf(const Problem &problem, const Plan &plan);
  static double stagedBytesOf(const Problem &problem, const Plan &plan);
};

} // namespace

double GroupConvVariant::patchBytesOf(const Problem &problem,
                                      const Plan &plan) {
  int64_t rows = patchExtent(plan.tile[0], problem.strideHeight,
                             problem.filterHeight, problem.dilationHeight);
  int64_t columns = patchExtent(plan.tile[1], problem.strideWidth,
                                problem.filterWidth, problem.dilationWidth);
  return static_cast<double>(rows) * static_cast<double>(columns | 1) *
         static_cast<double>(plan.tile[2] * bytesOf(problem.operand));
}

double GroupConvVariant::stagedBytesOf(const Problem &problem,
                                       const Plan &plan) {
  return patchBytesOf(problem, plan) +
         static_cast<double>(plan.tile[2]) *
             static_cast<double>(problem.filterHeight * problem.filterWidth *
                                 kPieceBytes);
}

Reason GroupConvVariant::whyNot(const Problem &problem,
                                const TargetDescription &target) const {
  if (!target.findUnit(UnitKind::MMASync) || !target.async.asyncCopy)
    return "target '" + target.name +
           "' has no unit 'mma_sync' with copies that run beside lanes";
  if ((problem.operand != ElementType::F16 &&
       problem.operand != ElementType::BF16) ||
      problem.second != problem.operand ||
      problem.accumulator != ElementType::F32)
    return "expected operands of f16 or bf16 and sums in f32, found " +
           std::string(stringify(problem.operand));
  if (problem.groups == 1 || problem.groupChannels != kGroup ||
      problem.groupFilters != kGroup)
    return "expected groups of 8 channels and filters";
  if (!problem.channelsLast || !problem.filterAlongChannels ||
      problem.filterAlongTaps)
    return "expected images and filters whose rows are channels";
  int64_t taps = multiplyExtents(problem.filterHeight, problem.filterWidth);
  if (taps == kUnknownExtent || taps % 2 == 0 || taps > kMostTaps)
    return "expected an odd number of taps up to " + text(kMostTaps) +
           ", found " + (taps == kUnknownExtent ? "any" : text(taps));
  if (problem.strideWidth > 2)
    return "expected steps of 1 or 2 pixels of a row, found " +
           text(problem.strideWidth);
  constexpr int64_t mostStep = 64;
  for (int64_t value :
       {problem.strideHeight, problem.dilationHeight, problem.dilationWidth})
    if (value > mostStep)
      return "strides and dilations are at most " + text(mostStep) +
             ", found " + text(value);
  if (problem.reductions || !problem.auxiliaries.empty())
    return "it has no results beside the convolution's";
  return "";
}

Reason GroupConvVariant::checkPlan(const Problem &problem,
                                   const TargetDescription &target,
                                   const Plan &plan) const {
  constexpr int64_t mostPixels = 64, mostExtent = 1024;
  if (plan.unit != UnitKind::MMASync)
    return "the unit must be mma_sync";
  if (plan.tile.size() != 3)
    return "the tile [height, width, channels] must have 3 extents, found " +
           text(static_cast<int64_t>(plan.tile.size()));
  auto [pixels, filters] = plan.registers();
  if (filters != kGroup || pixels % kFragment || !isPowerOf2(pixels) ||
      pixels > mostPixels)
    return "a warp has 16, 32 or 64 pixels of 8 filters, found " +
           text(pixels) + " of " + text(filters);
  if (plan.tile[1] % pixels || !isPowerOf2(plan.tile[1] / pixels) ||
      plan.tile[1] / pixels > kMostWarps)
    return "the tile's width must be the pixels of a power of two of warps, "
           "found " +
           text(plan.tile[1]);
  if (plan.tile[0] < 1 || plan.tile[0] > mostExtent)
    return "the tile's height must be 1 to " + text(mostExtent) + ", found " +
           text(plan.tile[0]);
  // Eight pixels' pieces, as one matrix is read, lie in all banks.
  int64_t row = plan.tile[2] * bytesOf(problem.operand);
  if (row != 64 && (row != 128 || problem.strideWidth != 1))
    return "channels of the tile must take 64 bytes, or 128 without a stride, "
           "found " +
           text(plan.tile[2]) + " channels";
  double bytes = stagedBytesOf(problem, plan);
  if (bytes > static_cast<double>(target.shared.perWorkgroup))
    return "it takes " + text(static_cast<int64_t>(bytes)) +
           " bytes of shared memory, more than " +
           text(target.shared.perWorkgroup);
  return "";
}

std::vector<Plan>
GroupConvVariant::plans(const Problem &problem,
                        const TargetDescription &target) const {
  std::vector<Plan> found;
  for (int64_t channels : {32, 64})
    for (int64_t width : {32, 64, 16})
      for (int64_t pixels : {32, 16})
        for (int64_t height : {2, 1, 3, 4, 7, 8, 14, 16}) {
          if (pixels > width)
            continue;
          Plan plan = emptyPlan(UnitKind::MMASync);
          plan.tile = {height, width, channels};
          plan.registers() = {pixels, kGroup};
          if (!check(problem, target, plan).empty())
            continue;
          constexpr double registers = 96;
          double threads = static_cast<double>(warpsOf(plan) *
                                               target.occupancy.subgroupSize);
          plan.as<schedule::LaneConv>().residents = patchResidents(
              target, stagedBytesOf(problem, plan), threads * registers);
          found.push_back(std::move(plan));
        }
  return found;
}

Plan GroupConvVariant::plan(const Problem &problem,
                            const TargetDescription &target) const {
  Plan none = emptyPlan(UnitKind::MMASync);
  none.tile = {1, kFragment, 1};
  none.registers() = {kFragment, kGroup};
  return cheapestPatch(*this, problem, target, none);
}

double GroupConvVariant::cycles(const Problem &problem,
                                const TargetDescription &target,
                                const Plan &plan) const {
  // Instructions of a warp: for a tap of an instruction's pixels, for what
  // these leave, and of a tile; of a multiprocessor.
  constexpr double perTap = 10, perResult = 60, perTile = 150;
  constexpr double schedulers = 4, issued = 0.82;
  // Whole lines of a pixel took 0.87 of the time of halves on an H100.
  constexpr double lineBytes = 128;
  auto number = [](int64_t value) { return static_cast<double>(value); };
  PatchWork work;
  work.warps = number(warpsOf(plan));
  double taps = number(problem.filterHeight * problem.filterWidth);
  double products = number(plan.tile[0]) * number(plan.tile[2] / kGroup) *
                    number(plan.registers()[0] / kFragment);
  double instructions = perTile + products * (taps * perTap + perResult);
  work.issue = instructions * work.warps / (schedulers * issued);
  work.patchBytes = patchBytesOf(problem, plan);
  work.lineBytes = lineBytes;
  work.residents = number(plan.as<schedule::LaneConv>().residents);
  return patchCycles(problem, target, plan.tile, work);
}

std::string GroupConvVariant::reasoning(const Problem &,
                                        const TargetDescription &,
                                        const Plan &plan) const {
  return "a workgroup has " + text(plan.tile[2] / kGroup) + " groups of " +
         text(plan.tile[0]) + " x " + text(plan.tile[1]) +
         " pixels, and stages what these see once for all taps";
}

void tracea::doctor::addGPUGroupConvVariants(Registry &registry) {
  registry.add(std::make_unique<GroupConvVariant>());
}
