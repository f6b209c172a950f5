//===- WitnessTest.cpp - Faults between stages, from end to end -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Coverage/Decide.h"
#include "gtest/gtest.h"
#include <cstdio>
#include <random>

using namespace tracea::coverage;

namespace {
using Generator = std::mt19937_64;

int64_t pick(Generator &g, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(g);
}

/// Mistakes in the chain of a persistent grid: all zero, and it is right.
struct Slips {
  int64_t first = 0, stride = 0, end = 0, rows = 0, pitch = 0, column = 0,
          mask = 0, group = 4, tile = 3, width = 2;
  bool splits = false;
};

/// Workgroups walk over tiles in strides of their number; tiles are numbered by
/// a raster or by rows; elements of a tile below the sizes are written.
Problem persistent(const Slips &slips) {
  Problem p;
  Space &s = p.space;
  Term rowsAll = s.symbol("M", Range::from(1)),
       columnsAll = s.symbol("N", Range::from(1)),
       groups = s.symbol("G", Range::from(1));
  Expr rows = s.ceilDiv(rowsAll, slips.tile) + slips.rows,
       columns = s.ceilDiv(columnsAll, slips.width);
  Expr total = s.product(rows, columns);
  Term group = s.id("group", groups), turn = s.id("turn", total + 2);
  Term walk = s.coordinate("walk", total);
  Expr at = group + slips.first + s.product(groups + slips.stride, turn);
  p.stages.push_back({"walk", AffineStage{{walk},
                                          {{"walk",
                                            {group, turn},
                                            {less(at, total + slips.end)},
                                            {at},
                                            {}}}}});
  Term m = s.coordinate("m", rows), n = s.coordinate("n", columns);
  if (slips.splits)
    p.stages.push_back(
        {"split", EuclidStage{EuclidStage::Split, walk, m, n, columns}});
  else
    p.stages.push_back({"raster", RasterStage{walk, m, n, slips.group}});
  Term i = s.id("i", slips.tile), j = s.id("j", slips.width);
  Term y = s.coordinate("y", rowsAll), x = s.coordinate("x", columnsAll);
  Expr row = (slips.tile + slips.pitch) * m + i,
       column = slips.width * n + j + slips.column;
  p.stages.push_back(
      {"elements", AffineStage{{y, x},
                               {{"store",
                                 {m, n, i, j},
                                 {less(row, rowsAll),
                                  less(column, columnsAll + slips.mask)},
                                 {row, column},
                                 {}}}}});
  p.outputs = {y, x};
  return p;
}

std::map<std::string, int64_t> sizesOf(const Finding &finding) {
  std::map<std::string, int64_t> sizes;
  for (const char *name : {"M", "N", "G"}) {
    for (const auto &[other, value] : finding.point)
      if (other == name)
        sizes[name] = value;
    EXPECT_TRUE(sizes.count(name)) << finding.str();
  }
  return sizes;
}

std::optional<int64_t> valueOf(const Finding &finding, const char *name) {
  for (const auto &[other, value] : finding.point)
    if (other == name)
      return value;
  return std::nullopt;
}

TEST(Witness, LargeGridsNeedNoCounting) {
  // A tile is 4096 elements: a few tiles are more than is ever counted.
  Slips slips;
  slips.tile = 64;
  slips.width = 64;
  EXPECT_EQ(decide(persistent(slips)).verdict, Verdict::Proved);
  Options options;
  options.maxEvents = 1; // nothing is counted
  Slips stride = slips;
  stride.stride = 1;
  Result lost = decide(persistent(stride), options);
  ASSERT_EQ(lost.verdict, Verdict::Refuted) << lost.reason;
  EXPECT_EQ(lost.finding.property, Property::Cover);
  EXPECT_EQ(lost.finding.stage, 2);
  EXPECT_TRUE(valueOf(lost.finding, "y") && valueOf(lost.finding, "x"))
      << lost.finding.str();
  EXPECT_EQ(lost.finding.message.find("stage 'walk'"), 0u)
      << lost.finding.message;

  Slips first = slips;
  first.first = 1;
  EXPECT_EQ(decide(persistent(first), options).verdict, Verdict::Refuted);

  // Too many tiles: a raster has no tile for the number.
  Slips end = slips;
  end.end = 1;
  EXPECT_EQ(decide(persistent(end), options).verdict, Verdict::Refuted);

  Slips pitch = slips;
  pitch.pitch = -1;
  Result twice = decide(persistent(pitch), options);
  ASSERT_EQ(twice.verdict, Verdict::Refuted) << twice.reason;
  EXPECT_EQ(twice.finding.property, Property::Unique);
  EXPECT_FALSE(twice.finding.otherPoint.empty());
  EXPECT_NE(twice.finding.point, twice.finding.otherPoint);

  Slips mask = slips;
  mask.mask = 1;
  Result outside = decide(persistent(mask), options);
  ASSERT_EQ(outside.verdict, Verdict::Refuted) << outside.reason;
  EXPECT_EQ(outside.finding.property, Property::Bounds);
}

/// What the first stage never makes, the second one makes up for.
TEST(Witness, FaultsThatMakeUpForEachOther) {
  for (bool isMadeUpFor : {true, false}) {
    Problem p;
    Space &s = p.space;
    Term size = s.symbol("N");
    Term id = s.id("i", size), other = s.id("j", 1 << 19);
    Term between = s.coordinate("b", size + 1), out = s.coordinate("x", size),
         lane = s.coordinate("l", 1 << 19);
    p.stages.push_back(
        {"first", AffineStage{{between}, {{"w", {id}, {}, {id + 1}, {}}}}});
    // 0 and 1 become 0; or 0 becomes something else, which is lost.
    Expr at = isMadeUpFor ? s.max(between - 1, 0) : Expr(between);
    p.stages.push_back(
        {"second",
         AffineStage{
             {out, lane},
             {{"w", {between, other}, {less(at, size)}, {at, other}, {}}}}});
    p.outputs = {out, lane};
    Result result = decide(p);
    EXPECT_EQ(result.verdict,
              isMadeUpFor ? Verdict::NotDecided : Verdict::Refuted)
        << result.finding.str() << result.reason;
  }
}

/// What an output does not depend on is not searched for events without end.
TEST(Witness, OtherOutputsStayOut) {
  Slips slips;
  slips.stride = 1;
  Problem p = persistent(slips);
  Space &s = p.space;
  Term other = s.id("k", *s.find("N")), z = s.coordinate("z", *s.find("N"));
  // Another output that is written correctly, and one that nobody writes.
  p.stages.push_back(
      {"other", AffineStage{{z}, {{"w", {other}, {}, {other}, {}}}}});
  p.outputs.push_back(z);
  Options options;
  options.maxEvents = 1;
  Result result = decide(p, options);
  ASSERT_EQ(result.verdict, Verdict::Refuted) << result.reason;
  EXPECT_EQ(valueOf(result.finding, "z"), std::nullopt);
}

/// Faults in several stages at once: what is refuted is wrong by counting at
/// the sizes of the witness, what is proved is right at all small ones.
TEST(Witness, AgreesWithCounting) {
  Generator g(20261122);
  int proved = 0, refuted = 0, open = 0;
  Options options;
  options.maxEvents = 1;
  options.maxQueries = 2000;
  auto slip = [&](int64_t chance) {
    return pick(g, 0, chance) ? 0 : pick(g, -1, 1);
  };
  for (int round = 0; round < 40; ++round) {
    Slips slips;
    slips.first = slip(5);
    slips.stride = slip(5);
    slips.end = slip(5);
    slips.rows = slip(5);
    slips.pitch = slip(5);
    slips.column = slip(5);
    slips.mask = slip(5);
    slips.splits = pick(g, 0, 1);
    slips.tile = pick(g, 1, 3);
    slips.width = pick(g, 1, 3);
    slips.group = pick(g, 1, 4);
    if (slips.tile + slips.pitch < 1)
      continue;
    Problem p = persistent(slips);
    Result result = decide(p, options);
    SCOPED_TRACE(result.finding.str() + result.reason);
    if (result.verdict == Verdict::Refuted) {
      ++refuted;
      Result counted = enumerate(p, sizesOf(result.finding), 1 << 22);
      EXPECT_EQ(counted.verdict, Verdict::Refuted) << counted.reason;
    } else if (result.verdict == Verdict::Proved) {
      ++proved;
      for (int64_t m : {1, 2, 7})
        for (int64_t n : {1, 2, 6})
          for (int64_t groups : {1, 3})
            EXPECT_EQ(enumerate(p, {{"M", m}, {"N", n}, {"G", groups}}).verdict,
                      Verdict::Proved);
    } else {
      ++open;
    }
  }
  EXPECT_GT(proved, 8);
  EXPECT_GT(refuted, 8);
  EXPECT_LT(open, 4);
  if (getenv("TRACEA_COVERAGE_TIMES"))
    printf("%d proved, %d refuted, %d open\n", proved, refuted, open);
}
} // namespace
