//===- SwizzleTest.cpp - Swizzles: formulas and enumeration ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/Swizzle.h"
#include "RandomF2.h"
#include "gtest/gtest.h"

using namespace tracea::algebra;

// A mode of 16 << B bytes XORs the 16-byte chunk index in its row group with
// the 128-byte line index, modulo 2^B (PTX ISA, tensor swizzling modes).
TEST(Swizzle, ModesFollowTheChunkFormula) {
  struct Case {
    SwizzleMode mode;
    uint64_t chunks, period;
  };
  for (Case c :
       {Case{SwizzleMode::Bytes32, 2, 256}, Case{SwizzleMode::Bytes64, 4, 512},
        Case{SwizzleMode::Bytes128, 8, 1024}}) {
    Swizzle swizzle = Swizzle::mode(c.mode);
    for (uint64_t offset = 0; offset < 4096; ++offset) {
      uint64_t chunk = offset / 16, line = offset / 128;
      uint64_t expected = (chunk ^ (line % c.chunks)) * 16 + offset % 16;
      ASSERT_EQ(swizzle.apply(offset), expected) << offset;
    }
    EXPECT_EQ(swizzle.period(), c.period);
    EXPECT_EQ(swizzle.preservedVectorBytes(), 16u);
    EXPECT_EQ(swizzle.compose(swizzle), Swizzle()); // An involution.
    EXPECT_FALSE(swizzle.isIdentity());
  }
  EXPECT_TRUE(Swizzle::mode(SwizzleMode::None).isIdentity());
}

TEST(Swizzle, HighBitsPassThrough) {
  Swizzle swizzle = Swizzle::mode(SwizzleMode::Bytes128);
  uint64_t base = uint64_t(0xdeadbeef) << 20;
  EXPECT_EQ(swizzle.apply(base + 128), base + 128 + 16);
}

TEST(Swizzle, InverseAndComposeOnRandomMaps) {
  RandomF2 random(6);
  for (int round = 0; round < 300; ++round) {
    Swizzle a = *Swizzle::get(random.invertible(1 + random.below(8)));
    Swizzle b = *Swizzle::get(random.invertible(1 + random.below(8)));
    Swizzle both = a.compose(b);
    for (uint64_t x = 0; x < 512; ++x) {
      ASSERT_EQ(both.apply(x), a.apply(b.apply(x)));
      ASSERT_EQ(a.inverse().apply(a.apply(x)), x);
    }
    EXPECT_TRUE(a.compose(a.inverse()).isIdentity());
    EXPECT_EQ(both.inverse(), b.inverse().compose(a.inverse()));
  }
}

// period() and preservedVectorBytes() are the smallest and largest powers of
// two for which their defining equations hold on all offsets.
TEST(Swizzle, PeriodAndVectorAreExact) {
  RandomF2 random(7);
  for (int round = 0; round < 400; ++round) {
    // Random maps rarely fix anything; so embed them between identity bits.
    unsigned low = random.below(3), mid = random.below(4),
             high = random.below(3);
    F2Matrix map = *F2Matrix::identity(low).directSum(random.invertible(mid));
    map = *map.directSum(F2Matrix::identity(high));
    Swizzle swizzle = *Swizzle::get(map);
    const uint64_t offsets = 256; // Beyond every bit that the map acts on.
    uint64_t period = 1;
    for (;; period *= 2) {
      bool holds = true;
      for (uint64_t c = 0; c < offsets && holds; c += period)
        for (uint64_t x = 0; x < offsets && holds; ++x)
          holds = swizzle.apply(x + c) == swizzle.apply(x) + c;
      if (holds)
        break;
    }
    ASSERT_EQ(swizzle.period(), period) << map;
    uint64_t vector = 1;
    for (uint64_t v = 2; v <= offsets; v *= 2) {
      bool holds = true;
      for (uint64_t x = 0; x < offsets && holds; x += v)
        for (uint64_t i = 0; i < v && holds; ++i)
          holds = swizzle.apply(x + i) == swizzle.apply(x) + i;
      if (!holds)
        break;
      vector = v;
    }
    if (swizzle.isIdentity())
      ASSERT_EQ(swizzle.preservedVectorBytes(), 0u) << map;
    else
      ASSERT_EQ(swizzle.preservedVectorBytes(), vector) << map;
  }
}

// Bit 0 flips bit 3: the period is 16 although bit 3 itself is fixed.
TEST(Swizzle, PeriodCountsBitsThatAreWritten) {
  Swizzle swizzle = *Swizzle::get(*F2Matrix::get(4, {9, 2, 4, 8}));
  EXPECT_EQ(swizzle.period(), 16u);
  EXPECT_EQ(swizzle.preservedVectorBytes(), 1u);
}

TEST(Swizzle, XorBits) {
  Swizzle swizzle = *Swizzle::xorBits(2, 5, 5);
  for (uint64_t x = 0; x < 1 << 13; ++x)
    ASSERT_EQ(swizzle.apply(x), x ^ ((x >> 5) & 0x7c));
  EXPECT_EQ(swizzle.period(), 1u << 12);
  EXPECT_EQ(*Swizzle::xorBits(3, 0, 9), Swizzle());
  EXPECT_EQ(*Swizzle::xorBits(4, 3, 3), Swizzle::mode(SwizzleMode::Bytes128));
  EXPECT_NE(*Swizzle::xorBits(4, 2, 3), Swizzle::mode(SwizzleMode::Bytes128));
  EXPECT_TRUE(Swizzle::xorBits(58, 3, 3));
}

TEST(Swizzle, EqualityIgnoresTheWidth) {
  EXPECT_EQ(*Swizzle::get(F2Matrix::identity(5)), Swizzle());
  Swizzle wide = *Swizzle::get(*Swizzle::mode(SwizzleMode::Bytes32)
                                    .matrix()
                                    .directSum(F2Matrix::identity(3)));
  EXPECT_EQ(wide, Swizzle::mode(SwizzleMode::Bytes32));
  EXPECT_EQ(Swizzle::mode(SwizzleMode::Bytes32), wide);
  EXPECT_EQ(wide.period(), 256u);
}

TEST(Swizzle, WorksAt64Bits) {
  RandomF2 random(8);
  Swizzle swizzle = *Swizzle::get(random.invertible(64));
  uint64_t x = random.bits(64);
  EXPECT_EQ(swizzle.inverse().apply(swizzle.apply(x)), x);
  EXPECT_EQ(Swizzle::get(F2Matrix::identity(64))->period(), 1u);
}

TEST(Swizzle, Rejects) {
  EXPECT_EQ(
      Swizzle::get(*F2Matrix::get(2, {1, 1})).message(),
      "swizzle: expected an invertible map, found rank 1 with 2 input and "
      "2 output bits");
  EXPECT_FALSE(Swizzle::get(*F2Matrix::get(3, {1, 2}))); // Not square.
  EXPECT_FALSE(Swizzle::xorBits(4, 3, 2));  // Would read what it writes.
  EXPECT_FALSE(Swizzle::xorBits(59, 3, 3)); // 65 bits.
  EXPECT_FALSE(Swizzle::xorBits(~0u, 1, 1));
}
