//===- SharedConversionTest.cpp - Layouts free of conflicts on both sides -===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/SharedConversion.h"
#include "RandomF2.h"
#include "tracea/Algebra/BankSimulator.h"
#include "tracea/Algebra/Fragments.h"
#include "gtest/gtest.h"
#include <map>

using namespace tracea::algebra;

/// Plans, and simulates every instruction of both sides: all registers that
/// start a vector, all warps.
static SharedConversion plan(const LaneMap &from, const LaneMap &to,
                             unsigned elementBytes, const BankModel &model) {
  Expected<SharedConversion> result =
      planSharedConversion(from, to, elementBytes, model);
  EXPECT_TRUE(result) << result.message();
  if (!result)
    return {};
  EXPECT_TRUE(result->tileToBytes.isInjective());
  for (AccessKind kind : {AccessKind::Write, AccessKind::Read}) {
    const LaneMap &map = kind == AccessKind::Write ? from : to;
    std::map<std::vector<uint64_t>, int> instructions;
    for (int64_t w = 0; w < map.numWarps(); ++w)
      for (int64_t r = 0; r < map.numRegisters(); ++r) {
        std::vector<uint64_t> addresses;
        bool starts = true;
        for (int64_t l = 0; l < model.numLanes(); ++l) {
          TileCoord at = *map.coordinate(r, l % map.numLanes(), w);
          uint64_t offset = result->tileToBytes.apply(map.flatten(at));
          EXPECT_LT(offset, uint64_t(result->bytes));
          starts &= offset % result->vectorBytes == 0;
          addresses.push_back(offset);
        }
        // A register starts a vector in every lane or in none, and the others
        // follow it.
        for (uint64_t address : addresses)
          EXPECT_EQ(address % result->vectorBytes,
                    addresses[0] % result->vectorBytes);
        if (!starts)
          continue;
        std::vector<int64_t> cycles =
            *simulateAccess(model, addresses, result->vectorBytes, kind);
        EXPECT_EQ(cycles, std::vector<int64_t>(cycles.size(), 1))
            << model.name << "\n"
            << from << to;
      }
  }
  return *result;
}

TEST(SharedConversion, Fragments) {
  BankModel nvidia = *bankModel("nvidia");
  // Accumulators of four warps to 16-byte pieces of rows.
  LaneMap rows =
      *LaneMap::get({64, 64}, {{{0, 1}, {0, 2}, {0, 4}, {16, 0}, {32, 0}},
                               {{0, 8}, {0, 16}, {0, 32}, {1, 0}, {2, 0}},
                               {{4, 0}, {8, 0}},
                               {}});
  EXPECT_EQ(plan(*wgmmaD(64), rows, 2, nvidia).vectorBytes, 4u);
  EXPECT_EQ(plan(*wgmmaD(64), rows, 4, nvidia).vectorBytes, 8u);
  EXPECT_EQ(plan(rows, *wgmmaD(64), 2, nvidia).bytes, 64 * 64 * 2);
  // No register in common: single elements.
  EXPECT_EQ(
      plan(mfma32x32x8(MatrixOperand::D),
           *LaneMap::get({32, 32},
                         {{{0, 1}, {0, 2}, {0, 8}, {0, 16}},
                          {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {0, 4}},
                          {},
                          {}}),
           4, *bankModel("gfx942"))
          .vectorBytes,
      4u);
  // Replicas write and read the same words.
  plan(wmmaGfx11(MatrixOperand::A), wmmaGfx11(MatrixOperand::D), 2,
       *bankModel("gfx1100"));
}

TEST(SharedConversion, RandomPairs) {
  constexpr uint64_t seed = 50;
  RandomF2 random(seed);
  std::map<unsigned, unsigned> widths;
  for (int round = 0; round < 600; ++round) {
    const std::vector<BankModel> &models = knownBankModels();
    const BankModel &model = models[random.below(models.size())];
    unsigned regs = random.below(5), warps = random.below(3),
             bits = regs + model.laneBits + warps;
    F2Vectors a, b;
    unsigned shared = random.below(regs + 1);
    if (round % 2) {
      // Permutations of bits, as real layouts are.
      for (F2Vectors *side : {&a, &b}) {
        *side = F2Matrix::identity(bits).columns();
        for (unsigned i = side == &a ? 0 : shared; i < bits; ++i)
          std::swap((*side)[i], (*side)[i + random.below(bits - i)]);
      }
    } else {
      a = random.invertible(bits).columns();
      do {
        b = random.invertible(bits).columns();
        std::copy(a.begin(), a.begin() + shared, b.begin());
      } while (rankOf(b) != bits);
    }
    auto asMap = [&](const F2Vectors &columns) {
      LaneBases bases;
      for (unsigned i = 0; i < bits; ++i)
        (i < regs                    ? bases.reg
         : i < regs + model.laneBits ? bases.lane
                                     : bases.warp)
            .push_back({int64_t(columns[i])});
      return *LaneMap::get({int64_t(1) << bits}, bases);
    };
    ++widths[plan(asMap(a), asMap(b), 1 << random.below(4), model).vectorBytes];
    if (testing::Test::HasFailure())
      FAIL() << "seed " << seed << " round " << round;
  }
  for (unsigned width : {1u, 2u, 4u, 8u, 16u})
    EXPECT_GT(widths[width], 10u) << width;
}

TEST(SharedConversion, Rejects) {
  BankModel nvidia = *bankModel("nvidia");
  LaneMap d = *mmaM16N8(MatrixOperand::D, 16, 16);
  EXPECT_EQ(planSharedConversion(d, d, 3, nvidia).message(),
            "shared conversion: expected elements of 1, 2, 4 or 8 bytes, found "
            "3");
  EXPECT_FALSE(planSharedConversion(d, *ldmatrix(1, false), 2, nvidia));
  EXPECT_EQ(planSharedConversion(mfma16x16x16(MatrixOperand::D),
                                 mfma16x16x16(MatrixOperand::B), 4, nvidia)
                .message(),
            "shared conversion: expected at most 5 lane bits for nvidia, found "
            "6");
  LaneMap blocks = *LaneMap::get({4}, {{{1}}, {}, {}, {{2}}});
  LaneMap swapped = *LaneMap::get({4}, {{{2}}, {}, {}, {{1}}});
  EXPECT_EQ(planSharedConversion(blocks, swapped, 4, nvidia).message(),
            "shared conversion: the values are held by other blocks");
}
