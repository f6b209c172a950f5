//===- LaunchGuardTest.cpp - Sizes for which indices do not overflow ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Designs.h"
#include "gtest/gtest.h"

using namespace tracea::coverage;
using namespace tracea::coverage::designs;

namespace {
constexpr int64_t kMax32 = INT32_MAX;

/// The index that the first writer computes for one coordinate.
Expr affineIndex(const Problem &problem, size_t coordinate) {
  return std::get<AffineStage>(problem.stages[0].kind)
      .writers[0]
      .map[coordinate];
}

TEST(LaunchGuard, RoundingUpOverflows) {
  Problem p = tiles({{}});
  LaunchGuard guard = launchGuard(p);
  EXPECT_EQ(guard.reason, "");
  EXPECT_FALSE(guard.bounds.empty());
  EXPECT_EQ(violates(p, guard, {{"N0", 0}}), std::nullopt);
  EXPECT_EQ(violates(p, guard, {{"N0", kMax32 - 400}}), std::nullopt);
  // N0 + 127 does not fit.
  EXPECT_NE(violates(p, guard, {{"N0", kMax32}}), std::nullopt);
  EXPECT_NE(violates(p, guard, {{"N0", kMax32 - 126}}), std::nullopt);
  EXPECT_EQ(violates(p, guard, {{"N0", kMax32}}, 64), std::nullopt);
  // Also as constraints over sizes.
  std::map<Term, int64_t> values{{*p.space.find("N0"), kMax32}};
  bool holds = true;
  for (const Constraint &constraint : constraints(guard, 32))
    holds &= p.space.holds(constraint, values).value_or(false);
  EXPECT_FALSE(holds);
}

TEST(LaunchGuard, PreconditionsAreChecked) {
  Problem p = tiles({{}}, true);
  LaunchGuard guard = launchGuard(p);
  EXPECT_EQ(violates(p, guard, {{"N0", 256}}), std::nullopt);
  EXPECT_NE(violates(p, guard, {{"N0", 255}})->find("do not satisfy"),
            std::string::npos);
  EXPECT_NE(violates(p, guard, {{"N0", -128}})->find("at least 0"),
            std::string::npos);
  EXPECT_NE(violates(p, guard, {})->find("no value for 'N0'"),
            std::string::npos);
  EXPECT_NE(violates(p, guard, {{"N0", 0}, {"x0", 1}})->find("no size"),
            std::string::npos);
  Problem v = vectorStores();
  LaunchGuard unbounded = launchGuard(v); // a loop without an end
  EXPECT_NE(unbounded.reason.find("no upper bound"), std::string::npos);
  EXPECT_NE(violates(v, unbounded, {{"N", 4}, {"a", 0}}), std::nullopt);
  EXPECT_NE(violates(v, unbounded, {{"N", 4}, {"a", 8}})->find("less than"),
            std::string::npos);
}

TEST(LaunchGuard, Products) {
  Problem p = wholeGemm();
  LaunchGuard guard = launchGuard(p);
  EXPECT_EQ(guard.reason, "");
  std::map<std::string, int64_t> sizes{
      {"M", 100000}, {"N", 100000}, {"ctas", 132}};
  EXPECT_EQ(violates(p, guard, sizes), std::nullopt);
  // Tiles: 2^31 rows by 2^31 columns are too many to count in 32 bits.
  sizes["M"] = sizes["N"] = 1 << 30;
  EXPECT_NE(violates(p, guard, sizes), std::nullopt);
  // A linear offset, as an intermediate value.
  Problem q = tiles({{}, {}});
  Term columns = *q.space.find("N1");
  EXPECT_EQ(violates(q, launchGuard(q), {{"N0", 1 << 20}, {"N1", 1 << 20}}),
            std::nullopt);
  q.intermediates.push_back(q.space.product(columns, affineIndex(q, 0)) +
                            affineIndex(q, 1));
  EXPECT_NE(violates(q, launchGuard(q), {{"N0", 1 << 20}, {"N1", 1 << 20}}),
            std::nullopt);
  EXPECT_EQ(violates(q, launchGuard(q), {{"N0", 1 << 12}, {"N1", 1 << 12}}),
            std::nullopt);
}

/// At sizes that pass, every index that any event computes fits.
TEST(LaunchGuard, BoundsHoldForEveryEvent) {
  for (Problem p : {tiles({{4, 4}, {3, 3}}), convInput({2, 3, 1, 7}), halo({}),
                    pixels(5, 7), fragments()}) {
    LaunchGuard guard = launchGuard(p);
    ASSERT_EQ(guard.reason, "");
    for (int64_t size : {0, 1, 5, 40}) {
      std::map<std::string, int64_t> sizes;
      std::map<Term, int64_t> values;
      for (uint32_t i = 0; i < p.space.size(); ++i)
        if (p.space.kind({i}) == TermKind::Symbol) {
          sizes[p.space.name({i})] = size;
          values[{i}] = size;
        }
      // What the guard leaves out is constant and small.
      int64_t low = -1000, high = 1000;
      for (const IndexBound &bound : guard.bounds) {
        EXPECT_TRUE(p.space.isSymbolic(bound.largest))
            << p.space.str(bound.largest);
        EXPECT_TRUE(p.space.isSymbolic(bound.smallest));
        low = std::min(low, *p.space.evaluate(bound.smallest, values));
        high = std::max(high, *p.space.evaluate(bound.largest, values));
      }
      // The extreme events: each id first or last.
      std::vector<Term> ids;
      std::vector<Expr> indices;
      for (const Stage &stage : p.stages)
        if (const auto *affine = std::get_if<AffineStage>(&stage.kind))
          for (const Writer &writer : affine->writers) {
            ids.insert(ids.end(), writer.ids.begin(), writer.ids.end());
            indices.insert(indices.end(), writer.map.begin(), writer.map.end());
          }
      for (const Access &access : p.accesses) {
        ids.insert(ids.end(), access.ids.begin(), access.ids.end());
        indices.insert(indices.end(), access.map.begin(), access.map.end());
      }
      for (uint64_t corner = 0;
           corner < uint64_t(1) << std::min<size_t>(ids.size(), 8); ++corner) {
        for (size_t i = 0; i < ids.size(); ++i) {
          const Range &range = p.space.range(ids[i]);
          int64_t first = *p.space.evaluate(range.lower, values),
                  last = *p.space.evaluate(*range.upper, values) - 1;
          values[ids[i]] =
              corner >> (i % 8) & 1 ? std::max(first, last) : first;
        }
        for (const Expr &index : indices) {
          int64_t at = *p.space.evaluate(index, values);
          EXPECT_GE(at, low);
          EXPECT_LE(at, high);
        }
      }
    }
  }
}
} // namespace
