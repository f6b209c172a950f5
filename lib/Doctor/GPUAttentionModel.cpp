//===- GPUAttentionModel.cpp - What attention on GPUs shares --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GPUAttentionModel.h"

#include <algorithm>

using namespace tracea::doctor;

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
