//===- CPUPackedGemm.cpp - Products of packed operands on CPUs ------------===//
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
#include "CPUGemm.h"

#include <algorithm>
#include <numeric>

using namespace tracea::doctor;

namespace {

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
                 : model.cores / std::gcd(model.cores, problem.batch);
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

void tracea::doctor::addCPUPackedGemmVariants(Registry &registry) {
  registry.add(std::make_unique<PackedGemm>());
}

void tracea::doctor::addCPUDotGemmVariants(Registry &registry) {
  registry.add(std::make_unique<DotGemm>());
}
