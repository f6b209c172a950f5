//===- RandomTest.cpp - Proofs agree with counting ------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Coverage/Decide.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <random>

using namespace tracea::coverage;

namespace {
using Generator = std::mt19937_64;

int64_t pick(Generator &g, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(g);
}

/// Mostly 0, now and then one off.
int64_t slip(Generator &g) { return pick(g, 0, 5) ? 0 : pick(g, -1, 1); }

/// Tiles of one or two dimensions with slips in stride, grid, mask and offset.
Problem randomTiles(Generator &g) {
  Problem p;
  Space &s = p.space;
  AffineStage stage;
  Writer writer{"w", {}, {}, {}, {}};
  for (int64_t d = 0, n = pick(g, 1, 2); d < n; ++d) {
    std::string number = std::to_string(d);
    Term size = s.symbol("N" + number);
    int64_t tile = pick(g, 1, 5);
    Term t = s.id("t" + number, s.ceilDiv(size, tile) + slip(g)),
         i = s.id("i" + number, tile + slip(g));
    Expr x = std::max<int64_t>(1, tile + slip(g)) * t + i + slip(g);
    if (pick(g, 0, 3))
      x = Expr(size) - 1 - x; // from the end
    writer.ids.insert(writer.ids.end(), {t, i});
    writer.map.push_back(x);
    writer.guard.push_back(less(x, size + slip(g)));
    writer.guard.push_back(atLeast(x, 0));
    stage.coordinates.push_back(s.coordinate("x" + number, size));
  }
  stage.writers = {writer};
  p.outputs = stage.coordinates;
  p.stages = {{"tiles", stage}};
  return p;
}

/// A row in pieces between random cuts, each with slips; some pieces strided.
Problem randomPieces(Generator &g) {
  Problem p;
  Space &s = p.space;
  Term size = s.symbol("N");
  Term x = s.coordinate("x", size);
  AffineStage stage{{x}, {}};
  Expr from = 0;
  for (int64_t piece = 0, n = pick(g, 1, 4); piece < n; ++piece) {
    Expr to = size;
    if (piece + 1 < n) {
      int64_t step = pick(g, 1, 4);
      to = pick(g, 0, 1)
               ? s.min(size, from + pick(g, 0, 3))
               : from + step * s.floorDiv(size - from, step * pick(g, 1, 2));
    }
    Term u = s.id("u", Range::from(0));
    int64_t stride = pick(g, 0, 3) ? 1 : 2;
    Term e = s.id("e", stride);
    Expr at = from + stride * u + e + slip(g);
    stage.writers.push_back({"piece " + std::to_string(piece),
                             {u, e},
                             {less(at, to + slip(g)), atLeast(at, from)},
                             {at},
                             {}});
    from = to;
  }
  p.outputs = {x};
  p.stages = {{"pieces", stage}};
  return p;
}

/// Pixels: a tiled line cut into rows, with slips in the divisors.
Problem randomPixels(Generator &g) {
  Problem p;
  Space &s = p.space;
  Term images = s.symbol("N");
  int64_t height = pick(g, 1, 4), width = pick(g, 1, 4), tile = pick(g, 1, 6);
  Expr total = height * width * Expr(images);
  Term t = s.id("t", s.ceilDiv(total, tile)), i = s.id("i", tile);
  Expr pixel = tile * t + i;
  int64_t by = std::max<int64_t>(1, width + slip(g));
  Expr line = s.floorDiv(pixel, by);
  Term n = s.coordinate("n", images), y = s.coordinate("y", height),
       x = s.coordinate("x", width);
  p.stages.push_back(
      {"pixels", AffineStage{{n, y, x},
                             {{"w",
                               {t, i},
                               {less(pixel, total + slip(g))},
                               {s.floorDiv(line, height), s.mod(line, height),
                                s.mod(pixel, by)},
                               {}}}}});
  p.outputs = {n, y, x};
  return p;
}

/// An access with minima and divisions.
Problem randomAccess(Generator &g) {
  Problem p;
  Space &s = p.space;
  Term size = s.symbol("N");
  Term i = s.id("i", size + slip(g)), r = s.id("r", pick(g, 1, 3));
  int64_t stride = pick(g, 1, 3), by = pick(g, 1, 4);
  Expr index = s.floorDiv(stride * i + r - pick(g, 0, 2), by);
  if (pick(g, 0, 1))
    index = s.min(index, Expr(size) - pick(g, 0, 2));
  if (pick(g, 0, 1))
    index = s.max(index, slip(g));
  Access access{"a", {i, r}, {}, {index}, {Range(size)}};
  if (pick(g, 0, 1))
    access.guard = {atLeast(index, slip(g)), less(index, size + slip(g))};
  p.accesses = {access};
  return p;
}

/// Offsets with a symbolic factor, in a symbolic buffer.
Problem randomProducts(Generator &g) {
  Problem p;
  Space &s = p.space;
  Term rows = s.symbol("N"),
       leading = s.symbol("d", Range::from(pick(g, 0, 1)));
  Term i = s.id("i", rows + slip(g)),
       r = s.id("r", pick(g, 0, 1) ? leading + slip(g) : Expr(pick(g, 1, 3)));
  Expr offset = s.product(leading, i + slip(g)) + r + slip(g);
  Expr size = s.product(leading, rows + slip(g)) + slip(g);
  Access access{"a", {i, r}, {}, {offset}, {Range(size)}};
  if (pick(g, 0, 1))
    access.guard = {atLeast(offset, 0), less(i, rows), less(r, leading)};
  p.accesses = {access};
  return p;
}

/// Lane maps with random vectors, some bits fixed by a guard, over tiles.
Problem randomLanes(Generator &g) {
  using namespace tracea::algebra;
  Problem p;
  Space &s = p.space;
  int64_t rowBits = pick(g, 0, 2), columnBits = pick(g, 1, 2);
  int64_t rows = int64_t(1) << rowBits, columns = int64_t(1) << columnBits;
  LaneBases bases;
  std::vector<TileCoord> vectors;
  for (int64_t bit = 0; bit < rowBits; ++bit)
    vectors.push_back({int64_t(1) << bit, 0});
  for (int64_t bit = 0; bit < columnBits; ++bit)
    vectors.push_back({0, int64_t(1) << bit});
  for (TileCoord &vector : vectors)
    if (!pick(g, 0, 4))
      vector = {pick(g, 0, rows - 1), pick(g, 0, columns - 1)};
  bool replica = !pick(g, 0, 2);
  if (replica)
    vectors.push_back({0, 0});
  std::shuffle(vectors.begin(), vectors.end(), g);
  uint64_t replicaBit = 0;
  for (const TileCoord &vector : vectors) {
    bool lane = pick(g, 0, 1);
    if (lane && vector == TileCoord{0, 0})
      replicaBit = uint64_t(1) << bases.lane.size();
    (lane ? bases.lane : bases.reg).push_back(vector);
  }
  TileCoord outer{pick(g, 1, 2), pick(g, 1, 3)};
  Expected<LaneMap> map = LaneMap::get({rows, columns}, bases, outer);
  if (!map)
    return p;
  Term reg = s.id("reg", map->numRegisters()),
       lane = s.id("lane", map->numLanes());
  Term y = s.coordinate("y", map->tileShape()[0]),
       x = s.coordinate("x", map->tileShape()[1]);
  LaneStage stage{*map, {reg, lane, std::nullopt, std::nullopt}, {y, x}, {}};
  if (replicaBit && pick(g, 0, 3))
    stage.guard.push_back(
        {LaneDim::Lane, replicaBit, pick(g, 0, 1) ? replicaBit : 0});
  p.stages = {{"lanes", stage}};
  Term size = s.symbol("N"),
       t = s.id("t", s.ceilDiv(size, map->tileShape()[0]));
  Term row = s.coordinate("row", size),
       column = s.coordinate("column", map->tileShape()[1]);
  Expr at = map->tileShape()[0] * t + y;
  p.stages.push_back(
      {"tile", AffineStage{{row, column},
                           {{"w", {t, y, x}, {less(at, size)}, {at, x}, {}}}}});
  p.outputs = {row, column};
  return p;
}

struct Count {
  int proved = 0, refuted = 0, notDecided = 0;
};

/// Decides and compares with counting at all small sizes.
void compare(const Problem &problem, Count &count) {
  std::vector<std::string> symbols;
  for (uint32_t i = 0; i < problem.space.size(); ++i)
    if (problem.space.kind({i}) == TermKind::Symbol)
      symbols.push_back(problem.space.name({i}));
  Result result = decide(problem);
  if (result.verdict == Verdict::NotDecided) {
    ++count.notDecided;
    if (getenv("TRACEA_COVERAGE_TIMES"))
      printf("%s\n  %s\n", result.reason.c_str(), writeModel(problem).c_str());
    return;
  }
  if (result.verdict == Verdict::Refuted) {
    ++count.refuted;
    std::map<std::string, int64_t> sizes;
    for (const std::string &symbol : symbols)
      sizes[symbol] = 1;
    for (const auto &[name, value] : result.finding.point)
      if (sizes.count(name))
        sizes[name] = value;
    Result counted = enumerate(problem, sizes);
    EXPECT_EQ(counted.verdict, Verdict::Refuted) << writeModel(problem) << "\n"
                                                 << result.finding.str() << "\n"
                                                 << counted.reason;
    return;
  }
  ++count.proved;
  int64_t limit = symbols.size() > 1 ? 9 : 30;
  for (int64_t a = 0; a < limit; ++a)
    for (int64_t b = 0; b < (symbols.size() > 1 ? limit : 1); ++b) {
      std::map<std::string, int64_t> sizes;
      for (size_t i = 0; i < symbols.size(); ++i)
        sizes[symbols[i]] = i ? b : a;
      Result counted = enumerate(problem, sizes);
      if (counted.reason.find("out of its range") != std::string::npos)
        continue;
      ASSERT_EQ(counted.verdict, Verdict::Proved)
          << writeModel(problem) << "\n"
          << counted.finding.str() << counted.reason;
    }
}

void run(Problem (*make)(Generator &), uint64_t seed, int rounds, int minProved,
         int minRefuted, int maxNotDecided) {
  Generator generator(seed);
  Count count;
  for (int round = 0; round < rounds && !testing::Test::HasFatalFailure();
       ++round)
    compare(make(generator), count);
  // Both verdicts occur, and few are missing.
  EXPECT_GE(count.proved, minProved);
  EXPECT_GE(count.refuted, minRefuted);
  EXPECT_LE(count.notDecided, maxNotDecided);
  if (getenv("TRACEA_COVERAGE_TIMES"))
    printf("%d proved, %d refuted, %d not decided\n", count.proved,
           count.refuted, count.notDecided);
}

TEST(Random, Tiles) { run(randomTiles, 1, 150, 20, 20, 0); }
TEST(Random, Pieces) { run(randomPieces, 2, 150, 20, 20, 0); }
TEST(Random, Pixels) { run(randomPixels, 3, 150, 20, 20, 0); }
TEST(Random, Access) { run(randomAccess, 4, 150, 20, 20, 0); }
TEST(Random, Products) { run(randomProducts, 6, 150, 20, 20, 15); }
TEST(Random, Lanes) { run(randomLanes, 5, 150, 20, 20, 0); }
} // namespace
