//===- CPUVariantsTest.cpp - Choices for CPUs -----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CPUProblems.h"

#include "gmock/gmock.h"

#include <algorithm>

using namespace tracea::doctor;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

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
