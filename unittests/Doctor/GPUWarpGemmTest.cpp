//===- GPUWarpGemmTest.cpp - Products by the units of warps ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Doctor/Registry.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace tracea::doctor;
using testing::HasSubstr;

namespace {

TargetDescription target(const char *name) {
  return *tracea::target::lookup(name);
}

Problem gemm(int64_t m, int64_t n, int64_t k,
             ElementType type = ElementType::BF16) {
  Problem problem;
  problem.kind = OpKind::Gemm;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.operand = problem.second = type;
  problem.accumulator =
      type == ElementType::I8 ? ElementType::I32 : ElementType::F32;
  problem.result = type;
  problem.transposeSecond = true;
  return problem;
}

const Variant &variant() { return *Registry::builtin().find("gemm.warp"); }

TEST(GPUWarpGemm, IsTakenWhereThereIsNoLargerUnit) {
  for (const char *name : {"sm_80", "sm_86", "sm_89", "sm_100", "sm_120"}) {
    Candidate best =
        rank(Registry::builtin(), gemm(4096, 4096, 4096), target(name)).front();
    ASSERT_TRUE(best.accepted()) << name << ": " << best.refusal;
    EXPECT_EQ(best.variant->name(), "gemm.warp") << name;
  }
  Candidate hopper =
      rank(Registry::builtin(), gemm(4096, 4096, 4096), target("sm_90a"))
          .front();
  EXPECT_EQ(hopper.variant->name(), "gemm.warpgroup");
}

TEST(GPUWarpGemm, PlansHold) {
  constexpr int64_t extents[] = {0, 1, 17, 128, 1000, 65536, kUnknownExtent};
  for (const char *name :
       {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100", "sm_120"})
    for (int64_t m : extents)
      for (int64_t k : extents)
        for (ElementType type :
             {ElementType::BF16, ElementType::F16, ElementType::I8}) {
          Problem problem = gemm(m, 4096, k, type);
          Plan plan = variant().plan(problem, target(name));
          EXPECT_EQ(variant().check(problem, target(name), plan), "")
              << name << " " << m << " " << k;
          EXPECT_GT(variant().cycles(problem, target(name), plan), 0);
        }
}

TEST(GPUWarpGemm, FewRowsTakeSmallTiles) {
  Plan plan = variant().plan(gemm(16, 8192, 8192), target("sm_80"));
  EXPECT_EQ(plan.tile[0], 16);
  plan = variant().plan(gemm(8192, 8192, 8192), target("sm_80"));
  EXPECT_GE(plan.tile[0] * plan.tile[1], 128 * 128);
}

TEST(GPUWarpGemm, RefusalsNameTheReason) {
  EXPECT_THAT(
      variant().whyNot(gemm(64, 64, 64, ElementType::F64), target("sm_80")),
      HasSubstr("does not multiply f64 into f32 by fragments"));
  EXPECT_THAT(variant().whyNot(gemm(64, 64, 64, ElementType::F8E4M3FN),
                               target("sm_80")),
              HasSubstr("by fragments"));
  EXPECT_EQ(variant().whyNot(gemm(64, 64, 64, ElementType::F8E4M3FN),
                             target("sm_89")),
            "");
  Problem along = gemm(64, 64, 64, ElementType::I8);
  along.transposeSecond = false;
  EXPECT_THAT(variant().whyNot(along, target("sm_80")),
              HasSubstr("whose rows run along k"));
}

TEST(GPUWarpGemm, PlansByHandAreChecked) {
  Problem problem = gemm(64, 64, 64);
  Plan plan = variant().plan(problem, target("sm_80"));
  auto reason = [&](auto change) {
    Plan changed = plan;
    change(changed);
    return variant().check(problem, target("sm_80"), changed);
  };
  EXPECT_THAT(reason([](Plan &p) { p.unit = UnitKind::WGMMA; }),
              HasSubstr("must be mma_sync"));
  EXPECT_THAT(reason([](Plan &p) { p.registers() = {24, 16}; }),
              HasSubstr("multiples of 16"));
  EXPECT_THAT(reason([](Plan &p) { p.tile[0] = 3 * p.registers()[0]; }),
              HasSubstr("a power of two of which"));
  EXPECT_THAT(reason([](Plan &p) { p.tile[2] = 24; }),
              HasSubstr("tile extent k must be a multiple of 16"));
  EXPECT_THAT(reason([](Plan &p) {
                p.tile[2] = 1024;
                p.as<schedule::LaneRing>().slots = 8;
              }),
              HasSubstr("bytes of shared memory"));
}

TEST(GPUWarpGemm, OthersFollowWhereThePlanDoesNotDo) {
  for (const char *name : {"sm_80", "sm_90a"}) {
    Problem problem = gemm(64, 4096, 4096);
    std::vector<Candidate> all =
        rankPlans(Registry::builtin(), problem, target(name));
    ASSERT_GT(all.size(), 5u) << name;
    EXPECT_TRUE(all.front().plan ==
                rank(Registry::builtin(), problem, target(name)).front().plan);
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].variant->check(problem, target(name), all[i].plan), "");
      if (i && !all[i].variant->isFallback())
        EXPECT_LE(all[i - 1].cycles, all[i].cycles);
    }
  }
}

} // namespace
