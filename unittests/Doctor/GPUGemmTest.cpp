//===- GPUGemmTest.cpp - Choices for products on GPUs ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GPUGemmModel.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <functional>
#include <limits>

using namespace tracea::doctor;
using testing::ElementsAre;
using testing::HasSubstr;
using Extents = std::vector<int64_t>;

namespace {

const TargetDescription &hopper() {
  static const TargetDescription target = *tracea::target::lookup("sm_90a");
  return target;
}

/// A [m, k] times B, whose rows run along k unless `rowsAlongN`.
Problem gemm(int64_t m, int64_t n, int64_t k, bool rowsAlongN = false,
             ElementType type = ElementType::BF16) {
  Problem problem;
  problem.kind = OpKind::Gemm;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.operand = problem.second = type;
  problem.accumulator = ElementType::F32;
  problem.result = type;
  problem.transposeSecond = !rowsAlongN;
  return problem;
}

Candidate best(const Problem &problem,
               const TargetDescription &target = hopper()) {
  return rank(Registry::builtin(), problem, target).front();
}

Extents tileOf(const Problem &problem) {
  Candidate candidate = best(problem);
  EXPECT_TRUE(candidate.accepted()) << candidate.refusal;
  return candidate.plan.tile;
}

schedule::WarpgroupGemm &fields(Plan &plan) {
  return plan.as<schedule::WarpgroupGemm>();
}
const schedule::WarpgroupGemm &fields(const Plan &plan) {
  return plan.as<schedule::WarpgroupGemm>();
}

const Variant &variant() { return *Registry::builtin().find("gemm.warpgroup"); }

TEST(GPUGemm, TilesFollowTheGrid) {
  // Large grids take the tile with most multiplies for each byte.
  EXPECT_THAT(tileOf(gemm(4096, 4096, 4096)), ElementsAre(128, 256, 64));
  EXPECT_THAT(tileOf(gemm(4096, 11008, 4096)), ElementsAre(128, 256, 64));
  EXPECT_THAT(tileOf(gemm(2048, 2048, 2048)), ElementsAre(128, 256, 64));
  // Small ones the tile that gives every multiprocessor one.
  EXPECT_THAT(tileOf(gemm(1024, 1024, 1024)), ElementsAre(64, 128, 64));
  EXPECT_THAT(tileOf(gemm(512, 4096, 4096)), ElementsAre(128, 128, 64));
  EXPECT_THAT(tileOf(gemm(256, 4096, 4096)), ElementsAre(64, 128, 64));
  EXPECT_THAT(tileOf(gemm(128, 4096, 4096)), ElementsAre(64, 64, 64));
  EXPECT_THAT(tileOf(gemm(64, 8192, 8192)), ElementsAre(64, 64, 64));
  // Widths between, where they fill the last wave.
  EXPECT_THAT(tileOf(gemm(8192, 8192, 8192)), ElementsAre(128, 192, 64));
  EXPECT_THAT(tileOf(gemm(3072, 3072, 3072)), ElementsAre(128, 192, 64));
  EXPECT_THAT(tileOf(gemm(1536, 1536, 1536)), ElementsAre(128, 144, 64));
  EXPECT_THAT(tileOf(gemm(1536, 1536, 1536, /*rowsAlongN=*/true)),
              ElementsAre(144, 128, 64));
}

TEST(GPUGemm, UnknownExtentsAreTakenForTypicalOnes) {
  Candidate candidate =
      best(gemm(kUnknownExtent, kUnknownExtent, kUnknownExtent));
  EXPECT_THAT(candidate.plan.tile, ElementsAre(128, 256, 64));
  std::string why = variant().reasoning(gemm(kUnknownExtent, 4096, 4096),
                                        hopper(), candidate.plan);
  EXPECT_THAT(why, HasSubstr("32 x 16 tiles are 4 waves on 132 "
                             "multiprocessors"));
  EXPECT_THAT(why, HasSubstr("that only the run knows"));
}

TEST(GPUGemm, FewRowsAreColumnsOfTheUnit) {
  Candidate candidate = best(gemm(16, 4096, 4096));
  EXPECT_EQ(candidate.variant->name(), "gemm.skinny");
  EXPECT_EQ(candidate.plan.tile[0], 16);
  EXPECT_EQ(best(gemm(16, kUnknownExtent, kUnknownExtent)).variant->name(),
            "gemm.skinny");
  EXPECT_EQ(best(gemm(512, 4096, 4096)).variant->name(), "gemm.warpgroup");
}

TEST(GPUGemm, LongSumsOfFewTilesAreSplit) {
  Candidate candidate = best(gemm(512, 512, 16384));
  EXPECT_GT(fields(candidate.plan).split, 1);
  EXPECT_THAT(candidate.variant->reasoning(gemm(512, 512, 16384), hopper(),
                                           candidate.plan),
              HasSubstr(" parts are "));
  // What barriers of a cluster take is more than another kernel does.
  EXPECT_EQ(fields(candidate.plan).cluster, 1);
  EXPECT_EQ(fields(best(gemm(1024, 1024, 8192)).plan).cluster, 1);
  EXPECT_EQ(fields(best(gemm(256, 256, 65536)).plan).cluster, 1);
  EXPECT_EQ(fields(best(gemm(4096, 4096, 4096)).plan).split, 1);
  EXPECT_EQ(fields(best(gemm(1024, 1024, 1024)).plan).split, 1);
  EXPECT_EQ(fields(best(gemm(512, 512, kUnknownExtent)).plan).split, 1);
}

TEST(GPUGemm, RowsThatBeginAnywhereAreLeftToAnother) {
  auto rankOpen = [&](Problem problem, bool isOpen = true) {
    problem.hasOpenRows = isOpen;
    std::vector<Candidate> candidates =
        rank(Registry::builtin(), problem, hopper());
    const Candidate *other =
        findOtherwise(candidates, candidates.front(), problem, hopper());
    std::string names(candidates.front().variant->name());
    return other ? names + ", " + std::string(other->variant->name()) : names;
  };
  Problem open = gemm(kUnknownExtent, kUnknownExtent, kUnknownExtent);
  EXPECT_EQ(rankOpen(open), "gemm.warpgroup, gemm.warp");
  EXPECT_EQ(rankOpen(open, /*isOpen=*/false), "gemm.warpgroup");
  EXPECT_EQ(rankOpen(gemm(16, kUnknownExtent, kUnknownExtent)),
            "gemm.skinny, gemm.warp");

  // Where another kernel has to follow there is one kernel for all rows: for
  // parts of sums, reductions, and beside padded operands.
  Problem parts = gemm(512, 512, 16384);
  EXPECT_GT(fields(best(parts).plan).split, 1);
  parts.hasOpenRows = true;
  for (const Candidate &candidate :
       rankPlans(Registry::builtin(), parts, hopper()))
    if (candidate.variant->asksForRows())
      EXPECT_EQ(candidate.variant->whyAlone(parts, hopper(), candidate.plan),
                "");
  Problem reduces = open;
  reduces.reductions = 1;
  EXPECT_EQ(rankOpen(reduces), "gemm.warp");
  EXPECT_EQ(rankOpen(gemm(4096, kUnknownExtent, 1001, true)), "gemm.warp");
  EXPECT_EQ(rankOpen(gemm(4096, 4096, 1001, true), /*isOpen=*/false),
            "gemm.warpgroup");
}

TEST(GPUGemm, SchedulesOfTwoPlansAreChecked) {
  Problem problem = gemm(4096, kUnknownExtent, 4096);
  problem.hasOpenRows = true;
  const Registry &registry = Registry::builtin();
  std::vector<Candidate> candidates = rank(registry, problem, hopper());
  const Candidate &first = candidates.front();
  const Candidate &second =
      *findOtherwise(candidates, first, problem, hopper());
  auto check = [&](const Variant &variant, const Plan &plan,
                   const Variant &other, const Plan &otherPlan) {
    return checkOtherwise(registry, problem, hopper(), variant.name(), plan,
                          other.name(), otherPlan);
  };
  EXPECT_EQ(check(*first.variant, first.plan, *second.variant, second.plan),
            "");
  EXPECT_THAT(check(*second.variant, second.plan, *second.variant, second.plan),
              HasSubstr("'gemm.warp' takes rows that begin anywhere"));
  EXPECT_THAT(check(*first.variant, first.plan, *first.variant, first.plan),
              HasSubstr("a kernel that takes rows that begin anywhere is "
                        "expected, found variant 'gemm.warpgroup'"));
  const Variant &loops = *registry.find("linalg");
  EXPECT_THAT(
      check(*first.variant, first.plan, loops, loops.plan(problem, hopper())),
      HasSubstr("found variant 'linalg'"));
  Plan wrong = second.plan;
  wrong.tile = {1, 2, 3};
  EXPECT_THAT(check(*first.variant, first.plan, *second.variant, wrong),
              HasSubstr("otherwise: "));
  Plan split = first.plan;
  fields(split).split = 2;
  EXPECT_THAT(check(*first.variant, split, *second.variant, second.plan),
              HasSubstr("adds up the parts"));
}

TEST(GPUGemm, EveryEntryOfTheTableHolds) {
  for (bool isTransposed : {false, true})
    for (const WarpgroupTile &tile : warpgroupTiles(isTransposed))
      EXPECT_EQ(checkSchedule(Registry::builtin(), gemm(16, 4096, 4096),
                              hopper(),
                              isTransposed ? "gemm.skinny" : "gemm.warpgroup",
                              planOf(tile)),
                "");
}

TEST(GPUGemm, WideResultsLeaveLessRoomForSlots) {
  Problem problem = gemm(4096, 4096, 4096);
  EXPECT_EQ(fields(best(problem).plan).slots, 4);
  problem.result = ElementType::F32;
  EXPECT_THAT(best(problem).plan.tile, ElementsAre(128, 256, 64));
  EXPECT_EQ(fields(best(problem).plan).slots, 3);
  EXPECT_LE(sharedBytesOf(problem, {128, 256, 64, 3, 2, 16}),
            hopper().shared.perWorkgroup);
}

TEST(GPUGemm, TheLastWaveCounts) {
  WarpgroupTile tile = warpgroupTiles().front();
  auto waves = [&](int64_t rows) {
    return estimate(gemm(rows * tile.m, tile.n, 4096), hopper(), tile,
                    /*isTransposed=*/false)
        .waves;
  };
  EXPECT_EQ(waves(132), 1);
  EXPECT_EQ(waves(133), 2);
  EXPECT_EQ(waves(264), 2);
}

TEST(GPUGemm, HugeExtentsDoNotOverflow) {
  constexpr int64_t huge = std::numeric_limits<int64_t>::max();
  Candidate candidate = best(gemm(huge, huge, huge));
  EXPECT_TRUE(candidate.accepted());
  EXPECT_GT(candidate.cycles, 0);
  EXPECT_TRUE(best(gemm(0, 0, 0)).accepted());
}

TEST(GPUGemm, RefusalsNameTheReason) {
  auto reason = [](const Problem &problem, const char *target = "sm_90a") {
    return variant().whyNot(problem, *tracea::target::lookup(target));
  };
  EXPECT_THAT(reason(gemm(512, 512, 512), "sm_80"),
              HasSubstr("target 'sm_80' has no unit 'wgmma'"));
  EXPECT_THAT(reason(gemm(512, 512, 512, false, ElementType::F64)),
              HasSubstr("the unit does not multiply f64"));
  EXPECT_THAT(reason(gemm(512, 512, 512, true, ElementType::F32)),
              HasSubstr("where rows of both operands run along k"));
  Problem mixed = gemm(512, 512, 512);
  mixed.second = ElementType::F16;
  EXPECT_THAT(reason(mixed), HasSubstr("both operands of one type"));
  Problem bytes = gemm(512, 512, 512, false, ElementType::I8);
  EXPECT_THAT(reason(bytes), HasSubstr("the unit adds up in i32"));
  bytes.accumulator = ElementType::I32;
  EXPECT_EQ(reason(bytes), "");
  EXPECT_EQ(variant().plan(bytes, hopper()).tile[2], 128);
  for (ElementType type : {ElementType::F8E4M3FN, ElementType::F8E5M2}) {
    Problem floats = gemm(512, 512, 512, false, type);
    EXPECT_EQ(reason(floats), "");
    EXPECT_EQ(variant().plan(floats, hopper()).tile[2], 128);
    floats.second = ElementType::F16;
    EXPECT_THAT(reason(floats), HasSubstr("both operands of one type"));
    EXPECT_THAT(reason(gemm(512, 512, 512, true, type)),
                HasSubstr("where rows of both operands run along k"));
  }
}

TEST(GPUGemm, SinglePrecisionIsRoundedOnlyWhenAskedFor) {
  Problem problem = gemm(4096, 4096, 4096, false, ElementType::F32);
  EXPECT_THAT(variant().whyNotUnasked(problem, hopper()),
              HasSubstr("rounds f32 to tf32; the attribute "
                        "'tracea.allow_tf32' of the function"));
  problem.allowTF32 = true;
  EXPECT_EQ(variant().whyNotUnasked(problem, hopper()), "");
  Plan plan = variant().plan(problem, hopper());
  EXPECT_EQ(plan.tile[2], 32);
  EXPECT_EQ(checkSchedule(Registry::builtin(), problem, hopper(),
                          "gemm.warpgroup", plan),
            "");
}

TEST(GPUGemm, PlansAreChecked) {
  Problem problem = gemm(4096, 4096, 4096, /*rowsAlongN=*/true);
  Plan good = best(problem).plan;
  auto reason = [&](const std::function<void(Plan &)> &change) {
    Plan plan = good;
    change(plan);
    return variant().check(problem, hopper(), plan);
  };
  EXPECT_EQ(reason([](Plan &) {}), "");
  EXPECT_THAT(reason([](Plan &p) { p.unit = UnitKind::MMASync; }),
              HasSubstr("the unit must be wgmma"));
  EXPECT_THAT(reason([](Plan &p) { p.tile = {128, 256}; }),
              HasSubstr("3 extents, found 2"));
  EXPECT_THAT(reason([](Plan &p) { p.tile[0] = 64; }),
              HasSubstr("64 for each consumer"));
  EXPECT_THAT(reason([](Plan &p) { p.tile[1] = 264; }),
              HasSubstr("from 8 to 256"));
  EXPECT_EQ(reason([](Plan &p) { p.tile[1] = 144; }), "");
  EXPECT_THAT(reason([](Plan &p) { p.tile[2] = 32; }),
              HasSubstr("a multiple of 64"));
  EXPECT_THAT(reason([](Plan &p) { fields(p).consumers = 4; }),
              HasSubstr("1 or 2 consumers"));
  EXPECT_THAT(reason([](Plan &p) { fields(p).slots = 1; }),
              HasSubstr("at least 2 slots"));
  EXPECT_THAT(reason([](Plan &p) { fields(p).split = 0; }),
              HasSubstr("expected 'split' of 1 to 64, found 0"));
  problem.k = 100;
  EXPECT_THAT(reason([](Plan &p) { fields(p).split = 3; }),
              HasSubstr("k has fewer steps than the 3 parts"));
  problem.k = 4096;
  EXPECT_THAT(reason([](Plan &p) { fields(p).slots = 5; }),
              HasSubstr("bytes of shared memory, more than 232448"));
}

TEST(GPUGemm, TeamsPingPongWhereTilesEndOften) {
  // Short sums end often; long ones of four waves are shared by two teams.
  Candidate brief = best(gemm(16384, 4096, 1024));
  EXPECT_EQ(fields(brief.plan).pingPong, 2);
  EXPECT_EQ(fields(brief.plan).consumers, 1);
  EXPECT_THAT(brief.plan.tile, ElementsAre(128, 192, 64));
  EXPECT_EQ(fields(best(gemm(4096, 4096, 4096)).plan).pingPong, 1);
  // Nobody is there to take turns with where each multiprocessor has one tile.
  EXPECT_EQ(fields(best(gemm(2048, 2048, 2048)).plan).pingPong, 1);

  // One team alone waits for what it loads, the longer the more sums it holds.
  Problem residual = gemm(16384, 4096, 1024);
  residual.addends = 1;
  EXPECT_THAT(best(residual).plan.tile, ElementsAre(128, 128, 64));
  EXPECT_EQ(fields(best(residual).plan).pingPong, 2);
  // An epilogue that takes long makes turns worth more.
  auto gain = [](Problem problem) {
    Plan turns = best(gemm(16384, 4096, 1024)).plan, together = turns;
    fields(together).pingPong = 1;
    fields(together).consumers = 2;
    return variant().cycles(problem, hopper(), together) /
           variant().cycles(problem, hopper(), turns);
  };
  Problem functions = gemm(16384, 4096, 1024);
  functions.functions = 2;
  EXPECT_GT(gain(functions), gain(gemm(16384, 4096, 1024)));
}

TEST(GPUGemm, TurnsAreChecked) {
  Problem problem = gemm(16384, 4096, 1024);
  auto refusal = [&](std::function<void(Plan &)> change) {
    Plan plan = best(problem).plan;
    change(plan);
    return variant().check(problem, hopper(), plan);
  };
  EXPECT_EQ(refusal([](Plan &) {}), "");
  EXPECT_THAT(refusal([](Plan &plan) { fields(plan).consumers = 2; }),
              HasSubstr("2 teams, each a consumer by itself"));
  EXPECT_THAT(refusal([](Plan &plan) { fields(plan).split = 2; }),
              HasSubstr("whole sums"));
  EXPECT_THAT(refusal([](Plan &plan) { fields(plan).residents = 2; }),
              HasSubstr("no other workgroup"));
  EXPECT_THAT(refusal([](Plan &plan) {
                plan.tile[1] = 256;
                fields(plan).slots = 2;
              }),
              HasSubstr("at most 192 sums a thread"));
  // Tiles of any number of batches are taken in turn as well.
  problem.batch = kUnknownExtent;
  problem.m = kUnknownExtent;
  Plan plan = best(gemm(16384, 4096, 1024)).plan;
  EXPECT_EQ(variant().check(problem, hopper(), plan), "");
  // Two operands of 16 bits leave room for 160 sums, two of 32 bits for 96.
  Problem residuals = gemm(16384, 4096, 1024);
  residuals.addends = 2;
  residuals.addendBytes = 4;
  EXPECT_THAT(variant().check(residuals, hopper(), plan),
              HasSubstr("at most 160 sums a thread"));
  residuals.addendBytes = 8;
  EXPECT_THAT(variant().check(residuals, hopper(), plan),
              HasSubstr("at most 96 sums a thread"));
  Problem reduced = gemm(16384, 4096, 1024);
  reduced.reductions = 1;
  EXPECT_THAT(variant().check(reduced, hopper(), plan),
              HasSubstr("at most 128 sums a thread"));
  reduced.auxiliaries.push_back(ElementType::BF16);
  EXPECT_THAT(variant().check(reduced, hopper(), plan),
              HasSubstr("at most one result beside the first, found 2"));
}

TEST(GPUGemm, OperandsAreCopiedToWholeLinesWhereThatPays) {
  auto linesOf = [](const Problem &problem) {
    return fields(best(problem).plan).lines;
  };
  // Rows of 8208 bytes; those of the second operand are more in a tile.
  EXPECT_EQ(linesOf(gemm(4104, 4104, 4104)), 2);
  // A small one that many tiles read.
  EXPECT_EQ(linesOf(gemm(131072, 256, 1032)) & 2, 2);
  EXPECT_EQ(linesOf(gemm(1000, 1000, 1000)), 0);
  EXPECT_EQ(linesOf(gemm(4096, 4096, 4096)), 0);
  EXPECT_EQ(linesOf(gemm(kUnknownExtent, 4104, 4104)), 0);
  Plan plan = best(gemm(4096, 4096, 4096)).plan;
  fields(plan).lines = 1;
  EXPECT_THAT(variant().check(gemm(4096, 4096, 4096), hopper(), plan),
              HasSubstr("known to begin within lines"));
  Problem first = gemm(4104, 4104, 4096);
  first.transposeFirst = true;
  fields(plan).lines = 1;
  EXPECT_EQ(variant().check(first, hopper(), plan), "");
  fields(plan).lines = 3;
  EXPECT_NE(variant().check(first, hopper(), plan), "");
}

TEST(GPUGemm, ClustersShareTilesEvenly) {
  Problem problem = gemm(512, 512, 16384);
  Plan good = best(problem).plan;
  good.tile = {128, 128, 64};
  fields(good).consumers = 2;
  fields(good).slots = 5;
  fields(good).split = fields(good).cluster = 8;
  auto reason = [&](const std::function<void(Plan &)> &change) {
    Plan plan = good;
    change(plan);
    return variant().check(problem, hopper(), plan);
  };
  EXPECT_EQ(reason([](Plan &) {}), "");
  EXPECT_THAT(variant().reasoning(problem, hopper(), good),
              HasSubstr(" in 8 parts, which a cluster adds up, are "));
  EXPECT_THAT(reason([](Plan &p) { fields(p).split = 2 * fields(p).cluster; }),
              HasSubstr("one workgroup for each of"));
  EXPECT_THAT(reason([](Plan &p) { fields(p).split = fields(p).cluster = 3; }),
              HasSubstr("1, 2, 4, 8 or 16"));
  EXPECT_THAT(reason([](Plan &p) { fields(p).split = fields(p).cluster = 32; }),
              HasSubstr("of 1 to 16, found 32"));
  EXPECT_THAT(reason([](Plan &p) {
                p.tile[1] = 96;
                fields(p).slots = 2;
              }),
              HasSubstr("32, 64, 128 or 256 columns"));
  // Its part takes room beside the ring.
  EXPECT_THAT(reason([](Plan &p) {
                p.tile = {128, 256, 64};
                fields(p).consumers = 2;
                fields(p).slots = 3;
              }),
              HasSubstr("bytes of shared memory"));
  TargetDescription without = hopper();
  without.async.maxClusterSize = 0;
  EXPECT_THAT(variant().check(problem, without, good),
              HasSubstr("has no clusters"));
}

} // namespace
