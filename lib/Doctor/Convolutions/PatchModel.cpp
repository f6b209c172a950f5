//===- PatchModel.cpp - What kernels with patches take --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PatchModel.h"
#include "../GPULaneModel.h"
#include "../Variants.h"

#include <cmath>

namespace tracea::doctor {

Plan cheapestPatch(const Variant &variant, const Problem &problem,
                   const TargetDescription &target, const Plan &none) {
  return variant.plans(problem, target).empty()
             ? none
             : cheapestPlan(variant, problem, target);
}

double patchCycles(const Problem &problem, const TargetDescription &target,
                   const std::vector<int64_t> &tile, const PatchWork &work) {
  // Fitted to 52 kernels on an H200, whose times it has within 8 % (root mean
  // square): bytes of a multiprocessor in a cycle, warps of a scheduler that
  // hide two thirds of each other's waits, what a workgroup waits for its
  // patch, and the part of the first patches' way that nothing hides.
  constexpr double cacheBytes = 36, fewWarps = 1.5, latency = 1850,
                   startCycles = 2000, firstShare = 0.87;
  constexpr double schedulers = 4, reached = 0.85, exposed = 0.05;
  // Pixels that workgroups share a line or a sector of take more of memory.
  constexpr double least = 0.45;
  auto number = [](int64_t extent, int64_t usual) {
    return static_cast<double>(extentOf(assumed(extent, usual)));
  };
  auto count = [](int64_t extent, int64_t usual, int64_t step) {
    return static_cast<double>(ceilDiv(extentOf(assumed(extent, usual)), step));
  };
  constexpr int64_t images = 32, side = 56, groups = 128;
  int64_t channels = extentOf(
      assumed(multiplyExtents(problem.groups, problem.groupChannels), groups));
  double cores = std::max(target.cores, 1);
  double bytes = static_cast<double>(bytesOf(problem.operand));
  double pixelBytes = static_cast<double>(tile[2]) * bytes;
  double share =
      tile[2] >= channels
          ? 1
          : std::min(1.0, least + (1 - least) * pixelBytes / work.lineBytes);
  double tiles = number(problem.images, images) *
                 count(problem.outputHeight, side, tile[0]) *
                 count(problem.outputWidth, side, tile[1]) *
                 static_cast<double>(ceilDiv(channels, tile[2]));
  // The last round is not full; few tiles leave a multiprocessor less than it
  // has room for.
  double perCore = std::ceil(tiles / cores);
  double together = std::min(work.residents, tiles / cores);
  double busy = 1 - std::exp(-together * work.warps / (schedulers * fewWarps));
  double one = std::max(
      {work.issue / busy, work.shared, work.patchBytes / (cacheBytes * share)});
  double memory = 0, fill = latency * std::max(1.0, perCore / together);
  if (target.memoryGBs > 0 && target.clockGHz > 0) {
    double rate = reached * share * target.memoryGBs / target.clockGHz;
    double moved =
        number(problem.images, images) * static_cast<double>(channels) * bytes *
        (number(problem.imageHeight, side) * number(problem.imageWidth, side) +
         number(problem.outputHeight, side) *
             number(problem.outputWidth, side));
    memory = moved / rate;
    double first = std::min(perCore, work.residents) * work.patchBytes * cores;
    fill += firstShare * std::min(first, moved) / rate;
  }
  double compute = perCore * one + fill;
  return startCycles + std::max(compute, memory) +
         exposed * std::min(compute, memory);
}

int64_t patchResidents(const TargetDescription &target, double stagedBytes,
                       double registers) {
  constexpr int64_t most = 16;
  double byMemory =
      static_cast<double>(target.shared.perMultiprocessor) /
      (stagedBytes + static_cast<double>(target.shared.reservedPerWorkgroup));
  double byRegisters =
      static_cast<double>(target.occupancy.registersPerMultiprocessor) /
      registers;
  return std::clamp<int64_t>(
      static_cast<int64_t>(std::min(byMemory, byRegisters)), 1, most);
}

} // namespace tracea::doctor
