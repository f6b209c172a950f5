//===- Conversion.cpp - What it takes to move a tile between two lane maps ===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/Conversion.h"
#include "F2Elimination.h"
#include "LocationField.h"
#include <algorithm>

using namespace tracea::algebra;

const char *tracea::algebra::conversionClassName(ConversionClass cls) {
  switch (cls) {
  case ConversionClass::NoOp:
    return "no-op";
  case ConversionClass::RegisterMove:
    return "register move";
  case ConversionClass::RegisterSelect:
    return "register select";
  case ConversionClass::Shuffle:
    return "shuffle";
  case ConversionClass::SharedMemory:
    return "shared memory";
  case ConversionClass::Cluster:
    return "cluster";
  }
  return "?";
}

static std::string shapeText(const LaneMap &map) {
  std::string text;
  for (unsigned d = 0; d < map.rank(); ++d)
    text += (d ? "x" : "") + std::to_string(map.linearShape()[d]) + "*" +
            std::to_string(map.outer()[d]);
  return text;
}

namespace {
/// The columns of a map per input dimension, padded to common widths.
using PaddedColumns = std::array<F2Vectors, numLaneDims>;
} // namespace

namespace {
/// Register words, and how lanes take turns; all by destination bits.
struct Turns {
  F2Vectors packed, rounds, byLane, byWarp, byBlock, repeated, stands;
  bool inPlace = false;
  /// Whether byLane is a schedule.
  bool exists = false;
  int64_t count = 0;
};
} // namespace

/// Chooses X when lanes cannot stay in place: M = C_lr X ⊕ C_ll injective up to
/// lanes that read the same. `regs`: C's columns of the round bits; `laneSpan`:
/// their lane parts, by round bit. False when there is none.
static bool permuteLanes(const F2Vectors &regs, const F2Vectors &laneColumns,
                         Field lanes, const F2Elimination &laneSpan,
                         F2Vectors &byLane) {
  // Lane bits that are independent modulo the image F of C_lr keep X = 0. Every
  // other one gives a sum z of lane bits with C_ll z in F.
  F2Elimination moduloF;
  for (uint64_t column : regs)
    moduloF.add(lanes.of(column));
  std::vector<unsigned> dependent;
  F2Vectors sums;
  for (unsigned i = 0; i < laneColumns.size(); ++i)
    if (std::optional<uint64_t> z =
            moduloF.add(lanes.of(laneColumns[i]), bit(i))) {
      dependent.push_back(i);
      sums.push_back(*z);
    }
  auto columnOf = [&](uint64_t laneBits) {
    uint64_t column = 0;
    for (unsigned i = 0; i < laneColumns.size(); ++i)
      if (laneBits >> i & 1)
        column ^= laneColumns[i];
    return column;
  };
  // Sums that change the source location as some register does: such lanes may
  // read one word. Each of the others takes a direction of F of its own.
  F2Elimination sameSource, wholeSource;
  for (unsigned i = 0; i < regs.size(); ++i) {
    sameSource.add(regs[i]);
    wholeSource.add(regs[i], bit(i));
  }
  F2Elimination chosen; // Over indices of `sums`.
  F2Vectors values;     // X of the chosen combinations.
  auto choose = [&](uint64_t combination, uint64_t value) {
    if (!chosen.add(combination, bit(values.size())))
      values.push_back(value);
  };
  for (unsigned i = 0; i < sums.size(); ++i)
    if (std::optional<uint64_t> same =
            sameSource.add(columnOf(sums[i]), bit(i))) {
      uint64_t z = 0;
      for (unsigned k = 0; k < sums.size(); ++k)
        if (*same >> k & 1)
          z ^= sums[k];
      std::optional<uint64_t> value = wholeSource.solve(columnOf(z));
      assert(value && "the relation was found in this span");
      choose(*same, *value);
    }
  F2Vectors directions;
  F2Elimination independent;
  for (uint64_t column : regs)
    if (!independent.add(lanes.of(column)))
      directions.push_back(lanes.of(column));
  size_t used = 0;
  for (unsigned i = 0; i < sums.size(); ++i) {
    if (chosen.solve(bit(i)))
      continue;
    if (used == directions.size())
      return false;
    std::optional<uint64_t> value =
        laneSpan.solve(lanes.of(columnOf(sums[i])) ^ directions[used++]);
    assert(value && "sums of this kind stay inside of the image");
    choose(bit(i), *value);
  }
  byLane.assign(laneColumns.size(), 0);
  for (unsigned i = 0; i < sums.size(); ++i) {
    std::optional<uint64_t> combination = chosen.solve(bit(i));
    assert(combination && "the chosen combinations are a basis");
    for (unsigned k = 0; k < values.size(); ++k)
      if (*combination >> k & 1)
        byLane[dependent[i]] ^= values[k];
  }
  return true;
}

/// The shuffles of one warp; see Conversion::shuffleRounds. `regColumns`: the
/// destination registers' coordinate columns; `lanes`: the lane field of C's
/// results; `c`: C's columns.
static Turns takeTurns(const F2Vectors &regColumns, const PaddedColumns &c,
                       Field lanes, unsigned packedBits) {
  Turns turns;
  const F2Vectors &regs = c[0], &laneColumns = c[1];
  // Destination registers that repeat others cost nothing.
  F2Elimination seen;
  std::vector<unsigned> kept;
  F2Vectors laneOfReg;
  for (unsigned i = 0; i < regColumns.size(); ++i)
    if (std::optional<uint64_t> relation = seen.add(regColumns[i], bit(i))) {
      turns.repeated.push_back(i);
      turns.stands.push_back(*relation ^ bit(i));
    } else {
      kept.push_back(i);
      laneOfReg.push_back(lanes.of(regs[i]));
    }
  auto maskOf = [&](uint64_t combination) {
    uint64_t mask = 0;
    for (unsigned i = 0; i < kept.size(); ++i)
      if (combination >> i & 1)
        mask |= bit(kept[i]);
    return mask;
  };

  // A subspace of destination registers that come from one source lane can
  // share a word. Single register bits come first: they need no byte
  // permutation.
  F2Vectors candidates, packed;
  F2Elimination relations;
  for (unsigned i = 0; i < laneOfReg.size(); ++i)
    if (!laneOfReg[i])
      candidates.push_back(bit(i));
  for (unsigned i = 0; i < laneOfReg.size(); ++i)
    if (std::optional<uint64_t> kernel = relations.add(laneOfReg[i], bit(i)))
      candidates.push_back(*kernel);
  for (uint64_t candidate : candidates)
    if (packed.size() < packedBits && !inSpan(candidate, packed))
      packed.push_back(candidate);
  for (uint64_t combination : packed)
    turns.packed.push_back(maskOf(combination));

  // What remains after packing: a complement spanned by register bits.
  F2Elimination covered, laneSpan;
  F2Vectors roundColumns;
  for (uint64_t v : packed)
    covered.add(v);
  for (unsigned i = 0; i < laneOfReg.size(); ++i)
    if (!covered.add(bit(i))) {
      laneSpan.add(laneOfReg[i], bit(turns.rounds.size()));
      turns.rounds.push_back(bit(kept[i]));
      roundColumns.push_back(regs[kept[i]]);
    }

  // Lanes stay in place when X can undo what C_ll moves them by.
  turns.inPlace = true;
  auto undo = [&](uint64_t moved, F2Vectors &by) {
    std::optional<uint64_t> x = laneSpan.solve(moved);
    turns.inPlace &= x.has_value();
    by.push_back(x.value_or(0));
  };
  for (unsigned i = 0; i < laneColumns.size(); ++i)
    undo(lanes.of(laneColumns[i]) ^ bit(i), turns.byLane);
  for (uint64_t column : c[unsigned(LaneDim::Warp)])
    undo(lanes.of(column), turns.byWarp);
  for (uint64_t column : c[unsigned(LaneDim::Block)])
    undo(lanes.of(column), turns.byBlock);
  int64_t all = int64_t(1) << turns.rounds.size();
  turns.count = turns.inPlace ? all - (all >> laneSpan.rank()) : all;
  turns.exists = turns.inPlace;
  if (!turns.inPlace) {
    turns.byWarp.assign(turns.byWarp.size(), 0);
    turns.byBlock.assign(turns.byBlock.size(), 0);
    turns.exists =
        permuteLanes(roundColumns, laneColumns, lanes, laneSpan, turns.byLane);
  }
  return turns;
}

Expected<Conversion> Conversion::get(const LaneMap &from, const LaneMap &to,
                                     unsigned elementsPerWord) {
  if (from.linearShape() != to.linearShape() || from.outer() != to.outer())
    return Error{"conversion: expected tiles of one shape (linear*outer), "
                 "found " +
                 shapeText(from) + " and " + shapeText(to)};
  if (elementsPerWord != 1 && elementsPerWord != 2 && elementsPerWord != 4)
    return Error{"conversion: expected 1, 2 or 4 elements a word, found " +
                 std::to_string(elementsPerWord)};

  Conversion result;
  PaddedColumns a, b;
  std::array<Field, numLaneDims> fields;
  unsigned inputs = 0, outputs = 0;
  for (unsigned d = 0; d < numLaneDims; ++d) {
    a[d] = from.columns(LaneDim(d));
    b[d] = to.columns(LaneDim(d));
    if (LaneDim(d) != LaneDim::Reg) {
      size_t width = std::max(a[d].size(), b[d].size());
      a[d].resize(width, 0);
      b[d].resize(width, 0);
    }
    result.fromBits[d] = a[d].size();
    result.toBits[d] = b[d].size();
    fields[d] = {outputs, unsigned(a[d].size())};
    outputs += a[d].size();
    inputs += b[d].size();
  }
  if (inputs > F2Matrix::maxBits || outputs > F2Matrix::maxBits)
    return Error{"conversion: expected at most 64 location bits, found " +
                 std::to_string(std::max(inputs, outputs))};
  result.outerRegisters = to.numRegisters() >> to.numBits(LaneDim::Reg);

  // spans[d]: everything that dimensions 0..d of A reach.
  std::array<F2Elimination, numLaneDims> spans;
  F2Elimination reached;
  for (unsigned d = 0; d < numLaneDims; ++d) {
    for (unsigned i = 0; i < a[d].size(); ++i)
      reached.add(a[d][i], bit(fields[d].shift + i));
    spans[d] = reached;
  }

  std::array<F2Vectors, numLaneDims> c;
  unsigned widest = 0;
  bool identity = true, registerDependsOnLane = false;
  for (unsigned d = 0; d < numLaneDims; ++d)
    for (unsigned i = 0; i < b[d].size(); ++i) {
      // A register bit that A has too stays when it means the same. Any other
      // index bit stays itself and is corrected by what differs.
      bool inA = i < a[d].size();
      bool same = inA && a[d][i] == b[d][i];
      uint64_t stay = 0, wanted = b[d][i];
      if (inA && (same || LaneDim(d) != LaneDim::Reg)) {
        stay = bit(fields[d].shift + i);
        wanted ^= a[d][i];
      }
      unsigned reach = 0;
      std::optional<uint64_t> correction;
      for (; reach < numLaneDims; ++reach)
        if ((correction = spans[reach].solve(wanted)))
          break;
      if (!correction)
        return Error{std::string("conversion: the source does not hold what ") +
                     laneDimName(LaneDim(d)) + " bit " + std::to_string(i) +
                     " of the destination wants"};
      widest = std::max(widest, reach);
      uint64_t column = stay ^ *correction;
      c[d].push_back(column);
      identity &= inA ? same : column == 0;
      if (LaneDim(d) != LaneDim::Reg && fields[0].of(column))
        registerDependsOnLane = true;
    }

  Turns turns;
  switch (LaneDim(widest)) {
  case LaneDim::Reg:
    result.cls = identity                ? ConversionClass::NoOp
                 : registerDependsOnLane ? ConversionClass::RegisterSelect
                                         : ConversionClass::RegisterMove;
    break;
  case LaneDim::Lane: {
    result.cls = ConversionClass::Shuffle;
    turns = takeTurns(b[0], c, fields[unsigned(LaneDim::Lane)],
                      __builtin_ctz(elementsPerWord));
    result.rounds = result.outerRegisters * turns.count;
    break;
  }
  case LaneDim::Warp:
    result.cls = ConversionClass::SharedMemory;
    break;
  case LaneDim::Block:
    result.cls = ConversionClass::Cluster;
    break;
  }

  F2Vectors columns;
  for (const F2Vectors &part : c)
    columns.insert(columns.end(), part.begin(), part.end());
  Expected<F2Matrix> map = F2Matrix::get(outputs, std::move(columns));
  if (!map)
    return map.error();
  result.map = *map;
  if (turns.exists) {
    ShuffleSchedule schedule;
    schedule.packed = turns.packed;
    schedule.rounds = turns.rounds;
    schedule.byLane = turns.byLane;
    schedule.byWarp = turns.byWarp;
    schedule.byBlock = turns.byBlock;
    schedule.repeated = turns.repeated;
    schedule.stands = turns.stands;
    schedule.inPlace = turns.inPlace;
    schedule.map = *map;
    schedule.fromBits = result.fromBits;
    schedule.toBits = result.toBits;
    Field lanes = fields[unsigned(LaneDim::Lane)];
    F2Vectors laneOfLane;
    for (unsigned i = 0; i < c[1].size(); ++i)
      laneOfLane.push_back(lanes.of(
          schedule.sourceOf(schedule.roundIndex(0, {0, int64_t(bit(i)), 0, 0}),
                            {0, int64_t(bit(i)), 0, 0})));
    Expected<F2Matrix> byLane =
        F2Matrix::get(lanes.width, std::move(laneOfLane));
    if (!byLane)
      return byLane.error();
    schedule.laneOfLane = *byLane;
    result.shuffles = std::move(schedule);
  }
  return result;
}

std::optional<Location> Conversion::source(const Location &to) const {
  int64_t indices[] = {to.reg, to.lane, to.warp, to.block};
  int64_t repeat = 0;
  uint64_t input = 0;
  unsigned shift = 0;
  for (unsigned d = 0; d < numLaneDims; ++d) {
    int64_t limit = int64_t(1) << toBits[d];
    if (indices[d] < 0 || indices[d] >= limit * (d ? 1 : outerRegisters))
      return std::nullopt;
    if (d == 0)
      repeat = indices[d] >> toBits[d];
    if (toBits[d])
      input |= uint64_t(indices[d] & (limit - 1)) << shift;
    shift += toBits[d];
  }
  uint64_t output = map.apply(input);
  shift = 0;
  for (unsigned d = 0; d < numLaneDims; ++d) {
    indices[d] = Field{shift, fromBits[d]}.of(output);
    shift += fromBits[d];
  }
  return Location{indices[0] | repeat << fromBits[0], indices[1], indices[2],
                  indices[3]};
}
