//===- CPUDirectGemm.cpp - Products of few rows or columns on CPUs --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//===----------------------------------------------------------------------===//
#include "../Numbers.h"
#include "../Variants.h"
#include "CPUGemm.h"

#include <algorithm>
#include <array>

using namespace tracea::doctor;

namespace {

/// Products with few rows or columns: a packed element would be used too rarely
/// to pay for its copy, so register tiles read the operands where they are.
class DirectGemm final : public CPUProduct {
  /// Rows of B are read once for each register tile of rows, and A once for
  /// each of columns.
  static constexpr int64_t kFewColumns = 32;
  /// More rows are worth it where no register tile converts what it reads.
  static int64_t fewRows(const Problem &problem,
                         const TargetDescription &target) {
    CPUModel model(target, problem.accumulator);
    int64_t most = isCrowded(problem, model)               ? kWaysOfSet
                   : problem.second == problem.accumulator ? 64
                                                           : 32;
    return std::min(most, rowsOfBlocks(problem, model) - 1);
  }
  static bool isKnownAtMost(int64_t extent, int64_t most) {
    return extent != kUnknownExtent && extent <= most;
  }

public:
  std::string_view name() const override { return "gemm.direct"; }
  std::string_view summary() const override {
    return "multiplies register tiles straight from the operands";
  }

  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override {
    if (problem.transposeSecond)
      return "the second operand is stored [n, k]: its rows do not run along n";
    int64_t few = fewRows(problem, target);
    if (!isKnownAtMost(problem.m, few) &&
        !isKnownAtMost(problem.n, kFewColumns))
      return "neither is m known to be at most " + std::to_string(few) +
             " nor n at most " + std::to_string(kFewColumns) +
             ": packed elements are used often enough";
    return "";
  }

  Plan planOf(UnitKind unit, const Problem &problem,
              const TargetDescription &target, int64_t shares) const override {
    CPUModel model = modelOf(unit, problem, target);
    // Several tiles a core; a batch of so many has them itself.
    constexpr int64_t tilesOfCore = 4;
    bool sharesBatch = assumed(problem.batch) >= tilesOfCore * shares;
    if (sharesBatch)
      shares = 1;
    MicroTile micro =
        model.chooseMicroTile(problem.m, problem.n, /*anyRows=*/true);
    // Few rows wait for rows of B, whose runs are as long as registers allow:
    // of all rows at once, or of equal shares that leave three vectors.
    int64_t mostRows = 8;
    while (mostRows > 1 && model.mostColumns(mostRows) < 3 * model.lanes)
      --mostRows;
    bool hasFewRows = isKnownAtMost(problem.m, fewRows(problem, target)) &&
                      (problem.n == kUnknownExtent || problem.n >= problem.m);
    if (hasFewRows) {
      micro.rows = evenShare(problem.m, 1, mostRows);
      // One row only adds up what it reads: wider runs would be no longer ones
      // of memory, and be cut by masks at the end of each row.
      constexpr int64_t runBytes = 512;
      micro.columns = model.mostColumns(micro.rows);
      if (micro.rows == 1)
        micro.columns =
            std::min(micro.columns,
                     roundDown(runBytes / model.elementBytes, model.lanes));
      if (problem.n != kUnknownExtent)
        micro.columns = evenShare(problem.n, model.lanes, micro.columns);
    }
    // Of a B that does not stay runs are whole lines, none of which is read
    // again; short rows are one run anyway. Else few registers hold six rows of
    // two vectors, where that leaves fewer columns without work.
    constexpr int64_t shortRow = 512;
    bool isTight = hasFewRows && model.isSecondLevelSmall() &&
                   assumed(problem.n) * bytesOf(problem.second) > shortRow &&
                   bytesOfSecond(problem) > model.l2 / 2;
    constexpr int64_t lineBytes = 64;
    int64_t line = std::max(model.lanes, lineBytes / model.elementBytes);
    if (isTight) {
      micro.columns = std::min(micro.columns, line);
    } else if (hasFewRows && model.hasFewRegisters() && problem.n > 0) {
      constexpr int64_t manyRows = 6;
      MicroTile high{evenShare(problem.m, 1, manyRows), line};
      auto cyclesOf = [&](MicroTile tile) {
        return model.multiplyCycles(tile, problem.m, problem.n,
                                    assumed(problem.k));
      };
      if (model.fits(high) && cyclesOf(high) < cyclesOf(micro))
        micro = high;
    }
    if (MicroTile whole =
            wholeRows(model, problem, micro, fewRows(problem, target));
        whole.rows > 0)
      return planOfWholeRows(whole, model, problem, shares);
    if (hasFewRows && problem.n != kUnknownExtent &&
        roundUp(problem.n, model.lanes) == micro.columns)
      return planOfWholeRows(micro, model, problem, shares);
    // Rows of A that are whole pages apart lie in one set of the first level,
    // which has room for eight of them.
    if (!hasFewRows && !problem.transposeFirst && problem.k > 0 &&
        problem.k * bytesOf(problem.operand) % kPageBytes == 0)
      micro.rows = std::min(micro.rows, kWaysOfSet);
    // The longer extent is cut. Of few rows a core takes as many columns as
    // there are for it, while their sums stay in the second-level cache.
    bool cutsRows = problem.n != kUnknownExtent &&
                    (problem.m == kUnknownExtent || problem.m > problem.n);
    auto shareOf = [&](int64_t extent, int64_t factor, bool isCut) {
      int64_t most = 32 * factor;
      if (extent == kUnknownExtent)
        return most;
      if (!isCut)
        return evenShare(extent, factor, std::max(most, extent));
      if (!hasFewRows)
        return evenShare(
            extent, factor,
            std::min(most,
                     ceilDiv(extent, sharesBatch ? 1 : tilesOfCore * shares)));
      int64_t sums =
          model.l2 / 4 / (std::max<int64_t>(1, problem.m) * model.elementBytes);
      int64_t columns = roundUp(ceilDiv(extent, shares), factor);
      return evenShare(extent, factor, std::min(sums, columns));
    };
    int64_t m = shareOf(problem.m, micro.rows, cutsRows);
    int64_t n = shareOf(problem.n, micro.columns, !cutsRows);
    int64_t kBlock =
        hasFewRows && n > micro.columns
            ? chooseKBlockOfPanels(problem, model, micro, {m, n}, isTight)
            : chooseKBlock(model, problem.k);
    Plan plan = emptyPlan();
    plan.tile = {m, n, kBlock};
    plan.registers() = {micro.rows, micro.columns};
    plan.params.as<schedule::CPUGemm>().prefetch =
        hasShortRuns(plan) ||
        (n > micro.columns && asksForRows(problem, model, micro));
    return plan;
  }

  Reason checkTiles(const Problem &problem, const TargetDescription &target,
                    const Plan &plan) const override {
    CPUModel model = modelOf(plan.unit, problem, target);
    if (Reason reason = checkTile(
            model, plan,
            {{"m", plan.registers()[0]}, {"n", plan.registers()[1]}, {"k"}},
            /*anyRows=*/true);
        !reason.empty())
      return reason;
    return checkSplit(problem, plan);
  }

  // Lines of B are read one after the other, a vector's share of them a cycle.
  CPUModel modelOf(UnitKind, const Problem &problem,
                   const TargetDescription &target) const override {
    CPUModel model(target, problem.accumulator);
    model.streamBytes =
        std::max(model.streamBytes,
                 0.75 * static_cast<double>(model.lanes * model.elementBytes));
    return model;
  }

  double tileCycles(const Problem &problem, const TargetDescription &target,
                    const Plan &plan) const override {
    CPUModel model = modelOf(plan.unit, problem, target);
    int64_t m = std::max<int64_t>(1, assumed(problem.m));
    int64_t n = std::max<int64_t>(1, assumed(problem.n));
    return model.multiplyCycles({plan.registers()[0], plan.registers()[1]},
                                std::min(m, plan.tile[0]),
                                std::min(n, plan.tile[1]), assumed(problem.k)) +
           waits(model, problem, plan);
  }

private:
  /// Whether there are so few panels of columns, but several, that a block is
  /// runs which are too short for the processor to look ahead by itself.
  static bool hasShortRuns(const Plan &plan) {
    int64_t panels = plan.tile[1] / plan.registers()[1];
    return panels > 1 && panels <= plan.registers()[0];
  }
  /// Steps of a block of k that several panels of columns take in turns, of few
  /// rows: rows of B are read from end to end, where they are long as many side
  /// by side as processors look ahead in; those with few registers, which are
  /// the older ones, look ahead in fewer. The sums of few rows are small beside
  /// them.
  static int64_t chooseKBlockOfPanels(const Problem &problem,
                                      const CPUModel &model, MicroTile micro,
                                      std::array<int64_t, 2> tile,
                                      bool isTight) {
    constexpr int64_t ahead = 32;
    int64_t block = chooseKBlock(model, problem.k);
    int64_t rowBytes = assumed(problem.n) * model.elementBytes;
    if (isTight)
      return std::min(block, rowBytes > kLongRow ? kWaysOfSet : ahead);
    if (micro.rows == 1)
      return std::min<int64_t>(block, rowBytes > kPageBytes ? 16 : 8);
    if (rowBytes > kLongRow)
      return std::min(block, asksForRows(problem, model, micro) ||
                                     model.hasFewRegisters()
                                 ? kWaysOfSet
                                 : ahead);
    if (tile[1] <= 2 * micro.columns && doRowsCollide(problem, model))
      return chooseKBlock(model, problem.k, kPageBytes / 4);
    // A block of A, which every panel of B meets, and one panel in half of the
    // first level, or in two thirds where panels are narrow.
    int64_t room = model.hasFewRegisters() ? model.l1 * 2 / 3 : model.l1 / 2;
    int64_t fits = room / ((tile[0] + micro.columns) * model.elementBytes);
    return fits < block ? std::max(ahead, roundDown(fits, 8)) : block;
  }
  /// Whether the second level has no room for a block of the rows of A, which
  /// share its sets where they are a power of two apart: a block then is as
  /// long as a page, in which processors look ahead.
  static bool doRowsCollide(const Problem &problem, const CPUModel &model) {
    if (problem.transposeFirst || problem.k <= 0)
      return false;
    int64_t rowBytes = problem.k * bytesOf(problem.operand);
    int64_t apart = rowBytes & -rowBytes;
    return apart >= kPageBytes && assumed(problem.m) * apart > model.l2;
  }
  /// Whether rows of a B far beyond the second level are asked for ahead.
  ///
  /// Measured in turns with other operands and after rests. On a Sapphire
  /// Rapids 4 and 8 rows by 4096 x 4096, eight rows of B at a time, take 4.8
  /// and 5.0 ms in place of 5.4 and 6.3, but one row loses 5 %, and 16 gain
  /// nothing. On a Zen 3 8 rows by 1000 x 1000 take 0.35 to 0.5 ms in place of
  /// 0.55, 16 by 300 x 5000 1.2 in place of 3.3, but one and two rows lose, 64
  /// gain nothing, and where rows of B are whole pages apart blocks push each
  /// other out of its second level.
  static bool asksForRows(const Problem &problem, const CPUModel &model,
                          MicroTile micro) {
    constexpr int64_t fewest = 3;
    bool isConverted = bytesOf(problem.second) != model.elementBytes;
    if (problem.n == kUnknownExtent || micro.rows < fewest || isConverted ||
        !isSecondFar(problem, model))
      return false;
    int64_t rowBytes = problem.n * bytesOf(problem.second);
    return model.hasFewRegisters()
               ? assumed(problem.m) <= 32 && rowBytes % kPageBytes != 0
               : assumed(problem.m) <= 8 && rowBytes > kLongRow;
  }
  /// A register tile of whole rows of B in place of `micro`, which has a part
  /// of them: sums stay in registers through all of k, and A is read once. B,
  /// which each register tile reads, has to stay in the second level. Without
  /// rows where there is none as fast.
  static MicroTile wholeRows(const CPUModel &model, const Problem &problem,
                             MicroTile micro, int64_t few) {
    constexpr int64_t fewestRows = 4;
    constexpr double worthwhile = 1.05; // the model's own error
    MicroTile best{0, 0};
    if (!isKnownAtMost(problem.m, few) || problem.n == kUnknownExtent ||
        problem.n <= micro.columns || problem.k == kUnknownExtent ||
        problem.k * problem.n * bytesOf(problem.second) > model.l2 / 2)
      return best;
    int64_t columns = roundUp(problem.n, model.lanes);
    auto cyclesOf = [&](MicroTile tile) {
      return model.multiplyCycles(tile, problem.m, problem.n, problem.k);
    };
    double most = worthwhile * cyclesOf(micro);
    for (int64_t rows = fewestRows; model.mostColumns(rows) >= columns; ++rows)
      if (MicroTile tile{rows, columns};
          problem.m >= rows && cyclesOf(tile) <= most &&
          (best.rows == 0 || cyclesOf(tile) < cyclesOf(best)))
        best = tile;
    return best;
  }
  Plan planOfWholeRows(MicroTile micro, const CPUModel &model,
                       const Problem &problem, int64_t shares) const {
    Plan plan = emptyPlan();
    plan.tile = {evenShare(problem.m, micro.rows,
                           roundUp(ceilDiv(problem.m, shares), micro.rows)),
                 micro.columns, chooseKBlock(model, problem.k)};
    plan.registers() = {micro.rows, micro.columns};
    return plan;
  }
  /// Processors look ahead within a page: each run of a tile that has a part of
  /// the rows of B is waited for, unless it is short and register tiles ask for
  /// it, or it may be in the second level already.
  static double waits(const CPUModel &model, const Problem &problem,
                      const Plan &plan) {
    constexpr double waitCycles = 75; // measured on Sapphire Rapids
    int64_t n = std::max<int64_t>(1, assumed(problem.n));
    int64_t columns = std::min(n, plan.tile[1]);
    bool asksAhead =
        hasShortRuns(plan) && plan.params.as<schedule::CPUGemm>().prefetch;
    auto rows = static_cast<double>(assumed(problem.k));
    double bytes = static_cast<double>(columns * bytesOf(problem.second));
    if (asksAhead || rows * bytes <= static_cast<double>(model.l2) / 2)
      return 0;
    double pages = bytes / static_cast<double>(kPageBytes);
    return waitCycles * rows * (columns < n ? std::max(pages, 1.0) : pages);
  }
};

} // namespace

void tracea::doctor::addCPUDirectGemmVariants(Registry &registry) {
  registry.add(std::make_unique<DirectGemm>());
}
