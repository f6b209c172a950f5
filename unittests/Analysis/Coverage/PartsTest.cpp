//===- PartsTest.cpp - Sums in parts of symbolic length -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Coverage/Decide.h"
#include "gtest/gtest.h"
#include <random>

using namespace tracea::coverage;

namespace {
/// K terms in steps of `step`, these in parts: what a kernel with a split sum
/// makes of it, and its slips.
struct Parts {
  /// 0: a size.
  int64_t parts = 0;
  int64_t step = 64;
  /// The length of a part is rounded down, or is another one than what is
  /// multiplied.
  bool isFloor = false;
  int64_t moreLength = 0, moreStride = 0;
  /// Of the steps, of the parts that run, of where a part begins.
  int64_t moreSteps = 0, moreParts = 0, offset = 0;
  bool hasStepMask = true, hasMask = true;
  /// Each part also starts at its own row.
  bool namesPart = false;
};

Problem make(const Parts &design) {
  Problem p;
  Space &s = p.space;
  Term K = s.symbol("K");
  Expr parts = design.parts;
  if (!design.parts) {
    parts = s.symbol("S");
    p.assumptions.push_back(atLeast(parts, 1));
  }
  Expr steps = s.ceilDiv(K, design.step) + design.moreSteps;
  // Kernels divide by what cannot be zero.
  Expr divisor = s.max(1, parts);
  Expr length =
      design.isFloor ? s.floorDiv(steps, divisor) : s.ceilDiv(steps, divisor);
  Term part = s.id("part", parts + design.moreParts),
       place = s.id("place", length + design.moreLength),
       i = s.id("i", design.step);
  Expr at = s.product(length + design.moreStride, part) + Expr(place) +
            Expr(design.offset);
  Expr k = design.step * at + i;
  Writer writer{"copy", {part, place, i}, {}, {k}, {}};
  if (design.hasStepMask)
    writer.guard.push_back(less(at, steps));
  if (design.hasMask)
    writer.guard.push_back(less(k, K));
  AffineStage stage{{s.coordinate("term", K)}, {}};
  if (design.namesPart) {
    stage.coordinates.push_back(s.coordinate("row", parts));
    writer.map.push_back(part);
  }
  stage.writers = {writer};
  p.outputs = stage.coordinates;
  p.stages = {{"terms", stage}};
  return p;
}

std::vector<std::map<std::string, int64_t>> sizesOf(const Parts &design) {
  std::vector<std::map<std::string, int64_t>> sizes;
  for (int64_t k : {0, 1, 2, 3, 5, 8, 13, 17})
    for (int64_t s : {1, 2, 3, 5, 9}) {
      sizes.push_back({{"K", k}});
      if (!design.parts)
        sizes.back()["S"] = s;
      else
        break;
    }
  return sizes;
}

TEST(Parts, EachTermOnce) {
  for (int64_t parts : {0, 1, 2, 3, 7, 64})
    for (int64_t step : {1, 3, 64}) {
      Parts design;
      design.parts = parts;
      design.step = step;
      Result result = decide(make(design));
      EXPECT_EQ(result.verdict, Verdict::Proved)
          << parts << " parts: " << result.reason << result.finding.str();
      // As one sequence; without it, hundreds do not suffice.
      EXPECT_LT(result.statistics.queries, 40) << parts << " parts";
      // A problem is decided again from its text.
      tracea::algebra::Expected<Problem> again =
          readModel(writeModel(make(design)));
      ASSERT_TRUE(bool(again)) << again.message();
      EXPECT_EQ(decide(*again).verdict, Verdict::Proved);
    }
}

TEST(Parts, FaultsHaveWitnesses) {
  struct Fault {
    const char *name;
    Property property;
    void (*make)(Parts &);
  };
  const Fault faults[] = {
      {"length rounded down", Property::Cover,
       [](Parts &p) { p.isFloor = true; }},
      {"one step less", Property::Cover, [](Parts &p) { p.moreSteps = -1; }},
      {"no mask", Property::Bounds, [](Parts &p) { p.hasMask = false; }},
      {"a part less", Property::Cover, [](Parts &p) { p.moreParts = -1; }},
      {"a step late", Property::Cover, [](Parts &p) { p.offset = 1; }},
      {"parts overlap", Property::Unique, [](Parts &p) { p.moreLength = 1; }},
      {"gaps", Property::Cover, [](Parts &p) { p.moreStride = 1; }},
  };
  for (const Fault &fault : faults)
    for (int64_t parts : {0, 3}) {
      Parts design;
      design.parts = parts;
      design.step = 4;
      fault.make(design);
      Problem problem = make(design);
      Result result = decide(problem);
      // Lengths of another form are beyond the axioms of products.
      if ((design.isFloor || design.moreStride) && !parts) {
        EXPECT_NE(result.verdict, Verdict::Proved) << fault.name;
        continue;
      }
      ASSERT_EQ(result.verdict, Verdict::Refuted)
          << fault.name << ": " << result.reason;
      EXPECT_EQ(result.finding.property, fault.property)
          << fault.name << ": " << result.finding.str();
      // The witness is one of the ids that were given, and counting agrees.
      std::map<std::string, int64_t> sizes;
      for (const auto &[name, value] : result.finding.point) {
        EXPECT_EQ(name.rfind("joined", 0), std::string::npos) << name;
        if (name == "K" || name == "S")
          sizes[name] = value;
      }
      EXPECT_EQ(enumerate(problem, sizes).verdict, Verdict::Refuted)
          << fault.name << ": " << result.finding.str();
    }
}

TEST(Parts, APartThatIsNamedStaysApart) {
  // Each row has the terms of one part only.
  Parts design;
  design.parts = 3;
  design.step = 4;
  design.namesPart = true;
  EXPECT_NE(decide(make(design)).verdict, Verdict::Proved);
}

TEST(Parts, AgreeWithCounting) {
  std::mt19937_64 g(7);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(g);
  };
  auto slip = [&] { return pick(0, 7) ? 0 : pick(-1, 1); };
  int numProved = 0, numRefuted = 0, numOpen = 0;
  for (int round = 0; round < 150; ++round) {
    Parts design;
    design.parts = pick(0, 3);
    design.step = pick(1, 3);
    design.isFloor = !pick(0, 9);
    design.moreLength = slip();
    design.moreStride = slip();
    design.moreSteps = slip();
    design.moreParts = slip();
    design.offset = slip();
    design.hasStepMask = pick(0, 7);
    design.hasMask = pick(0, 7);
    Problem problem = make(design);
    Options options;
    options.maxQueries = 3000;
    Result result = decide(problem, options);
    bool isRefuted = false;
    for (const auto &sizes : sizesOf(design))
      isRefuted |= enumerate(problem, sizes).verdict == Verdict::Refuted;
    if (result.verdict == Verdict::Proved) {
      ++numProved;
      EXPECT_FALSE(isRefuted) << writeModel(problem);
    } else if (result.verdict == Verdict::Refuted) {
      ++numRefuted;
      std::map<std::string, int64_t> sizes;
      for (const auto &[name, value] : result.finding.point)
        if (name == "K" || name == "S")
          sizes[name] = value;
      EXPECT_EQ(enumerate(problem, sizes).verdict, Verdict::Refuted)
          << writeModel(problem) << result.finding.str();
    } else {
      ++numOpen;
    }
  }
  EXPECT_GT(numProved, 30);
  EXPECT_GT(numRefuted, 30);
  EXPECT_LT(numOpen, 15);
}
} // namespace
