//===- PhaseTest.cpp - Ring positions against a counting model -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/Phase.h"
#include "gtest/gtest.h"
#include <limits>

using namespace tracea::algebra;

// A walker that keeps a slot and a parity, as kernels do, and flips the parity
// on every wrap.
TEST(Phase, FollowsSlotAndParityWalker) {
  for (int64_t slots : {1, 2, 3, 4, 7, 8}) {
    Phase phase = *Phase::initialConsumer(slots);
    int64_t slot = 0, parity = 0;
    for (int step = 0; step < 5 * slots; ++step) {
      ASSERT_EQ(phase.slot(), slot) << "slots " << slots << " step " << step;
      ASSERT_EQ(phase.parity(), parity)
          << "slots " << slots << " step " << step;
      phase = phase.advance();
      if (++slot == slots) {
        slot = 0;
        parity ^= 1;
      }
    }
  }
}

TEST(Phase, ProducerStartsOneLapAhead) {
  for (int64_t slots : {1, 2, 5}) {
    Phase producer = *Phase::initialProducer(slots);
    Phase consumer = *Phase::initialConsumer(slots);
    EXPECT_EQ(producer.slot(), 0);
    EXPECT_EQ(producer.parity(), 1);
    EXPECT_EQ(consumer.slot(), 0);
    EXPECT_EQ(consumer.parity(), 0);
    EXPECT_EQ(consumer.advance(slots), producer);
    EXPECT_EQ(*producer.stepsSince(consumer), slots);
    EXPECT_EQ(*consumer.stepsSince(producer), slots);
  }
}

// 2n positions suffice: they are all distinct, and 2n steps come back.
TEST(Phase, GroupHasOrderTwiceSlots) {
  Phase zero = *Phase::get(3, 0);
  for (int64_t i = 1; i < 6; ++i) {
    EXPECT_NE(zero.advance(i), zero) << i;
    EXPECT_EQ(*zero.advance(i).stepsSince(zero), i);
    EXPECT_EQ(zero.advance(i).advance(-i), zero);
  }
  EXPECT_EQ(zero.advance(6), zero);
}

TEST(Phase, ReducesAnyInteger) {
  EXPECT_EQ(Phase::get(4, -1)->value(), 7);
  EXPECT_EQ(Phase::get(4, 8)->value(), 0);
  EXPECT_EQ(Phase::get(4, 13)->value(), 5);
  constexpr int64_t smallest = std::numeric_limits<int64_t>::min();
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Phase::get(4, smallest)->value(), 0);
  EXPECT_EQ(Phase::get(4, largest)->value(), 7);
  Phase last = *Phase::get(Phase::maxSlots, 2 * Phase::maxSlots - 1);
  EXPECT_EQ(last.advance(largest).advance(1), last.advance(smallest));
}

TEST(Phase, RejectsBadRings) {
  EXPECT_FALSE(Phase::get(0, 0));
  EXPECT_FALSE(Phase::get(-2, 0));
  EXPECT_FALSE(Phase::get(Phase::maxSlots + 1, 0));
  EXPECT_FALSE(Phase::initialProducer(0));
  EXPECT_EQ(Phase::initialConsumer(0).message(),
            "phase: expected between 1 and 1073741824 slots, found 0");
  Expected<int64_t> steps = Phase::get(2, 0)->stepsSince(*Phase::get(3, 0));
  ASSERT_FALSE(steps);
  EXPECT_EQ(steps.message(),
            "phase: expected a ring of 2 slots, found one of 3");
  // The same value in rings of different sizes is not the same phase.
  EXPECT_NE(*Phase::get(2, 1), *Phase::get(3, 1));
}
