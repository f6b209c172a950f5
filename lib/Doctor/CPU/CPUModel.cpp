//===- CPUModel.cpp - What CPU variants share -----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tracea/Doctor/CPUModel.h"
#include "../Numbers.h"
#include "../Variants.h"

#include <algorithm>
#include <cmath>

namespace tracea::doctor {

CPUModel::CPUModel(const TargetDescription &target, ElementType accumulator,
                   double multipliesPerCycle, target::TileShape tile)
    : tile(tile) {
  auto orDefault = [](int64_t value, int64_t fallback) {
    return value > 0 ? value : fallback;
  };
  cores = orDefault(target.cores, 1);
  l1 = orDefault(target.cacheBytes(1), 32 << 10);
  l2 = orDefault(target.cacheBytes(2), 512 << 10);
  constexpr int64_t smallLevel = 1 << 20;
  isL2Small = target.cacheBytes(2) > 0 && target.cacheBytes(2) < smallLevel;
  l3 = 2 << 20;
  for (const target::CacheLevel &cache : target.caches)
    if (cache.level == 3) {
      // Only as many cores share it as run.
      int64_t sharers =
          cache.sharedBy > 0 ? std::min<int64_t>(cache.sharedBy, cores) : cores;
      l3 = cache.bytes / sharers;
    }
  int64_t elementBits = bitWidth(accumulator);
  int64_t vectorBits = orDefault(target.vector.bits, 128);
  elementBytes = ceilDiv(elementBits, 8);
  lanes = std::max<int64_t>(4, vectorBits / elementBits);
  registersPerVector = std::max<int64_t>(1, lanes * elementBits / vectorBits);
  registers = orDefault(target.vector.registers, 16);
  vectorBytes = static_cast<double>(vectorBits) / 8;
  fmaPerCycle =
      multipliesPerCycle > 0
          ? multipliesPerCycle
          : static_cast<double>(orDefault(target.vector.fmaPerCycle, 2));
  // The pipes run at their rate only with some slack over latency x rate: at
  // least eight accumulators, and a cycle more where registers are so few that
  // tiles come close to it (measured on Zen 3).
  int64_t latency = orDefault(target.vector.fmaLatency, 4);
  if (hasFewRegisters())
    ++latency;
  chainCycles = std::max(static_cast<double>(latency), 8 / fmaPerCycle);
  multipliesByElement = target.arch == "aarch64";
  std::optional<target::RegisterTile> best =
      target::registerTile(target, static_cast<unsigned>(elementBits));
  usual = best ? MicroTile{best->rows, roundUp(best->columns, lanes)}
               : MicroTile{4, 2 * lanes};
}

int64_t CPUModel::tileRegistersOf(MicroTile micro) const {
  int64_t rows = ceilDiv(micro.rows, tile.rows);
  int64_t columns = ceilDiv(micro.columns, lanes);
  return rows * columns + std::min(rows, columns) + 1;
}

double CPUModel::tileCyclesPerStep(MicroTile micro) const {
  // Of words along k a tile holds a line for each row of its operand: all of
  // them are loaded, two a cycle, those of A mostly from the second level.
  constexpr double bytesPerCycle = 48;
  // [IntelOpt] A product's sums are there after 52 cycles.
  constexpr double latency = 52;
  double rows = static_cast<double>(ceilDiv(micro.rows, tile.rows));
  double columns = static_cast<double>(ceilDiv(micro.columns, lanes));
  double multiply = rows * static_cast<double>(tile.rows) * columns;
  double far = areRowsNear ? 0 : rows * vectorBytes / bytesPerCycle;
  return std::max({multiply / fmaPerCycle, (rows + columns) / 2, far,
                   latency / static_cast<double>(tile.words)});
}

MicroTile CPUModel::chooseTiles(int64_t m, int64_t n) const {
  constexpr int64_t k = 256;
  // Of equals the one that loads the fewest tiles for each product.
  auto rank = [&](MicroTile micro) {
    double loads = 1.0 / static_cast<double>(micro.rows) +
                   1.0 / static_cast<double>(micro.columns);
    return std::pair(multiplyCycles(micro, m, n, k), loads);
  };
  MicroTile best{tile.rows, lanes};
  for (int64_t rows = tile.rows; rows <= 4 * tile.rows; rows += tile.rows)
    for (int64_t columns = lanes; columns <= 4 * lanes; columns += lanes)
      if (MicroTile micro{rows, columns};
          tileRegistersOf(micro) <= tile.registers && rank(micro) < rank(best))
        best = micro;
  return best;
}

int64_t CPUModel::registersOf(MicroTile tile) const {
  int64_t vectors = ceilDiv(tile.columns, lanes) * registersPerVector;
  return tile.rows * vectors + vectors + 1 + productRegisters;
}

int64_t CPUModel::mostColumns(int64_t rows) const {
  int64_t vectors =
      (registers - 1 - productRegisters) / ((rows + 1) * registersPerVector);
  return std::max<int64_t>(1, vectors) * lanes;
}

double CPUModel::cyclesPerStep(MicroTile tile) const {
  if (hasTiles())
    return tileCyclesPerStep(tile);
  double vectors =
      static_cast<double>(ceilDiv(tile.columns, lanes) * registersPerVector);
  double rows = static_cast<double>(tile.rows);
  double multiply = rows * vectors / fmaPerCycle;
  // Every core of the tables loads at least two vectors a cycle. x86 loads each
  // broadcast for itself; Arm multiplies by an element of a loaded vector.
  // Beside as many multiply-adds 1.6 were measured on Zen 3.
  double loadsPerCycle = hasFewRegisters() ? 1.6 : 2;
  double broadcasts =
      multipliesByElement ? rows / static_cast<double>(lanes) : rows;
  // Half of those of shifted columns are from two lines. On Zen 3 six rows of
  // two such vectors take 6.9 cycles where 6 are their multiply-adds.
  double loadsOfVector = areColumnsShifted && hasFewRegisters() ? 2.5 : 1;
  double load = (broadcasts + loadsOfVector * vectors) / loadsPerCycle;
  double stream = vectors * vectorBytes / streamBytes;
  return std::max({multiply, load, stream, chainCycles});
}

double CPUModel::multiplyCycles(MicroTile tile, int64_t m, int64_t n,
                                int64_t k) const {
  // A tile's accumulators are zeroed or loaded and stored once. Those of a tile
  // unit pass through memory: a store, a load, and the same of the result for
  // each vector.
  double startCycles = 20;
  if (hasTiles()) {
    int64_t vectors = tile.rows * tile.columns / lanes;
    startCycles += 4 * static_cast<double>(vectors);
  }
  auto steps = static_cast<double>(roundUp(k, this->tile.words));
  double rows = static_cast<double>(ceilDiv(m, tile.rows)) *
                (startCycles + steps * cyclesPerStep(tile));
  if (int64_t left = m % tile.rows; cutsRows && left > 0)
    rows -= steps * (cyclesPerStep(tile) - cyclesPerStep({left, tile.columns}));
  return rows * static_cast<double>(ceilDiv(n, tile.columns));
}

MicroTile CPUModel::chooseMicroTile(int64_t m, int64_t n, bool anyRows) const {
  // Unknown extents are taken as large: there the usual tile is best.
  constexpr int64_t large = 1 << 14;
  m = std::max<int64_t>(1, m == kUnknownExtent ? large : m);
  n = std::max<int64_t>(1, n == kUnknownExtent ? large : n);
  if (hasTiles())
    return chooseTiles(m, n);
  constexpr int64_t k = 256;
  // Keep the usual tile, narrowed to the columns there are, unless another one
  // saves more than the model's own error.
  constexpr double worthwhile = 0.95;
  MicroTile best = usual;
  while (!fits(best) && best.columns > lanes)
    best.columns -= lanes;
  double bestCycles = multiplyCycles(best, m, n, k);
  for (int64_t rows = 16; rows >= 1; rows = anyRows ? rows - 1 : rows / 2)
    for (int64_t vectors = 1; vectors <= 8; ++vectors) {
      MicroTile tile{rows, vectors * lanes};
      if (registersOf(tile) > registers || (rows == 16 && vectors > 1))
        continue;
      double cycles = multiplyCycles(tile, m, n, k);
      if (cycles < worthwhile * bestCycles) {
        best = tile;
        bestCycles = cycles;
      }
    }
  // Rows and columns beyond the product are only masked away: drop them.
  while (best.rows > 1 && best.rows / 2 >= m)
    best.rows /= 2;
  if (anyRows)
    best.rows = std::min(best.rows, m);
  best.rows = roundUp(best.rows, tile.rows);
  best.columns = std::min(best.columns, roundUp(n, lanes));
  return best;
}

MicroTile CPUModel::widen(MicroTile micro, int64_t n) const {
  // Of few registers the usual tile takes all.
  // It saves 5 % on Sapphire Rapids; nothing on Zen 5, nor of dot products.
  constexpr double mostWaste = 1.015;
  if (hasTiles() || multipliesByElement || hasFewRegisters() ||
      micro.rows != usual.rows || micro.columns != usual.columns ||
      n == kUnknownExtent)
    return micro;
  MicroTile wide{micro.rows, mostColumns(micro.rows)};
  auto waste = static_cast<double>(roundUp(n, wide.columns)) /
               static_cast<double>(roundUp(n, micro.columns));
  return wide.columns > micro.columns && waste <= mostWaste ? wide : micro;
}

double CPUModel::stageCycles(double elements) const {
  return 4 * elements / static_cast<double>(lanes);
}

double CPUModel::spread(double tiles, double cyclesPerTile) const {
  // Waking the threads costs about a microsecond.
  double startCycles = cores > 1 ? 3000 : 0;
  return startCycles +
         std::ceil(tiles / static_cast<double>(cores)) * cyclesPerTile;
}

Reason CPUVariant::checkPlan(const Problem &problem,
                             const TargetDescription &target,
                             const Plan &plan) const {
  if (!multipliesOn(plan.unit, problem, target))
    return "'" + std::string(name()) + "' does not multiply " +
           std::string(target::stringify(problem.operand)) + " on the unit '" +
           std::string(target::stringify(plan.unit)) + "' of this target";
  // The tile level has both, which no way down to a CPU makes use of.
  const auto *ring = plan.params.getIf<schedule::CPURing>();
  const auto *gemm = plan.params.getIf<schedule::CPUGemm>();
  if ((ring && ring->slots != 1) || (gemm && gemm->group != 0))
    return "a CPU variant has one slot and no raster groups";
  if (gemm && !gemm->staged && plan.unit == UnitKind::Vector)
    return "rows of A are read where they lie (staged = 0) by units that "
           "multiply tiles";
  return checkTiles(problem, target, plan);
}

Reason checkMultiple(int64_t extent, int64_t factor, std::string_view what) {
  if (extent % factor != 0)
    return std::string(what) + " must be a multiple of " +
           std::to_string(factor) + ", found " + std::to_string(extent);
  return "";
}

static Reason checkMicroTile(const CPUModel &model, const Plan &plan,
                             bool anyRows) {
  int64_t rows = plan.registers()[0];
  if (model.hasTiles()) {
    if (Reason reason = checkMultiple(rows, model.tile.rows,
                                      "the rows of the register tile");
        !reason.empty())
      return reason;
    if (Reason reason = checkMultiple(plan.registers()[1], model.lanes,
                                      "the columns of the register tile");
        !reason.empty())
      return reason;
    int64_t tiles = model.tileRegistersOf({rows, plan.registers()[1]});
    if (tiles > model.tile.registers)
      return "the register tile takes " + std::to_string(tiles) +
             " tiles, operands included, more than " +
             std::to_string(model.tile.registers);
    return "";
  }
  if (Reason reason =
          checkMultiple(rows, model.tile.rows, "the rows of the register tile");
      !reason.empty())
    return reason;
  if (!anyRows && (rows & (rows - 1)) != 0)
    return "the rows of the register tile must be a power of two, found " +
           std::to_string(rows);
  if (Reason reason = checkMultiple(plan.registers()[1], model.lanes,
                                    "the columns of the register tile");
      !reason.empty())
    return reason;
  // Accumulators that spill are slow but right; more than 64 vectors of them
  // make the unrolled code explode.
  int64_t vectors = rows * (plan.registers()[1] / model.lanes);
  if (vectors > 64)
    return "the register tile takes " + std::to_string(vectors) +
           " vectors, more than 64";
  return "";
}

Reason checkTile(const CPUModel &model, const Plan &plan,
                 std::initializer_list<TileExtent> extents, bool anyRows) {
  std::string tile;
  for (const TileExtent &extent : extents)
    tile += (tile.empty() ? "the tile [" : ", ") + std::string(extent.name);
  if (plan.tile.size() != extents.size())
    return tile + "] must have " + std::to_string(extents.size()) +
           " extents, found " + std::to_string(plan.tile.size());
  for (int64_t extent : plan.tile)
    if (extent < 1 || extent > kMaxTileExtent)
      return tile + "] extents must lie in [1, " +
             std::to_string(kMaxTileExtent) + "], found " +
             std::to_string(extent);
  if (Reason reason = checkMicroTile(model, plan, anyRows); !reason.empty())
    return reason;
  auto found = plan.tile.begin();
  for (const TileExtent &extent : extents)
    if (Reason reason = checkMultiple(
            *found++, extent.factor, "tile extent " + std::string(extent.name));
        !reason.empty())
      return reason;
  return "";
}

void addCPUVariants(Registry &registry) {
  addCPUPackedGemmVariants(registry);
  addCPUDirectGemmVariants(registry);
  addCPUDotGemmVariants(registry);
  addCPUConvVariants(registry);
  addCPUWGradVariants(registry);
  addCPURowVariants(registry);
  addCPUAttentionVariants(registry);
}

} // namespace tracea::doctor
