//===- ProductsTest.cpp - Sizes that are multiplied and divide ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Coverage/Decide.h"
#include "tracea/Analysis/Coverage/IndexArithmetic.h"
#include "gtest/gtest.h"

using namespace tracea::coverage;

namespace {

/// What is claimed of sizes H and K, at least 0.
Result decideClaim(const std::function<Constraint(Space &, Term, Term)> &make) {
  Problem p;
  Term H = p.space.symbol("H"), K = p.space.symbol("K");
  Claim claim;
  claim.name = "claim";
  claim.conclusions = {make(p.space, H, K)};
  p.claims = {claim};
  return decide(p);
}

TEST(ProductsTest, WhatIsDividedByAMaximumKeepsItsSign) {
  Result result = decideClaim([](Space &s, Term H, Term K) {
    return atLeast(s.floorDiv(H, s.max(K, 1)), 0);
  });
  EXPECT_EQ(result.verdict, Verdict::Proved) << result.reason;
  // Of no heads at all the quotient is 0.
  result = decideClaim([](Space &s, Term H, Term K) {
    return atLeast(s.floorDiv(H, s.max(K, 1)), 1);
  });
  EXPECT_EQ(result.verdict, Verdict::Refuted) << result.reason;
}

TEST(ProductsTest, AFactorThatIsAMaximumKeepsOrder) {
  Result result = decideClaim([](Space &s, Term H, Term K) {
    Expr d = s.max(K, 1);
    return atLeast(s.product(Expr(H) + 2, d), s.product(H, d) + 2);
  });
  EXPECT_EQ(result.verdict, Verdict::Proved) << result.reason;
  result = decideClaim([](Space &s, Term H, Term K) {
    Expr d = s.max(K, 1);
    return atLeast(s.product(Expr(H) + 2, d), s.product(H, d) + 3);
  });
  EXPECT_EQ(result.verdict, Verdict::Refuted) << result.reason;
}

/// What may be of either sign orders nothing.
TEST(ProductsTest, AFactorOfUnknownSign) {
  Result result = decideClaim([](Space &s, Term H, Term K) {
    Expr d = s.max(Expr(K) - 3, -2);
    return atLeast(s.product(H, d), -2 * Expr(H));
  });
  EXPECT_NE(result.verdict, Verdict::Refuted) << result.reason;
  result = decideClaim([](Space &s, Term H, Term K) {
    Expr d = s.max(Expr(K) - 3, -2);
    return atLeast(s.product(H, d), 0);
  });
  EXPECT_EQ(result.verdict, Verdict::Refuted) << result.reason;
}

/// Channels in three groups, each in tiles of 64: a group's first channel is a
/// product.
Problem makeGroups(int64_t slip) {
  Problem p;
  Space &s = p.space;
  Term K = s.symbol("K");
  Expr size = s.floorDiv(K, 3);
  p.assumptions.push_back(equal(s.mod(K, 3), 0));
  Term group = s.id("group", 3), tile = s.id("tile", s.ceilDiv(size, 64)),
       i = s.id("i", 64);
  Expr inGroup = 64 * Expr(tile) + i;
  Writer writer{"store",
                {group, tile, i},
                {less(inGroup, size + slip)},
                {s.product(size, group) + inGroup},
                {}};
  AffineStage stage{{s.coordinate("channel", K)}, {writer}};
  p.outputs = stage.coordinates;
  p.stages.push_back({"channels", stage});
  return p;
}

TEST(ProductsTest, GroupsOfASize) {
  Result result = decide(makeGroups(0));
  EXPECT_EQ(result.verdict, Verdict::Proved) << result.reason;
  EXPECT_EQ(decide(makeGroups(-1)).verdict, Verdict::Refuted);
  EXPECT_EQ(decide(makeGroups(1)).verdict, Verdict::Refuted);
}

TEST(ProductsTest, IntervalsDecideMinima) {
  Space s;
  IndexArithmetic math(s);
  Term K = s.symbol("K");
  Expr many = math.ceilDiv(16384, math.max(36 * Expr(K), 1));
  // At least 1, at most 1.
  EXPECT_EQ(math.max(math.min(many, 1), 1), Expr(1));
  EXPECT_TRUE(math.isNonNegative(many));
  EXPECT_FALSE(math.isNonNegative(many - 1));
}

} // namespace
