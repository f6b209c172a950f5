//===- ShuffleSchedule.cpp - The rounds of a conversion across lanes ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "F2Elimination.h"
#include "LocationField.h"
#include "tracea/Algebra/Conversion.h"

using namespace tracea::algebra;

/// The register word that `at` fills in a round, as a mask of register bits.
uint64_t ShuffleSchedule::roundIndex(int64_t round, const Location &at) const {
  uint64_t index = round, reg = 0;
  auto add = [&](const F2Vectors &by, int64_t position) {
    for (unsigned i = 0; i < by.size(); ++i)
      if (position >> i & 1)
        index ^= by[i];
  };
  add(byLane, at.lane);
  add(byWarp, at.warp);
  add(byBlock, at.block);
  for (unsigned i = 0; i < rounds.size(); ++i)
    if (index >> i & 1)
      reg ^= rounds[i];
  return reg;
}

/// C of a register at a lane, warp and block.
uint64_t ShuffleSchedule::sourceOf(int64_t reg, const Location &at) const {
  const int64_t indices[] = {reg, at.lane, at.warp, at.block};
  uint64_t input = 0;
  unsigned shift = 0;
  for (unsigned d = 0; d < numLaneDims; ++d) {
    if (toBits[d])
      input |= uint64_t(indices[d]) << shift;
    shift += toBits[d];
  }
  return map.apply(input);
}

bool ShuffleSchedule::isLocal(int64_t round) const {
  if (!inPlace)
    return false;
  return sourceLane(round, {0, 0, 0, 0}) == 0;
}

std::vector<int64_t> ShuffleSchedule::destinations(int64_t round,
                                                   const Location &at) const {
  uint64_t first = roundIndex(round, at);
  std::vector<int64_t> registers;
  for (uint64_t other : combinations(packed))
    registers.push_back(int64_t(first ^ other));
  return registers;
}

int64_t ShuffleSchedule::sourceLane(int64_t round, const Location &at) const {
  Field lanes{fromBits[0], fromBits[1]};
  return int64_t(lanes.of(sourceOf(int64_t(roundIndex(round, at)), at)));
}

std::vector<int64_t> ShuffleSchedule::offered(int64_t round,
                                              const Location &at) const {
  // Who reads this lane: sources are M·lane plus what round, warp and block
  // add.
  Location reader{0, 0, at.warp, at.block};
  std::optional<uint64_t> lane =
      laneOfLane.solve(uint64_t(at.lane) ^ uint64_t(sourceLane(round, reader)));
  std::vector<int64_t> registers;
  if (!lane)
    return registers;
  reader.lane = int64_t(*lane);
  Field regs{0, fromBits[0]};
  for (int64_t destination : destinations(round, reader))
    registers.push_back(int64_t(regs.of(sourceOf(destination, reader))));
  return registers;
}

int64_t ShuffleSchedule::representative(int64_t reg) const {
  uint64_t mask = uint64_t(reg);
  for (unsigned i = 0; i < repeated.size(); ++i)
    if (mask >> repeated[i] & 1)
      mask ^= bit(unsigned(repeated[i])) ^ stands[i];
  return int64_t(mask);
}

ShuffleProgram ShuffleSchedule::program() const {
  ShuffleProgram result;
  Field regs{0, fromBits[0]}, lanes{fromBits[0], fromBits[1]};
  unsigned laneBits = toBits[unsigned(LaneDim::Lane)],
           warpBits = toBits[unsigned(LaneDim::Warp)];

  // The reader of a lane as a linear map, extended by 0 to lanes that nobody
  // reads.
  F2Elimination span;
  for (unsigned i = 0; i < laneBits; ++i)
    span.add(laneOfLane.column(i), bit(i));
  F2Vectors readerOf(lanes.width, 0);
  for (unsigned i = 0; i < lanes.width; ++i)
    if (span.add(bit(i)))
      readerOf[i] = *span.solve(bit(i));
  auto reader = [&](uint64_t lane) {
    uint64_t result = 0;
    for (unsigned i = 0; i < lanes.width; ++i)
      if (lane >> i & 1)
        result ^= readerOf[i];
    return int64_t(result);
  };

  auto sourceAt = [&](int64_t round, const Location &at) {
    return uint64_t(sourceLane(round, at));
  };
  auto filledAt = [&](int64_t round, const Location &at) {
    return roundIndex(round, at);
  };
  // What lane `at` offers is what its reader's first destination comes from.
  auto offeredAt = [&](int64_t round, const Location &at) {
    Location by{0, 0, at.warp, 0};
    by.lane = reader(uint64_t(at.lane) ^ sourceAt(round, by));
    return regs.of(sourceOf(int64_t(roundIndex(round, by)), by));
  };
  auto columnsOf = [&](auto form, unsigned bits, bool ofWarps) {
    uint64_t zero = form(0, Location{});
    F2Vectors columns;
    for (unsigned i = 0; i < bits; ++i)
      columns.push_back(zero ^
                        form(0, Location{0, ofWarps ? 0 : int64_t(bit(i)),
                                         ofWarps ? int64_t(bit(i)) : 0, 0}));
    return columns;
  };
  result.sourceByLane = columnsOf(sourceAt, laneBits, false);
  result.sourceByWarp = columnsOf(sourceAt, warpBits, true);
  result.filledByLane = columnsOf(filledAt, laneBits, false);
  result.filledByWarp = columnsOf(filledAt, warpBits, true);
  result.offeredByLane = columnsOf(offeredAt, lanes.width, false);
  result.offeredByWarp = columnsOf(offeredAt, warpBits, true);

  for (int64_t round = 0; round < numRounds(); ++round) {
    ShuffleProgram::Round step;
    step.isLocal = isLocal(round);
    step.source = sourceLane(round, {});
    step.filled = destinations(round, {});
    uint64_t first = offeredAt(round, {});
    uint64_t base = regs.of(sourceOf(step.filled.front(), {}));
    for (int64_t destination : step.filled)
      step.offered.push_back(
          int64_t(first ^ base ^ regs.of(sourceOf(destination, {}))));
    result.rounds.push_back(std::move(step));
  }
  return result;
}
