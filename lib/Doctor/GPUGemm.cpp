//===- GPUGemm.cpp - Matrix products on GPUs ------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GPUGemmModel.h"
#include "Numbers.h"
#include "Variants.h"

#include <cstdio>

using namespace tracea::doctor;

namespace {

/// The shared memory of each of so many workgroups of a multiprocessor.
int64_t shareOf(const TargetDescription &target, int64_t residents) {
  return residents == 1 ? target.shared.perWorkgroup
                        : target.shared.perMultiprocessor / residents -
                              target.shared.reservedPerWorkgroup;
}

/// A workgroup is a warp that copies and one or two teams of four warps that
/// multiply, from a ring of slots in shared memory.
class WarpgroupGemm final : public Variant {
public:
  /// The transposed product has the result's columns as rows of the unit.
  explicit WarpgroupGemm(bool isTransposed) : isTransposed(isTransposed) {}

  std::string_view name() const override {
    return isTransposed ? "gemm.skinny" : "gemm.warpgroup";
  }
  std::string_view summary() const override {
    return isTransposed
               ? "computes the transposed product, so that few rows are few "
                 "columns of the matrix unit"
               : "copies blocks of both operands in bulk and multiplies them "
                 "by teams of four warps";
  }
  bool serves(OpKind op) const override { return op == OpKind::Gemm; }
  bool runsOn(TargetKind kind) const override {
    return kind == TargetKind::CUDA;
  }

  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override {
    if (!target.findUnit(UnitKind::WGMMA))
      return "target '" + target.name + "' has no unit 'wgmma'";
    if (!target.async.bulkCopy || !target.async.setMaxRegisters)
      return "target '" + target.name +
             "' lacks bulk copies or registers that move between warps";
    if (problem.second != problem.operand)
      return "expected both operands of one type, found " +
             std::string(stringify(problem.operand)) + " and " +
             std::string(stringify(problem.second));
    bool isInteger = problem.operand == ElementType::I8;
    if (!target.findShape(UnitKind::WGMMA, unitElementOf(problem),
                          isInteger ? ElementType::I32 : ElementType::F32))
      return "the unit does not multiply " +
             std::string(stringify(problem.operand));
    if (problem.accumulator !=
        (isInteger ? ElementType::I32 : ElementType::F32))
      return std::string("the unit adds up in ") + (isInteger ? "i32" : "f32") +
             ", and the product asks for " +
             std::string(stringify(problem.accumulator));
    bool isHalf = problem.operand == ElementType::F16 ||
                  problem.operand == ElementType::BF16;
    if (!isHalf && (problem.transposeFirst || !problem.transposeSecond))
      return "the unit reads " + std::string(stringify(problem.operand)) +
             " where rows of both operands run along k";
    return "";
  }

  Reason whyNotUnasked(const Problem &problem,
                       const TargetDescription &target) const override {
    if (problem.hasOpenRows) {
      // Whatever the tile is.
      Plan any = planOf(warpgroupTiles(isTransposed).front());
      if (Reason reason = whyAlone(problem, target, any); !reason.empty())
        return "only the run knows where rows begin, and " + reason;
    }
    if (problem.operand == ElementType::F32 && !problem.allowTF32)
      return "the unit rounds f32 to tf32; the attribute "
             "'tracea.allow_tf32' of the function or the module allows it, or "
             "a schedule asks for it";
    return "";
  }

  bool asksForRows() const override { return true; }
  Reason whyAlone(const Problem &problem, const TargetDescription &target,
                  const Plan &plan) const override;

  Plan plan(const Problem &problem,
            const TargetDescription &target) const override {
    const WarpgroupTile *best = nullptr;
    return planOf(choose(problem, target, nullptr, best));
  }

  /// The two tiles that are expected to be the fastest.
  std::vector<Plan> plans(const Problem &problem,
                          const TargetDescription &target) const override {
    const WarpgroupTile *best = nullptr, *second = nullptr;
    std::vector<Plan> found = {planOf(choose(problem, target, nullptr, best))};
    WarpgroupTile next = choose(problem, target, best, second);
    if (best && second)
      found.push_back(planOf(next));
    return found;
  }

  Reason checkPlan(const Problem &problem, const TargetDescription &target,
                   const Plan &plan) const override;

  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &plan) const override {
    // Of equals the plain one, where rows fill the unit.
    constexpr double transposedFactor = 1.02;
    return estimate(problem, target, tileOf(plan), isTransposed).cycles *
           (isTransposed && assumed(problem.m, 4096) > 32 ? transposedFactor
                                                          : 1);
  }

  std::string reasoning(const Problem &problem, const TargetDescription &target,
                        const Plan &plan) const override;

private:
  /// The cheapest tile of the table that may be used, with as many slots as
  /// there is room for; `except` is left out, `found` is null where there is
  /// none.
  WarpgroupTile choose(const Problem &problem, const TargetDescription &target,
                       const WarpgroupTile *except,
                       const WarpgroupTile *&found) const;

  bool isTransposed;
};

} // namespace

WarpgroupTile WarpgroupGemm::choose(const Problem &problem,
                                    const TargetDescription &target,
                                    const WarpgroupTile *except,
                                    const WarpgroupTile *&found) const {
  // Another row of tiles would read the weights again.
  constexpr int64_t mostRows = 256;
  WarpgroupTile best = warpgroupTiles(isTransposed).front();
  double least = 0;
  found = nullptr;
  for (const WarpgroupTile &entry : warpgroupTiles(isTransposed))
    for (int64_t parts : splitsOfSums()) {
      WarpgroupTile tile = entry;
      tile.split = parts;
      constexpr int64_t halvesOfRow = 64;
      tile.k = entry.k / halvesOfRow * stagedRowOf(problem);
      // Where a tile has all rows the other operand is read once.
      if (isTransposed && tile.m < problem.m && problem.m <= mostRows)
        break;
      // Parts of an unknown sum would often be empty.
      if (parts > 1 && problem.k == kUnknownExtent)
        break;
      auto isExcept = [&](const WarpgroupTile &tile) {
        return except && tile.m == except->m && tile.n == except->n &&
               parts == except->split && tile.residents == except->residents &&
               tile.cluster == except->cluster && tile.lines == except->lines &&
               tile.pingPong == except->pingPong;
      };
      // Copies that run further ahead than to the next tile are in the way of
      // what others read and write.
      int64_t steps = ceilDiv(assumed(problem.k, 4096), tile.k * parts);
      tile.slots = std::min(tile.slots, std::max<int64_t>(2 * steps, 4));
      auto consider = [&](WarpgroupTile tile) {
        while (tile.slots > 2 && sharedBytesOf(problem, tile, isTransposed) >
                                     shareOf(target, tile.residents))
          --tile.slots;
        if (isExcept(tile) || !check(problem, target, planOf(tile)).empty() ||
            (problem.hasOpenRows &&
             !whyAlone(problem, target, planOf(tile)).empty()))
          return;
        double cycles = estimate(problem, target, tile, isTransposed).cycles;
        if (found && cycles >= least)
          return;
        found = &entry;
        best = tile;
        least = cycles;
      };
      // What the run may make small is not worth a copy.
      bool isKnown =
          problem.m != kUnknownExtent && problem.n != kUnknownExtent &&
          problem.k != kUnknownExtent && problem.batch != kUnknownExtent;
      int64_t split = isKnown ? paddableLinesOf(problem) : 0;
      for (tile.lines = 0; tile.lines <= 3; ++tile.lines) {
        if (tile.lines & ~split)
          continue;
        tile.cluster = 1;
        consider(tile);
        // A team of 128 rows instead of two that share them.
        if (!isTransposed && entry.consumers == 2) {
          WarpgroupTile turns = tile;
          turns.pingPong = 2;
          turns.consumers = 1;
          consider(turns);
        }
        // More than this only some GPUs run. Of the transposed product lanes
        // would store columns of the result.
        if (!isTransposed && parts > 1 &&
            parts <= target.async.maxClusterSize) {
          tile.cluster = parts;
          consider(tile);
        }
      }
    }
  return best;
}

Reason WarpgroupGemm::whyAlone(const Problem &problem,
                               const TargetDescription &target,
                               const Plan &plan) const {
  WarpgroupTile tile = tileOf(plan);
  if (tile.split > 1 && tile.cluster == 1)
    return "another kernel adds up the parts of its sums";
  if (problem.reductions)
    return "what it reduces leaves in parts of its own tiles";
  if (estimate(problem, target, tile, isTransposed).padded)
    return "it reads padded copies of its operands";
  return "";
}

/// Whether the workgroups of a cluster can share a tile of so many rows and
/// columns of the unit.
static Reason checkCluster(const TargetDescription &hardware,
                           const WarpgroupTile &tile, int64_t rows,
                           int64_t columns) {
  constexpr int64_t leastColumns = 32, warpsOfTeam = 4;
  if (tile.cluster == 1)
    return "";
  if (hardware.async.maxClusterSize < 2)
    return "target '" + hardware.name + "' has no clusters";
  if (!isPowerOf2(columns) || columns < leastColumns)
    return "a cluster shares tiles of 32, 64, 128 or 256 columns of the unit, "
           "found " +
           text(columns);
  if (rows < tile.cluster * tile.consumers * warpsOfTeam)
    return "a cluster of " + text(tile.cluster) +
           " workgroups has more warps than the tile has rows";
  if (tile.residents > 1)
    return "workgroups of a cluster do not share a multiprocessor";
  return "";
}

/// Whether teams can take tiles of so many rows and columns of the unit in
/// turn.
static Reason checkTurns(const Problem &problem, const WarpgroupTile &tile,
                         int64_t rows, int64_t columns) {
  // Sums of a tile, beside which a thread has what it computes with.
  // Reductions keep a part of the values that they are of, and another result
  // its own; elements of 8 bits are converted in fours.
  constexpr int64_t threadsOfTeam = 128;
  auto others =
      static_cast<int64_t>(problem.auxiliaries.size()) + problem.reductions;
  bool isNarrow = problem.result && bytesOf(*problem.result) == 1;
  // Of what the epilogue loads a thread holds a part of 64 elements at a time,
  // and of its 240 registers it needs some for other things.
  constexpr int64_t registerBytes = 4, loadedElements = 64, mostHeld = 224;
  int64_t mostSums = std::min<int64_t>(
      others     ? 128
      : isNarrow ? 160
                 : 192,
      mostHeld - loadedElements * problem.addendBytes / registerBytes);
  if (tile.pingPong == 1)
    return "";
  if (tile.consumers != 1)
    return "2 teams, each a consumer by itself, take turns; found " +
           text(tile.pingPong) + " of " + text(tile.consumers) + " consumers";
  // Fragments of such results are whole sectors of memory: lanes store them
  // themselves, each if it has a row, and the proof of teams in turns does not
  // come to an end over so many branches.
  constexpr int64_t mostBytes = 2;
  if (int64_t bytes = bytesOf(problem.result.value_or(problem.operand));
      bytes > mostBytes)
    return "teams that take turns store results of at most 2 bytes, found " +
           text(bytes);
  // What a part of 128 rows is computed to takes registers for each of them.
  if (others > 1)
    return "teams that take turns store at most one result beside the first, "
           "found " +
           text(others);
  if (tile.split > 1 || tile.residents > 1)
    return "teams that take turns compute whole sums and share their "
           "multiprocessor with no other workgroup";
  if (rows * columns > mostSums * threadsOfTeam)
    return "a team holds at most " + text(mostSums) +
           " sums a thread beside another team, found " +
           text(rows * columns / threadsOfTeam);
  return "";
}

Reason WarpgroupGemm::checkPlan(const Problem &problem,
                                const TargetDescription &hardware,
                                const Plan &plan) const {
  constexpr int64_t teamRows = 64, mostColumns = 256;
  if (plan.unit != UnitKind::WGMMA)
    return "the unit must be wgmma, found " + std::string(stringify(plan.unit));
  if (plan.tile.size() != 3)
    return "the tile [m, n, k] must have 3 extents, found " +
           text(static_cast<int64_t>(plan.tile.size()));
  WarpgroupTile tile = tileOf(plan);
  if (tile.producers != 1 || tile.consumers > 2)
    return "one producer and 1 or 2 consumers are expected, found " +
           text(tile.producers) + " and " + text(tile.consumers);
  // The unit's rows and columns.
  int64_t rows = isTransposed ? tile.n : tile.m;
  int64_t columns = isTransposed ? tile.m : tile.n;
  std::string rowsName = isTransposed ? "n" : "m";
  std::string columnsName = isTransposed ? "m" : "n";
  if (rows != teamRows * tile.consumers &&
      !(tile.consumers == 1 && rows == 2 * teamRows))
    return "tile extent " + rowsName +
           " must be 64 for each consumer, or 128 for a single one, found " +
           text(rows);
  if (columns < 8 || columns > mostColumns || columns % 8)
    return "tile extent " + columnsName +
           " must be a multiple of 8 from 8 to 256, found " + text(columns);
  bool isInteger = problem.operand == ElementType::I8;
  const tracea::target::MatrixShape *shape =
      hardware.findShape(UnitKind::WGMMA, unitElementOf(problem),
                         isInteger ? ElementType::I32 : ElementType::F32);
  if (shape && !shape->hasN(static_cast<int>(columns)))
    return "the unit has no " + text(columns) + " columns of " +
           std::string(stringify(problem.operand));
  int64_t row = stagedRowOf(problem);
  if (tile.k < row || tile.k % row || tile.k > 1024)
    return "tile extent k must be a multiple of " + text(row) +
           " up to 1024, found " + text(tile.k);
  if (Reason reason = checkParts(problem.k, tile.k, tile.split);
      !reason.empty())
    return reason;
  if (Reason reason = checkCluster(hardware, tile, rows, columns);
      !reason.empty())
    return reason;
  // A part of a tile is computed to so many values at a time.
  constexpr int64_t fewColumns = 192;
  auto others =
      static_cast<int64_t>(problem.auxiliaries.size()) + problem.reductions;
  if (others > 2 && columns > fewColumns)
    return "tiles of " + text(others) +
           " results beside the first have at most 192 columns of the unit, "
           "found " +
           text(columns);
  if (Reason reason = checkTurns(problem, tile, rows, columns); !reason.empty())
    return reason;
  if (tile.lines & ~paddableLinesOf(problem))
    return "only operands whose rows are known to begin within lines are "
           "copied to whole ones";
  if (tile.slots < 2)
    return "at least 2 slots are expected, found " + text(tile.slots);
  int64_t bytes = sharedBytesOf(problem, tile, isTransposed);
  if (bytes > shareOf(hardware, tile.residents))
    return "it takes " + text(bytes) + " bytes of shared memory, more than " +
           text(shareOf(hardware, tile.residents));
  return "";
}

std::string WarpgroupGemm::reasoning(const Problem &problem,
                                     const TargetDescription &target,
                                     const Plan &plan) const {
  WarpgroupTile tile = tileOf(plan);
  WarpgroupEstimate what = estimate(problem, target, tile, isTransposed);
  bool guessed = problem.m == kUnknownExtent || problem.n == kUnknownExtent ||
                 problem.k == kUnknownExtent || problem.batch == kUnknownExtent;
  std::string result =
      (what.batch > 1 ? text(what.batch) + " times " : std::string()) +
      text(what.tileRows) + " x " + text(what.tileColumns) + " tiles" +
      (tile.split > 1 ? " in " + text(tile.split) + " parts" : std::string()) +
      (tile.cluster > 1 ? ", which a cluster adds up," : "") + " are " +
      text(what.waves) + (what.waves == 1 ? " wave on " : " waves on ") +
      text(target.cores) + " multiprocessors, a step of k is bound by " +
      what.limit;
  if (what.padded)
    result += what.padded > 1 ? ", rows of both operands are padded first"
                              : ", rows of one operand are padded first";
  if (guessed)
    result += ", with 4096 for each extent that only the run knows";
  const WarpgroupTile *found = nullptr;
  WarpgroupTile next = choose(problem, target, &tile, found);
  if (found) {
    char ratio[32];
    std::snprintf(ratio, sizeof ratio, "%.2f",
                  estimate(problem, target, next, isTransposed).cycles /
                      what.cycles);
    result += "; next is " + describe(planOf(next)) + " with " + ratio +
              " times the cycles";
  }
  return result;
}

void tracea::doctor::addGPUGemmVariants(Registry &registry) {
  for (bool isTransposed : {false, true})
    registry.add(std::make_unique<WarpgroupGemm>(isTransposed));
}
