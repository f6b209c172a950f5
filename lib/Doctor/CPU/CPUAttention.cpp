//===- CPUAttention.cpp - Attention on CPUs -------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The streaming softmax of Milakov and Gimelshein (2018) between two products,
// as in FlashAttention (Dao et al., 2022): blocks of keys pass by a block of
// queries, and the scores never reach memory.
//
//===----------------------------------------------------------------------===//
#include "../Numbers.h"
#include "CPUDots.h"
#include "CPUUnits.h"

#include <algorithm>
#include <numeric>

using namespace tracea::doctor;

namespace {

class FlashAttention : public CPUUnitVariant {
public:
  std::string_view name() const override { return "attention.flash"; }
  std::string_view summary() const override {
    return "streams blocks of keys and values past a block of queries with a "
           "running maximum and sum";
  }
  bool serves(OpKind op) const override { return op == OpKind::Attention; }

  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override {
    constexpr int64_t most = 512;
    const std::pair<int64_t, const char *> extents[] = {
        {problem.k, "a query"}, {problem.valueDim, "a value"}};
    for (const auto &[extent, what] : extents) {
      if (extent == kUnknownExtent)
        return std::string("the extent of ") + what + " is not static";
      if (extent > most)
        return std::string("the extent of ") + what + " is " +
               std::to_string(extent) + ", above " + std::to_string(most);
    }
    // One element of the mask must decide for a whole vector of scores.
    int64_t lanes = CPUModel(target, problem.accumulator).lanes;
    if (problem.maskColumns % lanes)
      return "a mask block of " + std::to_string(problem.maskColumns) +
             " keys is no multiple of a vector of " + std::to_string(lanes);
    return "";
  }

protected:
  Plan planOn(UnitKind unit, const Problem &problem,
              const TargetDescription &target) const override {
    CPUModel model = modelOf(unit, problem, target);
    MicroTile micro = model.chooseMicroTile(problem.m, problem.n);
    if (problem.maskRows) {
      // Register tiles that lie in one block of the mask each.
      micro.rows = std::gcd(micro.rows, problem.maskRows);
      micro.columns = std::gcd(micro.columns, problem.maskColumns);
    }
    auto bounded = [](int64_t block, int64_t extent, int64_t factor) {
      if (extent != kUnknownExtent)
        block = std::min(block, std::max<int64_t>(1, extent));
      return roundUp(block, factor);
    };
    // Keys and values are staged once a block of queries, and once a block of
    // keys a row's sums decay. Of a band a block visits also what only some of
    // its rows see.
    // Where a unit multiplies tiles that costs less than smaller blocks.
    const bool hasBand = problem.isCausal || problem.hasWindow;
    const int64_t ofBand = model.hasTiles() ? 256 : 128;
    int64_t queries = bounded(hasBand ? ofBand : 1024, problem.m, micro.rows);
    int64_t keys = bounded(hasBand ? ofBand : 512, problem.n, micro.columns);
    auto isTooLarge = [&] {
      return workingSet(problem, model, queries, keys) > model.l2 / 2;
    };
    while (isTooLarge() && queries > 512)
      queries = roundUp(queries / 2, micro.rows);
    while (isTooLarge() && keys > micro.columns)
      keys = roundUp(keys / 2, micro.columns);
    while (isTooLarge() && queries > micro.rows)
      queries = roundUp(queries / 2, micro.rows);
    // Tiles for every core, where the queries allow it: one for each at least,
    // and where there are more cores several, for masks make them unequal.
    const int64_t balance = model.cores > 1 ? 4 : 1;
    while (tilesOf(problem, queries) <
               static_cast<double>(model.cores * balance) &&
           queries > 8 * micro.rows)
      queries = roundUp(queries / 2, micro.rows);
    while (tilesOf(problem, queries) < static_cast<double>(model.cores) &&
           queries > micro.rows)
      queries = roundUp(queries / 2, micro.rows);
    Plan plan = emptyPlan(unit);
    plan.tile = {queries, keys};
    plan.registers() = {micro.rows, micro.columns};
    return plan;
  }

public:
  Reason checkTiles(const Problem &problem, const TargetDescription &target,
                    const Plan &plan) const override {
    CPUModel model = modelOf(plan.unit, problem, target);
    if (Reason reason = checkTile(
            model, plan,
            {{"queries", plan.registers()[0]}, {"keys", plan.registers()[1]}});
        !reason.empty())
      return reason;
    if (problem.maskRows && (problem.maskRows % plan.registers()[0] ||
                             problem.maskColumns % plan.registers()[1]))
      return "the register tile does not divide the mask's block of " +
             std::to_string(problem.maskRows) + " x " +
             std::to_string(problem.maskColumns);
    // Both extents are below 2^20 here and the others at most 512.
    if (workingSet(problem, model, plan.tile[0], plan.tile[1]) >
        kMaxStagedBytes)
      return "the blocks take more than " + std::to_string(kMaxStagedBytes) +
             " bytes";
    return "";
  }

  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &plan) const override {
    CPUModel model = modelOf(plan.unit, problem, target);
    MicroTile micro{plan.registers()[0], plan.registers()[1]};
    int64_t queries = plan.tile[0];
    int64_t keys = std::max<int64_t>(1, assumed(problem.n));
    int64_t length = wordLength(problem, target);
    double products =
        model.multiplyCycles(micro, queries, keys, ceilDiv(problem.k, length)) +
        model.multiplyCycles(micro, queries, problem.valueDim,
                             ceilDiv(keys, length));
    // An exponential of every score: about twenty instructions a vector.
    double softmax = 20.0 * static_cast<double>(queries) *
                     static_cast<double>(keys) /
                     static_cast<double>(model.lanes);
    double stage =
        model.stageCycles(static_cast<double>(keys) *
                          static_cast<double>(problem.k + problem.valueDim));
    return model.spread(tilesOf(problem, queries), products + softmax + stage);
  }

private:
  static double tilesOf(const Problem &problem, int64_t queries) {
    return static_cast<double>(assumed(problem.batch, 1)) *
           static_cast<double>(
               ceilDiv(std::max<int64_t>(1, assumed(problem.m)), queries));
  }
  /// Bytes of queries, keys, values and the output's accumulator; of scores
  /// there are those of a register tile's rows.
  static int64_t workingSet(const Problem &problem, const CPUModel &model,
                            int64_t queries, int64_t keys) {
    return (queries + keys) * (problem.k + problem.valueDim) *
           model.elementBytes;
  }
};

/// The same by words of a dot product: scores are added up in the accumulator's
/// type, and their powers rounded to the operands'.
class DotAttention final : public ByDots<FlashAttention> {
public:
  std::string_view name() const override { return "attention.dot"; }
  std::string_view summary() const override {
    return "streams blocks of keys and values past a block of queries with a "
           "running maximum and sum, and multiplies words by dot products";
  }

protected:
  // What a word has behind the last key is in the last tile of scores.
  Reason checkSteps(const Plan &plan, int64_t length) const override {
    return checkMultiple(plan.registers()[1], length,
                         "the columns of the register tile");
  }
};

} // namespace

void tracea::doctor::addCPUAttentionVariants(Registry &registry) {
  registry.add(std::make_unique<FlashAttention>());
  registry.add(std::make_unique<DotAttention>());
}
