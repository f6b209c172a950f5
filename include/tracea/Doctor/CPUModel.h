//===- CPUModel.h - What CPU variants share ---------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small cost model. It ranks, it does not predict: it counts vector
// instructions and moved bytes, and lets the tiles be spread over the cores.
// Where the tables do not know a number, a common desktop core stands in.

#ifndef TRACEA_DOCTOR_CPUMODEL_H
#define TRACEA_DOCTOR_CPUMODEL_H

#include "tracea/Doctor/Registry.h"
#include "tracea/TargetInfo/DotProducts.h"

namespace tracea::doctor {

/// No plan may ask for more: protects the arithmetic of every level below.
constexpr int64_t kMaxTileExtent = 1 << 20;
/// Most bytes that a plan may stage for one thread.
constexpr int64_t kMaxStagedBytes = 8 << 20;

/// Rows times columns of a product held in registers; columns are a multiple of
/// the lanes of a vector.
struct MicroTile {
  int64_t rows = 1;
  int64_t columns = 1;
};

class CPUModel {
public:
  /// `multipliesPerCycle` is the rate of another instruction than the fused
  /// multiply-add, in vectors of sums; 0: not known to differ. `tile` are the
  /// tiles of the unit that has it.
  CPUModel(const TargetDescription &target, ElementType accumulator,
           double multipliesPerCycle = 0, target::TileShape tile = {});

  int64_t cores;
  int64_t l1; // bytes of data
  int64_t l2;
  int64_t l3; // the share of one core
  /// Bytes of an accumulator, and of a staged operand: staging converts.
  int64_t elementBytes;
  /// Elements of one vector of accumulators; at least 4, for shorter vectors
  /// are left to LLVM to make.
  int64_t lanes;
  /// Of a unit that multiplies tiles of words.
  target::TileShape tile;
  bool hasTiles() const { return tile.registers > 0; }
  /// Whether such a unit finds its left operand in the first level.
  bool areRowsNear = false;
  /// Whether vectors of B begin anywhere in a line of memory, as pixels of a
  /// row under the taps of a filter do.
  bool areColumnsShifted = false;
  /// Whether the last register tile multiplies as many rows as are left.
  bool cutsRows = false;
  /// Registers of that unit that the sums of a register tile take, beside the
  /// tiles of its shorter side and one of the longer one.
  int64_t tileRegistersOf(MicroTile micro) const;

  /// Registers that products take before they are added to sums.
  int64_t productRegisters = 0;

  /// Bytes a cycle of B, which comes from the second level: 32 at best on
  /// recent cores, three quarters of that sustained.
  double streamBytes = 24;

  /// Whether registers are so few that a register tile takes all of them.
  bool hasFewRegisters() const { return registers <= kFewRegisters; }
  /// Whether the second level is known to hold so little that blocks are for
  /// the last one, and what it does not keep is read once.
  bool isSecondLevelSmall() const { return isL2Small; }
  /// Vector registers that the accumulators, a row of B, a broadcast and
  /// products that are still to be added take.
  int64_t registersOf(MicroTile tile) const;
  bool fits(MicroTile tile) const { return registersOf(tile) <= registers; }
  /// Cycles that one step along k takes: the multiply-add pipes, the two load
  /// ports, the stream of B from the second level and the latency of an
  /// accumulator's chain, whichever is slowest.
  double cyclesPerStep(MicroTile tile) const;
  /// The tile with the fewest cycles for an m x n product; the target's usual
  /// one unless another saves more than a few per cent. With `anyRows` the
  /// rows need not be a power of two: nothing transposes them when staging.
  MicroTile chooseMicroTile(int64_t m, int64_t n, bool anyRows = false) const;

  /// The usual tile with as many columns as registers hold, where `n` columns
  /// leave few of these without work; other tiles as they are. Where a block of
  /// A comes from the second level once for each panel of B, wide panels are
  /// fewer. Unknown extents keep the usual tile.
  MicroTile widen(MicroTile micro, int64_t n) const;

  /// The most columns that leave room for the sums of `rows` rows, a row of B
  /// and a broadcast in registers.
  int64_t mostColumns(int64_t rows) const;

  /// Cycles of a tile of m x n outputs with k products each.
  double multiplyCycles(MicroTile tile, int64_t m, int64_t n, int64_t k) const;
  /// Cycles to stage that many elements: a load, a transpose's share of
  /// shuffles, a store.
  double stageCycles(double elements) const;
  /// Cycles until the last of `tiles` equal tiles is done.
  double spread(double tiles, double cyclesPerTile) const;

private:
  double tileCyclesPerStep(MicroTile micro) const;
  MicroTile chooseTiles(int64_t m, int64_t n) const;

  static constexpr int64_t kFewRegisters = 16;

  bool isL2Small;
  int64_t registers;
  double vectorBytes;
  double fmaPerCycle;
  double chainCycles; // of one step of an accumulator's chain
  bool multipliesByElement;
  MicroTile usual;
  int64_t registersPerVector; // registers that `lanes` elements take
};

/// A base of the CPU variants: what none of them can do is checked once.
class CPUVariant : public Variant {
public:
  bool runsOn(TargetKind kind) const final { return kind == TargetKind::CPU; }
  /// Most of them can do all that they serve.
  Reason whyNot(const Problem &, const TargetDescription &) const override {
    return "";
  }

protected:
  /// Whether the problem's products may be multiplied on the unit.
  virtual bool multipliesOn(UnitKind unit, const Problem &,
                            const TargetDescription &) const {
    return unit == UnitKind::Vector;
  }
  Reason checkPlan(const Problem &problem, const TargetDescription &target,
                   const Plan &plan) const final;
  /// What is wrong with the tiles of a plan.
  virtual Reason checkTiles(const Problem &problem,
                            const TargetDescription &target,
                            const Plan &plan) const = 0;
};

/// That `extent`, which is called `what`, is no multiple of `factor`; nothing
/// where it is one.
Reason checkMultiple(int64_t extent, int64_t factor, std::string_view what);

/// An extent of a variant's tile, and what it has to be a multiple of.
struct TileExtent {
  std::string_view name;
  int64_t factor = 1;
};

/// What is wrong with the register tile of a plan, or with its tile, which has
/// these extents. With `anyRows` the register tile's rows need not be a power
/// of two.
Reason checkTile(const CPUModel &model, const Plan &plan,
                 std::initializer_list<TileExtent> extents,
                 bool anyRows = false);

} // namespace tracea::doctor

#endif // TRACEA_DOCTOR_CPUMODEL_H
