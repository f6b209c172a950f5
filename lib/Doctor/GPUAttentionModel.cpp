//===- GPUAttentionModel.cpp - What attention on GPUs shares --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GPUAttentionModel.h"
#include "GPULaneModel.h"

#include <algorithm>

using namespace tracea::doctor;

Reason tracea::doctor::whyNotOperands(const Problem &problem,
                                      int64_t mostExtent) {
  if (problem.operand != problem.second)
    return "expected queries and keys of one type, found " +
           std::string(stringify(problem.operand)) + " and " +
           std::string(stringify(problem.second));
  if (problem.operand != ElementType::F16 &&
      problem.operand != ElementType::BF16 &&
      problem.operand != ElementType::F32)
    return "expected operands of f16, bf16 or f32, found " +
           std::string(stringify(problem.operand));
  if (problem.accumulator != ElementType::F32)
    return "expected sums in f32, found " +
           std::string(stringify(problem.accumulator));
  const std::pair<int64_t, const char *> extents[] = {
      {problem.k, "a query"}, {problem.valueDim, "a value"}};
  for (const auto &[extent, what] : extents) {
    if (extent == kUnknownExtent)
      return std::string("the extent of ") + what + " is not static";
    if (extent > mostExtent)
      return std::string("the extent of ") + what + " is " + text(extent) +
             ", above " + text(mostExtent);
  }
  return "";
}

Reason tracea::doctor::whyNotWarps(const Problem &problem,
                                   const TargetDescription &target,
                                   ElementType element, int64_t mostExtent) {
  if (!target.findUnit(UnitKind::MMASync))
    return "target '" + target.name + "' has no unit 'mma_sync'";
  if (!target.async.asyncCopy)
    return "target '" + target.name + "' has no copies that run beside lanes";
  if (Reason reason = whyNotOperands(problem, mostExtent); !reason.empty())
    return reason;
  if (!target.findShape(UnitKind::MMASync, element, problem.accumulator))
    return "target '" + target.name + "' does not multiply " +
           std::string(stringify(problem.operand)) + " by fragments";
  return "";
}

Reason tracea::doctor::checkAttentionRing(const Problem &problem,
                                          const Plan &plan, UnitKind unit) {
  if (plan.unit != unit)
    return "the unit must be " + std::string(stringify(unit)) + ", found " +
           std::string(stringify(plan.unit));
  if (plan.tile.size() != 2)
    return "the tile [queries, keys] must have 2 extents, found " +
           text(static_cast<int64_t>(plan.tile.size()));
  if (problem.maskRows &&
      (problem.maskRows % plan.tile[0] || problem.maskColumns % plan.tile[1]))
    return "the tile does not divide the mask's block of " +
           text(problem.maskRows) + " x " + text(problem.maskColumns);
  const auto &fields = plan.as<schedule::AttentionRing>();
  if (fields.pack && problem.sharedHeads == kUnknownExtent)
    return "the heads that share a key head are not static, and cannot be the "
           "rows of a tile";
  if (fields.pack && problem.maskRows)
    return "rows of a tile that are heads have no place in the blocks of a "
           "mask";
  if (fields.split > 1 && problem.maskRows)
    return "keys that the blocks of a mask hide are not split";
  return "";
}

Reason tracea::doctor::checkWarpRows(const Plan &plan) {
  int64_t rows = plan.registers()[0];
  if (rows % kFragment || plan.tile[0] % rows ||
      !isPowerOf2(plan.tile[0] / rows) || plan.tile[0] / rows > kMostWarps)
    return "rows of the register tile must be a multiple of 16, of which up to "
           "32 warps, a power of two, make the tile's, found " +
           text(rows) + " in " + text(plan.tile[0]);
  if (plan.registers()[1] != plan.tile[1] || plan.tile[1] % kFragment)
    return "the register tile must have all columns of the tile, a multiple of "
           "16, found " +
           text(plan.registers()[1]) + " of " + text(plan.tile[1]);
  return "";
}

Reason tracea::doctor::checkRoom(const TargetDescription &target,
                                 const char *what, int64_t registers,
                                 int64_t mostRegisters, int64_t sharedBytes) {
  if (registers > mostRegisters)
    return std::string(what) + " take " + text(registers) +
           " registers of a lane, more than " + text(mostRegisters);
  if (sharedBytes > target.shared.perWorkgroup)
    return "it takes " + text(sharedBytes) +
           " bytes of shared memory, more than " +
           text(target.shared.perWorkgroup);
  return "";
}

int64_t tracea::doctor::stagedColumnsOf(int64_t extent) {
  int64_t columns = kFragment;
  while (columns < extent)
    columns *= 2;
  return columns;
}

Reason tracea::doctor::whyOtherKernels(const Problem &problem,
                                       const Plan &plan) {
  if (plan.as<schedule::AttentionRing>().split > 1)
    return "another kernel merges the parts of its keys";
  if (problem.maskRows)
    return "other kernels list the blocks that its mask shows";
  return "";
}

double tracea::doctor::workgroupsOf(const Problem &problem, const Plan &plan) {
  const auto &fields = plan.as<schedule::AttentionRing>();
  auto heads = static_cast<double>(extentOf(assumed(problem.batch, 1)));
  auto split = static_cast<double>(fields.split);
  if (!fields.pack)
    return split * heads *
           static_cast<double>(ceilDiv(extentOf(problem.m), plan.tile[0]));
  int64_t shared = extentOf(assumed(problem.sharedHeads, 1));
  return split * heads / static_cast<double>(shared) *
         static_cast<double>(ceilDiv(shared, plan.tile[0])) *
         static_cast<double>(extentOf(problem.m));
}

double tracea::doctor::keyCyclesOf(const Problem &problem,
                                   const TargetDescription &target,
                                   const Plan &plan, int64_t columns) {
  if (target.memoryGBs <= 0 || target.clockGHz <= 0)
    return 0;
  // Bytes under way that a multiprocessor needs for the whole rate, and the
  // share of it that copies reach then: measured on an H200.
  constexpr double bytesNeeded = 32 * 1024, reached = 0.9;
  const auto &fields = plan.as<schedule::AttentionRing>();
  auto bytes = static_cast<double>(bytesOf(problem.operand));
  auto width = static_cast<double>(columns);
  double count = workgroupsOf(problem, plan);
  double cores = std::max(target.cores, 1);
  double resident = static_cast<double>(fields.residents);
  double underWay = std::min(resident, count / cores) *
                    static_cast<double>(std::max<int64_t>(fields.slots - 1, 1) *
                                        plan.tile[1]) *
                    width * bytes;
  double share = std::min(1.0, underWay / bytesNeeded);
  // The last round is not a full one.
  double rounds = count / (cores * resident);
  if (rounds > 1)
    share *= rounds / wavesOf(count, cores * resident);
  double moved =
      static_cast<double>(extentOf(assumed(problem.batch, 1))) /
      static_cast<double>(extentOf(assumed(problem.sharedHeads, 1))) *
      static_cast<double>(extentOf(problem.n)) * width * bytes;
  return moved / (share * reached * target.memoryGBs / target.clockGHz);
}
