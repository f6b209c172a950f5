//===- ConversionTest.cpp - Conversions by class, value by value -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/Conversion.h"
#include "MakeMap.h"
#include "RandomF2.h"
#include "tracea/Algebra/Fragments.h"
#include "tracea/Algebra/RegisterTile.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <set>

using namespace tracea::algebra;

/// A(C(x)) = B(x) at every location x of B, and C(x) = x when nothing is to be
/// done in registers that both have. Indices beyond a map's range are
/// those of a padded dimension: replicas of index mod the range.
static void checkSources(const LaneMap &a, const LaneMap &b,
                         const Conversion &conversion) {
  for (int64_t k = 0; k < b.numBlocks(); ++k)
    for (int64_t w = 0; w < b.numWarps(); ++w)
      for (int64_t l = 0; l < b.numLanes(); ++l)
        for (int64_t r = 0; r < b.numRegisters(); ++r) {
          std::optional<Location> at = conversion.source({r, l, w, k});
          ASSERT_TRUE(at);
          if (conversion.conversionClass() == ConversionClass::NoOp &&
              r < a.numRegisters()) {
            ASSERT_EQ(*at, (Location{r, l, w, k})) << a;
          }
          ASSERT_EQ(a.coordinate(at->reg, at->lane % a.numLanes(),
                                 at->warp % a.numWarps(),
                                 at->block % a.numBlocks()),
                    b.coordinate(r, l, w, k))
              << "from\n"
              << a << "to\n"
              << b;
        }
}

/// The program's indices against those of the schedule, at every lane and warp
/// of block 0.
static void checkProgram(const LaneMap &a, const LaneMap &b,
                         const ShuffleSchedule &schedule) {
  ShuffleProgram program = schedule.program();
  ASSERT_EQ(int64_t(program.rounds.size()), schedule.numRounds());
  auto sum = [](const F2Vectors &columns, int64_t index) {
    int64_t result = 0;
    for (size_t i = 0; i < columns.size(); ++i)
      if (index >> i & 1)
        result ^= int64_t(columns[i]);
    return result;
  };
  auto moved = [](std::vector<int64_t> registers, int64_t by) {
    for (int64_t &reg : registers)
      reg ^= by;
    return registers;
  };
  int64_t lanes = std::max(a.numLanes(), b.numLanes());
  for (int64_t w = 0; w < std::max(a.numWarps(), b.numWarps()); ++w)
    for (int64_t l = 0; l < lanes; ++l)
      for (int64_t t = 0; t < schedule.numRounds(); ++t) {
        const ShuffleProgram::Round &round = program.rounds[t];
        Location at{0, l, w, 0};
        ASSERT_EQ(round.isLocal, schedule.isLocal(t));
        ASSERT_EQ(round.source ^ sum(program.sourceByLane, l) ^
                      sum(program.sourceByWarp, w),
                  schedule.sourceLane(t, at));
        ASSERT_EQ(moved(round.filled, sum(program.filledByLane, l) ^
                                          sum(program.filledByWarp, w)),
                  schedule.destinations(t, at));
        std::vector<int64_t> offered = schedule.offered(t, at);
        if (!offered.empty()) {
          ASSERT_EQ(moved(round.offered, sum(program.offeredByLane, l) ^
                                             sum(program.offeredByWarp, w)),
                    offered)
              << a << b;
        }
      }
}

/// Carries the schedule out: in each round every lane offers one word, every
/// lane reads one word, and in the end each register holds what B wants. Rounds
/// in which nothing crosses lanes are free; the others are the proved number.
static void checkSchedule(const LaneMap &a, const LaneMap &b,
                          const Conversion &conversion) {
  if (!conversion.schedule())
    return;
  const ShuffleSchedule &schedule = *conversion.schedule();
  int64_t lanes = std::max(a.numLanes(), b.numLanes());
  int64_t linear = int64_t(1) << b.numBits(LaneDim::Reg);
  int64_t moved = 0;
  for (int64_t round = 0; round < schedule.numRounds(); ++round)
    moved += !schedule.isLocal(round);
  ASSERT_EQ(moved * (b.numRegisters() / linear), conversion.shuffleRounds());
  checkProgram(a, b, schedule);
  for (int64_t k = 0; k < b.numBlocks(); ++k)
    for (int64_t w = 0; w < b.numWarps(); ++w) {
      std::map<std::pair<int64_t, int64_t>, TileCoord> held;
      for (int64_t round = 0; round < schedule.numRounds(); ++round)
        for (int64_t l = 0; l < lanes; ++l) {
          Location at{0, l, w, k};
          int64_t source = schedule.sourceLane(round, at);
          if (schedule.isLocal(round)) {
            ASSERT_EQ(source, l);
          }
          std::vector<int64_t> into = schedule.destinations(round, at),
                               word =
                                   schedule.offered(round, {0, source, w, k});
          ASSERT_EQ(into.size(), word.size());
          for (size_t i = 0; i < into.size(); ++i)
            held[{into[i], l}] =
                *a.coordinate(word[i], source % a.numLanes(), w % a.numWarps(),
                              k % a.numBlocks());
        }
      for (int64_t l = 0; l < lanes; ++l)
        for (int64_t r = 0; r < linear; ++r) {
          auto value = held.find({schedule.representative(r), l});
          ASSERT_NE(value, held.end()) << a << b;
          ASSERT_EQ(value->second, *b.coordinate(r, l % b.numLanes(), w, k))
              << "register " << r << " lane " << l << "\nfrom\n"
              << a << "to\n"
              << b;
        }
    }
}

static Conversion convert(const LaneMap &a, const LaneMap &b,
                          unsigned elementsPerWord = 1) {
  Expected<Conversion> conversion = Conversion::get(a, b, elementsPerWord);
  EXPECT_TRUE(conversion) << conversion.message();
  checkSources(a, b, *conversion);
  checkSchedule(a, b, *conversion);
  EXPECT_TRUE(conversion->schedule().has_value() ||
              conversion->conversionClass() != ConversionClass::Shuffle);
  return *conversion;
}

TEST(Conversion, FragmentsThatMatch) {
  // The accumulators of two n8 tiles are the A operand of the next product.
  LaneMap two = makeMap({1, 2}, {{{0, 1}}, {}, {}, {}});
  LaneMap c = *mmaM16N8(MatrixOperand::D, 16, 16)->product(two);
  EXPECT_EQ(convert(c, *mmaM16N8(MatrixOperand::A, 16, 16)).conversionClass(),
            ConversionClass::NoOp);
  EXPECT_EQ(convert(*wgmmaD(16), *wgmmaA(16)).conversionClass(),
            ConversionClass::NoOp);
  EXPECT_EQ(
      convert(mfma16x16x16(MatrixOperand::D), mfma16x16x16(MatrixOperand::B))
          .conversionClass(),
      ConversionClass::NoOp);
  Conversion no = convert(*vectorTile(6, 16, 8), *vectorTile(6, 16, 8));
  EXPECT_EQ(no.conversionClass(), ConversionClass::NoOp);
  EXPECT_EQ(no.shuffleRounds(), 0);
}

TEST(Conversion, KnownShuffleCounts) {
  // Accumulators to a byte-sized A operand: 4 with four elements a word.
  Conversion fp8 = convert(*wgmmaD(32), *wgmmaA(8), 4);
  EXPECT_EQ(fp8.conversionClass(), ConversionClass::Shuffle);
  EXPECT_EQ(fp8.shuffleRounds(), 4);
  LaneMap four = makeMap({1, 4}, {{{0, 1}, {0, 2}}, {}, {}, {}});
  EXPECT_EQ(convert(*mmaM16N8(MatrixOperand::D, 16, 16)->product(four),
                    *mmaM16N8(MatrixOperand::A, 32, 8), 4)
                .shuffleRounds(),
            4);
  // An 8×8 transpose among 8 lanes: each keeps its diagonal element.
  LaneMap rows = makeMap({32, 8}, {{{0, 1}, {0, 2}, {0, 4}},
                                   {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}},
                                   {},
                                   {}});
  LaneMap columns = makeMap({32, 8}, {{{1, 0}, {2, 0}, {4, 0}},
                                      {{0, 1}, {0, 2}, {0, 4}, {8, 0}, {16, 0}},
                                      {},
                                      {}});
  EXPECT_EQ(convert(rows, columns).shuffleRounds(), 7);
  EXPECT_EQ(convert(wmmaGfx11(MatrixOperand::D), wmmaGfx11(MatrixOperand::B))
                .shuffleRounds(),
            8);
  // Four A operands of 32×32×8 side by side: k = 32.
  LaneMap a4 =
      makeMap({32, 32}, {{{0, 1}, {0, 2}, {0, 8}, {0, 16}},
                         {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {0, 4}},
                         {},
                         {}});
  EXPECT_EQ(convert(mfma32x32x8(MatrixOperand::D), a4).shuffleRounds(), 16);
}

TEST(Conversion, EachClassOnAMinimalPair) {
  LaneBases source{{{0, 1}, {0, 2}}, {{1, 0}}, {{2, 0}}, {{4, 0}}};
  LaneMap a = makeMap({8, 4}, source);
  EXPECT_EQ(convert(a, a).conversionClass(), ConversionClass::NoOp);

  LaneBases swapped = source;
  std::swap(swapped.reg[0], swapped.reg[1]);
  EXPECT_EQ(convert(a, makeMap({8, 4}, swapped)).conversionClass(),
            ConversionClass::RegisterMove);

  LaneBases skewed = source; // Lane 1 wants its registers rotated.
  skewed.lane[0] = {1, 1};
  EXPECT_EQ(convert(a, makeMap({8, 4}, skewed)).conversionClass(),
            ConversionClass::RegisterSelect);

  LaneBases shuffled = source;
  std::swap(shuffled.reg[0], shuffled.lane[0]);
  Conversion shuffle = convert(a, makeMap({8, 4}, shuffled));
  EXPECT_EQ(shuffle.conversionClass(), ConversionClass::Shuffle);
  EXPECT_EQ(shuffle.shuffleRounds(), 2); // Half of 4 registers stay.

  LaneBases warps = source;
  std::swap(warps.lane[0], warps.warp[0]);
  Conversion shared = convert(a, makeMap({8, 4}, warps));
  EXPECT_EQ(shared.conversionClass(), ConversionClass::SharedMemory);
  EXPECT_EQ(shared.shuffleRounds(), 0);

  LaneBases blocks = source;
  std::swap(blocks.reg[0], blocks.block[0]);
  EXPECT_EQ(convert(a, makeMap({8, 4}, blocks)).conversionClass(),
            ConversionClass::Cluster);
}

// What a lane lacks can be taken from a replica nearer by.
TEST(Conversion, ReplicasAvoidMovement) {
  // Every lane holds all four columns; B wants lane l to hold columns 2l, 2l+1.
  LaneMap replicated = makeMap({4}, {{{1}, {2}}, {{0}}, {}, {}});
  LaneMap spread = makeMap({4}, {{{1}}, {{2}}, {}, {}});
  EXPECT_EQ(convert(replicated, spread).conversionClass(),
            ConversionClass::RegisterSelect);
  EXPECT_EQ(convert(spread, replicated).conversionClass(),
            ConversionClass::Shuffle);
  // Registers that only the source has are dropped.
  LaneMap low = makeMap({4}, {{{1}}, {{0}}, {}, {}});
  EXPECT_EQ(convert(replicated, low).conversionClass(), ConversionClass::NoOp);
  // A register that repeats another is the same register.
  LaneMap repeated = makeMap({4}, {{{1}, {2}, {0}}, {{0}}, {}, {}});
  Conversion rename = convert(replicated, repeated);
  EXPECT_EQ(rename.conversionClass(), ConversionClass::NoOp);
  EXPECT_EQ(*rename.source({5, 1, 0, 0}), (Location{1, 1, 0, 0}));
  // Registers of the source that repeat others stay where they are.
  LaneMap twice = makeMap({2}, {{{1}, {1}}, {}, {}, {}});
  EXPECT_EQ(convert(twice, twice).conversionClass(), ConversionClass::NoOp);
  // A destination with more lanes wants replicas in the others; lanes 2 and 3
  // of the source hold them.
  LaneMap wide = makeMap({4}, {{{1}, {2}}, {{0}, {0}}, {}, {}});
  EXPECT_EQ(convert(replicated, wide).conversionClass(), ConversionClass::NoOp);
}

TEST(Conversion, OuterRegistersRepeat) {
  LaneMap a = makeMap({2, 4}, {{{1, 0}}, {{0, 1}, {0, 2}}, {}, {}}, {3, 1});
  LaneMap b = makeMap({2, 4}, {{{0, 1}}, {{1, 0}, {0, 2}}, {}, {}}, {3, 1});
  Conversion conversion = convert(a, b);
  EXPECT_EQ(conversion.conversionClass(), ConversionClass::Shuffle);
  EXPECT_EQ(conversion.shuffleRounds(),
            3); // One of two registers, three times.
  EXPECT_FALSE(conversion.source({6, 0, 0, 0}));
  EXPECT_FALSE(conversion.source({0, 4, 0, 0}));
  EXPECT_FALSE(conversion.source({-1, 0, 0, 0}));
  EXPECT_TRUE(conversion.source({5, 3, 0, 0}));
}

/// The span of A's columns up to a dimension.
static bool reaches(const LaneMap &a, unsigned upTo, uint64_t value) {
  F2Vectors span;
  for (unsigned d = 0; d <= upTo; ++d)
    for (uint64_t column : a.columns(LaneDim(d)))
      span.push_back(column);
  return inSpan(value, span);
}

// Random bijections: sources are right, the class is what the movement of
// values shows, and the number of shuffles meets its lower bound.
TEST(Conversion, RandomBijections) {
  RandomF2 random(20);
  std::map<ConversionClass, unsigned> seen;
  for (int round = 0; round < 1500; ++round) {
    unsigned regs = random.below(4), lanes = 1 + random.below(4),
             warps = random.below(2);
    unsigned bits = regs + lanes + warps;
    F2Vectors from = random.invertible(bits).columns(), to = from;
    // Mostly few changes: random pairs are nearly always the worst class.
    for (uint64_t change = random.below(4); change-- > 0;) {
      unsigned i = random.below(bits), j = random.below(bits);
      if (random.below(2))
        std::swap(to[i], to[j]);
      else if (i != j)
        to[i] ^= to[j];
    }
    auto asMap = [&](const F2Vectors &columns) {
      LaneBases bases;
      for (unsigned i = 0; i < bits; ++i)
        (i < regs           ? bases.reg
         : i < regs + lanes ? bases.lane
                            : bases.warp)
            .push_back({int64_t(columns[i])});
      return makeMap({int64_t(1) << bits}, bases);
    };
    LaneMap a = asMap(from), b = asMap(to);
    Conversion conversion = convert(a, b);
    ++seen[conversion.conversionClass()];

    // Where the values are: per location of B, how far away it is held. A is a
    // bijection, so there is no choice.
    bool sameRegister = true, registerByLane = false, sameLane = true,
         sameWarp = true;
    int64_t most = 0;
    for (int64_t w = 0; w < b.numWarps(); ++w)
      for (int64_t l = 0; l < b.numLanes(); ++l) {
        int64_t foreign = 0;
        for (int64_t r = 0; r < b.numRegisters(); ++r) {
          Location held = *a.locate(*b.coordinate(r, l, w));
          sameRegister &= held.reg == r;
          registerByLane |= held.reg != a.locate(*b.coordinate(r, 0, 0))->reg;
          sameLane &= held.lane == l;
          sameWarp &= held.warp == w;
          foreign += held.lane != l;
        }
        most = std::max(most, foreign);
      }
    ConversionClass expected = !sameWarp   ? ConversionClass::SharedMemory
                               : !sameLane ? ConversionClass::Shuffle
                               : registerByLane
                                   ? ConversionClass::RegisterSelect
                               : !sameRegister ? ConversionClass::RegisterMove
                                               : ConversionClass::NoOp;
    ASSERT_EQ(conversion.conversionClass(), expected)
        << conversionClassName(conversion.conversionClass()) << ", expected "
        << conversionClassName(expected) << "\nfrom\n"
        << a << "to\n"
        << b;
    if (expected == ConversionClass::Shuffle) {
      ASSERT_TRUE(conversion.schedule());
      ASSERT_EQ(conversion.shuffleRounds(), most) << "from\n"
                                                  << a << "to\n"
                                                  << b;
    }
  }
  for (ConversionClass cls :
       {ConversionClass::NoOp, ConversionClass::RegisterMove,
        ConversionClass::RegisterSelect, ConversionClass::Shuffle,
        ConversionClass::SharedMemory})
    EXPECT_GT(seen[cls], 20u) << conversionClassName(cls);
}

// Arbitrary maps, with replicas and uncovered elements: a conversion exists iff
// every value that B wants is somewhere in A, and its class is the smallest
// span that holds what each index bit changes.
TEST(Conversion, RandomMapsWithReplicas) {
  RandomF2 random(21);
  unsigned possible = 0, impossible = 0, shuffled = 0, scheduled = 0;
  for (int round = 0; round < 1500; ++round) {
    auto randomMap = [&] {
      LaneBases bases;
      for (std::vector<TileCoord> *part :
           {&bases.reg, &bases.lane, &bases.warp})
        for (unsigned i = 0; i < 2; ++i)
          part->push_back({random.below(3) ? int64_t(1) << random.below(4)
                                           : int64_t(random.below(16))});
      return makeMap({16}, bases);
    };
    LaneMap a = randomMap(), b = randomMap();
    std::set<TileCoord> held;
    bool exists = true;
    for (int64_t i = 0; i < 64; ++i)
      held.insert(*a.coordinate(i % 4, i / 4 % 4, i / 16));
    for (int64_t i = 0; i < 64; ++i)
      exists &= held.count(*b.coordinate(i % 4, i / 4 % 4, i / 16)) == 1;
    Expected<Conversion> conversion = Conversion::get(a, b);
    ASSERT_EQ(bool(conversion), exists) << "from\n" << a << "to\n" << b;
    ++(exists ? possible : impossible);
    if (!exists)
      continue;
    checkSources(a, b, *conversion);
    checkSchedule(a, b, *conversion);
    shuffled += conversion->conversionClass() == ConversionClass::Shuffle;
    scheduled += conversion->schedule().has_value();
    unsigned widest = 0;
    for (unsigned d = 0; d < 3; ++d)
      for (unsigned i = 0; i < 2; ++i) {
        uint64_t wanted = b.columns(LaneDim(d))[i];
        if (d)
          wanted ^= a.columns(LaneDim(d))[i];
        unsigned reach = 0;
        while (!reaches(a, reach, wanted))
          ++reach;
        widest = std::max(widest, reach);
      }
    ConversionClass cls = conversion->conversionClass();
    ASSERT_EQ(cls == ConversionClass::SharedMemory, widest == 2);
    ASSERT_EQ(cls == ConversionClass::Shuffle, widest == 1);
    ASSERT_EQ(cls == ConversionClass::NoOp, a == b);
  }
  EXPECT_GT(possible, 100u);
  EXPECT_GT(impossible, 100u);
  // Replicas can stand in the way of a schedule; they seldom do.
  EXPECT_GT(shuffled, 300u);
  EXPECT_GT(scheduled, shuffled * 9 / 10);
}

TEST(Conversion, PackingNeedsRegistersOfOneLane) {
  // Two destination registers come from two different lanes: no packing.
  LaneMap a = makeMap({2, 2}, {{{0, 1}}, {{1, 0}}, {}, {}});
  LaneMap b = makeMap({2, 2}, {{{1, 0}}, {{0, 1}}, {}, {}});
  EXPECT_EQ(convert(a, b, 1).shuffleRounds(), 1);
  EXPECT_EQ(convert(a, b, 4).shuffleRounds(), 1);
  // One neighbour's two registers travel together.
  LaneMap c = makeMap({4, 2}, {{{0, 1}}, {{1, 0}, {2, 0}}, {}, {}});
  LaneMap d = makeMap({4, 2}, {{{0, 1}}, {{2, 0}, {1, 0}}, {}, {}});
  EXPECT_EQ(convert(c, d, 1).shuffleRounds(), 2);
  EXPECT_EQ(convert(c, d, 2).shuffleRounds(), 1);
}

// Destination registers that repeat others, or sums of others, cost no shuffle.
TEST(Conversion, RepeatedDestinationRegistersAreShuffledOnce) {
  LaneMap a = makeMap({4}, {{{1}}, {{2}}, {}, {}});
  LaneMap b = makeMap({4}, {{{2}}, {{1}}, {}, {}});
  LaneMap bTwice = makeMap({4}, {{{2}, {2}}, {{1}}, {}, {}});
  EXPECT_EQ(convert(a, b).shuffleRounds(), 1);
  EXPECT_EQ(convert(a, bTwice).shuffleRounds(), 1);
}

// Warp 0 has everything in place, but in warp 1 every lane wants the values of
// its neighbour: both registers move.
TEST(Conversion, WarpOffsetsCountAsForeign) {
  LaneMap a = makeMap({16}, {{{1}}, {{2}, {4}}, {{8}}, {}});
  LaneMap b = makeMap({16}, {{{1}}, {{2}, {4}}, {{8 + 2}}, {}});
  Conversion conversion = convert(a, b);
  EXPECT_EQ(conversion.conversionClass(), ConversionClass::Shuffle);
  EXPECT_EQ(conversion.shuffleRounds(), 2);
}

TEST(Conversion, Rejects) {
  LaneMap a = *vectorTile(6, 16, 8);
  EXPECT_EQ(Conversion::get(a, *vectorTile(4, 24, 8)).message(),
            "conversion: expected tiles of one shape (linear*outer), found "
            "2*3x16*1 and 1*4x8*3");
  EXPECT_FALSE(Conversion::get(a, *vectorTile(6, 32, 8)));
  EXPECT_EQ(Conversion::get(a, a, 3).message(),
            "conversion: expected 1, 2 or 4 elements a word, found 3");
  LaneMap hole = makeMap({4}, {{{1}}, {}, {}, {}});
  LaneMap full = makeMap({4}, {{{1}}, {{2}}, {}, {}});
  EXPECT_EQ(Conversion::get(hole, full).message(),
            "conversion: the source does not hold what lane bit 0 of the "
            "destination wants");
  EXPECT_TRUE(Conversion::get(full, hole));
}
