//===- GPUSimtGemmTest.cpp - Products by the lanes of a GPU ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Doctor/Registry.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace tracea::doctor;
using testing::HasSubstr;

namespace {

constexpr const char *kTargets[] = {"sm_70", "sm_75",  "sm_80", "sm_86",
                                    "sm_89", "sm_90a", "sm_120"};

TargetDescription target(const char *name) {
  return *tracea::target::lookup(name);
}

Problem gemm(int64_t m, int64_t n, int64_t k, ElementType type) {
  Problem problem;
  problem.kind = OpKind::Gemm;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.operand = problem.second = type;
  problem.accumulator = ElementType::F32;
  if (type == ElementType::I8 || type == ElementType::I32)
    problem.accumulator = ElementType::I32;
  if (type == ElementType::F64)
    problem.accumulator = ElementType::F64;
  problem.result = type;
  problem.transposeSecond = true;
  return problem;
}

Candidate best(const Problem &problem, const char *name) {
  return rank(Registry::builtin(), problem, target(name)).front();
}

const Variant &simt() { return *Registry::builtin().find("gemm.simt"); }
const Variant &split() { return *Registry::builtin().find("gemm.tf32x3"); }

TEST(GPUSimtGemm, IsTakenForWhatNoUnitMultiplies) {
  for (const char *name : kTargets)
    for (ElementType type :
         {ElementType::F32, ElementType::F64, ElementType::I32}) {
      Candidate found = best(gemm(4096, 4096, 4096, type), name);
      ASSERT_TRUE(found.accepted()) << name << ": " << found.refusal;
      EXPECT_EQ(found.variant->name(), "gemm.simt") << name;
    }
  // Of bytes that do not run along k.
  Problem across = gemm(1024, 1024, 1024, ElementType::I8);
  across.transposeSecond = false;
  EXPECT_EQ(best(across, "sm_90a").variant->name(), "gemm.simt");
}

TEST(GPUSimtGemm, IsTakenWhereThereAreNoCopiesBesideLanes) {
  for (const char *name : {"sm_70", "sm_75"})
    for (ElementType type :
         {ElementType::F16, ElementType::BF16, ElementType::I8})
      EXPECT_EQ(best(gemm(1024, 1024, 1024, type), name).variant->name(),
                "gemm.simt")
          << name;
}

TEST(GPUSimtGemm, LeavesUnitsWhatTheyMultiply) {
  for (const char *name : {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_120"})
    for (int64_t extent : {1, 16, 128, 4096})
      for (ElementType type :
           {ElementType::BF16, ElementType::F16, ElementType::I8})
        EXPECT_NE(
            best(gemm(extent, extent, extent, type), name).variant->name(),
            "gemm.simt")
            << name << " " << extent;
}

TEST(GPUSimtGemm, ConsentDecidesWhatF32Becomes) {
  for (const char *name : {"sm_80", "sm_86", "sm_90a", "sm_120"}) {
    Problem problem = gemm(4096, 4096, 4096, ElementType::F32);
    EXPECT_EQ(best(problem, name).variant->name(), "gemm.simt") << name;
    problem.transposeSecond = false;
    problem.allowTF32x3 = problem.allowTF32 = true;
    EXPECT_EQ(best(problem, name).variant->name(), "gemm.warp") << name;
  }
  // The units of gaming chips are no faster than three times the lanes.
  Problem problem = gemm(4096, 4096, 4096, ElementType::F32);
  problem.allowTF32x3 = true;
  for (const char *name : {"sm_80", "sm_90a"})
    EXPECT_EQ(best(problem, name).variant->name(), "gemm.tf32x3") << name;
  EXPECT_EQ(best(problem, "sm_75").variant->name(), "gemm.simt");
}

TEST(GPUSimtGemm, PlansHold) {
  constexpr int64_t extents[] = {0, 1, 17, 128, 1000, 65536, kUnknownExtent};
  for (const char *name : kTargets)
    for (int64_t m : extents)
      for (int64_t k : extents)
        for (ElementType type :
             {ElementType::F32, ElementType::F64, ElementType::F16,
              ElementType::I8, ElementType::I32}) {
          Problem problem = gemm(m, 4096, k, type);
          Plan plan = simt().plan(problem, target(name));
          EXPECT_EQ(simt().check(problem, target(name), plan), "")
              << name << " " << m << " " << k;
          EXPECT_GT(simt().cycles(problem, target(name), plan), 0);
        }
}

TEST(GPUSimtGemm, FewTilesAreSmallTiles) {
  Plan plan =
      simt().plan(gemm(4096, 4096, 4096, ElementType::F32), target("sm_90a"));
  EXPECT_EQ(plan.tile[0] * plan.tile[1], 128 * 128);
  // Measured on an H200: a wave of 64 x 128 is faster than four of 32 x 64.
  plan =
      simt().plan(gemm(1024, 1024, 1024, ElementType::F32), target("sm_90a"));
  EXPECT_THAT(plan.tile, testing::ElementsAre(64, 128, 16));
  plan = simt().plan(gemm(512, 512, 512, ElementType::F32), target("sm_90a"));
  EXPECT_LT(plan.tile[0] * plan.tile[1], 128 * 128);
  plan = simt().plan(gemm(1, 4096, 4096, ElementType::F32), target("sm_90a"));
  EXPECT_LE(plan.tile[0], 8);
}

TEST(GPUSimtGemm, CopiesThroughRegistersAreOneStepAhead) {
  Problem problem = gemm(4096, 4096, 4096, ElementType::F32);
  EXPECT_EQ(
      simt().plan(problem, target("sm_70")).as<schedule::LaneRing>().slots, 2);
  EXPECT_GT(
      simt().plan(problem, target("sm_80")).as<schedule::LaneRing>().slots, 2);
}

TEST(GPUSimtGemm, RefusalsNameTheReason) {
  EXPECT_THAT(
      simt().whyNot(gemm(64, 64, 64, ElementType::F8E4M3FN), target("sm_90a")),
      HasSubstr("lanes do not multiply f8E4M3FN"));
  Problem mixed = gemm(64, 64, 64, ElementType::F32);
  mixed.second = ElementType::F64;
  EXPECT_THAT(simt().whyNot(mixed, target("sm_80")),
              HasSubstr("both operands of one type"));
  Problem narrow = gemm(64, 64, 64, ElementType::F64);
  narrow.accumulator = ElementType::F32;
  EXPECT_THAT(simt().whyNot(narrow, target("sm_80")),
              HasSubstr("no narrower than the operands"));
  narrow.accumulator = ElementType::F16;
  EXPECT_THAT(simt().whyNot(narrow, target("sm_80")),
              HasSubstr("expected sums in f32 or f64, found f16"));
}

TEST(GPUSimtGemm, SplittingIsForF32) {
  EXPECT_THAT(
      split().whyNot(gemm(64, 64, 64, ElementType::F16), target("sm_80")),
      HasSubstr("expected operands of f32, found f16"));
  EXPECT_THAT(split().whyNotUnasked(gemm(64, 64, 64, ElementType::F32),
                                    target("sm_80")),
              HasSubstr("'tracea.allow_tf32x3'"));
}

TEST(GPUSimtGemm, PlansByHandAreChecked) {
  Problem problem = gemm(64, 64, 64, ElementType::F32);
  Plan plan = simt().plan(problem, target("sm_80"));
  auto reason = [&](auto change) {
    Plan changed = plan;
    change(changed);
    return simt().check(problem, target("sm_80"), changed);
  };
  EXPECT_THAT(reason([](Plan &p) { p.unit = UnitKind::MMASync; }),
              HasSubstr("must be vector"));
  EXPECT_THAT(reason([](Plan &p) { p.registers() = {12, 8}; }),
              HasSubstr("powers of two up to 16"));
  EXPECT_THAT(reason([](Plan &p) { p.tile[0] = 3 * 4 * p.registers()[0]; }),
              HasSubstr("times a power of two"));
  EXPECT_THAT(reason([](Plan &p) {
                p.registers() = {16, 16};
                p.tile = {64, 128, 16};
              }),
              HasSubstr("more than 96 registers"));
  EXPECT_THAT(reason([](Plan &p) {
                p.registers() = {1, 1};
                p.tile = {128, 128, 16};
              }),
              HasSubstr("at most 32 warps"));
  EXPECT_THAT(reason([](Plan &p) { p.tile[2] = 4; }),
              HasSubstr("of 32 to 256 bytes"));
  EXPECT_THAT(reason([](Plan &p) {
                p.registers() = {8, 8};
                p.tile = {128, 128, 64};
                p.as<schedule::LaneRing>().slots = 16;
              }),
              HasSubstr("bytes of shared memory"));
}

} // namespace
