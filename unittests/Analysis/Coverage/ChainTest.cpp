//===- ChainTest.cpp - What is outside of the method is said --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Designs.h"
#include "gtest/gtest.h"

using namespace tracea::coverage;
using namespace tracea::coverage::designs;
using testing::Test;

namespace {
void expectNotDecided(const Problem &problem, const std::string &reason,
                      const Options &options = {}) {
  Result result = decide(problem, options);
  EXPECT_EQ(result.verdict, Verdict::NotDecided) << result.finding.str();
  EXPECT_NE(result.reason.find(reason), std::string::npos) << result.reason;
}

AffineStage &affine(Problem &problem, size_t stage = 0) {
  return std::get<AffineStage>(problem.stages[stage].kind);
}

TEST(Chain, IdsAndCoordinates) {
  Problem p = tiles({{}});
  Problem lost = p;
  lost.space.id("lane", 32); // runs, but no stage has it
  expectNotDecided(lost, "id 'lane' is in no stage");
  Problem twice = wholeGemm();
  twice.stages.push_back(twice.stages[0]);
  expectNotDecided(twice, "used twice");
  Problem order = wholeGemm();
  std::swap(order.stages[0], order.stages[1]);
  expectNotDecided(order, "which no stage before it makes");
  Problem open = wholeGemm();
  open.outputs.pop_back();
  expectNotDecided(open, "neither used nor an output");
  Problem used = wholeGemm();
  used.outputs.push_back(*used.space.find("rho"));
  expectNotDecided(used, "is used by a stage");
  Problem none = tiles({{}});
  none.stages.clear();
  expectNotDecided(none, "no stage makes the outputs");
  Problem doubled = tiles({{}});
  doubled.outputs.push_back(doubled.outputs[0]);
  expectNotDecided(doubled, "named twice");
  Problem symbol = tiles({{}});
  affine(symbol).writers[0].ids.push_back(*symbol.space.find("N0"));
  expectNotDecided(symbol, "has the symbol");
}

TEST(Chain, WritersDependOnTheirIds) {
  Problem p = tiles({{}, {}});
  Writer &writer = affine(p).writers[0];
  writer.ids.pop_back();
  expectNotDecided(p, "");
  Problem shape = tiles({{}});
  affine(shape).writers[0].map.clear();
  expectNotDecided(shape, "expected 1 indices, found 0");
  // A writer that lacks what another stage makes would run for each of it.
  Problem lacks = wholeGemm();
  AffineStage &last = affine(lacks, 3);
  last.writers.push_back(last.writers[0]);
  last.writers[1].ids.erase(last.writers[1].ids.begin());
  expectNotDecided(lacks, "lacks 'tm'");
}

TEST(Chain, HintsAreNotTrusted) {
  Problem p = tiles({{128, 128}});
  Writer &writer = affine(p).writers[0];
  Space &s = p.space;
  Term x = p.outputs[0];
  // A right one.
  writer.inverse = {s.floorDiv(x, 128), s.mod(x, 128)};
  EXPECT_EQ(decide(p).verdict, Verdict::Proved);
  // With wrong ones the guess is taken.
  writer.inverse = {s.floorDiv(x, 129), s.mod(x, 128)};
  EXPECT_EQ(decide(p).verdict, Verdict::Proved);
  // An id is no function of the element, and its range no fact about it.
  writer.inverse = {writer.ids[0], writer.ids[1]};
  EXPECT_EQ(decide(p).verdict, Verdict::Proved);
  Problem idle = tiles({{128, 128, Tiles::Less, Tiles::OneLess}});
  Writer &nothing = affine(idle).writers[0];
  nothing.inverse = {nothing.ids[0], nothing.ids[1]};
  EXPECT_EQ(decide(idle).verdict, Verdict::Refuted);
  // With no tile at all, the range of an id would contradict everything.
  idle.assumptions.push_back(atMost(*idle.space.find("N0"), 128));
  EXPECT_EQ(decide(idle).verdict, Verdict::Refuted);
  nothing.inverse = {Expr::invalid(), Expr(0)};
  expectNotDecided(idle, "invalid");
  writer.inverse = {x};
  expectNotDecided(p, "expected an inverse for each of 2 ids");
  // The wrong kernel stays wrong with any hint.
  Problem wrong = tiles({{128, 129}});
  Space &w = wrong.space;
  for (Expr hint : {w.floorDiv(x, 128), w.floorDiv(x, 129), Expr(0)}) {
    affine(wrong).writers[0].inverse = {hint, x - 128 * hint};
    Result result = decide(wrong);
    EXPECT_EQ(result.verdict, Verdict::Refuted) << result.reason;
  }
}

TEST(Chain, HintsHelp) {
  // Even numbers from the front, odd ones from the back, in one map: no digits.
  Problem p;
  Space &s = p.space;
  Term n = s.symbol("N"), i = s.id("i", 2 * n), x = s.coordinate("x", 2 * n);
  Expr odd = s.mod(i, 2), half = s.floorDiv(i, 2);
  // half for even i, 2·N − 1 − half for odd i.
  Expr at = half + s.product(odd, 2 * n - 1 - 2 * half);
  Writer writer{"w", {i}, {}, {at}, {}};
  p.stages = {{"zip", AffineStage{{x}, {writer}}}};
  p.outputs = {x};
  expectNotDecided(p, "");
  // As two writers, each with its inverse.
  Writer even{"even", {i}, {equal(odd, 0)}, {half}, {2 * x}},
      back{"odd", {i}, {equal(odd, 1)}, {2 * n - 1 - half}, {}};
  back.inverse = {2 * (2 * n - 1 - x) + 1};
  p.stages = {{"zip", AffineStage{{x}, {even, back}}}};
  Result result = decide(p);
  EXPECT_EQ(result.verdict, Verdict::Proved) << result.reason;
  EXPECT_EQ(enumerate(p, {{"N", 7}}).verdict, Verdict::Proved);
}

TEST(Chain, AssumptionsMustBePossible) {
  Problem p = tiles({{128, 120}}); // wrong
  Term size = *p.space.find("N0");
  p.assumptions.push_back(less(size, 0));
  expectNotDecided(p, "no sizes were found");
  // Sizes at which the fault cannot show.
  Problem small = tiles({{128, 120}});
  small.assumptions.push_back(atMost(size, 120));
  EXPECT_EQ(decide(small).verdict, Verdict::Proved);
}

TEST(Chain, DivisorsAreAtLeastOne) {
  Problem p;
  Space &s = p.space;
  Term m = s.symbol("M"), tile = s.symbol("T"); // may be 0
  Term t = s.id("t", s.ceilDiv(m, tile)), i = s.id("i", tile);
  Term row = s.coordinate("row", m);
  p.stages = {{"tiles", EuclidStage{EuclidStage::Join, row, t, i, tile, true}}};
  p.outputs = {row};
  expectNotDecided(p, "the divisor T may be less than 1");
  p.assumptions.push_back(atLeast(tile, 1));
  EXPECT_EQ(decide(p).verdict, Verdict::Proved);
}

TEST(Chain, NothingIsSplitByZero) {
  // Images without rows or without columns have no pixels.
  for (bool isWrong : {false, true}) {
    Problem p;
    Space &s = p.space;
    Term images = s.symbol("N"), height = s.symbol("P"), width = s.symbol("Q");
    Expr area = s.product(height, width), all = s.product(images, area);
    Term t = s.id("t", all);
    Term pixel = s.coordinate("pixel", all), rest = s.coordinate("rest", area);
    Term n = s.coordinate("n", images), y = s.coordinate("p", height),
         x = s.coordinate("q", isWrong ? height : width);
    p.stages = {
        {"numbers", AffineStage{{pixel}, {{"all", {t}, {}, {Expr(t)}, {}}}}},
        {"images",
         EuclidStage{EuclidStage::Split, pixel, n, rest, area, false}},
        {"rows", EuclidStage{EuclidStage::Split, rest, y, x,
                             isWrong ? height : width, false}}};
    p.outputs = {n, y, x};
    EXPECT_EQ(decide(p).verdict == Verdict::Proved, !isWrong);
  }
}

TEST(Chain, DivisorsThatAConditionMakesPositive) {
  // Heads h of H = D * K share the K heads of keys, D each: h / D < K.
  for (bool isGiven : {true, false}) {
    Problem p;
    Space &s = p.space;
    Term heads = s.symbol("H"), keys = s.symbol("K"), ratio = s.symbol("D");
    Term h = s.id("h", heads);
    p.assumptions.push_back(equal(s.product(ratio, keys), heads));
    Access access{"key", {h}, {}, {s.floorDiv(h, ratio)}, {Range(keys)}};
    if (isGiven)
      access.guard.push_back(atLeast(ratio, 1));
    p.accesses = {access};
    if (!isGiven) {
      expectNotDecided(p, "the divisor D may be less than 1");
      continue;
    }
    EXPECT_EQ(decide(p).verdict, Verdict::Proved) << decide(p).reason;
    // One head of keys fewer.
    p.accesses[0].bounds[0] = Range(Expr(keys) - 1);
    EXPECT_NE(decide(p).verdict, Verdict::Proved);
  }
}

TEST(Chain, NothingFollowsFromDivisionByZero) {
  // With no ctas nothing runs; the guessed inverse divides by their number.
  for (bool byLemma : {false, true}) {
    Problem p;
    Space &s = p.space;
    Term total = s.symbol("T"), ctas = s.symbol("G");
    Term cta = s.id("cta", ctas), k = s.id("k", Range::from(0));
    Term t = s.coordinate("t", total);
    Expr at = cta + s.product(ctas, k);
    if (byLemma)
      p.stages = {
          {"loop", EuclidStage{EuclidStage::Join, t, k, cta, ctas, true}}};
    else
      p.stages = {
          {"loop",
           AffineStage{{t}, {{"w", {cta, k}, {less(at, total)}, {at}, {}}}}}};
    p.outputs = {t};
    Result result = decide(p);
    EXPECT_NE(result.verdict, Verdict::Proved);
    p.assumptions.push_back(atLeast(ctas, 1));
    EXPECT_EQ(decide(p).verdict, Verdict::Proved);
  }
}

TEST(Chain, InvalidExpressions) {
  Problem p = tiles({{}});
  affine(p).writers[0].guard.push_back(atLeast(p.space.floorDiv(5, 0), 0));
  expectNotDecided(p, "invalid");
  Problem range = tiles({{}});
  range.space.id("z", range.space.floorDiv(1, 0));
  expectNotDecided(range, "the range of 'z'");
  Problem term = tiles({{}});
  affine(term).coordinates[0] = Term{1000};
  expectNotDecided(term, "no variable");
}

TEST(Chain, LimitsOfQueries) {
  Options few;
  few.maxQueries = 3;
  expectNotDecided(tiles({{}, {}, {}}), "more than 3 queries", few);
  Options small;
  small.maxVariables = 3;
  expectNotDecided(tiles({{}}), "variables", small);
}

TEST(Chain, StagesThatClaimTooMuch) {
  // A stage between others that makes tiles which nobody has: no fault of the
  // kernel, and no proof.
  Problem p;
  Space &s = p.space;
  Term size = s.symbol("N");
  Expr tiles = s.ceilDiv(size, 4);
  Term t = s.id("t", tiles), i = s.id("i", 4);
  Term tile = s.coordinate("tile", tiles + 1), x = s.coordinate("x", size);
  p.stages.push_back({"tile", AffineStage{{tile}, {{"w", {t}, {}, {t}, {}}}}});
  Expr at = 4 * tile + i;
  p.stages.push_back(
      {"element",
       AffineStage{{x}, {{"w", {tile, i}, {less(at, size)}, {at}, {}}}}});
  p.outputs = {x};
  expectNotDecided(p, "claims more than it needs");
}

TEST(Chain, LaneRanges) {
  Problem p = fragments();
  auto &lanes = std::get<LaneStage>(p.stages[0].kind);
  LaneStage good = lanes;
  lanes.coordinates.pop_back();
  expectNotDecided(p, "");
  lanes = good;
  lanes.guard = {{tracea::algebra::LaneDim::Lane, 64, 0}};
  expectNotDecided(p, "does not have");
  lanes.guard = {{tracea::algebra::LaneDim::Lane, 1, 2}};
  expectNotDecided(p, "the guard never holds");
  lanes = good;
  lanes.ids[1] = std::nullopt;
  expectNotDecided(p, "id 'lane' is in no stage");
}

TEST(Chain, Describe) {
  EXPECT_EQ(
      describe(tiles({{}}, true)),
      "every element of x0 [0, N0) is written exactly once; for all N0 with "
      "N0 - 128*(N0/128) = 0");
  EXPECT_EQ(describe(halo({})), "2 accesses in bounds; for all H");
}
} // namespace
