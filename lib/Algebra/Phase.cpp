//===- Phase.cpp - Positions in a ring of n slots -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/Phase.h"

using namespace tracea::algebra;

/// The representative of `value` in [0, modulus).
static int64_t floorMod(int64_t value, int64_t modulus) {
  int64_t rest = value % modulus;
  return rest < 0 ? rest + modulus : rest;
}

Expected<Phase> Phase::get(int64_t slots, int64_t value) {
  if (slots < 1 || slots > maxSlots)
    return Error{"phase: expected between 1 and " + std::to_string(maxSlots) +
                 " slots, found " + std::to_string(slots)};
  return Phase(slots, floorMod(value, 2 * slots));
}

Expected<Phase> Phase::initialProducer(int64_t slots) {
  return get(slots, slots);
}

Expected<Phase> Phase::initialConsumer(int64_t slots) { return get(slots, 0); }

Phase Phase::advance(int64_t steps) const {
  int64_t modulus = 2 * slotCount;
  return Phase(slotCount, (position + floorMod(steps, modulus)) % modulus);
}

Expected<int64_t> Phase::stepsSince(const Phase &earlier) const {
  if (earlier.slotCount != slotCount)
    return Error{"phase: expected a ring of " + std::to_string(slotCount) +
                 " slots, found one of " + std::to_string(earlier.slotCount)};
  return floorMod(position - earlier.position, 2 * slotCount);
}
