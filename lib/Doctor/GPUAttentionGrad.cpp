//===- GPUAttentionGrad.cpp - Gradients of attention by warps -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward pass of FlashAttention-2 (Dao, 2023) as two kernels: one has
// rows of queries, the other rows of keys and values, and each walks along what
// the other has. Registers decide: a warp holds the gradients of its rows, and
// two tiles of products with what it walks along.
//
//===----------------------------------------------------------------------===//
#include "GPUAttentionModel.h"
#include "GPULaneModel.h"
#include "Variants.h"

#include <algorithm>

using namespace tracea::doctor;

namespace {

/// Rows of a workgroup, what it visits at a time, and rows of a warp.
struct Tile {
  int64_t m, n, warpM, reread = 0;
};

/// The preferred one of equals first.
constexpr Tile tiles[] = {
    {64, 64, 16},     {64, 32, 16},     {128, 32, 32},    {128, 64, 16},
    {128, 32, 16},    {32, 64, 16},     {32, 32, 16},     {64, 16, 16},
    {16, 64, 16},     {16, 32, 16},     {16, 16, 16},     {64, 64, 16, 1},
    {64, 32, 16, 1},  {128, 32, 32, 1}, {128, 16, 32, 1}, {128, 64, 16, 1},
    {128, 32, 16, 1}, {64, 16, 16, 1},  {16, 16, 16, 1},
};
constexpr int64_t slotsOfRing = 2;
/// Registers of a lane that products, gradients and rows may take; the others
/// are for addresses and fragments.
constexpr int64_t mostHeld = 216;

/// What both gradients share. `m` and `n` are rows of the tile's sequence and
/// of the other one.
class WarpAttentionGrad : public Variant {
public:
  bool runsOn(TargetKind kind) const override {
    return kind == TargetKind::CUDA;
  }
  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override;
  Plan plan(const Problem &problem,
            const TargetDescription &target) const override {
    return cheapestPlan(*this, problem, target);
  }
  std::vector<Plan> plans(const Problem &problem,
                          const TargetDescription &target) const override;
  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &plan) const override;

protected:
  Reason checkPlan(const Problem &problem, const TargetDescription &target,
                   const Plan &plan) const override;

  /// Extents of heads whose gradients a warp can hold.
  virtual int64_t mostExtent() const = 0;
  /// Columns of the results.
  virtual int64_t outputsOf(const Problem &problem) const = 0;
  /// Registers of a lane for numbers of what a block has, so many of it.
  virtual int64_t numbersOf(int64_t) const { return 0; }
  /// Columns that products of a row and what it meets are long, all together.
  virtual int64_t depthOf(const Problem &problem) const = 0;
  /// Workgroups, and blocks that each of them visits.
  virtual double workgroupsOf(const Problem &problem, int64_t rows) const = 0;
  virtual double blocksOf(const Problem &problem, int64_t columns) const = 0;

private:
  static int64_t sharedBytesOf(const Problem &problem, const Plan &plan) {
    const auto &fields = plan.as<schedule::WarpAttentionGrad>();
    int64_t rows = fields.slots * plan.tile[1];
    if (fields.reread)
      rows += plan.tile[0];
    return rows *
           (stagedColumnsOf(problem.k) + stagedColumnsOf(problem.valueDim)) *
           bytesOf(problem.operand);
  }
  /// Registers of a lane for both products, one of them rounded, outputs and
  /// rows.
  int64_t heldOf(const Problem &problem, const Plan &plan) const {
    constexpr int64_t lanes = 32, word = 4;
    int64_t bytes = bytesOf(problem.operand);
    int64_t columns =
        2 * plan.tile[1] + plan.tile[1] * bytes / word + outputsOf(problem);
    if (!plan.as<schedule::WarpAttentionGrad>().reread)
      columns += (roundUp(problem.k, kFragment) +
                  roundUp(problem.valueDim, kFragment)) *
                 bytes / word;
    return plan.registers()[0] * columns / lanes + numbersOf(plan.tile[1]);
  }
};

class WarpQGrad final : public WarpAttentionGrad {
public:
  std::string_view name() const override { return "attention_qgrad.warp"; }
  std::string_view summary() const override {
    return "keeps rows of queries and their gradients in the registers of each "
           "warp, makes scores again, and lets all lanes copy blocks of keys "
           "and values ahead";
  }
  bool serves(OpKind op) const override { return op == OpKind::AttentionQGrad; }

protected:
  int64_t mostExtent() const override { return 256; }
  int64_t outputsOf(const Problem &problem) const override {
    return roundUp(problem.k, kFragment);
  }
  int64_t depthOf(const Problem &problem) const override {
    return 2 * problem.k + problem.valueDim;
  }
  double workgroupsOf(const Problem &problem, int64_t rows) const override {
    return static_cast<double>(extentOf(assumed(problem.batch, 1))) *
           static_cast<double>(ceilDiv(extentOf(problem.m), rows));
  }
  double blocksOf(const Problem &problem, int64_t columns) const override {
    return static_cast<double>(ceilDiv(extentOf(problem.n), columns));
  }
};

class WarpKVGrad final : public WarpAttentionGrad {
public:
  std::string_view name() const override { return "attention_kvgrad.warp"; }
  std::string_view summary() const override {
    return "keeps the gradients of rows of keys and values in the registers of "
           "each warp, makes transposed scores again, and lets all lanes copy "
           "blocks of queries ahead";
  }
  bool serves(OpKind op) const override {
    return op == OpKind::AttentionKVGrad;
  }
  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override {
    if (problem.sharedHeads == kUnknownExtent)
      return "the heads that share a key head are not static";
    return WarpAttentionGrad::whyNot(problem, target);
  }
  Reason whyAlone(const Problem &problem, const TargetDescription &,
                  const Plan &) const override {
    return problem.sharedHeads > 1
               ? "other kernels add what heads that share one leave"
               : "";
  }

protected:
  int64_t mostExtent() const override { return 160; }
  int64_t outputsOf(const Problem &problem) const override {
    return roundUp(problem.k, kFragment) + roundUp(problem.valueDim, kFragment);
  }
  /// Queries are columns of products, of which a lane has one of four.
  int64_t numbersOf(int64_t queries) const override { return queries / 4; }
  int64_t depthOf(const Problem &problem) const override {
    return 2 * (problem.k + problem.valueDim);
  }
  double workgroupsOf(const Problem &problem, int64_t rows) const override {
    return static_cast<double>(extentOf(assumed(problem.batch, 1))) *
           static_cast<double>(ceilDiv(extentOf(problem.n), rows));
  }
  double blocksOf(const Problem &problem, int64_t columns) const override {
    return static_cast<double>(ceilDiv(extentOf(problem.m), columns));
  }
};

} // namespace

Reason WarpAttentionGrad::whyNot(const Problem &problem,
                                 const TargetDescription &target) const {
  // What is staged is read along rows and across them, of which banks of words
  // allow one.
  if (problem.operand == ElementType::F32)
    return "expected operands of f16 or bf16, found f32";
  if (Reason reason =
          whyNotWarps(problem, target, problem.operand, mostExtent());
      !reason.empty())
    return reason;
  if (problem.hasLengths)
    return "how many keys there are only the run knows";
  if (problem.maskRows)
    return "a mask is shown to blocks";
  return "";
}

std::vector<Plan>
WarpAttentionGrad::plans(const Problem &problem,
                         const TargetDescription &target) const {
  std::vector<Plan> found;
  constexpr int64_t usual = 2;
  const auto &occupancy = target.occupancy;
  for (const Tile &tile : tiles) {
    Plan plan = emptyPlan(UnitKind::MMASync);
    auto &fields = plan.as<schedule::WarpAttentionGrad>();
    plan.tile = {tile.m, tile.n};
    fields.registers = {tile.warpM, tile.n};
    fields.slots = slotsOfRing;
    fields.reread = tile.reread;
    // As many as registers and memory have room for.
    int64_t ofWorkgroup = tile.m / tile.warpM * occupancy.subgroupSize *
                          occupancy.maxRegistersPerThread;
    int64_t ofRegisters = occupancy.registersPerMultiprocessor /
                          std::max<int64_t>(ofWorkgroup, 1);
    int64_t ofMemory = target.shared.perWorkgroup /
                       std::max<int64_t>(sharedBytesOf(problem, plan), 1);
    fields.residents =
        std::clamp<int64_t>(std::min(ofRegisters, ofMemory), 1, usual);
    found.push_back(std::move(plan));
  }
  return found;
}

Reason WarpAttentionGrad::checkPlan(const Problem &problem,
                                    const TargetDescription &target,
                                    const Plan &plan) const {
  if (plan.unit != UnitKind::MMASync)
    return "the unit must be " + std::string(stringify(UnitKind::MMASync)) +
           ", found " + std::string(stringify(plan.unit));
  if (plan.tile.size() != 2)
    return "the tile [rows, rows of a block] must have 2 extents, found " +
           text(static_cast<int64_t>(plan.tile.size()));
  if (Reason reason = checkWarpRows(plan); !reason.empty())
    return reason;
  return checkRoom(target, "products, gradients and rows",
                   heldOf(problem, plan), mostHeld,
                   sharedBytesOf(problem, plan));
}

double WarpAttentionGrad::cycles(const Problem &problem,
                                 const TargetDescription &target,
                                 const Plan &plan) const {
  // Of one multiprocessor, in bytes and cycles; estimates as those of
  // attention, beside which an element of a product has a few instructions
  // more.
  constexpr double sharedBytesPerCycle = 128, powersPerCycle = 16;
  constexpr double lanesPerCycle = 128, instructions = 8;
  constexpr double reached = 0.8, blockCycles = 150, startCycles = 3000;
  constexpr double fullWarps = 8;
  double flops = target.peakFlopsPerCycle(UnitKind::MMASync, problem.operand);
  if (flops <= 0)
    flops = 1024;
  const auto &fields = plan.as<schedule::WarpAttentionGrad>();
  auto m = static_cast<double>(plan.tile[0]);
  auto n = static_cast<double>(plan.tile[1]);
  auto depth = static_cast<double>(std::max<int64_t>(depthOf(problem), 1));
  auto bytes = static_cast<double>(bytesOf(problem.operand));
  double warps = m / static_cast<double>(plan.registers()[0]);
  double multiplies = 2 * m * n * depth / (flops * reached);
  double fragments = warps * n * depth * bytes / sharedBytesPerCycle;
  if (fields.reread)
    fragments += m * static_cast<double>(problem.k + problem.valueDim) * bytes /
                 sharedBytesPerCycle;
  double powers = m * n * (1 / powersPerCycle + instructions / lanesPerCycle);
  // What one workgroup waits for others hide; fewer warps hide less. Fragments
  // are not read wholly beside multiplies.
  constexpr double exposedShare = 0.25;
  auto residents = static_cast<double>(fields.residents);
  double exposed = std::max(1.0, fullWarps / (warps * residents)) / residents;
  double block = std::max(multiplies, fragments) +
                 exposedShare * std::min(multiplies, fragments) + powers +
                 blockCycles * exposed;
  double waves = wavesOf(workgroupsOf(problem, plan.tile[0]),
                         std::max(target.cores, 1) * residents);
  return startCycles +
         waves * blocksOf(problem, plan.tile[1]) * residents * block;
}

void tracea::doctor::addGPUAttentionGradVariants(Registry &registry) {
  registry.add(std::make_unique<WarpQGrad>());
  registry.add(std::make_unique<WarpKVGrad>());
}
