//===- ReduceTest.cpp - Reductions, broadcasts, coordinates, votes --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TileHarness.h"
#include "tracea/Algebra/Fragments.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

static uint64_t asBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static float asFloat(uint64_t bits) {
  uint32_t word = static_cast<uint32_t>(bits);
  float value;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

namespace {
struct Outcome {
  std::string problem;
  ThreadValues result;
};
} // namespace

static Outcome run(TileHarness &harness, LanesAttr from,
                   const std::string &fromElement, LanesAttr to,
                   const std::string &toElement, const std::string &body,
                   function_ref<uint64_t(ArrayRef<int64_t>)> valueAt) {
  OwningOpRef<ModuleOp> module =
      harness.lower(from, fromElement, to, toElement, body);
  if (!module)
    return {"does not lower", {}};
  Interpreter machine(std::max(from.getNumWarps(), to.getNumWarps()),
                      harness.lowering.banks);
  int64_t lanes = harness.lowering.banks.numLanes();
  ThreadValues input =
      TileHarness::distribute(from, machine.getNumThreads(), lanes, valueAt);
  Outcome result;
  result.problem = machine.run(TileHarness::getFunction(*module), {input}, {});
  EXPECT_LE(machine.worstDegree, 1);
  if (result.problem.empty())
    result.result = machine.results[0];
  return result;
}

static std::string reduceText(TileHarness &harness, LanesAttr from,
                              LanesAttr to, const std::string &element,
                              const std::string &kind, unsigned dim) {
  return "%y = tracea_pipe.reduce " + kind + " %x dim " + std::to_string(dim) +
         " : " + harness.getTileText(from, element) + " -> " +
         harness.getTileText(to, element);
}

/// The reduced map with registers that lanes share which would hold the same.
static LanesAttr shareRegisters(LanesAttr lanes) {
  SmallVector<DenseI64ArrayAttr> reg(lanes.getReg()), lane(lanes.getLane());
  for (DenseI64ArrayAttr &vector : lane)
    if (!reg.empty() &&
        llvm::all_of(vector.asArrayRef(), [](int64_t x) { return x == 0; }))
      vector = reg.pop_back_val();
  return LanesAttr::get(lanes.getContext(), reg, lane, lanes.getWarp(),
                        lanes.getOuter());
}

// Sums of integers are exact; results in the reduced map, and in others.
TEST(Reduce, RandomMaps) {
  TileHarness harness;
  std::mt19937_64 random(5);
  int shuffled = 0, inMemory = 0, grouped = 0, shared = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<int64_t> shape{int64_t(1) << random() % 4,
                               int64_t(1) << (1 + random() % 5)};
    std::vector<int64_t> outer{1, 1};
    for (int64_t &repeats : outer)
      if (random() % 4 == 0)
        repeats = 1 + random() % 4;
    alg::LaneMap map = getRandomMap(random, shape, outer, random() % 3);
    if (map.numRegisters() > 128)
      continue;
    LanesAttr from = harness.getLanes(map);
    unsigned dim = random() % 2;
    SmallVector<int64_t> extents = from.getTileShape();
    // All of the dimension, or groups of neighbours in the linear map.
    int64_t group = extents[dim];
    if (round % 2)
      group =
          int64_t(1) << random() % (1 + llvm::Log2_64(uint64_t(shape[dim])));
    LanesAttr to = from.getReduced(dim, extents[dim] / group);
    ASSERT_TRUE(to);
    if (round % 3 == 0) {
      LanesAttr whole = to;
      to = shareRegisters(to);
      shared += to != whole;
    }
    grouped += extents[dim] > group && group > 1;
    std::string element = round % 3 ? "i32" : "i16",
                kind = round % 5 ? "add" : "max";
    auto valueAt = [&](ArrayRef<int64_t> at) {
      return uint64_t((at[0] * 37 + at[1] * 101 + at[0] * at[1]) % 251);
    };
    auto answerAt = [&](ArrayRef<int64_t> at) {
      SmallVector<int64_t> element(at);
      uint64_t sum = 0;
      for (int64_t i = 0; i < group; ++i) {
        element[dim] = at[dim] * group + i;
        sum = kind == "add" ? sum + valueAt(element)
                            : std::max(sum, valueAt(element));
      }
      return sum;
    };
    harness.lowering.numShuffles = harness.lowering.numExchanges = 0;
    Outcome ran =
        run(harness, from, element, to, element,
            reduceText(harness, from, to, element, kind, dim), valueAt);
    ASSERT_EQ(ran.problem, "") << "round " << round << " dim " << dim << "\n"
                               << map;
    ASSERT_EQ(TileHarness::compare(to, ran.result,
                                   harness.lowering.banks.numLanes(), answerAt),
              "")
        << "round " << round << " dim " << dim << "\n"
        << map;
    shuffled += harness.lowering.numShuffles > 0;
    inMemory += harness.lowering.numExchanges > 0;
  }
  EXPECT_GT(shuffled, 50);
  EXPECT_GT(inMemory, 20);
  EXPECT_GT(grouped, 30);
  EXPECT_GT(shared, 10);
}

// Rows of a wgmma accumulator: registers in order, then a tree of four lanes.
// All lanes of a group have the same bits.
TEST(Reduce, OrderOfFloats) {
  TileHarness harness;
  LanesAttr from = harness.getLanes(*alg::wgmmaD(32)), to = from.getReduced(1);
  auto valueAt = [&](ArrayRef<int64_t> at) {
    return asBits(1.0f / float(1 + at[0] * 7 + at[1]) *
                  (at[1] % 3 ? 1e4f : -1e-3f));
  };
  Outcome ran = run(harness, from, "f32", to, "f32",
                    reduceText(harness, from, to, "f32", "add", 1), valueAt);
  ASSERT_EQ(ran.problem, "");
  auto answerAt = [&](ArrayRef<int64_t> at) {
    float lanes[4];
    for (int64_t lane = 0; lane < 4; ++lane) {
      bool first = true;
      for (int64_t block = 0; block < 4; ++block)
        for (int64_t i = 0; i < 2; ++i) {
          float value = asFloat(valueAt({at[0], block * 8 + lane * 2 + i}));
          lanes[lane] = first ? value : lanes[lane] + value;
          first = false;
        }
    }
    return asBits((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]));
  };
  EXPECT_EQ(TileHarness::compare(to, ran.result,
                                 harness.lowering.banks.numLanes(), answerAt),
            "");
  // Another order gives other bits here, or this test would show nothing.
  int different = 0;
  for (int64_t row = 0; row < 64; ++row) {
    float sum = 0;
    for (int64_t column = 0; column < 32; ++column)
      sum += asFloat(valueAt({row, column}));
    different += asBits(sum) != answerAt({row, 0});
  }
  EXPECT_GT(different, 10);
}

// Columns of a wgmma accumulator, 16 rows of a warp: lanes that share columns
// exchange fewer words and combine in the same order.
TEST(Reduce, SharedColumns) {
  TileHarness harness;
  LanesAttr from = harness.getLanes(*alg::wgmmaD(64)),
            whole = from.getReduced(0, 4), shared = shareRegisters(whole);
  ASSERT_NE(whole, shared);
  EXPECT_EQ(shared.getNumRegisters() * 8, whole.getNumRegisters());
  auto valueAt = [&](ArrayRef<int64_t> at) {
    return asBits(1.0f / float(1 + at[0] * 7 + at[1]) *
                  (at[0] % 3 ? 1e4f : -1e-3f));
  };
  auto answerAt = [&](ArrayRef<int64_t> at) {
    float lanes[8];
    for (int64_t lane = 0; lane < 8; ++lane) {
      auto row = [&](int64_t i) {
        return asFloat(valueAt({at[0] * 16 + lane + i, at[1]}));
      };
      lanes[lane] = row(0) + row(8);
    }
    return asBits(((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
                  ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7])));
  };
  int shuffles[2];
  LanesAttr maps[2] = {whole, shared};
  for (auto [number, to] : llvm::enumerate(maps)) {
    harness.lowering.numShuffles = 0;
    Outcome ran = run(harness, from, "f32", to, "f32",
                      reduceText(harness, from, to, "f32", "add", 0), valueAt);
    ASSERT_EQ(ran.problem, "");
    EXPECT_EQ(TileHarness::compare(to, ran.result,
                                   harness.lowering.banks.numLanes(), answerAt),
              "");
    shuffles[number] = harness.lowering.numShuffles;
  }
  EXPECT_EQ(shuffles[0], 48);
  EXPECT_EQ(shuffles[1], 14);
}

TEST(Broadcast, UndoesReductions) {
  TileHarness harness;
  std::mt19937_64 random(9);
  for (int round = 0; round < 150; ++round) {
    // Extents of one repeat nothing.
    int64_t rows = int64_t(2) << random() % 3;
    std::vector<int64_t> shape{rows, int64_t(2) << random() % 4};
    std::vector<int64_t> outer{1, 1};
    for (int64_t &repeats : outer)
      if (random() % 3 == 0)
        repeats = 1 + random() % 3;
    alg::LaneMap map = getRandomMap(random, shape, outer, random() % 3);
    if (map.numRegisters() > 128)
      continue;
    LanesAttr to = harness.getLanes(map);
    unsigned dim = random() % 2;
    LanesAttr from = to.getReduced(dim);
    auto valueAt = [&](ArrayRef<int64_t> at) {
      return uint64_t(at[1 - dim] * 17 + 3);
    };
    harness.lowering.numShuffles = 0;
    Outcome ran = run(
        harness, from, "i32", to, "i32",
        "%y = tracea_pipe.broadcast %x : " + harness.getTileText(from, "i32") +
            " -> " + harness.getTileText(to, "i32"),
        valueAt);
    ASSERT_EQ(ran.problem, "") << map;
    ASSERT_EQ(TileHarness::compare(to, ran.result,
                                   harness.lowering.banks.numLanes(), valueAt),
              "")
        << map;
    // Each lane has what it needs.
    ASSERT_EQ(harness.lowering.numShuffles, 0) << map;
  }
}

TEST(Coordinate, RandomMaps) {
  TileHarness harness;
  std::mt19937_64 random(11);
  for (int round = 0; round < 150; ++round) {
    alg::LaneMap map = getRandomMap(
        random, {8, 32}, {1 + int64_t(random() % 3), 1}, random() % 3);
    LanesAttr lanes = harness.getLanes(map);
    unsigned dim = random() % 2;
    std::string element = round % 2 ? "index" : "i32";
    Outcome ran = run(harness, lanes, element, lanes, element,
                      "%y = tracea_pipe.coordinate dim " + std::to_string(dim) +
                          " : " + harness.getTileText(lanes, element),
                      [](ArrayRef<int64_t>) { return 0; });
    ASSERT_EQ(ran.problem, "") << map;
    ASSERT_EQ(TileHarness::compare(
                  lanes, ran.result, harness.lowering.banks.numLanes(),
                  [&](ArrayRef<int64_t> at) { return uint64_t(at[dim]); }),
              "")
        << map;
  }
}

// A vote is of a warp.
TEST(Any, IsOfAWarp) {
  TileHarness harness;
  LanesAttr lanes = harness.getLanes(*alg::wgmmaD(16));
  std::string tile = harness.getTileText(lanes, "i1");
  Outcome ran = run(
      harness, lanes, "i1", lanes, "i1",
      "%a = tracea_pipe.any %x : " + tile + "\n%y = tensor.splat %a : " + tile,
      [](ArrayRef<int64_t> at) { return uint64_t(at[0] == 21 && at[1] == 9); });
  ASSERT_EQ(ran.problem, "");
  // Row 21 is one of the second warp's.
  for (size_t thread = 0; thread < ran.result.size(); ++thread)
    EXPECT_EQ(ran.result[thread][0], uint64_t(thread / 32 == 1)) << thread;
}

TEST(Slice, KeepsRegisters) {
  TileHarness harness;
  LanesAttr wide = harness.getLanes(*alg::wgmmaD(32)),
            narrow = harness.getLanes(*alg::wgmmaD(16));
  auto valueAt = [](ArrayRef<int64_t> at) {
    return uint64_t(at[0] * 100 + at[1]);
  };
  Outcome ran = run(
      harness, wide, "i32", narrow, "i32",
      "%y = tracea_pipe.slice %x[0, 16] : " + harness.getTileText(wide, "i32") +
          " -> " + harness.getTileText(narrow, "i32"),
      valueAt);
  ASSERT_EQ(ran.problem, "");
  EXPECT_EQ(TileHarness::compare(narrow, ran.result,
                                 harness.lowering.banks.numLanes(),
                                 [&](ArrayRef<int64_t> at) {
                                   return valueAt({at[0], at[1] + 16});
                                 }),
            "");
}
