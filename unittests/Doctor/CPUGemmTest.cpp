//===- CPUGemmTest.cpp - Choices for products on CPUs ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CPUProblems.h"

#include "gmock/gmock.h"

#include <array>

using namespace tracea::doctor;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

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

} // namespace
