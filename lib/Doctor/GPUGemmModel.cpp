//===- GPUGemmModel.cpp - What a product costs on a GPU -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel runs one workgroup on each multiprocessor, which takes tiles in
// turns. The last wave decides: a grid of 133 tiles takes as long as one of
// 264. Within a tile each step of k waits for the slowest of three things: the
// matrix unit, the copies into shared memory, and the latency of a copy divided
// by the copies that are under way. In the end memory must have moved every
// byte once.

#include "GPUGemmModel.h"
#include "Numbers.h"

#include <algorithm>

namespace tracea::doctor {

const std::vector<WarpgroupTile> &warpgroupTiles(bool isTransposed) {
  //  m    n    k  slots consumers group
  static const std::vector<WarpgroupTile> tiles = {
      {128, 256, 64, 4, 2, 16}, // most multiplies for each copied byte
      {128, 192, 64, 4, 2, 16}, // where 256 would leave a wave half empty
      {128, 160, 64, 5, 2, 16}, {128, 144, 64, 5, 2, 16},
      {128, 128, 64, 6, 2, 16}, {128, 112, 64, 6, 2, 16},
      {64, 256, 64, 5, 1, 16}, // few rows
      {64, 128, 64, 8, 1, 16},  {128, 64, 64, 8, 2, 16},
      {64, 64, 64, 12, 1, 16}, // a grid for products that only read weights
  };
  // Memory is read in pieces of 256 bytes: 128 at a time are 3 % slower.
  static const std::vector<WarpgroupTile> transposed = {
      {16, 64, 128, 9, 1, 0}, // products that only read weights
      {32, 64, 128, 8, 1, 0},   {16, 128, 64, 10, 2, 0}, // fewer, longer reads
      {32, 128, 64, 9, 2, 0},   {8, 64, 128, 10, 1, 0},  {8, 128, 64, 11, 2, 0},
      {144, 128, 64, 5, 2, 16}, // where rows of B run along n
  };
  return isTransposed ? transposed : tiles;
}

WarpgroupCosts warpgroupCosts(const TargetDescription &target,
                              const Problem &problem) {
  // Measured on an H200 with bf16, where nothing else is said; other GPUs with
  // this unit differ in what the tables of targets know.
  WarpgroupCosts costs;
  double peak =
      target.peakFlopsPerCycle(UnitKind::WGMMA, unitElementOf(problem));
  costs.flopsPerCycle = peak > 0 ? peak : 4096;
  // 128 x 128 tiles multiply at 0.95 of the rate of 128 x 256 ones: 64 bytes a
  // cycle are asked for and 61 come.
  costs.copyBytesPerCycle = 61;
  // Tiles of 128 pixels by 112 filters take as long as those of 128.
  costs.walkBytesPerCycle = 48;
  // Rows of a block that begin within a line of the cache are two requests.
  costs.splitRowCycles = 2.95;
  costs.splitRowsPerCycle = 31;
  costs.copyLatency = 1000;
  bool known = target.memoryGBs > 0 && target.clockGHz > 0;
  costs.memoryBytesPerCycle = known ? target.memoryGBs / target.clockGHz : 1830;
  costs.padding = 0.75;
  costs.tileCycles = 500;
  costs.elementCycles = 1.0 / 40;
  costs.functionCycles = 0.035;
  costs.reductionCycles = 0.07;
  costs.addendCycles = 0.17;
  costs.fewSumsAlone = 3.2;
  costs.manySumsAlone = 5;
  costs.startCycles = 2500;
  costs.sharing = 1.05;
  costs.turnCycles = 150;
  costs.nextKernelCycles = 6000;
  costs.partCycles = 1.0 / 4;
  // Barriers of a cluster wait for all memory of the GPU, shared parts leave
  // fewer slots, and large clusters do not all fit at once: measured, a cluster
  // is slower than parts in memory by 4 to 20 microseconds.
  costs.clusterCycles = 20000;
  costs.sharedBytesPerCycle = 64;
  costs.peerBytesPerCycle = 25;
  // A cluster is of one group of 16 or 18 multiprocessors.
  costs.clusterCores = std::max(target.cores / 16 * 16, 1);
  costs.exposed = 1.0 / 8;
  // A 16-bit element of a warp's 64 bytes at a time.
  costs.laneStoreCycles = 1.0 / 16;
  return costs;
}

WarpgroupTile tileOf(const Plan &plan) {
  WarpgroupTile tile(plan.tile[0], plan.tile[1], plan.tile[2], 0, 0, 0);
  if (const auto *gemm = plan.params.getIf<schedule::WarpgroupGemm>())
    static_cast<schedule::WarpgroupGemm &>(tile) = *gemm;
  else
    static_cast<schedule::WarpgroupRing &>(tile) =
        plan.as<schedule::WarpgroupRing>();
  return tile;
}

Plan planOf(const WarpgroupTile &tile, bool isGrouped) {
  Plan plan;
  plan.unit = UnitKind::WGMMA;
  plan.tile = {tile.m, tile.n, tile.k};
  if (isGrouped)
    plan.params = schedule::WarpgroupGrouped{tile};
  else
    plan.params = static_cast<const schedule::WarpgroupGemm &>(tile);
  return plan;
}

ElementType unitElementOf(const Problem &problem) {
  return problem.operand == ElementType::F32 ? ElementType::TF32
                                             : problem.operand;
}

int64_t stagedRowOf(const Problem &problem) {
  constexpr int64_t swizzledBytes = 128;
  return swizzledBytes / std::max<int64_t>(bytesOf(problem.operand), 1);
}

int64_t sharedBytesOf(const Problem &problem, const WarpgroupTile &tile,
                      bool isTransposed) {
  constexpr int64_t stagedColumns = 64, rowsOfTeam = 64;
  // Rows that are staged fill what is swizzled as one.
  auto fill = [&](int64_t extent, bool isRow) {
    int64_t row = stagedRowOf(problem);
    return isRow ? ceilDiv(extent, row) * row : extent;
  };
  int64_t ring = tile.slots *
                 (fill(tile.m, problem.transposeFirst) +
                  fill(tile.n, !problem.transposeSecond)) *
                 tile.k * bytesOf(problem.operand);
  // Parts of one width and type take turns in two buffers at most.
  std::vector<std::optional<ElementType>> types = problem.auxiliaries;
  types.push_back(problem.result);
  int64_t rowBytes = 0;
  for (size_t i = 0; i < types.size(); ++i) {
    if (std::find(types.begin(), types.begin() + i, types[i]) !=
        types.begin() + i)
      continue;
    int64_t alike = std::count(types.begin(), types.end(), types[i]);
    int64_t left = tile.n;
    for (int64_t width = stagedColumns; width >= 8; width /= 2) {
      rowBytes += std::min<int64_t>(2, alike * (left / width)) * width *
                  (types[i] ? bytesOf(*types[i]) : 8);
      left %= width;
    }
  }
  int64_t rows =
      std::max(tile.consumers * rowsOfTeam, isTransposed ? tile.n : tile.m);
  int64_t staged = tile.pingPong * rows * rowBytes;
  // The part that a cluster shares; lanes store the result themselves.
  if (tile.cluster > 1)
    staged = tile.m * tile.n * 4;
  int64_t barriers = 2 * 8 * (tile.slots + 1);
  return ring + staged + barriers;
}

/// The share of the unit's rate that a tile reaches where copies do not hold it
/// up, measured on products of many tiles.
static double rateOf(const Problem &problem, const WarpgroupTile &tile,
                     bool isTransposed) {
  // Columns of the unit, and whether rows in memory run along them.
  int64_t columns = isTransposed ? tile.m : tile.n;
  bool isRow = isTransposed ? problem.transposeFirst : !problem.transposeSecond;
  double rate = columns >= 256       ? 1
                : columns >= 192     ? 0.98
                : tile.pingPong == 1 ? 0.94
                : columns >= 128     ? 0.91
                                     : 0.8;
  // Blocks are wider than what is multiplied.
  int64_t row = stagedRowOf(problem);
  if (isRow && columns % row)
    rate *= columns % (row / 2) ? 0.75 : 0.97;
  return rate;
}

/// Bytes of a line of the second-level cache.
static constexpr int64_t lineBytes = 128;

int64_t splitLinesOf(const Problem &problem) {
  auto splits = [&](int64_t row) {
    return row != kUnknownExtent && hasAlignedRows(row, problem.operand) &&
           row % lineBytes * bytesOf(problem.operand) % lineBytes != 0;
  };
  return splits(rowOf(problem, true)) + 2 * splits(rowOf(problem, false));
}

int64_t paddableLinesOf(const Problem &problem) {
  bool isOfGroup = problem.kind == OpKind::Conv2DWGrad && problem.groups > 1;
  return isOfGroup ? 0 : splitLinesOf(problem);
}

WarpgroupEstimate estimate(const Problem &problem,
                           const TargetDescription &target,
                           const WarpgroupTile &tile, bool isTransposed) {
  WarpgroupCosts costs = warpgroupCosts(target, problem);
  int64_t m = extentOf(problem.m), n = extentOf(problem.n);
  int64_t k = extentOf(problem.k);
  WarpgroupEstimate result;
  result.batch = std::clamp<int64_t>(assumed(problem.batch, 1), 1, 1 << 24);
  // Only the run knows how many groups end within a tile: half of them all.
  int64_t groups =
      problem.kind == OpKind::GroupedGemm
          ? std::clamp<int64_t>(assumed(problem.groups, 16), 1, 1 << 24)
          : 1;
  result.tileRows = ceilDiv(m, tile.m) + groups / 2;
  result.tileColumns = ceilDiv(n, tile.n);
  result.steps = ceilDiv(ceilDiv(k, tile.k), tile.split);
  double tiles = static_cast<double>(result.tileRows) *
                 static_cast<double>(result.tileColumns) *
                 static_cast<double>(result.batch) *
                 static_cast<double>(tile.split);
  double cores =
      tile.cluster > 2 ? costs.clusterCores : std::max(target.cores, 1);
  double waves = wavesOf(tiles, cores);
  result.waves = static_cast<int64_t>(waves);

  auto number = [](int64_t value) { return static_cast<double>(value); };
  double element = number(bytesOf(problem.operand));
  double multiplies =
      2 * number(tile.m) * number(tile.n) * number(tile.k) /
      (costs.flopsPerCycle * rateOf(problem, tile, isTransposed));
  // What lies past the ends of a matrix is filled with zeros, not copied, but
  // behind the channels of a group are those of the next one.
  auto copiesOf = [&](int64_t rows, int64_t extent, bool isFirst) {
    bool isWalk = walksPixels(problem, isFirst);
    if (!isWalk || problem.groups == 1)
      rows = std::min(rows, extent);
    return number(rows) * number(tile.k) * element /
           (isWalk ? costs.walkBytesPerCycle : costs.copyBytesPerCycle);
  };
  double copies = copiesOf(tile.m, m, true) + copiesOf(tile.n, n, false);
  // Rows that are padded become whole lines.
  int64_t split = splitLinesOf(problem) & ~tile.lines;
  double each = std::max(costs.splitRowCycles,
                         std::min(tiles, cores) / costs.splitRowsPerCycle) -
                number(lineBytes) / costs.copyBytesPerCycle;
  double rows = number((split & 1 ? std::min(tile.m, m) : 0) +
                       (split & 2 ? std::min(tile.n, n) : 0));
  copies += rows * number(tile.k) * element / number(lineBytes) * each;
  double latency = costs.copyLatency / number(tile.slots * tile.residents);
  result.stepCycles = std::max({multiplies, copies, latency});
  result.limit = result.stepCycles == multiplies ? "multiplies"
                 : result.stepCycles == copies   ? "copies"
                                                 : "latency";

  // Up to 128 columns leave through buffers of their own.
  bool waitsForBuffers = (isTransposed ? tile.m : tile.n) > 128;
  // One team alone waits longer for what it loads, more so where its sums leave
  // few registers for that.
  constexpr int64_t threadsOfTeam = 128, manySums = 128;
  double alone = tile.pingPong == 1 ? 1
                 : tile.m * tile.n > manySums * threadsOfTeam
                     ? costs.manySumsAlone
                     : costs.fewSumsAlone;
  double epilogue = costs.functionCycles * problem.functions +
                    costs.reductionCycles * problem.reductions +
                    costs.addendCycles * problem.addends * alone;
  double finish = costs.tileCycles +
                  number(tile.m) * number(tile.n) *
                      (tile.split > 1    ? costs.partCycles
                       : waitsForBuffers ? costs.elementCycles + epilogue
                                         : costs.elementCycles / 4 + epilogue);
  if (tile.cluster > 1) {
    // Its part to its memory, and its share of the parts of all from theirs.
    double part = 4 * number(tile.m) * number(tile.n);
    double others = 1 - 1 / number(tile.cluster);
    finish = costs.tileCycles + costs.clusterCycles +
             part / costs.sharedBytesPerCycle +
             part * others / costs.peerBytesPerCycle +
             part / 4 * costs.elementCycles;
  }
  if (tile.split == 1 &&
      !hasAlignedRows(problem.n, problem.result.value_or(problem.operand)))
    finish += number(tile.m) * number(tile.n) * costs.laneStoreCycles;
  double main = number(result.steps) * result.stepCycles;
  // One workgroup or team finishes its tiles while the others multiply.
  double multiplying = waves * (tile.pingPong > 1 ? main + costs.turnCycles
                                                  : main * costs.sharing);
  int64_t sharers = tile.residents * tile.pingPong;
  double busy =
      sharers == 1
          ? waves * (main + finish)
          : std::max(multiplying, waves / number(sharers) * (main + finish)) +
                finish;
  double bytes =
      number(result.batch) *
      (firstElementsOf(problem) + number(groups) * secondElementsOf(problem) +
       number(m) * number(n)) *
      element;
  for (std::optional<ElementType> type : problem.auxiliaries)
    bytes += number(result.batch) * number(m) * number(n) *
             number(type ? bytesOf(*type) : 8);
  double memory = bytes / costs.memoryBytesPerCycle + finish;
  // The longer one hides most of the other, not all of it.
  result.cycles = costs.startCycles + costs.copyLatency +
                  std::max(busy, memory) +
                  std::min(busy, memory) * costs.exposed;
  // A kernel of its own reads and writes each operand that is padded.
  auto pad = [&](bool isFirst, double elements) {
    if (hasAlignedRows(rowOf(problem, isFirst), problem.operand) &&
        !(tile.lines & (isFirst ? 1 : 2)))
      return;
    ++result.padded;
    double moved = 2 * number(result.batch) * elements * element;
    result.cycles += costs.nextKernelCycles +
                     moved / (costs.padding * costs.memoryBytesPerCycle);
  };
  pad(true, firstElementsOf(problem));
  pad(false, secondElementsOf(problem));
  if (tile.split > 1 && tile.cluster == 1) {
    // Parts are written and read in single precision.
    double parts = 2 * 4 * number(tile.split) * number(result.batch) *
                   number(m) * number(n);
    result.cycles +=
        costs.nextKernelCycles + parts / (costs.copyBytesPerCycle * cores);
  }
  return result;
}

} // namespace tracea::doctor
