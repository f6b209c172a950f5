//===- Phase.h - Positions in a ring of n slots -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A channel of n slots is walked by its producer and its consumers, each with a
// phase p in Z/2nZ. The slot is p mod n; the parity p div n says whether the
// walker is on an even or an odd lap, and is what a hardware barrier compares.
// Twice n suffices because the producer's lead is at most n.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_ALGEBRA_PHASE_H
#define TRACEA_ALGEBRA_PHASE_H

#include "tracea/Algebra/Expected.h"
#include <cstdint>

namespace tracea::algebra {

class Phase {
public:
  /// Rings larger than this make no sense and would overflow 2n arithmetic.
  static constexpr int64_t maxSlots = int64_t(1) << 30;

  /// The element `value` mod 2 * slots. Fails unless 1 <= slots <= maxSlots.
  static Expected<Phase> get(int64_t slots, int64_t value);
  /// Where a producer starts: n, slot 0 with parity 1. A wait for parity 1 on a
  /// fresh barrier returns at once, which is right since all slots are empty
  /// (PTX ISA, mbarrier.test_wait: the phase before the first is complete).
  static Expected<Phase> initialProducer(int64_t slots);
  /// Where a consumer starts: 0, slot 0 with parity 0, not yet filled.
  static Expected<Phase> initialConsumer(int64_t slots);

  int64_t slots() const { return slotCount; }
  /// In [0, 2 * slots()).
  int64_t value() const { return position; }
  int64_t slot() const { return position % slotCount; }
  /// 0 or 1.
  int64_t parity() const { return position / slotCount; }

  /// The phase `steps` uses later; negative steps go back.
  Phase advance(int64_t steps = 1) const;
  /// The unique number of steps in [0, 2 * slots()) from `earlier` to this.
  /// Fails when the rings differ.
  Expected<int64_t> stepsSince(const Phase &earlier) const;

  friend bool operator==(const Phase &a, const Phase &b) {
    return a.slotCount == b.slotCount && a.position == b.position;
  }
  friend bool operator!=(const Phase &a, const Phase &b) { return !(a == b); }

private:
  Phase(int64_t slots, int64_t position)
      : slotCount(slots), position(position) {}

  int64_t slotCount;
  int64_t position;
};

} // namespace tracea::algebra

#endif // TRACEA_ALGEBRA_PHASE_H
