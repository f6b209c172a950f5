//===- CPUVariantsTest.cpp - Choices for CPUs -----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tracea/Doctor/CPUModel.h"
#include "tracea/Doctor/Registry.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace tracea::doctor;
using testing::ElementsAre;
using testing::HasSubstr;
using Extents = std::vector<int64_t>;

namespace {

TargetDescription cpu(const char *name, int cores) {
  TargetDescription target = *tracea::target::lookup(name);
  target.cores = cores;
  return target;
}

Problem gemm(int64_t m, int64_t n, int64_t k,
             ElementType type = ElementType::F32) {
  Problem problem;
  problem.kind = OpKind::Gemm;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.operand = problem.second = problem.accumulator = type;
  problem.result = type;
  return problem;
}

Problem conv(int64_t images, int64_t size, int64_t channels, int64_t filters,
             int64_t taps, int64_t stride = 1) {
  Problem problem;
  problem.kind = OpKind::Conv2D;
  problem.images = images;
  problem.outputHeight = problem.outputWidth = size;
  problem.groupChannels = channels;
  problem.groupFilters = filters;
  problem.filterHeight = problem.filterWidth = taps;
  problem.strideHeight = problem.strideWidth = stride;
  return problem;
}

Candidate best(const Problem &problem, const TargetDescription &target) {
  std::vector<Candidate> ranked = rank(Registry::builtin(), problem, target);
  EXPECT_FALSE(ranked.empty());
  EXPECT_TRUE(ranked.front().accepted()) << ranked.front().refusal;
  return ranked.front();
}

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

//===----------------------------------------------------------------------===//
// gemm
//===----------------------------------------------------------------------===//

Problem narrow(int64_t m, int64_t n, int64_t k, ElementType operand) {
  Problem problem = gemm(m, n, k, operand);
  problem.accumulator =
      operand == ElementType::I8 ? ElementType::I32 : ElementType::F32;
  problem.result = problem.accumulator;
  return problem;
}

Reason refusal(const Problem &problem, const TargetDescription &target,
               std::string_view variant) {
  for (const Candidate &candidate : rank(Registry::builtin(), problem, target))
    if (candidate.variant->name() == variant)
      return candidate.refusal;
  return "not asked";
}

TEST(CPUGemm, DotProductsWhereTheyAreFaster) {
  Problem bytes = narrow(1024, 1024, 1024, ElementType::I8);
  Problem pairs = narrow(1024, 1024, 1024, ElementType::BF16);
  for (const char *name :
       {"cascadelake", "icelake-server", "sapphirerapids", "alderlake",
        "znver4", "znver5", "neoverse-n1", "neoverse-v2",
        // Of pairs, to which bytes are widened.
        "haswell", "skylake-avx512", "znver3", "x86-64-v2"})
    EXPECT_EQ(best(bytes, cpu(name, 1)).variant->name(), "gemm.dot") << name;
  for (const char *name : {"znver4", "znver5", "neoverse-v1"})
    EXPECT_EQ(best(pairs, cpu(name, 1)).variant->name(), "gemm.dot") << name;
  // There one takes two cycles: two f32 multiply-adds a cycle do as much twice.
  EXPECT_EQ(best(pairs, cpu("cooperlake", 1)).variant->name(), "gemm.packed");
  EXPECT_EQ(refusal(pairs, cpu("cooperlake", 1), "gemm.dot"), "");
}

TEST(CPUGemm, ProductsThatAreAddedTakeARegister) {
  // Of 16 registers, four by two vectors of sums leave room for a row of B, a
  // broadcast and a product; four by three would leave none for that.
  Problem bytes = narrow(1024, 1024, 1024, ElementType::I8);
  for (const char *name : {"haswell", "znver3", "x86-64-v3"}) {
    Candidate found = best(bytes, cpu(name, 1));
    schedule::Extents registers = found.plan.registers();
    int64_t vectors = registers[1] / 8;
    EXPECT_LE(registers[0] * vectors + vectors + 2, 16) << name;
    EXPECT_EQ(found.plan.tile[2] % 2, 0) << name;
  }
}

TEST(CPUGemm, TilesWhereThereIsAUnitForThem) {
  TargetDescription target = cpu("sapphirerapids", 1);
  TargetDescription hidden = narrow(target, [&] {
    std::vector<std::string> has;
    for (const std::string &feature : target.features)
      if (feature.rfind("amx", 0) != 0)
        has.push_back(feature);
    return has;
  }());
  for (ElementType type : {ElementType::I8, ElementType::BF16}) {
    int64_t step = type == ElementType::I8 ? 64 : 32;
    for (int64_t k : {60, 64, 1000, 1024, 4096, 100000}) {
      Problem problem = narrow(512, 512, k, type);
      Candidate found = best(problem, target);
      ASSERT_EQ(found.variant->name(), "gemm.dot");
      EXPECT_EQ(found.plan.unit, UnitKind::AMX);
      // Two by two tiles; rows of A an odd number of lines apart.
      EXPECT_EQ(found.plan.registers(), (schedule::Extents{32, 32}));
      EXPECT_EQ(found.plan.tile[2] % step, 0) << k;
      EXPECT_EQ(found.plan.tile[2] / step % 2, 1) << k;
    }
    // Few rows and few columns have other tiles, of which 8 are enough.
    EXPECT_EQ(best(narrow(16, 512, 512, type), target).plan.registers(),
              (schedule::Extents{16, 64}));
    EXPECT_EQ(best(narrow(512, 16, 512, type), target).plan.registers()[1], 16);
    // Beside one panel of B rows of A that fill no tiles are copied as a whole.
    Plan single = best(narrow(4097, 16, 4096, type), target).plan;
    EXPECT_GE(single.tile[2], 4096);
    EXPECT_EQ(single.tile[2] / step % 2, 1);
    // Of many rows blocks of k are long, as sums pass through memory between
    // them, and 256 rows stay in the second level; of few they are short.
    Plan longBlocks = best(narrow(2048, 2048, 32 * step, type), target).plan;
    EXPECT_EQ(longBlocks.tile[2], 33 * step);
    Plan halves = best(narrow(2048, 2048, 128 * step, type), target).plan;
    EXPECT_EQ(halves.tile[2], 65 * step);
    EXPECT_GE(halves.tile[3], 256);
    // Beside them panels of B come from the last level, and are not few.
    EXPECT_GE(halves.tile[1], 512);
    EXPECT_LT(best(narrow(128, 2048, 32 * step, type), target).plan.tile[2],
              32 * step);
    // Sums that rest apart between blocks keep all rows, beside one B.
    Problem rounded = narrow(2048, 2048, 128 * step, type);
    rounded.result = type;
    EXPECT_EQ(best(rounded, target).plan.tile[0], 2048);
    Problem problem = narrow(512, 512, 512, type);
    EXPECT_EQ(best(problem, hidden).plan.unit, UnitKind::Vector);
    // By hand: the vector unit still does, other tiles do not.
    auto check = [&](const TargetDescription &target, const Plan &plan) {
      return checkSchedule(Registry::builtin(), problem, target, "gemm.dot",
                           plan);
    };
    Plan plan = best(problem, target).plan;
    EXPECT_EQ(check(target, plan), "");
    EXPECT_EQ(check(hidden, plan), "target 'sapphirerapids' has no unit 'amx'");
    EXPECT_THAT(checkSchedule(Registry::builtin(), problem, target,
                              "gemm.packed", plan),
                HasSubstr("'gemm.packed' does not multiply " +
                          std::string(stringify(type)) +
                          " on the unit 'amx' of this target"));
    Plan large = plan;
    large.registers() = {32, 64};
    large.tile = {64, 64, step, 64};
    EXPECT_THAT(check(target, large),
                HasSubstr("takes 11 tiles, operands included, more than 8"));
    Plan ragged = plan;
    ragged.registers() = {24, 32};
    EXPECT_THAT(check(target, ragged), HasSubstr("must be a multiple of 16"));
    Plan odd = plan;
    odd.tile[2] += step / 2;
    EXPECT_THAT(check(target, odd), HasSubstr("tile extent k must be a "
                                              "multiple of " +
                                              std::to_string(step)));
  }
  // What is no product of words goes the other ways.
  EXPECT_NE(best(gemm(512, 512, 512), target).variant->name(), "gemm.dot");
}

TEST(CPUGemm, BlocksOfTwoRows) {
  TargetDescription target = cpu("neoverse-n2", 1);
  for (auto [type, word] :
       {std::pair(ElementType::I8, 8), std::pair(ElementType::BF16, 4)})
    for (int64_t m : {1, 3, 64, 1000}) {
      Problem problem = narrow(m, 256, 1027, type);
      Plan plan = Registry::builtin().find("gemm.dot")->plan(problem, target);
      EXPECT_EQ(plan.registers()[0] % 2, 0) << m;
      EXPECT_EQ(plan.tile[2] % word, 0) << m;
      auto check = [&](const Plan &plan) {
        return checkSchedule(Registry::builtin(), problem, target, "gemm.dot",
                             plan);
      };
      EXPECT_EQ(check(plan), "") << m;
      plan.registers()[0] = 1;
      EXPECT_THAT(check(plan), HasSubstr("must be a multiple of 2")) << m;
    }
}

TEST(CPUGemm, DotProductsAreRefusedByReason) {
  Problem bytes = narrow(64, 64, 64, ElementType::I8);
  Problem pairs = narrow(64, 64, 64, ElementType::BF16);
  for (const char *name : {"haswell", "x86-64-v4", "skylake-avx512"})
    EXPECT_EQ(refusal(pairs, cpu(name, 1), "gemm.dot"),
              "the target has no dot products of bf16 ('avx512bf16' or "
              "'amx-bf16')");
  EXPECT_EQ(refusal(bytes, cpu("armv8-a", 1), "gemm.dot"),
            "the target has no dot products of i8 ('i8mm' or 'dotprod')");
  EXPECT_THAT(refusal(gemm(64, 64, 64), cpu("znver4", 1), "gemm.dot"),
              HasSubstr("found f32 and f32 into f32"));
  Problem mixed = bytes;
  mixed.second = ElementType::BF16;
  EXPECT_THAT(refusal(mixed, cpu("znver4", 1), "gemm.dot"),
              HasSubstr("operands of one type"));
}

TEST(CPUGemm, BlocksOfDotProductsAreWholeWords) {
  TargetDescription target = cpu("znver4", 1);
  for (int64_t k : {3, 4, 5, 1023, 1027, 1536, 2049, 4096, 100000})
    for (auto [type, word] :
         {std::pair(ElementType::I8, 4), std::pair(ElementType::BF16, 2)}) {
      Candidate found = best(narrow(256, 256, k, type), target);
      ASSERT_EQ(found.variant->name(), "gemm.dot");
      EXPECT_EQ(found.plan.tile[2] % word, 0) << k;
      EXPECT_LE(found.plan.tile[2], 768 * word) << k;
      Plan odd = found.plan;
      odd.tile[2] += 1;
      EXPECT_EQ(
          checkSchedule(Registry::builtin(), narrow(256, 256, k, type), target,
                        "gemm.dot", odd),
          "variant 'gemm.dot' cannot use this plan: tile extent k must be "
          "a multiple of " +
              std::to_string(word) + ", found " + std::to_string(odd.tile[2]));
    }
  // Unknown extents have whole words, too.
  Candidate any = best(
      narrow(kUnknownExtent, kUnknownExtent, kUnknownExtent, ElementType::I8),
      target);
  EXPECT_EQ(any.variant->name(), "gemm.dot");
  EXPECT_EQ(any.plan.tile[2] % 4, 0);
}

TEST(CPUGemm, RegisterTilesFollowTheVectorUnit) {
  Problem problem = gemm(1024, 1024, 1024);
  EXPECT_THAT(best(problem, cpu("znver4", 1)).plan.registers(),
              ElementsAre(8, 32));
  EXPECT_THAT(best(problem, cpu("sapphirerapids", 1)).plan.registers(),
              ElementsAre(8, 32));
  EXPECT_THAT(best(problem, cpu("haswell", 1)).plan.registers(),
              ElementsAre(6, 16));
  EXPECT_THAT(best(problem, cpu("x86-64-v3", 1)).plan.registers(),
              ElementsAre(6, 16));
  EXPECT_THAT(best(problem, cpu("neoverse-v1", 1)).plan.registers(),
              ElementsAre(8, 8));
  EXPECT_THAT(best(gemm(1024, 1024, 1024, ElementType::F64), cpu("znver4", 1))
                  .plan.registers(),
              ElementsAre(8, 24));
}

// Of 32 registers a tile takes three vectors of columns where they are filled,
// of the share of a core, and two of few rows, whose blocks are not asked for.
TEST(CPUGemm, RegisterTilesAreWideWhereColumnsFillThem) {
  auto registers = [](int64_t m, int64_t n, int64_t cores,
                      ElementType type = ElementType::F32,
                      const char *name = "sapphirerapids") {
    return best(gemm(m, n, 1024, type), cpu(name, cores)).plan.registers();
  };
  for (int64_t n : {960, 1000, 2048, 4096})
    EXPECT_THAT(registers(1024, n, 1), ElementsAre(8, 48)) << n;
  for (int64_t n : {256, 512, 1024})
    EXPECT_THAT(registers(1024, n, 1), ElementsAre(8, 32)) << n;
  EXPECT_THAT(registers(1024, 1032, 1, ElementType::F64), ElementsAre(8, 24));
  EXPECT_THAT(registers(128, 480, 1), ElementsAre(8, 32));
  EXPECT_THAT(registers(128, 2048, 1), ElementsAre(8, 48));
  EXPECT_THAT(registers(1024, kUnknownExtent, 1), ElementsAre(8, 32));
  EXPECT_THAT(registers(2048, 1920, 2), ElementsAre(8, 48));
  EXPECT_THAT(registers(2048, 2048, 16), ElementsAre(8, 32));
  EXPECT_THAT(registers(1024, 960, 1, ElementType::F32, "haswell"),
              ElementsAre(6, 16));
}

// Of 16 registers a tile has six rows where these leave hardly more without
// work than four do; words are packed by four.
TEST(CPUGemm, RegisterTilesOfFewRegistersHaveSixRows) {
  auto registers = [](int64_t m, int64_t n, ElementType type = ElementType::F32,
                      const char *name = "znver3") {
    return best(gemm(m, n, 1024, type), cpu(name, 1)).plan.registers();
  };
  EXPECT_THAT(registers(1024, 1024), ElementsAre(6, 16));
  EXPECT_THAT(registers(1000, 1000), ElementsAre(6, 16));
  EXPECT_THAT(registers(kUnknownExtent, kUnknownExtent), ElementsAre(6, 16));
  EXPECT_THAT(registers(1024, 1024, ElementType::F64), ElementsAre(6, 8));
  // 768 columns are filled by three vectors and two, 128 rows by four alone.
  EXPECT_THAT(registers(128, 768), ElementsAre(4, 24));
  EXPECT_THAT(registers(132, 768), ElementsAre(6, 16));
  Problem bytes = gemm(1024, 1024, 1024, ElementType::I8);
  bytes.accumulator = ElementType::I32;
  bytes.result = ElementType::I32;
  Candidate choice = best(bytes, cpu("alderlake", 1));
  EXPECT_EQ(choice.variant->name(), "gemm.dot");
  EXPECT_EQ(choice.plan.registers()[0], 4);
}

// Blocks of k are longer where the second level has room for a square block of
// A; as many as come closest to their usual length, and equal.
TEST(CPUGemm, BlocksOfKFillTheSecondLevel) {
  auto depth = [](const char *name, int64_t k) {
    return best(gemm(1024, 1024, k), cpu(name, 1)).plan.tile[2];
  };
  EXPECT_EQ(depth("sapphirerapids", 2048), 512);
  EXPECT_EQ(depth("sapphirerapids", 1027), 520);
  EXPECT_EQ(depth("sapphirerapids", 640), 640);
  // A longer sum would lose more than twice what blocks of 256 do.
  EXPECT_EQ(depth("sapphirerapids", 641), 328);
  EXPECT_EQ(depth("znver3", 767), 384);
  EXPECT_EQ(depth("znver4", 2048), 256);
  EXPECT_EQ(depth("znver4", 1027), 264);
  EXPECT_EQ(depth("znver4", 383), 383);
  // Of few registers a panel of two vectors fills the first level.
  EXPECT_EQ(depth("znver3", 2048), 512);
  EXPECT_EQ(depth("znver3", 1027), 520);
}

// Beside a small second level rows of a far B are asked for while the block
// before them is multiplied: from end to end, more at a time of more rows.
// Where they are short, or near, or few rows of A meet them, they are read
// directly.
TEST(CPUGemm, BlocksOfFewRowsAreAskedFor) {
  TargetDescription target = cpu("znver3", 1);
  auto isPacked = [&](const Problem &problem) {
    Candidate choice = best(problem, target);
    bool packs = choice.variant->name() == "gemm.packed";
    if (packs)
      EXPECT_EQ(choice.plan.params.as<schedule::CPUGemm>().prefetch, 1);
    return packs;
  };
  for (auto [m, k] : {std::array<int64_t, 2>{8, 64}, {32, 64}, {33, 128}}) {
    Problem problem = gemm(m, 4096, 4096);
    ASSERT_TRUE(isPacked(problem)) << m;
    Extents tile = best(problem, target).plan.tile;
    EXPECT_GE(tile[1], 4096) << m;
    EXPECT_EQ(tile[2], k) << m;
  }
  EXPECT_FALSE(isPacked(gemm(4, 4096, 4096)));
  EXPECT_TRUE(isPacked(gemm(9, 1000, 1000)));
  EXPECT_FALSE(isPacked(gemm(8, 1000, 1000)));
  EXPECT_TRUE(isPacked(gemm(16, 512, 4096)));
  EXPECT_FALSE(isPacked(gemm(16, 300, 5000)));
  EXPECT_FALSE(isPacked(gemm(16, 512, 512)));
  auto asksAhead = [&](const Problem &problem) {
    Candidate choice = best(problem, target);
    EXPECT_EQ(choice.variant->name(), "gemm.packed");
    return choice.plan.params.as<schedule::CPUGemm>().prefetch;
  };
  EXPECT_EQ(asksAhead(gemm(128, 4096, 4096)), 1);
  EXPECT_EQ(asksAhead(gemm(129, 4096, 4096)), 0);
  EXPECT_EQ(asksAhead(gemm(128, 512, 512)), 0);
  // Vectors of 512 bits multiply more rows while memory gives a block, and most
  // of long ones, which a quarter of the second level has room for few of.
  TargetDescription xeon = cpu("sapphirerapids", 1);
  auto blockOf = [&](int64_t m, int64_t n, int64_t k) {
    Candidate choice = best(gemm(m, n, k), xeon);
    return choice.variant->name() == "gemm.packed" &&
                   choice.plan.params.as<schedule::CPUGemm>().prefetch
               ? choice.plan.tile[2]
               : 0;
  };
  EXPECT_EQ(blockOf(31, 1000, 1000), 0);
  EXPECT_EQ(blockOf(32, 1000, 1000), 128);
  EXPECT_EQ(blockOf(63, 4096, 4096), 0);
  EXPECT_EQ(blockOf(64, 4096, 4096), 64);
  EXPECT_EQ(blockOf(64, 2048, 2048), 64);
  EXPECT_EQ(blockOf(128, 768, 3072), 128);
  EXPECT_EQ(blockOf(129, 768, 3072), 0);
  EXPECT_EQ(blockOf(64, 768, 768), 0);
  EXPECT_EQ(blockOf(64, 300, 5000), 0);
  EXPECT_EQ(blockOf(64, 768, kUnknownExtent), 0);
  // Panels of a constant are read where they lie.
  Problem constant = gemm(32, 4096, 4096);
  constant.isSecondConstant = true;
  EXPECT_EQ(asksAhead(constant), 0);
  // Where rows of B run along k the second level has room for a block.
  Problem along = gemm(16, 4096, 4096);
  along.transposeSecond = true;
  EXPECT_EQ(asksAhead(along), 1);
  Extents tile = best(along, target).plan.tile;
  EXPECT_EQ(tile[2], 256);
  EXPECT_LE(tile[1] * tile[2] * 4, 512 << 10);
}

// Few rows meet a packed block of B a few times only: it stays in a quarter of
// the second level, longer along k where rows of B are.
TEST(CPUGemm, BlocksOfFewRowsStayInTheSecondLevel) {
  TargetDescription target = cpu("sapphirerapids", 1);
  target.caches.push_back({3, 256 << 20, 64, 1}); // the table has none
  auto tileOf = [&](int64_t m, bool transposed) {
    Problem problem = gemm(m, 4096, 4096);
    problem.transposeSecond = transposed;
    Candidate choice = best(problem, target);
    EXPECT_EQ(choice.variant->name(), "gemm.packed") << m;
    return choice.plan.tile;
  };
  EXPECT_THAT(tileOf(16, true), ElementsAre(16, 512, 256, 16));
  EXPECT_THAT(tileOf(128, true), ElementsAre(128, 512, 256, 128));
  // One that is asked for may take half of it, whole rows at a time.
  EXPECT_THAT(tileOf(128, false), ElementsAre(128, 4128, 64, 128));
  EXPECT_EQ(best(gemm(128, 1000, 1000), target).plan.tile[2], 128);
  // Few columns leave k more of it; more rows use a block more often.
  EXPECT_EQ(best(gemm(128, 500, 512), target).plan.tile[2], 256);
  EXPECT_THAT(tileOf(129, false), ElementsAre(136, 4128, 512, 136));
  EXPECT_EQ(best(gemm(100, 256, kUnknownExtent), target).plan.tile[2], 512);
  EXPECT_EQ(best(gemm(100, 2048, kUnknownExtent), target).plan.tile[2], 64);
  // Of words as many.
  TargetDescription words = cpu("icelake-server", 1);
  Problem bytes = gemm(16, 4096, 4096, ElementType::I8);
  bytes.accumulator = ElementType::I32;
  bytes.result = ElementType::I32;
  Candidate choice = best(bytes, words);
  EXPECT_EQ(choice.variant->name(), "gemm.dot");
  EXPECT_LE(choice.plan.tile[1] * choice.plan.tile[2], words.cacheBytes(2) / 4);
}

TEST(CPUGemm, OneCoreTakesTheWholeProduct) {
  Candidate choice = best(gemm(512, 512, 512), cpu("znver4", 1));
  EXPECT_EQ(choice.variant->name(), "gemm.packed");
  EXPECT_THAT(choice.plan.tile, ElementsAre(512, 512, 256, 256));
}

TEST(CPUGemm, CoresGetEqualShares) {
  for (int cores : {2, 4, 6, 64}) {
    TargetDescription target = cpu("znver4", cores);
    Problem problem = gemm(4096, 4096, 4096);
    Extents tile = best(problem, target).plan.tile;
    int64_t tiles = ceilDiv(4096, tile[0]) * ceilDiv(4096, tile[1]);
    EXPECT_GE(tiles, cores);
    // No core waits long for the last one: the busiest has at most an eighth
    // more than its share.
    double busiest = static_cast<double>(ceilDiv(tiles, cores)) *
                     static_cast<double>(tile[0] * tile[1]);
    EXPECT_LE(busiest, 1.125 * 4096.0 * 4096.0 / cores) << cores;
  }
}

TEST(CPUGemm, PrefersToCutM) {
  Extents tile = best(gemm(1024, 1024, 1024), cpu("znver4", 2)).plan.tile;
  EXPECT_EQ(tile[0], 512);
  EXPECT_EQ(tile[1], 1024);
}

TEST(CPUGemm, CutsNWhenMIsSmall) {
  Extents tile = best(gemm(40, 8192, 1024), cpu("znver4", 2)).plan.tile;
  EXPECT_EQ(tile[0], 40);
  EXPECT_EQ(ceilDiv(8192, tile[1]) % 2, 0);
}

// A constant B is packed once for all runs: a plan is as much cheaper as
// staging it costs, and the more the fewer rows share that. Of dot products
// words are staged in every run.
TEST(CPUGemm, AConstantIsPackedOnce) {
  TargetDescription target = cpu("sapphirerapids", 1);
  double ratio = 1;
  for (int64_t m : {1024, 256, 64, 8}) {
    Problem problem = gemm(m, 4096, 1024), constant = problem;
    problem.transposeSecond = constant.transposeSecond = true;
    constant.isSecondConstant = true;
    Candidate packed = best(constant, target);
    ASSERT_EQ(packed.variant->name(), "gemm.packed");
    double now = packed.variant->cycles(constant, target, packed.plan) /
                 packed.variant->cycles(problem, target, packed.plan);
    EXPECT_LT(now, ratio) << m;
    ratio = now;
  }
  // Words are as well, but those whose columns are summed up.
  for (const char *name : {"sapphirerapids", "icelake-server"}) {
    TargetDescription words = cpu(name, 1);
    Problem bytes = narrow(64, 4096, 1024, ElementType::I8);
    Candidate dot = best(bytes, words);
    ASSERT_EQ(dot.variant->name(), "gemm.dot");
    double staged = dot.variant->cycles(bytes, words, dot.plan);
    bytes.isSecondConstant = true;
    double constant = dot.variant->cycles(bytes, words, dot.plan);
    if (dot.plan.unit == UnitKind::AMX)
      EXPECT_LT(constant, staged);
    else
      EXPECT_EQ(constant, staged);
  }
}

// Few rows or columns: nothing is packed, and the long side is cut for the
// cores; a transposed right operand has no contiguous rows to read.
TEST(CPUGemm, FewRowsOrColumnsAreReadDirectly) {
  TargetDescription target = cpu("znver4", 2);
  Candidate row = best(gemm(1, 4096, 4096), target);
  EXPECT_EQ(row.variant->name(), "gemm.direct");
  EXPECT_EQ(row.plan.registers()[0], 1);
  EXPECT_GE(ceilDiv(4096, row.plan.tile[1]), 2);
  EXPECT_EQ(best(gemm(4096, 16, 4096), target).variant->name(), "gemm.direct");
  // All rows at once or equal shares, and all columns that registers hold then;
  // runs of 512 bytes of one row.
  for (auto [m, rows, columns] : {std::array<int64_t, 3>{1, 1, 128},
                                  {2, 2, 160},
                                  {4, 4, 96},
                                  {5, 5, 80},
                                  {8, 8, 48},
                                  {12, 6, 64},
                                  {16, 8, 48},
                                  {17, 6, 64}}) {
    Candidate few = best(gemm(m, 4096, 4096), target);
    ASSERT_EQ(few.variant->name(), "gemm.direct") << m;
    EXPECT_THAT(few.plan.registers(), ElementsAre(rows, columns)) << m;
  }
  // Short blocks of rows of B from end to end, a share for each core; a single
  // panel of columns keeps its sums in registers through longer ones.
  EXPECT_THAT(best(gemm(8, 4096, 4096), target).plan.tile,
              ElementsAre(8, 2064, 8));
  EXPECT_EQ(best(gemm(16, 4096, 4096), target).plan.tile[2], 32);
  EXPECT_EQ(best(gemm(4, 4096, 4096), cpu("x86-64-v3", 1)).plan.tile[2], 8);
  // Rows from beyond the second level are asked for, eight at a time: on
  // AVX-512 by several rows of A, on AVX2 where they do not crowd its sets.
  auto asksAhead = [](const Problem &problem, const char *name) {
    Plan plan = best(problem, cpu(name, 1)).plan;
    return plan.params.as<schedule::CPUGemm>().prefetch;
  };
  EXPECT_EQ(asksAhead(gemm(4, 4096, 4096), "sapphirerapids"), 1);
  EXPECT_EQ(best(gemm(4, 4096, 4096), target).plan.tile[2], 8);
  EXPECT_EQ(asksAhead(gemm(1, 4096, 4096), "sapphirerapids"), 0);
  EXPECT_EQ(asksAhead(gemm(16, 4096, 4096), "sapphirerapids"), 0);
  EXPECT_EQ(asksAhead(gemm(4, 1000, 1000), "sapphirerapids"), 0);
  EXPECT_EQ(best(gemm(4, 1000, 1000), target).plan.tile[2], 32);
  EXPECT_EQ(asksAhead(gemm(8, 1000, 1000), "znver3"), 1);
  EXPECT_EQ(asksAhead(gemm(4, 4096, 4096), "znver3"), 0);
  EXPECT_EQ(asksAhead(gemm(16, 300, 5000), "znver3"), 1);
  EXPECT_EQ(asksAhead(gemm(2, 1500, 1500), "znver3"), 0);
  EXPECT_THAT(best(gemm(1, 4096, 4096), target).plan.tile,
              ElementsAre(1, 2048, 16));
  // Of short rows eight lie side by side.
  EXPECT_EQ(best(gemm(1, 1000, 1000), target).plan.tile[2], 8);
  EXPECT_THAT(best(gemm(8, 48, 4096), target).plan.tile,
              ElementsAre(8, 48, 256));
  // Sums of many columns do not fill the second-level cache.
  EXPECT_LE(best(gemm(32, 1 << 18, 64), target).plan.tile[1] * 32 * 4, 1 << 20);
  EXPECT_THAT(best(gemm(8, 4096, 4096), cpu("x86-64-v3", 1)).plan.registers(),
              ElementsAre(4, 24));
  // Beside a small second level whole lines of eight rows of B, none of which
  // is read again; where its rows are pages apart more rows of A are packed.
  // Of few registers a block of k takes two thirds of the first level: all of
  // 64, where half would leave 48 and a rest. Short rows of a B that does not
  // stay are one run, and no reason for runs of single lines.
  Problem cubes = gemm(64, 64, 64);
  cubes.batch = 128;
  Plan cube = best(cubes, cpu("znver3", 1)).plan;
  EXPECT_THAT(cube.registers(), ElementsAre(6, 16));
  EXPECT_EQ(cube.tile[2], 64);
  EXPECT_THAT(best(gemm(64, 64, 16384), cpu("znver3", 1)).plan.registers(),
              ElementsAre(6, 16));
  EXPECT_GT(best(gemm(64, 64, 16384), cpu("znver3", 1)).plan.tile[2], 32);
  Plan tight = best(gemm(4, 4096, 4096), cpu("znver3", 1)).plan;
  EXPECT_THAT(tight.registers(), ElementsAre(4, 16));
  EXPECT_EQ(tight.tile[2], 8);
  EXPECT_THAT(best(gemm(4, 20, 4096), target).plan.registers(),
              ElementsAre(4, 32));
  // Rows that are short are as many at a time as leave the first level room for
  // those of A, and columns are shared evenly.
  EXPECT_THAT(best(gemm(64, 64, 8192), cpu("sapphirerapids", 1)).plan.tile,
              ElementsAre(64, 64, 64));
  EXPECT_THAT(best(gemm(64, 64, 16000), cpu("znver4", 1)).plan.tile,
              ElementsAre(64, 64, 40));
  // But where rows of A are so far apart that their sets of the second level
  // have no room for all, blocks are as long as pages.
  for (const char *name : {"znver4", "sapphirerapids"})
    EXPECT_THAT(best(gemm(64, 64, 16384), cpu(name, 1)).plan.tile,
                ElementsAre(64, 64, 1024));
  EXPECT_LT(best(gemm(32, 64, 16384), cpu("sapphirerapids", 1)).plan.tile[2],
            128);
  EXPECT_THAT(best(gemm(17, 17, 17), cpu("znver4", 1)).plan.registers(),
              ElementsAre(6, 32));
  EXPECT_EQ(best(gemm(64, 500, 512), cpu("znver4", 1)).variant->name(),
            "gemm.direct");
  const Variant *direct = Registry::builtin().find("gemm.direct");
  ASSERT_NE(direct, nullptr);
  EXPECT_EQ(direct->whyNot(gemm(64, 500, 512), target), "");
  Problem narrow = gemm(64, 500, 512);
  narrow.operand = narrow.second = ElementType::BF16;
  EXPECT_THAT(direct->whyNot(narrow, target),
              HasSubstr("neither is m known to be at most 32 nor n"));
  EXPECT_EQ(best(gemm(65, 4096, 64), target).variant->name(), "gemm.packed");
  EXPECT_EQ(best(gemm(4096, 33, 64), target).variant->name(), "gemm.packed");
  EXPECT_EQ(best(gemm(kUnknownExtent, 64, 64), target).variant->name(),
            "gemm.packed");
  Problem transposed = gemm(1, 4096, 4096);
  transposed.transposeSecond = true;
  EXPECT_EQ(best(transposed, target).variant->name(), "gemm.packed");
}

// Strips would pack one operand sixty-four times; squares pack each eight
// times.
TEST(CPUGemm, ManyCoresGetSquares) {
  Extents tile = best(gemm(4096, 4096, 4096), cpu("znver4", 64)).plan.tile;
  EXPECT_EQ(tile[0], 512);
  EXPECT_EQ(tile[1], 512);
}

TEST(CPUGemm, ABatchIsShared) {
  Problem problem = gemm(128, 128, 64);
  problem.batch = 16;
  Extents tile = best(problem, cpu("znver4", 4)).plan.tile;
  EXPECT_EQ(tile[0], 128);
  EXPECT_EQ(tile[1], 128);
}

TEST(CPUGemm, SmallExtentsShrinkTheRegisterTile) {
  Plan row = best(gemm(1, 4096, 4096), cpu("znver4", 1)).plan;
  EXPECT_EQ(row.registers()[0], 1);
  EXPECT_GT(row.registers()[1], 32) << "one row needs several chains";
  Plan narrow = best(gemm(4096, 10, 512), cpu("znver4", 1)).plan;
  EXPECT_EQ(narrow.registers()[1], 16);
  EXPECT_GE(narrow.registers()[0], 8);
  Plan three = best(gemm(3, 3, 3), cpu("znver4", 1)).plan;
  EXPECT_LE(three.registers()[0], 4);
  EXPECT_EQ(three.registers()[1], 16);
}

// The rows of a convolution's tile are pixels, which nothing transposes: any
// number of them may divide the width.
TEST(CPUConv, TilesOfChannels) {
  TargetDescription target = cpu("sapphirerapids", 1);
  for (ElementType type : {ElementType::I8, ElementType::BF16}) {
    int64_t step = type == ElementType::I8 ? 64 : 32;
    Problem problem = conv(1, 28, 128, 128, 3);
    problem.operand = problem.second = type;
    problem.accumulator =
        type == ElementType::I8 ? ElementType::I32 : ElementType::F32;
    problem.result = problem.accumulator;
    Candidate found = best(problem, target);
    EXPECT_EQ(found.variant->name(), "conv2d.dot");
    EXPECT_EQ(found.plan.unit, UnitKind::AMX);
    EXPECT_EQ(found.plan.tile[3] % step, 0);
    EXPECT_EQ(found.plan.registers()[0] % 16, 0);
    auto check = [&](const Problem &problem, const Plan &plan) {
      return checkSchedule(Registry::builtin(), problem, target, "conv2d.dot",
                           plan);
    };
    EXPECT_EQ(check(problem, found.plan), "");
    Plan odd = found.plan;
    odd.tile[3] += step / 2;
    EXPECT_THAT(check(problem, odd),
                HasSubstr("tile extent channels must be a multiple of " +
                          std::to_string(step)));
    // An image that fills tiles and that no tap leaves is read where it lies,
    // and another one is not.
    Problem whole = problem;
    whole.filterHeight = whole.filterWidth = 1;
    whole.padTop = whole.padLeft = 0;
    whole.imageHeight = whole.outputHeight = 1;
    whole.imageWidth = whole.outputWidth = 784;
    Plan inPlace = best(whole, target).plan;
    EXPECT_EQ(inPlace.params.as<schedule::CPUConv>().staged, 0);
    EXPECT_EQ(check(whole, inPlace), "");
    whole.imageWidth = whole.outputWidth = 783;
    EXPECT_THAT(check(whole, inPlace),
                HasSubstr("in whole tiles of a unit, where no tap leaves it"));
    // What is not staged takes no memory.
    whole.imageWidth = whole.outputWidth = 1 << 18;
    inPlace.tile = {1, 1 << 18, 32, step};
    inPlace.registers() = {32, 32};
    EXPECT_EQ(check(whole, inPlace), "");
    inPlace.params.as<schedule::CPUConv>().staged = 1;
    EXPECT_THAT(check(whole, inPlace), HasSubstr("take more than 8388608"));
    // What is beyond a group is another one's: tiles of channels are whole, or
    // vectors take words.
    Problem groups = problem;
    groups.groups = 4;
    groups.groupChannels = groups.groupFilters = step / 2;
    EXPECT_EQ(refusal(groups, target, "conv2d.dot"), "");
    EXPECT_EQ(best(groups, target).plan.unit, UnitKind::Vector);
    EXPECT_THAT(check(groups, found.plan), HasSubstr("on the unit 'amx'"));
  }
}

TEST(CPUConv, RowsOfOneTileAreMultipliedTogether) {
  TargetDescription target = cpu("sapphirerapids", 1);
  for (ElementType type : {ElementType::I8, ElementType::BF16}) {
    auto typed = [&](int64_t image, int64_t channels, int64_t filter) {
      Problem problem = conv(1, image, channels, 256, filter);
      problem.operand = problem.second = type;
      problem.accumulator =
          type == ElementType::I8 ? ElementType::I32 : ElementType::F32;
      problem.result = problem.accumulator;
      problem.isFilterConstant = true;
      return problem;
    };
    auto check = [&](const Problem &problem, const Plan &plan) {
      return checkSchedule(Registry::builtin(), problem, target, "conv2d.dot",
                           plan);
    };
    for (int64_t filter : {1, 3}) {
      Problem problem = typed(14, 1024, filter);
      Plan plan = best(problem, target).plan;
      EXPECT_EQ(plan.tile[1], 16);
      EXPECT_THAT(plan.registers(), ElementsAre(32, 32));
      EXPECT_EQ(check(problem, plan), "");
      Plan narrow = plan;
      narrow.tile[1] = 8;
      EXPECT_THAT(check(problem, narrow),
                  HasSubstr("tile extent width must be a multiple of 16"));
      Plan inPlace = plan;
      inPlace.params.as<schedule::CPUConv>().staged = 0;
      EXPECT_THAT(check(problem, inPlace), HasSubstr("(staged = 0)"));
      Plan many = plan;
      many.registers() = {48, 32};
      EXPECT_THAT(check(problem, many),
                  HasSubstr("takes 9 tiles, operands included, more than 8"));
    }
    // Rows of more pixels are register tiles of their own.
    Plan wide = best(typed(32, 64, 3), target).plan;
    EXPECT_GE(wide.tile[1], 32);
  }
}

TEST(CPUConv, PatchesLeaveReadyPanelsTheSecondLevel) {
  TargetDescription target = cpu("sapphirerapids", 1);
  auto typed = [](int64_t image, int64_t channels, int64_t filters,
                  int64_t filter) {
    Problem problem = conv(1, image, channels, filters, filter);
    problem.operand = problem.second = ElementType::BF16;
    problem.accumulator = ElementType::F32;
    problem.result = ElementType::F32;
    problem.isFilterConstant = true;
    return problem;
  };
  // 512 KiB of filters stay, beside which a patch is small.
  Plan ready = best(typed(14, 1024, 256, 1), target).plan;
  EXPECT_LE(ready.tile[0] * ready.tile[1] * ready.tile[3] * 2, 2 * 48 * 1024);
  // A patch that crowds them may be what takes the least all the same: more
  // rows of an image are read anew where it is cut.
  EXPECT_EQ(best(typed(28, 128, 128, 3), target).plan.tile[0], 28);
  EXPECT_LE(best(typed(56, 64, 128, 3), target).plan.tile[0], 8);
  // Filters that are not constant lie in no panels that could be crowded.
  Problem made = typed(14, 1024, 256, 1);
  made.isFilterConstant = false;
  EXPECT_GT(best(made, target).plan.tile[0], ready.tile[0]);
  // Of panels that do not stay each tile of pixels reads all.
  EXPECT_EQ(best(typed(14, 256, 256, 3), target).plan.tile[0], 14);
  // Of a small image, whose taps are channels, all are staged at once: 576 KiB.
  Problem small = typed(7, 9 * 512, 512, 1);
  small.imageHeight = small.outputHeight = 1;
  small.imageWidth = small.outputWidth = 49;
  EXPECT_EQ(best(small, target).plan.tile[3], 9 * 512);
}

// Where filters are shared between cores each reads the whole image, and none
// finds in its second level what another has read there.
TEST(CPUConv, CoresShareTheImageRatherThanItsFilters) {
  Problem problem = conv(1, 14, 256, 1024, 1);
  problem.imageHeight = problem.imageWidth = 14;
  problem.isFilterConstant = true;
  EXPECT_EQ(best(problem, cpu("sapphirerapids", 1)).plan.tile[0], 14);
  EXPECT_EQ(best(problem, cpu("sapphirerapids", 2)).plan.tile[0], 7);
  // More of them than stay beside it would be fetched for each tile of pixels.
  Problem deep = conv(1, 7, 2048, 512, 1);
  deep.imageHeight = deep.imageWidth = 7;
  deep.isFilterConstant = true;
  EXPECT_EQ(best(deep, cpu("sapphirerapids", 2)).plan.tile[0], 7);
}

TEST(CPUConv, DotProductsOfChannels) {
  Problem problem = conv(1, 28, 128, 128, 3);
  problem.operand = problem.second = ElementType::I8;
  problem.accumulator = ElementType::I32;
  problem.result = ElementType::I32;
  for (const char *name : {"cascadelake", "alderlake", "znver5"}) {
    Candidate found = best(problem, cpu(name, 1));
    EXPECT_EQ(found.variant->name(), "conv2d.dot") << name;
    EXPECT_EQ(found.plan.tile[3] % 4, 0) << name;
  }
  // Words are whole, and of one group.
  TargetDescription target = cpu("znver4", 1);
  Plan odd = best(problem, target).plan;
  odd.tile[3] += 2;
  EXPECT_EQ(
      checkSchedule(Registry::builtin(), problem, target, "conv2d.dot", odd),
      "variant 'conv2d.dot' cannot use this plan: tile extent channels "
      "must be a multiple of 4, found " +
          std::to_string(odd.tile[3]));
  Problem few = problem;
  few.groupChannels = 3;
  EXPECT_EQ(refusal(few, target, "conv2d.dot"), "");
  few.groups = 2;
  EXPECT_EQ(refusal(few, target, "conv2d.dot"),
            "the channels of a group are not known to fill words of 4");
  few.groupChannels = 8;
  EXPECT_EQ(refusal(few, target, "conv2d.dot"), "");
  Problem first = problem;
  first.channelsLast = false;
  EXPECT_EQ(refusal(first, target, "conv2d.dot"),
            "words are of neighbouring channels, which are not last");
  EXPECT_EQ(refusal(problem, cpu("haswell", 1), "conv2d.dot"), "");
  EXPECT_THAT(refusal(problem, cpu("armv8-a", 1), "conv2d.dot"),
              HasSubstr("no dot products of i8"));
  EXPECT_EQ(best(conv(1, 28, 128, 128, 3), target).variant->name(),
            "conv2d.patch");
}

// Of long runs there are as few as possible: a tile has as many rows as
// registers hold sums of.
TEST(CPUConv, LongRunsHaveManyRows) {
  TargetDescription target = cpu("sapphirerapids", 1);
  EXPECT_THAT(best(conv(1, 56, 64, 64, 3), target).plan.registers(),
              ElementsAre(14, 32));
  EXPECT_THAT(best(conv(1, 56, 256, 64, 1), target).plan.registers(),
              ElementsAre(14, 32));
  EXPECT_THAT(best(conv(1, 48, 64, 64, 3), target).plan.registers(),
              ElementsAre(12, 32));
}

TEST(CPUConv, RegisterTilesDivideTheWidth) {
  TargetDescription target = cpu("znver4", 2);
  EXPECT_THAT(best(conv(1, 7, 512, 512, 3), target).plan.registers(),
              ElementsAre(7, 32));
  EXPECT_EQ(28 % best(conv(1, 28, 128, 128, 3), target).plan.registers()[0], 0);
}

// Panels of a constant filter are asked for ahead, so that a step may take more
// of them: 80 filters are one panel of five vectors by few pixels.
TEST(CPUConv, PanelsOfConstantsStream) {
  TargetDescription target = cpu("sapphirerapids", 1);
  Problem problem = conv(1, 47, 48, 80, 3);
  EXPECT_THAT(best(problem, target).plan.registers(), ElementsAre(24, 16));
  problem.isFilterConstant = true;
  EXPECT_THAT(best(problem, target).plan.registers(), ElementsAre(4, 80));
  problem.groups = 2;
  EXPECT_THAT(best(problem, target).plan.registers(), ElementsAre(24, 16));
}

// With channels first the lanes lie along the pixels of a row: a tile has no
// more columns than the row, and the rows are output channels.
TEST(CPUConv, LanesLieAlongTheContiguousDimension) {
  TargetDescription target = cpu("znver4", 2);
  Problem problem = conv(1, 14, 256, 256, 3);
  problem.channelsLast = false;
  Plan plan = best(problem, target).plan;
  EXPECT_EQ(plan.registers()[1], 16);
  EXPECT_EQ(plan.tile[1] % plan.registers()[1], 0);
  EXPECT_EQ(plan.tile[2] % plan.registers()[0], 0);
}

// Panels of constant filters are made once, so that nothing transposes rows of
// any number in a run. What shifted loads of pixels cost keeps tiles low.
TEST(CPUConv, FiltersThatLieReadyAreRowsOfAnyNumber) {
  TargetDescription target = cpu("znver3", 1);
  Problem problem = conv(1, 27, 37, 41, 3, 2);
  problem.channelsLast = false;
  EXPECT_THAT(best(problem, target).plan.registers(), ElementsAre(4, 16));
  problem.isFilterConstant = true;
  Candidate choice = best(problem, target);
  EXPECT_THAT(choice.plan.registers(), ElementsAre(6, 16));
  EXPECT_EQ(choice.plan.tile[2] % 6, 0);
  problem.isFilterConstant = false;
  EXPECT_THAT(choice.variant->check(problem, target, choice.plan),
              HasSubstr("must be a power of two, found 6"));
  // With channels last pixels are broadcast, and filters lie in lines.
  CPUModel model(target, tracea::target::ElementType::F32);
  double aligned = model.cyclesPerStep({6, 16});
  model.areColumnsShifted = true;
  EXPECT_GT(model.cyclesPerStep({6, 16}), 1.1 * aligned);
  CPUModel wide(cpu("sapphirerapids", 1), tracea::target::ElementType::F32);
  wide.areColumnsShifted = true;
  EXPECT_EQ(wide.cyclesPerStep({14, 32}), 14);
}

TEST(CPUGemm, KBlocks) {
  TargetDescription target = cpu("znver4", 1);
  EXPECT_EQ(best(gemm(512, 512, 384), target).plan.tile[2], 384);
  EXPECT_EQ(best(gemm(512, 512, 4096), target).plan.tile[2], 256);
  EXPECT_EQ(best(gemm(512, 512, kUnknownExtent), target).plan.tile[2], 256);
  EXPECT_EQ(best(gemm(512, 512, 0), target).plan.tile[2], 1);
  // Cut evenly: two blocks of 200, not 256 and 144.
  EXPECT_EQ(best(gemm(512, 512, 400), target).plan.tile[2], 200);
  EXPECT_EQ(best(gemm(512, 512, 4096, ElementType::F64), target).plan.tile[2],
            128);
}

TEST(CPUGemm, UnknownExtents) {
  Extents tile = best(gemm(kUnknownExtent, kUnknownExtent, kUnknownExtent),
                      cpu("znver4", 2))
                     .plan.tile;
  EXPECT_EQ(tile[0], 512);
  EXPECT_EQ(tile[1], 1024);
  tile = best(gemm(kUnknownExtent, 64, 64), cpu("znver4", 2)).plan.tile;
  EXPECT_EQ(tile[1], 64);
}

TEST(CPUGemm, ScratchTilesStaySmall) {
  Problem problem = gemm(4096, 4096, 4096);
  problem.operand = problem.second = ElementType::BF16;
  problem.result = ElementType::BF16;
  Extents tile = best(problem, cpu("znver4", 1)).plan.tile;
  EXPECT_LE(tile[0], 256);
  EXPECT_LE(tile[1], 512);
  // One k block needs no scratch.
  problem.k = 64;
  tile = best(problem, cpu("znver4", 1)).plan.tile;
  EXPECT_EQ(tile[0], 4096);
}

//===----------------------------------------------------------------------===//
// conv2d
//===----------------------------------------------------------------------===//

double patchBytes(const Problem &problem, const Extents &tile) {
  auto extent = [](int64_t outputs, int64_t stride, int64_t taps) {
    return static_cast<double>((outputs - 1) * stride + taps);
  };
  double patch = extent(tile[0], problem.strideHeight, problem.filterHeight) *
                 extent(tile[1], problem.strideWidth, problem.filterWidth);
  return 4 * static_cast<double>(tile[3]) * patch;
}

// A patch takes at most a quarter of it: the rest is for what streams through.
TEST(CPUConv, ResNetLayersFitTheSecondLevel) {
  TargetDescription target = cpu("znver4", 2);
  const Problem layers[] = {conv(1, 56, 64, 64, 3),    conv(1, 28, 128, 128, 3),
                            conv(1, 14, 256, 256, 3),  conv(1, 7, 512, 512, 3),
                            conv(1, 112, 3, 64, 7, 2), conv(1, 224, 64, 128, 3),
                            conv(32, 56, 256, 64, 1),  conv(1, 57, 67, 131, 3)};
  for (const Problem &problem : layers) {
    Candidate choice = best(problem, target);
    EXPECT_EQ(choice.variant->name(), "conv2d.patch");
    const Extents &tile = choice.plan.tile;
    EXPECT_LE(patchBytes(problem, tile),
              static_cast<double>(target.cacheBytes(2)) / 4);
    int64_t tiles = problem.images * ceilDiv(problem.outputHeight, tile[0]) *
                    ceilDiv(problem.outputWidth, tile[1]) *
                    ceilDiv(problem.groupFilters, tile[2]);
    EXPECT_GE(tiles, 2);
    // Neither core has much more to do than the other.
    EXPECT_TRUE(tiles % 2 == 0 || tiles >= 8) << tiles;
  }
}

TEST(CPUConv, ChannelBlocks) {
  // As many channels as leave patches that are not read twice too often: the
  // sums of another block would be loaded and stored once more.
  TargetDescription target = cpu("sapphirerapids", 1);
  EXPECT_EQ(best(conv(1, 28, 128, 128, 3), target).plan.tile[3], 128);
  EXPECT_EQ(best(conv(1, 14, 256, 256, 3), target).plan.tile[3], 256);
  EXPECT_EQ(best(conv(1, 56, 256, 64, 1), target).plan.tile[3], 256);
  EXPECT_EQ(best(conv(1, 7, 512, 512, 3), target).plan.tile[3], 256);
  // Blocks are even: three of 200, not two of 256 and the rest.
  EXPECT_EQ(best(conv(1, 7, 600, 512, 3), target).plan.tile[3], 200);
  EXPECT_EQ(best(conv(1, 56, kUnknownExtent, 64, 3), target).plan.tile[3], 64);
  EXPECT_EQ(best(conv(1, 112, 3, 64, 7), target).plan.tile[3], 3);
}

// What lies ready is not staged: a sum over all channels is not stored and read
// again, and as many filters are read for a tile of pixels as stay near.
TEST(CPUConv, NothingIsStagedOfWhatLiesReady) {
  TargetDescription target = cpu("sapphirerapids", 1);
  auto inPlace = [&](int64_t size, int64_t channels, int64_t filters) {
    Problem problem = conv(1, size, channels, filters, 1);
    problem.imageHeight = problem.imageWidth = size;
    problem.isFilterConstant = true;
    Plan plan = best(problem, target).plan;
    EXPECT_EQ(plan.params.as<schedule::CPUConv>().staged, 0);
    EXPECT_LE(plan.tile[2] * plan.tile[3] * 4, target.cacheBytes(2) / 2);
    problem.isFilterConstant = false;
    EXPECT_LE(best(problem, target).plan.tile[3], 256);
    return plan.tile;
  };
  EXPECT_THAT(inPlace(28, 512, 128), ElementsAre(28, 28, 128, 512));
  EXPECT_THAT(inPlace(14, 1024, 256), ElementsAre(14, 14, 128, 1024));
  EXPECT_THAT(inPlace(7, 2048, 512), ElementsAre(7, 7, 64, 2048));
  // Nor are filters read as a copy of each tile: fewer pixels of all channels.
  Problem strided = conv(1, 28, 128, 128, 3, 2);
  EXPECT_THAT(best(strided, target).plan.tile, ElementsAre(14, 28, 128, 64));
  strided.isFilterConstant = true;
  EXPECT_THAT(best(strided, target).plan.tile, ElementsAre(14, 14, 128, 128));
  // Not even the filters of one panel stay near with all of their channels.
  EXPECT_LT(inPlace(7, 16384, 64)[3], 16384);
}

// A row of 21 taps of one channel is multiplied at once, seven taps of three
// channels one after another; but for words of floats, which have channels.
TEST(CPUConv, TapsOfOneChannelAreOneRun) {
  Problem taps = conv(1, 112, 3, 64, 7, 2), run = conv(1, 112, 1, 64, 7, 2);
  run.filterWidth = 21;
  run.strideWidth = 6;
  for (const char *name : {"sapphirerapids", "znver4"}) {
    TargetDescription target = cpu(name, 1);
    auto share = [&](ElementType type) {
      for (Problem *problem : {&taps, &run}) {
        problem->operand = problem->second = type;
        problem->accumulator =
            type == ElementType::I8 ? ElementType::I32 : ElementType::F32;
        problem->result = problem->accumulator;
      }
      return best(run, target).cycles / best(taps, target).cycles;
    };
    // As much as a form has to gain.
    EXPECT_LT(share(ElementType::F32), 0.95) << name;
    EXPECT_LT(share(ElementType::I8), 0.9) << name;
    EXPECT_EQ(best(run, target).variant->name(), "conv2d.dot") << name;
    if (name == std::string("znver4"))
      EXPECT_GT(share(ElementType::BF16), 1);
  }
}

TEST(CPUConv, OddFiltersTakeOneVectorLess) {
  // 67 filters: two vectors a row would compute 96 of them, one vector 80.
  EXPECT_EQ(best(conv(1, 56, 64, 67, 3), cpu("znver4", 1)).plan.registers()[1],
            16);
}

TEST(CPUConv, UnknownExtents) {
  Problem problem = conv(kUnknownExtent, kUnknownExtent, 64, 64, 3);
  Plan plan = best(problem, cpu("znver4", 2)).plan;
  EXPECT_EQ(plan.tile[0], 8);
  EXPECT_EQ(plan.tile[1], 4 * plan.registers()[0]);
}

TEST(CPUConv, UnknownFilterFallsBack) {
  Problem problem = conv(1, 56, 64, 64, 3);
  problem.filterHeight = kUnknownExtent;
  std::vector<Candidate> ranked =
      rank(Registry::builtin(), problem, cpu("znver4", 1));
  EXPECT_EQ(ranked.front().variant->name(), "linalg");
  EXPECT_THAT(ranked[1].refusal, HasSubstr("not static"));
}

TEST(CPUConv, HugeFiltersFallBack) {
  for (int64_t taps : {1000, 1 << 20}) {
    std::vector<Candidate> ranked =
        rank(Registry::builtin(), conv(1, 8, 64, 64, taps), cpu("znver4", 1));
    EXPECT_EQ(ranked.front().variant->name(), "linalg") << taps;
  }
}

TEST(CPUConv, DepthwiseIsOneStreamFromBeyondASmallSecondLevel) {
  TargetDescription target = cpu("znver3", 1);
  auto depthwise = [](int64_t size, int64_t groups, int64_t taps,
                      int64_t stride) {
    Problem problem = conv(1, size, 1, 1, taps, stride);
    problem.groups = groups;
    return problem;
  };
  // One pixel by equal shares of its channels, in whole rows of all channels.
  Candidate whole = best(depthwise(56, 144, 3, 1), target);
  EXPECT_EQ(whole.variant->name(), "conv2d.depthwise");
  EXPECT_THAT(whole.plan.registers(), ElementsAre(1, 48));
  EXPECT_THAT(whole.plan.tile, ElementsAre(56, 56, 144));
  // Of few channels pixels side by side are one stream: as many as cover the
  // latency, if the row has whole ones.
  EXPECT_THAT(best(depthwise(112, 32, 3, 1), target).plan.registers(),
              ElementsAre(2, 32));
  EXPECT_THAT(best(depthwise(113, 32, 3, 1), target).plan.registers(),
              ElementsAre(1, 32));
  // Thirteen vectors have no other equal shares.
  EXPECT_THAT(best(depthwise(57, 99, 3, 2), target).plan.registers(),
              ElementsAre(1, 104));
  // Threads share the rows, and no row is cut.
  std::vector<int64_t> shared =
      best(depthwise(56, 144, 3, 1), cpu("znver3", 2)).plan.tile;
  EXPECT_THAT(shared, ElementsAre(28, 56, 144));
  // An image that stays, channels that are a long stream, seven taps that share
  // their loads, and a second level that is large: pixels of a row side by
  // side, those from memory with all channels, or a part of long runs.
  EXPECT_GT(best(depthwise(7, 960, 3, 1), target).plan.registers()[0], 1);
  Plan longStreams = best(depthwise(14, 576, 3, 1), target).plan;
  EXPECT_THAT(longStreams.registers(), ElementsAre(7, 8));
  EXPECT_THAT(longStreams.tile, ElementsAre(14, 14, 576));
  for (int64_t stride : {1, 2}) {
    int64_t size = 56 / stride;
    Plan sevenTaps = best(depthwise(size, 96, 7, stride), target).plan;
    EXPECT_THAT(sevenTaps.registers(), ElementsAre(7, 8));
    EXPECT_THAT(sevenTaps.tile, ElementsAre(size, size, 96));
  }
  EXPECT_GE(best(depthwise(14, 384, 7, 1), target).plan.tile[2], 64);
  // Lines of the image, with its border, and of the result are waited for.
  EXPECT_GE(whole.cycles, 20.0 * 144 * 4 / 64 * (58 * 58 + 56 * 56));
  EXPECT_GT(
      best(depthwise(56, 144, 3, 1), cpu("znver4", 1)).plan.registers()[0], 1);
}

// Where registers are few, panels that do not stay in the second level are
// asked for ahead, by at least four register tiles of pixels.
TEST(CPUConv, FewRegistersAskForPanelsAhead) {
  auto prefetch = [](Problem problem, const char *name) {
    Plan plan = best(problem, cpu(name, 1)).plan;
    return plan.params.as<schedule::CPUConv>().prefetch;
  };
  Problem problem = conv(8, 7, 512, 512, 3);
  EXPECT_EQ(prefetch(problem, "znver3"), 0);
  problem.isFilterConstant = true;
  EXPECT_EQ(prefetch(problem, "znver3"), 1);
  EXPECT_EQ(prefetch(problem, "sapphirerapids"), 0);
  problem.groups = 2;
  EXPECT_EQ(prefetch(problem, "znver3"), 0);
  problem = conv(1, 56, 64, 64, 3);
  problem.isFilterConstant = true;
  EXPECT_EQ(prefetch(problem, "znver3"), 0);
  problem = conv(1, 1, 2048, 512, 1);
  problem.isFilterConstant = true;
  EXPECT_EQ(prefetch(problem, "znver3"), 0);
}

// The last register tile of a row has as many pixels as are left: 28 of 30 cost
// less, by more than the staging of two pixels.
TEST(CPUConv, LastTilesOfARowAreCut) {
  TargetDescription target = cpu("znver3", 1);
  Problem whole = conv(1, 30, 64, 64, 3), cut = whole;
  cut.outputWidth = 28;
  const Variant *patch = Registry::builtin().find("conv2d.patch");
  ASSERT_NE(patch, nullptr);
  Plan plan = best(whole, target).plan;
  plan.tile = {10, 30, 64, 64};
  plan.registers() = {6, 16};
  EXPECT_LT(patch->cycles(cut, target, plan),
            0.98 * patch->cycles(whole, target, plan));
}

// Rows in place are where they do not stay in the second level, and single
// pixels beside many products alone.
TEST(CPUConv, RowsOfDepthwiseImagesAreAskedForAhead) {
  auto prefetch = [](int64_t size, int64_t groups, int64_t taps,
                     const char *name = "znver3", int64_t stride = 1) {
    Problem problem = conv(1, size, 1, 1, taps, stride);
    problem.groups = groups;
    Plan plan = best(problem, cpu(name, 1)).plan;
    return plan.params.as<schedule::CPUConv>().prefetch;
  };
  EXPECT_EQ(prefetch(14, 576, 3), 1);
  EXPECT_EQ(prefetch(56, 96, 7), 1);
  // Many registers: not beside many taps, nor for long pixels, nor for those
  // that are held with all channels.
  EXPECT_EQ(prefetch(56, 128, 3, "sapphirerapids"), 1);
  EXPECT_EQ(prefetch(28, 128, 3, "sapphirerapids"), 0);
  EXPECT_EQ(prefetch(56, 96, 7, "sapphirerapids"), 0);
  EXPECT_EQ(prefetch(56, 512, 3, "sapphirerapids"), 0);
  EXPECT_EQ(prefetch(112, 96, 3, "sapphirerapids", 2), 0);
  EXPECT_EQ(prefetch(7, 576, 3), 0);
  EXPECT_EQ(prefetch(56, 144, 3), 1);
  EXPECT_EQ(prefetch(57, 99, 3, "znver3", 2), 0);
}

TEST(CPUConv, DepthwisePixelsWithAStrideHoldTheirChannels) {
  auto plan = [](int64_t size, int64_t groups, int64_t taps, int64_t stride,
                 const char *name = "sapphirerapids") {
    Problem problem = conv(1, size, 1, 1, taps, stride);
    problem.groups = groups;
    return best(problem, cpu(name, 1)).plan;
  };
  EXPECT_THAT(plan(29, 99, 3, 2).registers(), ElementsAre(2, 112));
  EXPECT_THAT(plan(29, 99, 3, 2).tile, ElementsAre(29, 30, 112));
  EXPECT_THAT(plan(56, 96, 3, 2).registers(), ElementsAre(2, 96));
  EXPECT_THAT(plan(56, 96, 3, 2).tile, ElementsAre(56, 56, 96));
  // Pixels side by side share loads, of seven taps with a stride as well, and
  // more channels than registers hold are parts.
  EXPECT_GT(plan(56, 96, 3, 1).registers()[0], 2);
  EXPECT_GT(plan(28, 96, 7, 2).registers()[0], 2);
  EXPECT_GT(plan(14, 576, 3, 2).registers()[0], 2);
  EXPECT_GT(plan(56, 32, 3, 2).registers()[0], 2);
}

TEST(CPUConv, DepthwiseHasItsOwnVariant) {
  Problem problem = conv(1, 56, 1, 1, 7);
  problem.groups = 96;
  TargetDescription target = cpu("znver4", 2);
  Candidate choice = best(problem, target);
  EXPECT_EQ(choice.variant->name(), "conv2d.depthwise");
  EXPECT_EQ(choice.plan.tile.size(), 3u);
  EXPECT_EQ(choice.plan.tile[2] % choice.plan.registers()[1], 0);
  // Equal shares of a row, of one vector where what seven taps see of two does
  // not stay in the first level; but not of two shares, which would both be at
  // the border.
  EXPECT_THAT(choice.plan.registers(), ElementsAre(14, 16));
  // Rows of 31 KiB stay in a first level of 48: two vectors go by together.
  EXPECT_THAT(best(problem, cpu("sapphirerapids", 1)).plan.registers(),
              ElementsAre(7, 32));
  Problem half = problem;
  half.outputHeight = half.outputWidth = 28;
  EXPECT_THAT(best(half, target).plan.registers(), ElementsAre(7, 32));
  // Nine vectors of channels go by ones: of five pairs one would be half empty.
  Problem odd = conv(1, 28, 1, 1, 3);
  odd.groups = 144;
  EXPECT_THAT(best(odd, target).plan.registers(), ElementsAre(14, 16));
  // Pixels of images from beyond the second level are streams: few at a time,
  // unless they are short or the processor follows them.
  for (auto [groups, rows, columns] : {std::array<int64_t, 3>{128, 7, 32},
                                       {144, 4, 32},
                                       {256, 4, 32},
                                       {512, 7, 32}}) {
    Problem far = conv(1, 56, 1, 1, 3);
    far.groups = groups;
    EXPECT_THAT(best(far, target).plan.registers(), ElementsAre(rows, columns))
        << groups;
  }
  // A row that one tile holds is one, and not two at the border each.
  for (auto [width, rows, columns] :
       {std::array<int64_t, 3>{7, 7, 32}, {8, 8, 16}, {14, 14, 16}}) {
    Problem small = conv(1, width, 1, 1, 3);
    small.groups = 576;
    EXPECT_THAT(best(small, target).plan.registers(),
                ElementsAre(rows, columns))
        << width;
  }
  // Of few taps all channels go by together, as memory has them; of many, which
  // read each row again and again, as many as the first level holds.
  Problem few = conv(1, 7, 1, 1, 3), many = conv(1, 14, 1, 1, 7);
  few.groups = 960;
  many.groups = 384;
  TargetDescription single = cpu("sapphirerapids", 1);
  EXPECT_EQ(best(few, single).plan.tile[2], 960);
  EXPECT_LT(best(many, single).plan.tile[2], 384);
  // A stride leaves registers for what is not shared.
  Problem strided = conv(1, 57, 1, 1, 3, 2);
  strided.groups = 144;
  EXPECT_THAT(best(strided, target).plan.registers(), ElementsAre(7, 16));

  // The image is read where it lies, where loads take masks and nothing is to
  // be converted.
  auto isStaged = [](const Candidate &candidate) {
    return candidate.plan.params.as<schedule::CPUConv>().staged;
  };
  EXPECT_EQ(isStaged(choice), 0);
  // Seven rows of a few channels stay in the first level, of an image that the
  // second one holds; three rows of a larger image are streams.
  EXPECT_EQ(choice.plan.tile[2], 16);
  Problem large = odd;
  large.outputHeight = large.outputWidth = 112;
  EXPECT_EQ(best(large, target).plan.tile[2], 160);
  // Whole rows of it, where memory hides what waits for the first level.
  Problem fast = conv(1, 56, 1, 1, 3, 2);
  fast.groups = 96;
  EXPECT_THAT(best(fast, cpu("sapphirerapids", 1)).plan.tile,
              ElementsAre(56, 56, 96));
  // AVX2 has masks too, and SSE has none. Few registers hold sums of one
  // vector.
  Candidate masked = best(problem, cpu("x86-64-v3", 2));
  EXPECT_EQ(isStaged(masked), 0);
  EXPECT_EQ(masked.plan.registers()[1], 8);
  EXPECT_EQ(isStaged(best(problem, cpu("x86-64-v2", 2))), 1);
  Problem narrow = problem, planes = problem;
  narrow.operand = tracea::target::ElementType::BF16;
  planes.channelsLast = false;
  EXPECT_EQ(isStaged(best(planes, target)), 1);
  Candidate staged = best(narrow, target);
  EXPECT_EQ(isStaged(staged), 1);
  EXPECT_LE(patchBytes(narrow, {staged.plan.tile[0], staged.plan.tile[1], 0,
                                staged.plan.tile[2]}),
            static_cast<double>(target.cacheBytes(2)) / 8);

  const Variant *depthwise = Registry::builtin().find("conv2d.depthwise");
  ASSERT_NE(depthwise, nullptr);
  EXPECT_THAT(depthwise->whyNot(conv(1, 56, 64, 64, 3), target),
              HasSubstr("not depthwise"));
  problem.groupFilters = 2;
  EXPECT_THAT(depthwise->whyNot(problem, target), HasSubstr("not depthwise"));
}

//===----------------------------------------------------------------------===//
// The others
//===----------------------------------------------------------------------===//

TEST(CPURows, UnrollsUpToFourVectors) {
  Problem problem;
  for (OpKind kind : {OpKind::Softmax, OpKind::LayerNorm, OpKind::RMSNorm}) {
    problem.kind = kind;
    problem.columns = 4096;
    Candidate choice = best(problem, cpu("znver4", 1));
    EXPECT_EQ(choice.variant->name(), "row");
    EXPECT_THAT(choice.plan.tile, ElementsAre(1, 64));
    EXPECT_THAT(choice.plan.registers(), ElementsAre(1, 64));
    problem.columns = 20;
    EXPECT_THAT(best(problem, cpu("znver4", 1)).plan.tile, ElementsAre(1, 32));
    problem.columns = 0;
    EXPECT_THAT(best(problem, cpu("haswell", 1)).plan.tile, ElementsAre(1, 8));
    problem.columns = kUnknownExtent;
    EXPECT_THAT(best(problem, cpu("neoverse-n1", 1)).plan.tile,
                ElementsAre(1, 16));
  }
}

TEST(CPURows, BatchNormIsElementwise) {
  Problem problem;
  problem.kind = OpKind::BatchNorm;
  Candidate choice = best(problem, cpu("znver4", 1));
  EXPECT_EQ(choice.variant->name(), "elementwise");
  EXPECT_TRUE(choice.plan.tile.empty());
}

Problem attention(int64_t queries, int64_t keys, int64_t extent) {
  Problem problem;
  problem.kind = OpKind::Attention;
  problem.batch = 8;
  problem.m = queries;
  problem.n = keys;
  problem.k = problem.valueDim = extent;
  return problem;
}

TEST(CPUAttention, BlocksFitTheSecondLevel) {
  TargetDescription target = cpu("znver4", 2);
  for (int64_t extent : {16, 64, 128, 512}) {
    Candidate choice = best(attention(2048, 2048, extent), target);
    EXPECT_EQ(choice.variant->name(), "attention.flash");
    const Extents &tile = choice.plan.tile;
    EXPECT_LE(4 * (tile[0] + tile[1]) * 2 * extent, target.cacheBytes(2) / 2);
    EXPECT_EQ(tile[0] % choice.plan.registers()[0], 0);
    EXPECT_EQ(tile[1] % choice.plan.registers()[1], 0);
  }
}

// What a block of queries visits beyond a row's band is multiplied for nothing;
// without one larger blocks stage the keys less often.
TEST(CPUAttention, BandsHaveSmallerBlocks) {
  TargetDescription target = cpu("sapphirerapids", 1);
  Problem problem = attention(4096, 4096, 64);
  const Extents all = best(problem, target).plan.tile;
  problem.isCausal = true;
  const Extents causal = best(problem, target).plan.tile;
  EXPECT_LT(causal[0], all[0]);
  EXPECT_LT(causal[1], all[1]);
  problem.isCausal = false;
  problem.hasWindow = true;
  EXPECT_EQ(best(problem, target).plan.tile, causal);
}

TEST(CPUAttention, OneQuery) {
  Plan plan = best(attention(1, 4096, 128), cpu("znver4", 2)).plan;
  EXPECT_EQ(plan.tile[0], 1);
  EXPECT_EQ(plan.registers()[0], 1);
}

// Words of bf16 are multiplied where that is faster than multiply-adds; on
// tiles bands have blocks that are larger than those of vectors.
TEST(CPUAttention, WordsOfHalves) {
  Problem problem = attention(1024, 1024, 64);
  EXPECT_EQ(best(problem, cpu("sapphirerapids", 1)).variant->name(),
            "attention.flash");
  problem.operand = problem.second = ElementType::BF16;
  problem.result = ElementType::BF16;
  Candidate vectors = best(problem, cpu("znver4", 1));
  EXPECT_EQ(vectors.variant->name(), "attention.dot");
  EXPECT_EQ(vectors.plan.unit, UnitKind::Vector);
  for (const char *name : {"cooperlake", "haswell"})
    EXPECT_EQ(best(problem, cpu(name, 1)).variant->name(), "attention.flash");

  TargetDescription target = cpu("sapphirerapids", 1);
  Candidate tiles = best(problem, target);
  EXPECT_EQ(tiles.variant->name(), "attention.dot");
  EXPECT_EQ(tiles.plan.unit, UnitKind::AMX);
  EXPECT_THAT(tiles.plan.tile, ElementsAre(1024, 512));
  problem.isCausal = true;
  EXPECT_THAT(best(problem, target).plan.tile, ElementsAre(256, 256));
  problem.isCausal = false;

  // A word may reach beyond the last key: the tile of scores has it.
  Plan narrow = tiles.plan;
  narrow.registers() = {16, 16};
  EXPECT_THAT(checkSchedule(Registry::builtin(), problem, target,
                            "attention.dot", narrow),
              HasSubstr("the columns of the register tile must be a multiple "
                        "of 32, found 16"));
  // No rows of a block of the mask are those of a tile of the unit.
  problem.maskRows = problem.maskColumns = 8;
  EXPECT_EQ(best(problem, target).variant->name(), "linalg");
  problem.maskRows = 8;
  problem.maskColumns = 32;
  EXPECT_NE(best(problem, target).plan.unit, UnitKind::AMX);
}

TEST(CPUAttention, UnknownOrLargeHeadsFallBack) {
  for (int64_t extent : {kUnknownExtent, int64_t(513)}) {
    std::vector<Candidate> ranked =
        rank(Registry::builtin(), attention(64, 64, extent), cpu("znver4", 1));
    EXPECT_EQ(ranked.front().variant->name(), "linalg");
    EXPECT_THAT(ranked[1].refusal, HasSubstr("the extent of a query"));
  }
}

TEST(CPUFallback, ServesEverything) {
  Problem problem;
  for (OpKind kind :
       {OpKind::Gemm, OpKind::Conv2D, OpKind::Softmax, OpKind::BatchNorm,
        OpKind::LayerNorm, OpKind::RMSNorm, OpKind::Attention}) {
    problem.kind = kind;
    std::vector<Candidate> ranked =
        rank(Registry::builtin(), problem, cpu("x86-64-v2", 1));
    auto linalg = std::find_if(ranked.begin(), ranked.end(),
                               [](const Candidate &candidate) {
                                 return candidate.variant->name() == "linalg";
                               });
    ASSERT_NE(linalg, ranked.end());
    EXPECT_TRUE(linalg->accepted());
    EXPECT_FALSE(ranked.front().variant->isFallback());
  }
}

//===----------------------------------------------------------------------===//
// Every choice passes its own check, on every CPU of the tables
//===----------------------------------------------------------------------===//

TEST(CPUVariants, PlansPassTheirOwnCheck) {
  const int64_t extents[] = {kUnknownExtent,  0, 1, 3, 17, 64, 1000, 1 << 20,
                             int64_t(1) << 40};
  const ElementType types[] = {ElementType::F32, ElementType::F64,
                               ElementType::I32};
  for (const TargetDescription &entry : tracea::target::all()) {
    if (entry.kind != TargetKind::CPU)
      continue;
    for (int cores : {1, 3, 64}) {
      TargetDescription target = entry;
      target.cores = cores;
      for (ElementType type : types)
        for (int64_t a : extents)
          for (int64_t b : extents)
            for (int64_t c :
                 {kUnknownExtent, int64_t(0), int64_t(5), int64_t(1) << 40}) {
              Problem problem = gemm(a, b, c, type);
              problem.result = ElementType::F16;
              for (const Candidate &candidate :
                   rank(Registry::builtin(), problem, target)) {
                // What cannot serve the problem says so; what can has a plan.
                EXPECT_EQ(candidate.refusal,
                          candidate.variant->whyNot(problem, target));
                if (!candidate.accepted())
                  continue;
                EXPECT_GE(candidate.cycles, 0); // nothing to do costs nothing
                EXPECT_TRUE(std::isfinite(candidate.cycles));
              }
            }
    }
  }
}

TEST(CPUVariants, ConvPlansPassTheirOwnCheck) {
  for (const char *name : {"x86-64-v2", "haswell", "znver4", "neoverse-n1"})
    for (int64_t size : {kUnknownExtent, int64_t(0), int64_t(1), int64_t(57),
                         int64_t(1) << 40})
      for (int64_t channels : {kUnknownExtent, int64_t(0), int64_t(1),
                               int64_t(67), int64_t(1) << 40})
        for (int64_t filters :
             {kUnknownExtent, int64_t(1), int64_t(131), int64_t(1) << 40})
          for (int64_t taps : {1, 3, 31}) {
            Problem problem = conv(1, size, channels, filters, taps, 2);
            problem.result = ElementType::F16;
            problem.groups = 32;
            std::vector<Candidate> ranked =
                rank(Registry::builtin(), problem, cpu(name, 2));
            EXPECT_FALSE(ranked.front().variant->isFallback());
            EXPECT_GT(ranked.front().cycles, 0);
          }
}

TEST(CPUVariants, WrongPlansAreRefused) {
  TargetDescription target = cpu("znver4", 2);
  const Registry &registry = Registry::builtin();
  struct Wrong {
    Problem problem;
    const char *variant;
    Extents tile;
    schedule::Extents registers;
    const char *reason;
  };
  Problem square = gemm(512, 512, 512);
  Problem image = conv(1, 56, 64, 64, 3);
  Problem heads = attention(512, 512, 64);
  Problem rows;
  rows.kind = OpKind::Softmax;
  const Wrong cases[] = {
      {square, "gemm.packed", {64, 64, 64}, {8, 32}, "must have 4 extents"},
      {square,
       "gemm.packed",
       {64, 64, 64, 64},
       {8, 0},
       "expected 'registers' of 1 to 4096, found 0"},
      {square,
       "gemm.packed",
       {64, 64, 64, 64},
       {0, 0},
       "expected 'registers' with 2 extents, found none"},
      {square, "gemm.packed", {64, 64, 0, 64}, {8, 32}, "must lie in"},
      {square,
       "gemm.packed",
       {int64_t(1) << 60, 64, 64, 64},
       {8, 32},
       "must lie in"},
      {square, "gemm.packed", {63, 64, 64, 64}, {8, 32}, "tile extent m"},
      {square, "gemm.packed", {64, 65, 64, 64}, {8, 32}, "tile extent n"},
      {square, "gemm.packed", {64, 64, 64, 65}, {8, 32}, "staged m"},
      {heads, "attention.flash", {60, 64}, {6, 32}, "power of two"},
      {square, "gemm.packed", {64, 64, 64, 64}, {8, 24}, "multiple of 16"},
      {square, "gemm.packed", {64, 64, 64, 64}, {64, 32}, "more than 64"},
      {square, "linalg", {1}, {}, "takes no tile"},
      {image, "conv2d.patch", {4, 8, 64}, {8, 32}, "must have 4 extents"},
      {image, "conv2d.patch", {4, 12, 64, 64}, {8, 32}, "width"},
      {image, "conv2d.patch", {4, 8, 48, 64}, {8, 32}, "filters"},
      {image,
       "conv2d.patch",
       {1 << 20, 1 << 20, 64, 1 << 20},
       {8, 32},
       "bytes"},
      {image, "conv2d.depthwise", {4, 8, 64}, {8, 32}, "not depthwise"},
      {heads, "attention.flash", {64, 100}, {8, 32}, "keys"},
      {heads, "attention.flash", {60, 64}, {8, 32}, "queries"},
      {heads, "attention.flash", {1 << 20, 1 << 20}, {8, 32}, "bytes"},
      {rows, "row", {2, 64}, {2, 64}, "one row"},
      {rows, "row", {1, 64}, {1, 32}, "must be equal"},
  };
  for (const Wrong &wrong : cases) {
    Plan plan = registry.find(wrong.variant)->emptyPlan();
    plan.tile = wrong.tile;
    if (plan.params.getIf<schedule::RegisterTile>())
      plan.registers() = wrong.registers;
    EXPECT_THAT(
        checkSchedule(registry, wrong.problem, target, wrong.variant, plan),
        HasSubstr(wrong.reason));
  }
}

int64_t splitOf(const Candidate &choice) {
  return choice.plan.as<schedule::CPUGemm>().split;
}

// Long sums of few tiles are cut into parts for the cores there are, whatever
// multiplies them; a batch, many tiles or short sums are shared as they are.
TEST(CPUGemm, LongSumsOfFewTilesAreSplit) {
  TargetDescription one = cpu("sapphirerapids", 1);
  TargetDescription two = cpu("sapphirerapids", 2);
  Candidate direct = best(gemm(64, 64, 16384), two);
  EXPECT_EQ(direct.variant->name(), "gemm.direct");
  EXPECT_EQ(splitOf(direct), 2);
  EXPECT_THAT(direct.plan.tile, ElementsAre(64, 64, 64));
  EXPECT_EQ(splitOf(best(gemm(64, 64, 16384), one)), 1);
  EXPECT_GT(splitOf(best(gemm(64, 64, 16384), cpu("sapphirerapids", 8))), 2);
  Candidate packed = best(gemm(128, 128, 16384), two);
  EXPECT_EQ(packed.variant->name(), "gemm.packed");
  EXPECT_EQ(splitOf(packed), 2);
  Problem bytes = gemm(128, 128, 1 << 18, ElementType::I8);
  bytes.accumulator = ElementType::I32;
  bytes.result = ElementType::I32;
  Candidate words = best(bytes, two);
  EXPECT_EQ(words.variant->name(), "gemm.dot");
  EXPECT_EQ(splitOf(words), 2);
  for (const Problem &problem :
       {gemm(1024, 1024, 1024), gemm(64, 64, 64), gemm(4096, 16, 4096),
        gemm(8, 4096, 4096), gemm(kUnknownExtent, 128, 16384),
        gemm(128, 128, kUnknownExtent)})
    EXPECT_EQ(splitOf(best(problem, two)), 1)
        << problem.m << " " << problem.n << " " << problem.k;
  Problem batch = gemm(64, 64, 64);
  batch.batch = 128;
  EXPECT_EQ(splitOf(best(batch, two)), 1);
}

// Of a B in the second level with few columns, register tiles take whole rows:
// as many rows of A as leave registers for them, and of few products shares.
TEST(CPUGemm, FewColumnsAreOnePanel) {
  TargetDescription one = cpu("sapphirerapids", 1);
  TargetDescription two = cpu("sapphirerapids", 2);
  for (int64_t n : {64, 80, 96}) {
    Candidate choice = best(gemm(64, n, 64), one);
    EXPECT_EQ(choice.variant->name(), "gemm.direct") << n;
    EXPECT_THAT(choice.plan.tile, ElementsAre(64, n, 64));
    EXPECT_THAT(choice.plan.registers(), ElementsAre(4, n));
  }
  EXPECT_THAT(best(gemm(64, 64, 64), two).plan.tile, ElementsAre(32, 64, 64));
  EXPECT_THAT(best(gemm(48, 48, 48), two).plan.tile, ElementsAre(24, 48, 48));
  // A batch is shared as it is.
  Problem batch = gemm(64, 64, 64);
  batch.batch = 128;
  EXPECT_THAT(best(batch, two).plan.tile, ElementsAre(64, 64, 64));
  batch.n = 33;
  EXPECT_THAT(best(batch, two).plan.tile, ElementsAre(64, 48, 64));
  // More columns than registers have room for beside four rows, and a B that is
  // larger than half of the second level.
  EXPECT_LT(best(gemm(64, 112, 64), one).plan.registers()[1], 112);
  EXPECT_EQ(best(gemm(64, 64, 4096), one).plan.registers()[1], 64);
  EXPECT_EQ(best(gemm(64, 64, 4097), one).plan.registers()[1], 32);
}

// Rows of A that are whole pages apart fill one set of the first level.
TEST(CPUGemm, RowsOfPagesAreFew) {
  TargetDescription target = cpu("sapphirerapids", 1);
  EXPECT_THAT(best(gemm(4096, 16, 4096), target).plan.registers(),
              ElementsAre(8, 16));
  EXPECT_THAT(best(gemm(4096, 16, 4000), target).plan.registers(),
              ElementsAre(16, 16));
}

// Beside one panel of B a unit reads rows of A once, and where they lie if they
// are whole tiles there.
TEST(CPUGemm, RowsOfTilesAreReadWhereTheyLie) {
  for (int cores : {1, 2}) {
    TargetDescription target = cpu("sapphirerapids", cores);
    auto plan = [&](int64_t m, int64_t n, int64_t k) {
      return best(narrow(m, n, k, ElementType::I8), target).plan;
    };
    auto stagedOf = [](const Plan &plan) {
      return plan.params.as<schedule::CPUGemm>().staged;
    };
    Plan found = plan(4096, 16, 4096);
    EXPECT_EQ(found.unit, UnitKind::AMX);
    EXPECT_EQ(stagedOf(found), 0);
    EXPECT_THAT(found.registers(), ElementsAre(32, 16));
    EXPECT_EQ(found.tile[2], 4096);
    EXPECT_EQ(stagedOf(plan(4080, 16, 4096)), 0);
    // Rows, or words of k, that fill no tile, and rows that are read again.
    EXPECT_EQ(stagedOf(plan(4097, 16, 4096)), 1);
    EXPECT_EQ(stagedOf(plan(4096, 16, 4095)), 1);
    EXPECT_EQ(stagedOf(plan(4096, 32, 4096)), 1);

    auto check = [&](int64_t m, Plan plan) {
      return checkSchedule(Registry::builtin(),
                           narrow(m, 16, 4096, ElementType::I8), target,
                           "gemm.dot", plan);
    };
    EXPECT_EQ(check(4096, found), "");
    EXPECT_THAT(check(4097, found), HasSubstr("as whole tiles of a unit"));
    found.tile[2] = 4160;
    EXPECT_THAT(check(4096, found), HasSubstr("of whole blocks of k"));
    found.unit = UnitKind::Vector;
    EXPECT_THAT(check(4096, found), HasSubstr("by units that multiply tiles"));
  }
}

// Rows of B are read from end to end by parts of k: a share of their columns
// would be runs too short for a processor that looks ahead within pages.
TEST(CPUGemm, FewRowsOfLargeMatricesAreSplit) {
  TargetDescription target = cpu("sapphirerapids", 2);
  for (int64_t m : {1, 8, 16}) {
    Candidate few = best(gemm(m, 1000, 1000), target);
    EXPECT_EQ(few.variant->name(), "gemm.direct") << m;
    EXPECT_EQ(splitOf(few), 2) << m;
    EXPECT_GE(few.plan.tile[1], 1000) << m;
  }
}

TEST(CPUGemm, PartsHaveSteps) {
  TargetDescription target = cpu("sapphirerapids", 2);
  Problem problem = gemm(64, 64, 16384);
  Candidate choice = best(problem, target);
  EXPECT_THAT(choice.variant->reasoning(problem, target, choice.plan),
              HasSubstr("2 parts of its sums"));
  EXPECT_THAT(choice.variant->whyAlone(problem, target, choice.plan),
              HasSubstr("another kernel adds up the parts"));
  EXPECT_EQ(choice.variant->check(problem, target, choice.plan), "");
  choice.plan.tile[2] = 16384;
  EXPECT_THAT(choice.variant->check(problem, target, choice.plan),
              HasSubstr("k has fewer steps than the 2 parts of the sum"));
}

TEST(CPUVariants, RingsHaveOneSlot) {
  TargetDescription target = cpu("znver4", 2);
  Problem square = gemm(512, 512, 512);
  Candidate choice = best(square, target);
  auto check = [&](int64_t slots, int64_t group) {
    Plan plan = choice.plan;
    plan.as<schedule::CPUGemm>().slots = slots;
    plan.as<schedule::CPUGemm>().group = group;
    return choice.variant->check(square, target, plan);
  };
  EXPECT_EQ(check(1, 0), "");
  EXPECT_THAT(check(2, 0), HasSubstr("one slot"));
  EXPECT_THAT(check(1, 2), HasSubstr("no raster groups"));
}

TEST(CPUVariants, PlansHaveTheFieldsOfTheFamily) {
  TargetDescription target = cpu("znver4", 2);
  Problem square = gemm(512, 512, 512);
  Plan plan = best(square, target).plan;
  EXPECT_EQ(
      checkSchedule(Registry::builtin(), square, target, "gemm.packed", plan),
      "");
  plan.params = schedule::WarpgroupGemm();
  EXPECT_THAT(
      checkSchedule(Registry::builtin(), square, target, "gemm.packed", plan),
      HasSubstr("fields of family 'cpu_gemm' are expected, found "
                "'warpgroup_gemm'"));
}

} // namespace
