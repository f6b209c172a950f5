//===- CPUGemm.cpp - Matrix products on CPUs ------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of Goto and van de Geijn ("Anatomy of High-Performance Matrix
// Multiplication", 2008): a k block of B's panel is packed for the outer
// caches, MC rows of A for the second level, and register tiles run over both.
//
//===----------------------------------------------------------------------===//
#include "../Numbers.h"
#include "../Variants.h"
#include "CPUDots.h"
#include "CPUProduct.h"

#include <algorithm>
#include <array>

using namespace tracea::doctor;

namespace {

/// Bytes of the right operand; unknown extents are typical ones.
int64_t bytesOfSecond(const Problem &problem) {
  return assumed(problem.k) * assumed(problem.n) * bytesOf(problem.second);
}

/// Whether the right operand is far beyond the second level.
bool isSecondFar(const Problem &problem, const CPUModel &model) {
  constexpr int64_t far = 4;
  return bytesOfSecond(problem) > far * model.l2;
}

constexpr int64_t pageBytes = 4096;
/// Bytes of rows of B above which a block of them is many streams.
constexpr int64_t kLongRow = 2048;
/// Lines of a set of the first level.
constexpr int64_t waysOfSet = 8;

/// Whether rows of B are whole pages apart: they meet in a few sets of a small
/// second level, and in one of the first, which keeps as many as it has ways.
bool isCrowded(const Problem &problem, const CPUModel &model) {
  return model.isSecondLevelSmall() && problem.n > 0 &&
         problem.n * bytesOf(problem.second) % pageBytes == 0;
}

/// The fewest rows that are worth packing long rows of B, where register tiles
/// ask for the next block of it meanwhile; those of fewer read it where it
/// lies. More than few where B is near, or its extents are unknown.
///
/// Measured from memory, packed over direct. On a Zen 3 16 rows by 4096 x 4096
/// 1.2, 8 rows 1.2, 4 rows 0.6; 16 by 1000 x 1000 1.2 to 1.5, 8 rows 0.7. On a
/// Sapphire Rapids 32 rows by 768 x 3072 1.3, 24 and 32 by 1000 x 1000 1.05 and
/// 1.2, 32, 48 and 64 by 4096 x 4096 0.8, 1.0 and 1.1; what its second level
/// has of 768 x 768 is as fast to read where it lies, and 0.9 to pack.
int64_t rowsOfBlocks(const Problem &problem, const CPUModel &model) {
  constexpr int64_t more = int64_t(1) << 20;
  if (problem.transposeSecond || problem.n == kUnknownExtent ||
      problem.k == kUnknownExtent)
    return more;
  int64_t rowBytes = problem.n * bytesOf(problem.second);
  if (rowBytes < kLongRow)
    return more;
  if (model.isSecondLevelSmall())
    return !isSecondFar(problem, model) ? more
           : isCrowded(problem, model)  ? waysOfSet / 2 + 1
                                        : waysOfSet + 1;
  // Long vectors multiply faster than memory gives.
  constexpr int64_t longVector = 64;
  if (model.lanes * model.elementBytes < longVector ||
      2 * bytesOfSecond(problem) < 3 * model.l2)
    return more;
  return rowBytes <= pageBytes ? 32 : 64;
}

class PackedGemm : public CPUProduct {
public:
  std::string_view name() const override { return "gemm.packed"; }
  std::string_view summary() const override {
    return "packs both operands block by block and multiplies register tiles";
  }

  Reason checkTiles(const Problem &problem, const TargetDescription &target,
                    const Plan &plan) const override;

protected:
  Plan planOf(UnitKind unit, const Problem &problem,
              const TargetDescription &target, int64_t shares) const override;
  double tileCycles(const Problem &problem, const TargetDescription &target,
                    const Plan &plan) const override;
  /// Words of k in the blocks of B and A that are packed at a time, of a
  /// problem in words, for these register tiles.
  virtual int64_t blockWords(const CPUModel &model, const Problem &problem,
                             MicroTile micro) const;
  /// Whether panels of B are read a few times only.
  static bool hasFewRows(const Problem &problem) {
    constexpr int64_t few = 128;
    return problem.m != kUnknownExtent && problem.m <= few;
  }
  /// Whether the second level has rows of A, of as many words as can be, and
  /// panels of B come from beyond: of tiles of a unit, whose sums pass through
  /// memory between blocks of k.
  static bool hasLongBlocks(const CPUModel &model, const Problem &problem) {
    return model.hasTiles() && !hasFewRows(problem);
  }
  /// Whether register tiles ask for the block of B that is packed next: packing
  /// alone waits for memory, and few rows of products leave it idle. On a Zen 3
  /// 16 rows by 4096 x 4096 take 9.1 ms in place of 10.9, 128 rows 48.8 in
  /// place of 52.5; many rows gain nothing.
  bool asksForBlocks(UnitKind unit, const Problem &problem,
                     const TargetDescription &target) const {
    CPUModel model = modelOf(unit, problem, target);
    if (model.hasTiles() || wordLength(problem, target) > 1 ||
        !hasFewRows(problem) || !stagesB(problem, target, unit))
      return false;
    return model.isSecondLevelSmall()
               ? isSecondFar(problem, model)
               : problem.m >= rowsOfBlocks(problem, model);
  }
  /// Elements along k of such a block, whose rows go by from end to end: it may
  /// come to lie in the last level, or in part of a second one that has room.
  static int64_t depthOfBlocks(const CPUModel &model, const Problem &problem,
                               int64_t columns) {
    constexpr int64_t manyRows = 32, most = 128, fewest = 64;
    if (model.isSecondLevelSmall())
      return problem.m > manyRows ? most : fewest;
    int64_t fits = model.l2 / 4 / (columns * model.elementBytes);
    return std::clamp(roundDown(fits, 8), fewest, most);
  }

private:
  /// Of few registers as many sums are held by six rows of two vectors as by
  /// four of three: panels of B half as wide may be longer.
  static constexpr int64_t kHighRows = 6, kHighVectors = 2;
  /// The usual register tile of elements, or where there is hardly more work in
  /// it the high one.
  MicroTile chooseMicroTile(const CPUModel &model,
                            const Problem &problem) const;
  /// A tile whose partial sums do not fit the result's type keeps them in a
  /// scratch tile between k blocks.
  static bool needsScratch(const Problem &problem, int64_t kBlock) {
    return problem.result != problem.accumulator &&
           (problem.k == kUnknownExtent || problem.k > kBlock);
  }
  /// Whether rows of A are whole tiles of the unit where they lie.
  bool canReadRows(UnitKind unit, const Problem &problem,
                   const TargetDescription &target, int64_t rows,
                   int64_t kBlock) const;
  /// The plan that reads them there, of tiles of about `rows`; nothing where
  /// there is none, or they are read more than once.
  std::optional<Plan> planInPlace(UnitKind unit, const Problem &problem,
                                  const TargetDescription &target,
                                  int64_t rows) const;
  /// A constant B is packed once for all runs, where its elements, or words,
  /// are multiplied as they are.
  bool stagesB(const Problem &problem, const TargetDescription &target,
               UnitKind unit) const {
    bool isPacked = wordLength(problem, target) > 1
                        ? packsConstants(problem, target, unit)
                        : problem.second == problem.accumulator;
    return !problem.isSecondConstant || !isPacked;
  }
  static double tileCycles(const CPUModel &model, MicroTile micro, int64_t m,
                           int64_t n, int64_t k, bool stagesB) {
    return model.multiplyCycles(micro, m, n, k) +
           model.stageCycles(static_cast<double>(stagesB ? m + n : m) *
                             static_cast<double>(k));
  }
};

/// The same by words of a dot product: the loops are those of packed products,
/// of words in place of elements.
class DotGemm final : public ByDots<PackedGemm> {
public:
  std::string_view name() const override { return "gemm.dot"; }
  std::string_view summary() const override {
    return "packs both operands in words along k and multiplies register tiles "
           "by dot products";
  }

protected:
  Reason checkSteps(const Plan &plan, int64_t length) const override {
    return checkWords(plan, 2, "k", length);
  }
  // Each pass over the result costs more beside products that are cheaper.
  int64_t blockWords(const CPUModel &model, const Problem &problem,
                     MicroTile micro) const override;
};

/// Most bytes that the panels of one thread may take: far more than is fast.
constexpr int64_t kMaxPanelBytes = 256 << 20;

/// Extent of k staged at a time: long enough to amortise the loads and stores
/// of the accumulators, short enough for two slivers in the first-level cache.
/// A k not much longer is taken whole, unless its products in one sum lose more
/// than twice what those of blocks of 256 do; a longer one is cut evenly, into
/// about as many blocks.
int64_t chooseKBlock(const CPUModel &model, int64_t k, int64_t usual = 256) {
  int64_t block = usual * 4 / model.elementBytes;
  if (k == kUnknownExtent)
    return block;
  // Measured against float64, largest errors: 1.6 to 2.1 times those of
  // OpenBLAS for 512 and 640 products in a row, 2.0 to 2.8 for 760.
  constexpr int64_t mostInRow = 640;
  int64_t blocks = (2 * k + block - 1) / (2 * block);
  if (blocks <= 1 && k <= mostInRow)
    return std::max<int64_t>(1, k);
  blocks = std::max<int64_t>(blocks, 2);
  return roundUp(ceilDiv(k, blocks), 8);
}

/// `extent` cut into the fewest equal pieces that are multiples of `factor` and
/// not above `most`.
int64_t evenShare(int64_t extent, int64_t factor, int64_t most) {
  extent = std::max<int64_t>(1, extent);
  int64_t cap = std::max(factor, roundDown(most, factor));
  int64_t pieces = ceilDiv(roundUp(extent, factor), cap);
  return roundUp(ceilDiv(extent, pieces), factor);
}

int64_t gcd(int64_t a, int64_t b) { return b == 0 ? a : gcd(b, a % b); }

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
    int64_t most = isCrowded(problem, model)               ? waysOfSet
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
        problem.k * bytesOf(problem.operand) % pageBytes == 0)
      micro.rows = std::min(micro.rows, waysOfSet);
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
      return std::min(block, rowBytes > kLongRow ? waysOfSet : ahead);
    if (micro.rows == 1)
      return std::min<int64_t>(block, rowBytes > pageBytes ? 16 : 8);
    if (rowBytes > kLongRow)
      return std::min(block, asksForRows(problem, model, micro) ||
                                     model.hasFewRegisters()
                                 ? waysOfSet
                                 : ahead);
    if (tile[1] <= 2 * micro.columns && doRowsCollide(problem, model))
      return chooseKBlock(model, problem.k, pageBytes / 4);
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
    return apart >= pageBytes && assumed(problem.m) * apart > model.l2;
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
               ? assumed(problem.m) <= 32 && rowBytes % pageBytes != 0
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
    double pages = bytes / static_cast<double>(pageBytes);
    return waitCycles * rows * (columns < n ? std::max(pages, 1.0) : pages);
  }
};

} // namespace

MicroTile PackedGemm::chooseMicroTile(const CPUModel &model,
                                      const Problem &problem) const {
  MicroTile usual = model.chooseMicroTile(problem.m, problem.n);
  MicroTile high{kHighRows, kHighVectors * model.lanes};
  if (!model.hasFewRegisters() || !model.fits(high) ||
      usual.rows * usual.columns != high.rows * high.columns)
    return usual;
  auto cyclesOf = [&](MicroTile micro) {
    return model.multiplyCycles(micro, std::max<int64_t>(1, assumed(problem.m)),
                                std::max<int64_t>(1, assumed(problem.n)),
                                assumed(problem.k));
  };
  // Measured on a Zen 3: sums that are loaded and stored half as often save 1
  // to 6 %.
  constexpr double worthwhile = 1.01;
  return cyclesOf(high) <= worthwhile * cyclesOf(usual) ? high : usual;
}

// A square block of A in half of the second level, from which panels of B come
// as well: the longer k, the less often the sums are loaded and stored again.
// Narrow panels are as long where the first level has room for one.
int64_t PackedGemm::blockWords(const CPUModel &model, const Problem &problem,
                               MicroTile micro) const {
  constexpr int64_t side = 512;
  bool fits = model.l2 / 2 >= side * side * model.elementBytes ||
              (micro.rows == kHighRows &&
               model.l1 >= side * micro.columns * model.elementBytes);
  return chooseKBlock(model, problem.k, fits ? side : 256);
}

int64_t DotGemm::blockWords(const CPUModel &model, const Problem &problem,
                            MicroTile) const {
  if (!model.hasTiles())
    return chooseKBlock(model, problem.k, 512);
  // A panel of B stays in the first level while few rows of A stream by; or of
  // many rows a block in half of the second one. A tile has one line of each of
  // its rows: these are an odd number of lines apart, for at a power of two
  // they would share few sets of the cache.
  constexpr int64_t panelColumns = 2, blockRows = 256;
  int64_t step = model.tile.words;
  int64_t lineBytes = step * model.elementBytes;
  int64_t most = hasLongBlocks(model, problem)
                     ? model.l2 / 2 / (blockRows * lineBytes)
                     : model.l1 * 3 / 4 / (panelColumns * step * lineBytes);
  int64_t steps = most;
  if (problem.k != kUnknownExtent) {
    int64_t all = ceilDiv(std::max<int64_t>(1, problem.k), step);
    steps = all <= most * 3 / 2 ? all : ceilDiv(all, ceilDiv(all, most));
  }
  return (steps | 1) * step;
}

/// The problem with words in place of elements along k.
static Problem inWords(const Problem &problem, int64_t length) {
  Problem result = problem;
  if (problem.k != kUnknownExtent)
    result.k = ceilDiv(problem.k, length);
  return result;
}

Plan PackedGemm::planOf(UnitKind unit, const Problem &given,
                        const TargetDescription &target, int64_t shares) const {
  int64_t length = wordLength(given, target);
  Problem problem = inWords(given, length);
  CPUModel model = modelOf(unit, problem, target);
  model.cores = shares;
  MicroTile micro = length == 1 ? chooseMicroTile(model, problem)
                                : model.chooseMicroTile(problem.m, problem.n);
  int64_t kBlock = blockWords(model, problem, micro);

  // B's packed block stays in this core's half of the last-level share, or in
  // all of it and what rows of A leave of the second level. At most about 4096
  // columns of it, as whole panels of 32 or of 48.
  bool isLong = hasLongBlocks(model, problem);
  constexpr int64_t longestRow = 4128;
  int64_t roomForB = isLong ? model.l3 + model.l2 / 2 : model.l3 / 2;
  int64_t mostColumns =
      std::min<int64_t>(longestRow, roomForB / (kBlock * model.elementBytes));
  // Of few rows panels of B are read a few times only: a block of them stays in
  // the second level, of as many columns as leave k some length. Where rows of
  // B run along k these are longer, and columns fewer. A small one has room for
  // too few, and the last level keeps them.
  constexpr int64_t depthAcross = 64, depthAlong = 256, depthFar = 96;
  bool readsPanelsSeldom = !model.hasTiles() && hasFewRows(problem);
  bool isFar = model.isSecondLevelSmall();
  bool asksAhead = asksForBlocks(unit, given, target);
  bool asksAcross = asksAhead && !problem.transposeSecond;
  int64_t depth = problem.transposeSecond ? depthAlong
                  : isFar                 ? depthFar
                                          : depthAcross;
  int64_t elements = (asksAhead ? model.l2
                      : isFar   ? 2 * model.l2
                                : model.l2 / 4) /
                     model.elementBytes;
  if (asksAcross)
    mostColumns = longestRow;
  else if (readsPanelsSeldom)
    mostColumns = std::min(mostColumns, elements / depth);
  int64_t mostRows = kMaxTileExtent / 2;
  if (needsScratch(problem, kBlock)) {
    // Each tile of rows packs B anew, which weighs more beside fast products.
    mostRows = isLong ? 2048 : 256;
    mostColumns = std::min<int64_t>(mostColumns, 512);
  }

  // Unknown extents: tiles small enough that there are several.
  bool knowsM = problem.m != kUnknownExtent;
  bool knowsN = problem.n != kUnknownExtent;
  int64_t rows =
      evenShare(knowsM ? problem.m : 512, micro.rows,
                knowsM ? mostRows : std::min<int64_t>(512, mostRows));
  int64_t columns =
      evenShare(knowsN ? problem.n : 1024, micro.columns, mostColumns);

  int64_t columnsOfShare = problem.n;
  // Share the product between the cores; a batch may already do that. Every way
  // to write the number of shares as a grid is tried: cutting m packs B more
  // often, cutting n packs A more often. Among equals m is cut.
  if (problem.batch > 0)
    shares = problem.batch >= 4 * model.cores
                 ? 1
                 : model.cores / gcd(model.cores, problem.batch);
  if (knowsM && knowsN && shares > 1) {
    int64_t k = assumed(problem.k);
    double best = -1;
    for (int64_t down = shares; down >= 1; --down) {
      if (shares % down != 0)
        continue;
      int64_t across = ceilDiv(problem.n, shares / down);
      int64_t m = evenShare(ceilDiv(problem.m, down), micro.rows, mostRows);
      int64_t n = evenShare(across, micro.columns, mostColumns);
      double tiles = static_cast<double>(ceilDiv(problem.m, m)) *
                     static_cast<double>(ceilDiv(problem.n, n)) *
                     static_cast<double>(assumed(problem.batch, 1));
      double total =
          model.spread(tiles, tileCycles(model, micro, m, n, k,
                                         stagesB(given, target, unit)));
      if (best < 0 || total < best) {
        best = total;
        rows = m;
        columns = n;
        columnsOfShare = across;
      }
    }
  }

  if (MicroTile wide = model.widen(micro, columnsOfShare);
      length == 1 && (!readsPanelsSeldom || asksAcross) &&
      wide.columns > micro.columns) {
    micro = wide;
    columns = evenShare(columnsOfShare, micro.columns, mostColumns);
  }

  if (int64_t most = asksAcross
                         ? depthOfBlocks(model, problem, columns)
                         : std::max(depth, roundDown(elements / columns, 8));
      readsPanelsSeldom && kBlock > most)
    kBlock = problem.k == kUnknownExtent ? most : evenShare(problem.k, 8, most);
  // Beside one panel of B every row of A is read once, and where it lies if
  // tiles of the unit are whole there.
  if (std::optional<Plan> inPlace = planInPlace(unit, given, target, rows))
    return *inPlace;
  // As a whole they are read faster than in parts, each of which begins another
  // stream. An odd number of steps, as in other blocks.
  if (model.hasTiles() && !problem.transposeFirst && knowsN &&
      problem.n <= micro.columns && problem.k != kUnknownExtent) {
    int64_t steps = ceilDiv(problem.k, model.tile.words) | 1;
    int64_t whole = steps * model.tile.words;
    if (whole * (micro.rows + micro.columns) * model.elementBytes <=
        model.l2 / 2)
      kBlock = std::max(kBlock, whole);
  }

  // A's packed rows take a third of the second level, or more than half.
  int64_t roomForA = isLong ? model.l2 * 5 / 8 : model.l2 / 3;
  int64_t staged = roomForA / (kBlock * model.elementBytes);
  staged = std::clamp<int64_t>(staged, 96, 336);
  staged = std::max(micro.rows, roundDown(staged, micro.rows));
  staged = evenShare(std::min(rows, kMaxTileExtent), micro.rows, staged);

  Plan plan = emptyPlan(unit);
  plan.tile = {rows, columns, kBlock * length, staged};
  plan.registers() = {micro.rows, micro.columns};
  plan.params.as<schedule::CPUGemm>().prefetch = asksAhead;
  return plan;
}

bool PackedGemm::canReadRows(UnitKind unit, const Problem &problem,
                             const TargetDescription &target, int64_t rows,
                             int64_t kBlock) const {
  CPUModel model = modelOf(unit, problem, target);
  return model.hasTiles() && !problem.transposeFirst && problem.m > 0 &&
         problem.k > 0 && problem.m % rows == 0 && kBlock <= problem.k &&
         problem.k % kBlock == 0;
}

std::optional<Plan> PackedGemm::planInPlace(UnitKind unit,
                                            const Problem &problem,
                                            const TargetDescription &target,
                                            int64_t rows) const {
  CPUModel model = modelOf(unit, problem, target);
  int64_t step = wordLength(problem, target) * model.tile.words;
  if (!model.hasTiles() || problem.n == kUnknownExtent ||
      problem.n > model.lanes || problem.k <= 0 || problem.k % step != 0)
    return std::nullopt;
  // Several tiles of sums, so that none waits for itself.
  for (int64_t tiles = 3; tiles >= 1; --tiles) {
    int64_t height = tiles * model.tile.rows;
    if (!canReadRows(unit, problem, target, height, problem.k) ||
        model.tileRegistersOf({height, model.lanes}) > model.tile.registers)
      continue;
    rows = roundUp(rows, height);
    Plan plan = emptyPlan(unit);
    plan.tile = {rows, model.lanes, problem.k, rows};
    plan.registers() = {height, model.lanes};
    plan.params.as<schedule::CPUGemm>().staged = 0;
    if (checkTiles(problem, target, plan).empty())
      return plan;
  }
  return std::nullopt;
}

Reason PackedGemm::checkTiles(const Problem &problem,
                              const TargetDescription &target,
                              const Plan &plan) const {
  CPUModel model = modelOf(plan.unit, problem, target);
  if (Reason reason = checkTile(model, plan,
                                {{"m", plan.registers()[0]},
                                 {"n", plan.registers()[1]},
                                 {"k"},
                                 {"staged m", plan.registers()[0]}},
                                /*anyRows=*/true);
      !reason.empty())
    return reason;
  bool isStaged = plan.params.as<schedule::CPUGemm>().staged;
  if (!isStaged && !canReadRows(plan.unit, problem, target, plan.registers()[0],
                                plan.tile[2]))
    return "rows of A are read where they lie (staged = 0) as whole tiles of a "
           "unit, of whole blocks of k, and not transposed";
  // Both panels, and the sums between blocks of k. No extent exceeds 2^20.
  int64_t elements = ceilDiv(plan.tile[2], wordLength(problem, target)) *
                     (plan.tile[1] + (isStaged ? plan.tile[3] : 0));
  if (needsScratch(problem, plan.tile[2]))
    elements += plan.tile[0] * plan.tile[1];
  if (int64_t bytes = elements * model.elementBytes; bytes > kMaxPanelBytes)
    return "the panels take " + std::to_string(bytes) + " bytes, more than " +
           std::to_string(kMaxPanelBytes);
  return checkSplit(problem, plan);
}

double PackedGemm::tileCycles(const Problem &problem,
                              const TargetDescription &target,
                              const Plan &plan) const {
  int64_t words = ceilDiv(assumed(problem.k), wordLength(problem, target));
  int64_t m = std::max<int64_t>(1, assumed(problem.m));
  int64_t n = std::max<int64_t>(1, assumed(problem.n));
  return tileCycles(modelOf(plan.unit, problem, target),
                    {plan.registers()[0], plan.registers()[1]},
                    std::min(m, plan.tile[0]), std::min(n, plan.tile[1]), words,
                    stagesB(problem, target, plan.unit));
}

void tracea::doctor::addCPUGemmVariants(Registry &registry) {
  registry.add(std::make_unique<PackedGemm>());
  registry.add(std::make_unique<DirectGemm>());
  registry.add(std::make_unique<DotGemm>());
}
