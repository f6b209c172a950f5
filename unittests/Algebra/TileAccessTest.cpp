//===- TileAccessTest.cpp - Tiles and buffers, by rank and by enumeration -===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/TileAccess.h"
#include "RandomF2.h"
#include "tracea/Algebra/BankSimulator.h"
#include "tracea/Algebra/Fragments.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <numeric>

using namespace tracea::algebra;

static const BankModel &nvidia() {
  static const BankModel model = *bankModel("nvidia");
  return model;
}

static TileAccessDegree degree(const TileAccess &access,
                               const Swizzle &swizzle = Swizzle()) {
  Expected<TileAccessDegree> result =
      tileAccessDegree(nvidia(), access, swizzle);
  EXPECT_TRUE(result) << result.message();
  return result ? *result : TileAccessDegree{};
}

// The A fragment of mma from rows of 128 bytes: words, all eight rows in the
// same banks; the 128-byte mode spreads them.
TEST(TileAccess, FragmentFromRows) {
  LaneMap a = *mmaM16N8(MatrixOperand::A, 16, 16);
  TileAccess access{a, {128, 2}, 2, AccessKind::Read, 0, 0};
  TileAccessDegree plain = degree(access);
  EXPECT_EQ(plain.widthBytes, 4u);
  EXPECT_EQ(plain.degree.degree, 8);
  EXPECT_EQ(plain.degree.phases, 1);
  EXPECT_TRUE(plain.byRank);
  EXPECT_EQ(plain.collision.bank, 0);
  EXPECT_EQ(plain.collision.lanes,
            (std::vector<int64_t>{0, 4, 8, 12, 16, 20, 24, 28}));
  Swizzle mode = Swizzle::mode(SwizzleMode::Bytes128);
  TileAccessDegree swizzled = degree(access, mode);
  EXPECT_EQ(swizzled.degree.degree, 1);
  EXPECT_TRUE(swizzled.byRank);
  EXPECT_TRUE(swizzled.collision.lanes.empty());
  // Windows at whole tiles of 16 rows carry into no bit of the tile, so rank
  // decides; those at any step of 32 bytes may, and need one period.
  for (int64_t step : {32, 2048, 128}) {
    access.step = step;
    TileAccessDegree moved = degree(access, mode);
    EXPECT_EQ(moved.byRank, step == 2048) << step;
    EXPECT_EQ(moved.degree.degree, 1) << step;
  }
}

// Rows of 132 bytes: not linear over F2, yet free of conflicts by columns.
TEST(TileAccess, PaddedRows) {
  LaneMap columns =
      *LaneMap::get({32, 32}, {{{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}},
                               {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}},
                               {},
                               {}});
  for (int64_t words = 1; words < 80; ++words) {
    TileAccessDegree padded =
        degree({columns, {words * 4, 4}, 4, AccessKind::Read, 0, 4});
    if (padded.widthBytes != 4) {
      // Rows of whole vectors move as vectors: 16 bytes go by eight lanes.
      int64_t width = padded.widthBytes / 4;
      EXPECT_EQ(words % width, 0);
    } else {
      // One word a lane: 32 lanes at that pitch.
      int64_t expected = 32 / (32 / std::gcd(words, int64_t(32)));
      EXPECT_EQ(padded.degree.degree, expected) << words;
    }
  }
  EXPECT_FALSE(degree({columns, {132, 4}, 4, AccessKind::Read, 0, 4}).byRank);
}

// The width: consecutive registers, their alignment, the swizzle.
TEST(TileAccess, VectorWidth) {
  LaneMap rows =
      *LaneMap::get({32, 16}, {{{0, 1}, {0, 2}, {0, 4}, {0, 8}},
                               {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}},
                               {},
                               {}});
  auto width = [&](std::vector<int64_t> steps, unsigned bytes, int64_t offset,
                   int64_t step, const Swizzle &swizzle = Swizzle()) {
    return *vectorWidth(nvidia(),
                        {rows, steps, bytes, AccessKind::Read, offset, step},
                        swizzle);
  };
  EXPECT_EQ(width({32, 2}, 2, 0, 0), 16u);
  EXPECT_EQ(width({64, 4}, 4, 0, 0), 16u);
  EXPECT_EQ(width({128, 8}, 8, 0, 0), 16u);
  EXPECT_EQ(width({36, 2}, 2, 0, 0), 4u); // Rows of 9 words.
  EXPECT_EQ(width({40, 2}, 2, 0, 0), 8u); // Rows of 5 double words.
  EXPECT_EQ(width({32, 2}, 2, 8, 0), 8u); // A window 8 bytes in.
  EXPECT_EQ(width({32, 2}, 2, 0, 4), 4u); // At any word.
  EXPECT_EQ(width({2, 64}, 2, 0, 0), 2u); // By columns.
  EXPECT_EQ(width({0, 2}, 2, 0, 0), 16u); // All rows the same.
  EXPECT_EQ(width({32, 2}, 2, 0, 0, *Swizzle::xorBits(3, 1, 3)), 8u);
  EXPECT_EQ(width({32, 2}, 2, 0, 0, *Swizzle::xorBits(4, 3, 3)), 16u);
  EXPECT_FALSE(vectorWidth(nvidia(), {rows, {31, 2}, 2}, Swizzle()));
}

// All lanes read one vector in four phases, which NVIDIA's memory does in two.
// What AMD's does is not known.
TEST(TileAccess, WideBroadcast) {
  LaneMap same = *LaneMap::get(
      {1, 4},
      {{{0, 1}, {0, 2}}, {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}}, {}, {}});
  TileAccessDegree wide = degree({same, {16, 4}, 4});
  EXPECT_EQ(wide.widthBytes, 16u);
  EXPECT_EQ(wide.degree.phases, 4);
  EXPECT_EQ(wide.degree.wavefronts(), 2);
  EXPECT_FALSE(wide.mayMerge);
  EXPECT_FALSE(degree({same, {16, 8}, 4}).mayMerge); // Words: one phase.
  TileAccessDegree amd =
      *tileAccessDegree(*bankModel("gfx1100"), {same, {16, 4}, 4}, Swizzle());
  EXPECT_EQ(amd.degree.wavefronts(), 4);
  EXPECT_TRUE(amd.mayMerge);
}

// Outer repeats are integer offsets.
TEST(TileAccess, OddExtents) {
  LaneMap d = *wgmmaD(24);
  TileAccess access{d, {128, 4}, 4, AccessKind::Write, 0, 0};
  EXPECT_EQ(degree(access).widthBytes, 8u);
  EXPECT_TRUE(degree(access).byRank);
  Swizzle mode = Swizzle::mode(SwizzleMode::Bytes128);
  TileAccessDegree swizzled = degree(access, mode);
  EXPECT_TRUE(swizzled.byRank); // 32-byte steps along rows carry into nothing.
  access.byteSteps = {96, 4};   // Rows of 24 words.
  EXPECT_FALSE(degree(access, mode).byRank);
}

// Whatever the answer comes from, it is the worst of all registers, warps and
// offsets of the window.
TEST(TileAccess, AgreesWithAllWindows) {
  constexpr uint64_t seed = 60;
  RandomF2 random(seed);
  unsigned byRank = 0, enumerated = 0, conflicts = 0;
  for (int round = 0; round < 200; ++round) {
    F2Vectors columns = random.below(2) ? random.invertible(9).columns()
                                        : F2Matrix::identity(9).columns();
    for (unsigned i = 9; i-- > 1;)
      std::swap(columns[i], columns[random.below(i + 1)]);
    LaneBases bases;
    for (unsigned i = 0; i < 9; ++i)
      (i < 3   ? bases.reg
       : i < 8 ? bases.lane
               : bases.warp)
          .push_back({int64_t(columns[i] >> 5), int64_t(columns[i] & 31)});
    LaneMap lanes =
        *LaneMap::get({16, 32}, bases, {1, 1 + int64_t(random.below(2)) * 2});
    unsigned bytes = 1 << random.below(3);
    int64_t pitch =
        int64_t(bytes) * (random.below(3) ? 128 : 96 + 4 * random.below(5));
    TileAccess access{lanes,
                      {pitch, bytes},
                      bytes,
                      random.below(2) ? AccessKind::Read : AccessKind::Write,
                      int64_t(random.below(4)) * 64,
                      random.below(2) ? 0 : int64_t(bytes) << random.below(10)};
    Swizzle swizzle =
        random.below(3)
            ? *Swizzle::xorBits(4, 1 + random.below(3), 3 + random.below(2))
            : Swizzle();
    TileAccessDegree result = degree(access, swizzle);
    ++(result.byRank ? byRank : enumerated);
    conflicts += result.degree.degree > 1;

    int64_t worst = 0;
    for (int64_t n = 0; n < (access.step ? 64 : 1); ++n)
      for (int64_t w = 0; w < 2; ++w)
        for (int64_t r = 0; r < lanes.numRegisters(); ++r) {
          std::vector<uint64_t> addresses;
          bool starts = true;
          for (int64_t l = 0; l < 32; ++l) {
            TileCoord at = *lanes.coordinate(r, l, w);
            uint64_t offset = at[0] * pitch + at[1] * int64_t(bytes) +
                              access.offset + n * access.step;
            starts &= offset % result.widthBytes == 0;
            addresses.push_back(swizzle.apply(offset));
          }
          if (!starts)
            continue;
          for (int64_t cycles : *simulateAccess(
                   nvidia(), addresses, result.widthBytes, access.kind)) {
            worst = std::max(worst, cycles);
            if (result.byRank) {
              ASSERT_EQ(cycles, result.degree.degree) << "round " << round;
            }
          }
        }
    ASSERT_LE(worst, result.degree.degree)
        << "seed " << seed << " round " << round;
    // 64 windows are all there are when the period is at most 64 steps.
    if (!access.step || swizzle.isIdentity() || // 64 steps pass every word.
        int64_t(swizzle.period()) <= 64 * access.step) {
      ASSERT_EQ(worst, result.degree.degree)
          << "seed " << seed << " round " << round;
    }
    ASSERT_EQ(int64_t(result.collision.lanes.size()),
              result.degree.degree > 1 ? result.degree.degree : 0)
        << "seed " << seed << " round " << round;
  }
  EXPECT_GT(byRank, 50u);
  EXPECT_GT(enumerated, 50u);
  EXPECT_GT(conflicts, 50u);
}

TEST(TileAccess, ToSolver) {
  LaneMap a = *mmaM16N8(MatrixOperand::A, 16, 16);
  SwizzleAccess access = *toSwizzleAccess(
      nvidia(), {a, {128, 2}, 2, AccessKind::Read, 0, 0}, "fragment");
  EXPECT_EQ(access.widthBytes, 4u);
  EXPECT_EQ(access.lanesToBytes.columns(), (F2Vectors{4, 8, 128, 256, 512}));
  EXPECT_EQ(access.unrolled, (F2Vectors{1024, 16}));
  EXPECT_FALSE(toSwizzleAccess(nvidia(), {a, {132, 2}, 2}, "padded"));
  EXPECT_FALSE(toSwizzleAccess(nvidia(), {*wgmmaD(24), {128, 4}, 4}, "odd"));
}

TEST(TileAccess, Rejects) {
  LaneMap a = *mmaM16N8(MatrixOperand::A, 16, 16);
  auto messageOf = [&](const TileAccess &access) {
    return tileAccessDegree(nvidia(), access, Swizzle()).message();
  };
  EXPECT_EQ(messageOf({a, {128}, 2}),
            "tile access: expected 2 byte steps, found 1");
  EXPECT_EQ(messageOf({mfma16x16x16(MatrixOperand::A), {128, 2}, 2}),
            "tile access: the tile has 64 lanes, nvidia has 32");
  EXPECT_EQ(messageOf({a, {128, 2}, 2, AccessKind::Read, 1, 0}),
            "tile access: elements are not aligned to their 2 bytes");
  EXPECT_NE(messageOf({a, {128, 2}, 3}), "");
  EXPECT_NE(messageOf({a, {int64_t(1) << 50, 2}, 2}), "");
  // Too much to enumerate is not an answer.
  Swizzle swizzle = Swizzle::mode(SwizzleMode::Bytes128);
  EXPECT_EQ(tileAccessDegree(nvidia(), {a, {128, 2}, 2, AccessKind::Read, 0, 4},
                             swizzle, 1000)
                .message(),
            "tile access: one period has 256 offsets of 128 addresses, more "
            "than 1000");
}
