//===- LaneMapTest.cpp - Lane maps against enumeration of their locations -===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/LaneMap.h"
#include "MakeMap.h"
#include "RandomF2.h"
#include "tracea/Algebra/Fragments.h"
#include "tracea/Algebra/RegisterTile.h"
#include "gtest/gtest.h"
#include <map>

using namespace tracea::algebra;

/// Random vectors inside a random small shape, sometimes zero, sometimes with
/// outer counts.
static LaneMap randomMap(RandomF2 &random) {
  TileCoord shape, outer;
  for (unsigned d = 0, rank = 1 + random.below(3); d < rank; ++d) {
    shape.push_back(int64_t(1) << random.below(3));
    outer.push_back(random.below(3) ? 1 : 1 + random.below(3));
  }
  LaneBases bases;
  // Unit vectors make bijections and runs likely; random ones keep it general.
  std::vector<TileCoord> units;
  for (unsigned d = 0; d < shape.size(); ++d)
    for (int64_t step = 1; step < shape[d]; step *= 2) {
      TileCoord unit(shape.size(), 0);
      unit[d] = step;
      units.push_back(unit);
    }
  if (random.below(2))
    for (size_t i = units.size(); i > 1; --i)
      std::swap(units[i - 1], units[random.below(i)]);
  for (const TileCoord &unit : units)
    (random.below(2) ? bases.reg : bases.lane).push_back(unit);
  for (std::vector<TileCoord> *part : {&bases.reg, &bases.lane, &bases.warp})
    if (random.below(3) == 0) {
      TileCoord vector;
      for (int64_t extent : shape)
        vector.push_back(random.below(extent));
      part->push_back(vector);
    }
  return makeMap(shape, bases, outer);
}

/// How often each coordinate is held.
static std::map<TileCoord, int> holders(const LaneMap &map) {
  std::map<TileCoord, int> count;
  for (int64_t w = 0; w < map.numWarps(); ++w)
    for (int64_t l = 0; l < map.numLanes(); ++l)
      for (int64_t r = 0; r < map.numRegisters(); ++r)
        ++count[*map.coordinate(r, l, w)];
  return count;
}

static int64_t elementCount(const LaneMap &map) {
  int64_t count = 1;
  for (int64_t extent : map.tileShape())
    count *= extent;
  return count;
}

TEST(LaneMap, QueriesAgreeWithEnumeration) {
  RandomF2 random(10);
  unsigned permutations = 0, broadcasts = 0;
  for (int round = 0; round < 1000; ++round) {
    LaneMap map = randomMap(random);
    std::map<TileCoord, int> held = holders(map);
    bool all = int64_t(held.size()) == elementCount(map);
    bool once = true;
    for (const auto &[coord, count] : held) {
      once &= count == 1;
      ASSERT_EQ(count, map.numReplicas()) << map;
    }
    ASSERT_EQ(map.coversTile(), all) << map;
    ASSERT_EQ(map.isBroadcast(), !once) << map;
    ASSERT_EQ(map.isPermutation(), all && once) << map;
    permutations += map.isPermutation();
    broadcasts += map.isBroadcast();
    // locate() inverts coordinate() on what is held and refuses the rest.
    TileCoord shape = map.tileShape(), coord(map.rank(), 0);
    for (int64_t i = 0, e = elementCount(map); i < e; ++i) {
      int64_t rest = i;
      for (unsigned d = 0; d < map.rank(); ++d) {
        coord[d] = rest % shape[d];
        rest /= shape[d];
      }
      std::optional<Location> at = map.locate(coord);
      ASSERT_EQ(at.has_value(), held.count(coord) == 1) << map;
      if (at) {
        ASSERT_EQ(map.coordinate(*at), coord) << map;
      }
    }
  }
  EXPECT_GT(permutations, 100u);
  EXPECT_GT(broadcasts, 100u);
}

/// Whether indices q·n … q·n + n − 1 along lanes or registers hold ascending
/// neighbours of dimension `dim`, everywhere.
static bool runsBy(const LaneMap &map, bool lanes, unsigned dim, int64_t n) {
  for (int64_t w = 0; w < map.numWarps(); ++w)
    for (int64_t l = 0; l < map.numLanes(); ++l)
      for (int64_t r = 0; r < map.numRegisters(); ++r) {
        int64_t within = (lanes ? l : r) % n;
        TileCoord start = lanes ? *map.coordinate(r, l - within, w)
                                : *map.coordinate(r - within, l, w);
        start[dim] += within;
        if (map.coordinate(r, l, w) != start)
          return false;
      }
  return true;
}

TEST(LaneMap, ContiguousRunsAreTheLargest) {
  RandomF2 random(11);
  unsigned longRuns = 0;
  for (int round = 0; round < 1000; ++round) {
    LaneMap map = randomMap(random);
    for (unsigned d = 0; d < map.rank(); ++d) {
      int64_t lanes = 1;
      for (int64_t n = 1; n <= map.numLanes(); n *= 2)
        if (runsBy(map, /*lanes=*/true, d, n))
          lanes = n;
      ASSERT_EQ(map.contiguousLanes(d), lanes) << map << "dim " << d;
      // Registers: any divisor, since repeats need not be powers of two. What
      // is reported runs, and no longer power of two or full run does.
      int64_t registers = map.contiguousRegisters(d);
      ASSERT_TRUE(runsBy(map, false, d, registers)) << map << "dim " << d;
      for (int64_t n = 2 * registers; n <= map.numRegisters(); n *= 2)
        if (map.numRegisters() % n == 0) {
          ASSERT_FALSE(runsBy(map, false, d, n)) << map << "dim " << d;
        }
      if (registers != map.numRegisters()) {
        ASSERT_FALSE(runsBy(map, false, d, map.numRegisters())) << map;
      }
      longRuns += lanes > 2 || registers > 2;
    }
    EXPECT_EQ(map.contiguousLanes(map.rank()), 0);
    EXPECT_EQ(map.contiguousRegisters(map.rank()), 0);
  }
  EXPECT_GT(longRuns, 100u);
}

TEST(LaneMap, ContiguousRunsOfFragments) {
  LaneMap d = *mmaM16N8(MatrixOperand::D, 16, 16);
  EXPECT_EQ(d.contiguousRegisters(1), 2); // c0, c1 are column neighbours.
  EXPECT_EQ(d.contiguousRegisters(0), 1);
  EXPECT_EQ(d.contiguousLanes(1), 1); // Lanes step by two columns.
  EXPECT_EQ(d.contiguousLanes(0), 1);
  LaneMap b = mfma16x16x16(MatrixOperand::D);
  EXPECT_EQ(b.contiguousLanes(1), 16);
  EXPECT_EQ(b.contiguousRegisters(0), 4);
  EXPECT_EQ(vectorTile(6, 16, 8)->contiguousLanes(1), 8);
  EXPECT_EQ(vectorTile(6, 8, 8)->contiguousRegisters(0), 6);
  EXPECT_EQ(vectorTile(6, 16, 8)->contiguousRegisters(0), 1);
}

TEST(LaneMap, OuterVariesSlowestWithTheLastDimensionFastest) {
  LaneMap map = makeMap({2, 4}, {{{1, 0}}, {{0, 1}, {0, 2}}, {}, {}}, {3, 5});
  EXPECT_EQ(map.tileShape(), (TileCoord{6, 20}));
  EXPECT_EQ(map.numRegisters(), 30);
  EXPECT_TRUE(map.isPermutation());
  for (int64_t r = 0; r < 30; ++r)
    for (int64_t l = 0; l < 4; ++l) {
      int64_t low = r % 2, outerCol = r / 2 % 5, outerRow = r / 10;
      EXPECT_EQ(*map.coordinate(r, l),
                (TileCoord{outerRow * 2 + low, outerCol * 4 + l}));
    }
  EXPECT_EQ(*map.locate({5, 19}), (Location{29, 3, 0, 0}));
}

TEST(LaneMap, IndicesOutOfRange) {
  LaneMap map = *vectorTile(6, 16, 8);
  EXPECT_TRUE(map.coordinate(11, 7));
  EXPECT_FALSE(map.coordinate(12, 0));
  EXPECT_FALSE(map.coordinate(-1, 0));
  EXPECT_FALSE(map.coordinate(0, 8));
  EXPECT_FALSE(map.coordinate(0, 0, 1));
  EXPECT_FALSE(map.coordinate(0, 0, 0, 1));
  EXPECT_FALSE(map.locate({6, 0}));
  EXPECT_FALSE(map.locate({0, -1}));
  EXPECT_FALSE(map.locate({0}));
}

TEST(LaneMap, WarpsAndBlocks) {
  LaneMap map = makeMap({4, 2}, {{}, {{0, 1}}, {{1, 0}}, {{2, 0}}});
  EXPECT_EQ(map.numWarps(), 2);
  EXPECT_EQ(map.numBlocks(), 2);
  EXPECT_EQ(*map.coordinate(0, 1, 1, 1), (TileCoord{3, 1}));
  EXPECT_EQ(*map.locate({2, 1}), (Location{0, 1, 0, 1}));
  EXPECT_EQ(map.columns(LaneDim::Block), (F2Vectors{4}));
}

TEST(LaneMap, LocatePrefersRegistersThenLanes) {
  // Register bit 0 and lane bit 0 both hold column 1.
  LaneMap map = makeMap({2}, {{{1}}, {{1}}, {}, {}});
  EXPECT_EQ(*map.locate({1}), (Location{1, 0, 0, 0}));
  EXPECT_TRUE(map.isBroadcast());
  EXPECT_EQ(map.numReplicas(), 2);
}

TEST(LaneMap, ProductTiles) {
  LaneMap low = *mmaM16N8(MatrixOperand::D, 16, 16);
  LaneMap high = makeMap({2, 4}, {{{0, 1}, {0, 2}}, {}, {{1, 0}}, {}});
  LaneMap both = *low.product(high);
  EXPECT_EQ(both.tileShape(), (TileCoord{32, 32}));
  for (int64_t r = 0; r < 16; ++r)
    for (int64_t l = 0; l < 32; ++l)
      for (int64_t w = 0; w < 2; ++w) {
        TileCoord inner = *low.coordinate(r % 4, l);
        EXPECT_EQ(*both.coordinate(r, l, w),
                  (TileCoord{inner[0] + 16 * w, inner[1] + 8 * (r / 4)}));
      }
  EXPECT_FALSE(low.product(makeMap({2}, {})));
  EXPECT_FALSE(low.product(makeMap({1, 1}, {}, {3, 1})));
  EXPECT_FALSE(vectorTile(6, 16, 8)->product(high));
}

TEST(LaneMap, QuotientUndoesProduct) {
  LaneMap low = *mmaM16N8(MatrixOperand::D, 16, 16);
  LaneMap high = makeMap({2, 4}, {{{0, 1}, {0, 2}}, {}, {{1, 0}}, {}});
  LaneMap both = *low.product(high);
  EXPECT_EQ(*both.quotient(low), high);
  EXPECT_EQ(*both.quotient(both), makeMap({1, 1}, {}));
  EXPECT_EQ(*both.quotient(makeMap({1, 1}, {})), both);
  // The registers of wgmma's A operand are those of mma's, over four warps.
  EXPECT_EQ(*wgmmaA(16)->quotient(*mmaM16N8(MatrixOperand::A, 16, 16)),
            makeMap({4, 1}, {{}, {}, {{1, 0}, {2, 0}}, {}}));
  // A first vector that differs, and a later one that steps inside of the tile.
  EXPECT_EQ(makeMap({4}, {{{2}, {1}}, {}, {}, {}})
                .quotient(makeMap({2}, {{{1}}, {}, {}, {}}))
                .message(),
            "quotient: expected reg vector 0 to be that of the divisor, (1), "
            "found (2)");
  EXPECT_EQ(makeMap({4}, {{{1}, {3}}, {}, {}, {}})
                .quotient(makeMap({2}, {{{1}}, {}, {}, {}}))
                .message(),
            "quotient: expected reg vector 1 to step over whole divisors, "
            "found (3)");
  EXPECT_FALSE(low.quotient(both));
  EXPECT_FALSE(both.quotient(makeMap({2}, {})));
  EXPECT_FALSE(vectorTile(6, 16, 8)->quotient(makeMap({1, 1}, {})));
}

TEST(LaneMap, Rejects) {
  EXPECT_EQ(LaneMap::get({6, 16}, {}).message(),
            "lane map: expected a power of two as linear extent 0, found 6");
  EXPECT_FALSE(LaneMap::get({0}, {}));
  EXPECT_FALSE(LaneMap::get({-4}, {}));
  EXPECT_EQ(LaneMap::get({4, 4}, {{{0, 4}}, {}, {}, {}}).message(),
            "lane map: expected reg vector 0 inside the shape (4,4), found "
            "(0,4)");
  EXPECT_EQ(LaneMap::get({4, 4}, {{}, {{0, 1}, {1}}, {}, {}}).message(),
            "lane map: expected lane vector 1 inside the shape (4,4), found "
            "(1)");
  EXPECT_EQ(LaneMap::get({4}, {{{-1}}, {}, {}, {}}).message(),
            "lane map: expected reg vector 0 inside the shape (4), found (-1)");
  EXPECT_FALSE(LaneMap::get({4}, {}, {0}));
  EXPECT_FALSE(LaneMap::get({4}, {}, {1, 1}));
  EXPECT_FALSE(LaneMap::get({4}, {}, {int64_t(1) << 40}));
  EXPECT_FALSE(LaneMap::get({int64_t(1) << 31, int64_t(1) << 31, 8}, {}));
  EXPECT_FALSE(LaneMap::get(
      {4}, {std::vector<TileCoord>(32, TileCoord{0}), {}, {}, {}}));
  EXPECT_EQ(
      LaneMap::get({4}, {{}, std::vector<TileCoord>(32, TileCoord{0}), {}, {}})
          .message(),
      "lane map: expected at most 31 lane bits, found 32");
  // Three times 31 bits are more than 64.
  std::vector<TileCoord> many(31, TileCoord{0});
  EXPECT_FALSE(LaneMap::get({4}, {many, many, many, {}}));
  // 2^20 registers times 2^12 repeats.
  EXPECT_FALSE(LaneMap::get(
      {4}, {std::vector<TileCoord>(20, TileCoord{0}), {}, {}, {}}, {4096}));
}

TEST(LaneMap, EqualUpToBroadcast) {
  // gfx11 replicates A over lane bit 4; without that it is a plain tile.
  LaneMap plain = makeMap({16, 16}, {{{0, 1}, {0, 2}, {0, 4}, {0, 8}},
                                     {{1, 0}, {2, 0}, {4, 0}, {8, 0}},
                                     {},
                                     {}});
  LaneMap replicated = wmmaGfx11(MatrixOperand::A);
  EXPECT_NE(replicated, plain);
  EXPECT_TRUE(equalUpToBroadcast(replicated, plain));
  EXPECT_EQ(replicated.withoutReplicas(), plain);
  EXPECT_EQ(plain.withoutReplicas(), plain);
  EXPECT_FALSE(equalUpToBroadcast(replicated, wmmaGfx11(MatrixOperand::B)));
  // Dependent vectors are replicas too, but not of single bits.
  EXPECT_FALSE(equalUpToBroadcast(makeMap({2}, {{{1}, {1}}, {}, {}, {}}),
                                  makeMap({2}, {{{1}}, {}, {}, {}})));
  EXPECT_FALSE(equalUpToBroadcast(makeMap({2}, {{{1}}, {}, {}, {}}),
                                  makeMap({2}, {{}, {{1}}, {}, {}})));
}

TEST(LaneMap, EqualityCountsTheSplit) {
  LaneMap linear = makeMap({4}, {{{1}, {2}}, {}, {}, {}});
  LaneMap repeated = makeMap({2}, {{{1}}, {}, {}, {}}, {2});
  EXPECT_EQ(linear.tileShape(), repeated.tileShape());
  EXPECT_NE(linear, repeated);
  EXPECT_NE(linear, makeMap({4}, {{{1}}, {{2}}, {}, {}}));
  EXPECT_NE(linear, makeMap({2, 2}, {{{0, 1}, {1, 0}}, {}, {}, {}}));
  EXPECT_EQ(linear, linear);
}

TEST(LaneMap, Prints) {
  EXPECT_EQ(mmaM16N8(MatrixOperand::D, 16, 16)->str(),
            "tile 16x8\n"
            "reg     4  (0,1) (8,0)\n"
            "lane   32  (0,2) (0,4) (1,0) (2,0) (4,0)\n");
  EXPECT_EQ(vectorTile(6, 8, 4)->str(), "tile 6x8 = linear 2x8 * outer 3x1\n"
                                        "reg    12  (0,4) (1,0)\n"
                                        "lane    4  (0,1) (0,2)\n");
  EXPECT_EQ(makeMap({2, 2}, {{}, {{0, 1}}, {{1, 0}}, {}}).str(),
            "tile 2x2\n"
            "reg     1\n"
            "lane    2  (0,1)\n"
            "warp    2  (1,0)\n");
}

TEST(LaneMap, GridShowsLaneAndRegister) {
  EXPECT_EQ(*vectorTile(2, 4, 2)->grid(), "0.0 1.0 0.1 1.1\n"
                                          "0.2 1.2 0.3 1.3\n");
  EXPECT_EQ(*makeMap({4}, {{{2}}, {}, {}, {}}).grid(), "0.0   - 0.1   -\n");
  EXPECT_EQ(*makeMap({2, 2}, {{}, {{0, 1}}, {{1, 0}}, {}}).grid(),
            "0:0.0 0:1.0\n1:0.0 1:1.0\n");
  EXPECT_FALSE(makeMap({2, 2, 2}, {}).grid());
  EXPECT_FALSE(vectorTile(128, 64, 8)->grid());
}
