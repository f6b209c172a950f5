//===- F2SubspaceTest.cpp - Subspaces against sets of their elements -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/F2Subspace.h"
#include "RandomF2.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <set>

using namespace tracea::algebra;

/// Every element, by closing under addition: no elimination involved.
static std::set<uint64_t> elements(const F2Vectors &vectors) {
  std::set<uint64_t> all{0};
  for (uint64_t v : vectors) {
    std::set<uint64_t> next = all;
    for (uint64_t x : all)
      next.insert(x ^ v);
    all = next;
  }
  return all;
}

TEST(F2Subspace, AgreesWithEnumeration) {
  RandomF2 random(1);
  for (int round = 0; round < 500; ++round) {
    unsigned width = 1 + random.below(8);
    F2Vectors a = random.vectors(random.below(6), width);
    F2Vectors b = random.vectors(random.below(6), width);
    std::set<uint64_t> setA = elements(a), setB = elements(b);
    EXPECT_EQ(uint64_t(1) << rankOf(a), setA.size());
    EXPECT_EQ(elements(canonicalBasis(a)), setA);
    EXPECT_EQ(canonicalBasis(a).size(), rankOf(a));
    EXPECT_EQ(sameSpan(a, b), setA == setB);
    std::set<uint64_t> common;
    std::set_intersection(setA.begin(), setA.end(), setB.begin(), setB.end(),
                          std::inserter(common, common.end()));
    EXPECT_EQ(elements(intersection(a, b)), common);
    F2Vectors both = a;
    both.insert(both.end(), b.begin(), b.end());
    EXPECT_EQ(elements(sum(a, b)), elements(both));
    for (uint64_t x = 0; x < (uint64_t(1) << width); ++x)
      ASSERT_EQ(inSpan(x, a), setA.count(x) == 1) << x;
  }
}

// Reduced: a leading bit of one basis vector occurs in no other.
TEST(F2Subspace, CanonicalBasisIsReducedAndSorted) {
  EXPECT_EQ(canonicalBasis({6, 5}), (F2Vectors{3, 5}));
  EXPECT_EQ(canonicalBasis({5, 3, 6, 0}), (F2Vectors{3, 5}));
  EXPECT_EQ(canonicalBasis({7, 3, 1}), (F2Vectors{1, 2, 4}));
  EXPECT_TRUE(canonicalBasis({0, 0}).empty());
}

TEST(F2Subspace, UsesAll64Bits) {
  uint64_t top = uint64_t(1) << 63;
  EXPECT_EQ(rankOf({top, top | 1, 1}), 2u);
  EXPECT_EQ(intersection({top, 1}, {top | 1}), (F2Vectors{top | 1}));
  F2Vectors all;
  for (unsigned i = 0; i < 64; ++i)
    all.push_back(uint64_t(1) << i);
  EXPECT_EQ(intersection(all, all), all);
}

TEST(F2Subspace, CombinationsFollowTheIndex) {
  EXPECT_EQ(combinations({1, 4}), (F2Vectors{0, 1, 4, 5}));
  EXPECT_EQ(combinations({1, 1}), (F2Vectors{0, 1, 1, 0}));
  EXPECT_EQ(combinations({}), (F2Vectors{0}));
  EXPECT_TRUE(combinations(F2Vectors(25, 1)).empty());
}
