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
/// Tiles of an M x N result, numbered along a walk of workgroups.
Problem walking(bool isOneBuffer, int64_t tile = 16) {
  Problem p;
  Space &s = p.space;
  Term m = s.symbol("M"), n = s.symbol("N"),
       groups = s.symbol("G", Range::from(1));
  Expr rows = s.ceilDiv(m, tile), columns = s.ceilDiv(n, tile);
  Expr total = s.product(rows, columns);
  Term group = s.id("group", groups), turn = s.id("turn", Range::from(0));
  Term walk = s.coordinate("walk", total), row = s.coordinate("r", rows),
       column = s.coordinate("c", columns);
  p.stages.push_back({"walk", EuclidStage{EuclidStage::Join, walk, turn, group,
                                          groups, /*masked=*/true}});
  p.stages.push_back({"raster", RasterStage{walk, row, column, 4}});
  p.outputs = {row, column};
  if (isOneBuffer)
    p.buffers = {{m, n}};
  else
    p.buffers = {{m}, {n}};
  p.integers = {groups};
  return p;
}

TEST(IndexLimit, BuffersInMemoryImplyMuch) {
  Problem p = tiles({{}, {}});
  Term m = *p.space.find("N0"), n = *p.space.find("N1");
  p.buffers = {{m, n}};
  IndexLimit limit = indexLimit(p);
  EXPECT_EQ(limit.reason, "");
  EXPECT_TRUE(limit.isImplied) << describe(limit, p.space);
  // A size that no buffer has is a number that may be anything.
  p.buffers = {{m}};
  p.integers = {n};
  limit = indexLimit(p);
  EXPECT_EQ(limit.reason, "");
  EXPECT_FALSE(limit.isImplied);
  EXPECT_NE(describe(limit, p.space).find("N1"), std::string::npos);
  // And what is no size of the launch has no limit at all.
  p.integers.clear();
  EXPECT_NE(indexLimit(p).reason.find("'N1' is no size"), std::string::npos);
}

TEST(IndexLimit, ProductsOfOneBufferOnly) {
  Problem one = walking(true);
  one.integers.clear();
  one.buffers.push_back({*one.space.find("G")});
  EXPECT_TRUE(indexLimit(one).isImplied)
      << describe(indexLimit(one), one.space) << indexLimit(one).reason;
  Problem two = walking(false);
  two.buffers.push_back({*two.space.find("G")});
  two.integers.clear();
  IndexLimit limit = indexLimit(two);
  EXPECT_EQ(limit.reason, "");
  EXPECT_FALSE(limit.isImplied);
  EXPECT_NE(describe(limit, two.space).find("M*N"), std::string::npos)
      << describe(limit, two.space);
  // The rows of a buffer squared are no extent of it.
  Problem square = walking(true);
  square.buffers = {{*square.space.find("M"), *square.space.find("G")}};
  square.integers = {*square.space.find("N")};
  EXPECT_FALSE(indexLimit(square).isImplied);
}

/// No bound of the guard is above the limit.
TEST(IndexLimit, IsAboveAllBounds) {
  for (const Problem &given :
       {walking(true), walking(false, 3), wholeGemm(), tiles({{}, {}})}) {
    Problem p = given;
    p.buffers.clear();
    p.integers.clear();
    for (uint32_t i = 0; i < p.space.size(); ++i)
      if (p.space.kind({i}) == TermKind::Symbol)
        p.integers.push_back({i});
    IndexLimit limit = indexLimit(p);
    EXPECT_EQ(limit.reason, "");
    LaunchGuard guard = launchGuard(p);
    EXPECT_FALSE(guard.bounds.empty());
    for (int64_t m : {1, 2, 100, 12345})
      for (int64_t n : {1, 7, 4096}) {
        std::map<Term, int64_t> values;
        for (size_t i = 0; i < p.integers.size(); ++i)
          values[p.integers[i]] = i == 0 ? m : i == 1 ? n : m % 5 + 1;
        int64_t sum = 0;
        for (const IndexLimit::Summand &summand : limit.summands) {
          int64_t product = summand.factor;
          for (Term size : summand.sizes)
            product *= values[size];
          sum += product;
        }
        for (const IndexBound &bound : guard.bounds) {
          EXPECT_LE(*p.space.evaluate(bound.largest, values), sum);
          EXPECT_GE(*p.space.evaluate(bound.smallest, values), -sum);
        }
      }
  }
}

TEST(IndexLimit, ModelsKeepIt) {
  for (bool isOneBuffer : {true, false}) {
    Problem p = walking(isOneBuffer);
    tracea::algebra::Expected<Problem> again = readModel(writeModel(p));
    ASSERT_TRUE(again) << again.message();
    EXPECT_EQ(writeModel(*again), writeModel(p));
    EXPECT_EQ(describe(indexLimit(*again), again->space),
              describe(indexLimit(p), p.space));
  }
}
} // namespace
