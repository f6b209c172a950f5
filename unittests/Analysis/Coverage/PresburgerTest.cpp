//===- PresburgerTest.cpp - What MLIR's Presburger library gets wrong -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The proofs ask only whether conjunctions are empty. This is why. When one of
// the first expectations fails, an upgrade has mended the library: then
// docs/Proofs/Coverage.md is to be changed, and set differences may be used.

#include "mlir/Analysis/Presburger/PresburgerRelation.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir::presburger;
using Row = llvm::ArrayRef<int64_t>;

namespace {
/// { r : 0 <= r − stride·t < width for some t }
IntegerPolyhedron tiles(int64_t width, int64_t stride) {
  IntegerPolyhedron set(
      PresburgerSpace::getSetSpace(1, 0, 1)); // r, t, constant
  set.addInequality(Row{1, -stride, 0});
  set.addInequality(Row{-1, stride, width - 1});
  return set;
}

TEST(Presburger, SetDifferenceIsUnsound) {
  // Tiles of 128 at distances of 129 lack every 129th element.
  PresburgerSet lacking(tiles(128, 129));
  PresburgerSet all(PresburgerSet::getUniverse(lacking.getSpace()));
  EXPECT_FALSE(lacking.containsPoint(Row{128}));
  EXPECT_TRUE(all.isSubsetOf(lacking)) << "mended: sound is 'no'";
  EXPECT_TRUE(all.isEqual(lacking)) << "mended: sound is 'no'";
  EXPECT_FALSE(lacking.complement().containsPoint(Row{128}))
      << "mended: sound is 'yes'";
}

TEST(Presburger, EmptinessOfConjunctionsIsSound) {
  IntegerPolyhedron set = tiles(128, 129);
  for (int64_t r = -300; r < 300; ++r) {
    IntegerPolyhedron here = set;
    here.addBound(BoundType::EQ, 0, r);
    int64_t remainder = ((r % 129) + 129) % 129;
    EXPECT_EQ(here.isIntegerEmpty(), remainder == 128) << r;
  }
}

TEST(Presburger, EmptinessAgreesWithCounting) {
  // Random conjunctions in three variables within a box, where all can be
  // tried.
  std::mt19937_64 generator(7);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(generator);
  };
  int empty = 0, wrong = 0;
  for (int round = 0; round < 500; ++round) {
    IntegerPolyhedron set(PresburgerSpace::getSetSpace(3));
    for (unsigned v = 0; v < 3; ++v) {
      set.addBound(BoundType::LB, v, -4);
      set.addBound(BoundType::UB, v, 4);
    }
    std::vector<std::array<int64_t, 4>> rows;
    for (int64_t i = 0, n = pick(1, 4); i < n; ++i) {
      rows.push_back({pick(-9, 9), pick(-9, 9), pick(-9, 9), pick(-12, 3)});
      set.addInequality(Row(rows.back().data(), 4));
    }
    std::array<int64_t, 4> equality{pick(2, 7), pick(-7, -2), pick(-3, 3),
                                    pick(-5, 5)};
    set.addEquality(Row(equality.data(), 4));
    bool found = false;
    for (int64_t x = -4; x <= 4; ++x)
      for (int64_t y = -4; y <= 4; ++y)
        for (int64_t z = -4; z <= 4; ++z) {
          auto at = [&](const std::array<int64_t, 4> &row) {
            return row[0] * x + row[1] * y + row[2] * z + row[3];
          };
          found |= at(equality) == 0 &&
                   std::all_of(rows.begin(), rows.end(),
                               [&](const auto &row) { return at(row) >= 0; });
        }
    empty += !found;
    wrong += set.isIntegerEmpty() == found;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(empty, 50);
  EXPECT_LT(empty, 450);
}
} // namespace
