//===- GPUConvTest.cpp - Convolutions as products on GPUs -----------------===//
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

/// 3 x 3 taps over images of 56 x 56 pixels.
Problem conv(int64_t images, int64_t channels, int64_t filters,
             ElementType type = ElementType::F16) {
  Problem problem;
  problem.kind = OpKind::Conv2D;
  problem.images = images;
  problem.outputHeight = problem.outputWidth = 56;
  problem.imageHeight = problem.imageWidth = 58;
  problem.groupChannels = problem.imageRow = problem.filterRow = channels;
  problem.groupFilters = filters;
  problem.filterHeight = problem.filterWidth = 3;
  problem.operand = problem.second = type;
  problem.accumulator =
      type == ElementType::I8 ? ElementType::I32 : ElementType::F32;
  problem.result = type;
  return problem;
}

/// The product of the same pixels and filters.
Problem product(const Problem &conv, int64_t k) {
  Problem problem = conv;
  problem.kind = OpKind::Gemm;
  problem.m = conv.images * conv.outputHeight * conv.outputWidth;
  problem.n = conv.groupFilters;
  problem.k = k;
  problem.transposeSecond = true;
  return problem;
}

const Variant &find(const char *name) {
  return *Registry::builtin().find(name);
}

TEST(GPUConv, LanesShareCoordinatesWhereTheyDivideByExtentsOfTheRun) {
  Problem problem = conv(32, 56, 64);
  const Variant &warps = find("conv2d.warp");
  ASSERT_FALSE(warps.plans(problem, target("sm_80")).empty());
  for (const Plan &plan : warps.plans(problem, target("sm_80")))
    EXPECT_EQ(plan.as<schedule::LaneRing>().table, 0);
  problem.outputWidth = kUnknownExtent;
  for (const Plan &plan : warps.plans(problem, target("sm_80")))
    EXPECT_EQ(plan.as<schedule::LaneRing>().table, 1);
  EXPECT_THAT(warps.reasoning(problem, target("sm_80"),
                              warps.plan(problem, target("sm_80"))),
              testing::HasSubstr("by extents of the run"));
  problem.channelsLast = false;
  for (const Plan &plan : warps.plans(problem, target("sm_80")))
    EXPECT_EQ(plan.as<schedule::LaneRing>().table, 0);
}

TEST(GPUConv, VariantsAreThoseOfProducts) {
  std::vector<const Variant *> found = Registry::builtin().variantsFor(
      OpKind::Conv2D, tracea::target::TargetKind::CUDA);
  ASSERT_EQ(found.size(), 7u);
  EXPECT_EQ(found[0]->name(), "conv2d.warpgroup");
  EXPECT_EQ(found[1]->name(), "conv2d.warp");
  EXPECT_EQ(found[2]->name(), "conv2d.tf32x3");
  EXPECT_EQ(found[3]->name(), "conv2d.simt");
  EXPECT_EQ(found[4]->name(), "conv2d.groups");
  EXPECT_EQ(found[5]->name(), "conv2d.lanes");
  EXPECT_TRUE(found[6]->isFallback());
}

TEST(GPUConv, PlansHold) {
  constexpr int64_t extents[] = {0, 1, 3, 64, 500, kUnknownExtent};
  for (const char *name : {"sm_75", "sm_80", "sm_90a"})
    for (int64_t images : extents)
      for (int64_t channels : extents)
        for (const char *variant :
             {"conv2d.warpgroup", "conv2d.warp", "conv2d.simt"}) {
          Problem problem = conv(images, channels, 64);
          if (!find(variant).whyNot(problem, target(name)).empty())
            continue;
          Plan plan = find(variant).plan(problem, target(name));
          EXPECT_EQ(find(variant).check(problem, target(name), plan), "")
              << name << " " << images << " " << channels;
          EXPECT_GT(find(variant).cycles(problem, target(name), plan), 0);
        }
}

TEST(GPUConv, ATapTakesWholeSteps) {
  // 40 channels are two steps of 32 for each of nine taps.
  Problem problem = conv(32, 40, 64);
  Plan plan = find("gemm.warp").plans(product(problem, 1), target("sm_80"))[0];
  ASSERT_EQ(plan.tile[2], 32);
  EXPECT_THAT(
      find("conv2d.warp").reasoning(problem, target("sm_80"), plan),
      HasSubstr("a product of 100352 pixels by 64 filters, summed over 576"));
  EXPECT_GT(
      find("conv2d.warp").cycles(problem, target("sm_80"), plan),
      1.3 *
          find("conv2d.warp").cycles(conv(32, 32, 64), target("sm_80"), plan));
}

TEST(GPUConv, TheImageIsInMemoryOnce) {
  // Bound by memory: few filters.
  Problem problem = conv(256, 512, 8);
  Plan plan = find("conv2d.warp").plan(problem, target("sm_80"));
  EXPECT_LT(find("conv2d.warp").cycles(problem, target("sm_80"), plan),
            find("gemm.warp")
                .cycles(product(problem, 9 * 512), target("sm_80"), plan));
}

TEST(GPUConv, SaysWhatItExpects) {
  auto whyNot = [](const Problem &problem) {
    return find("conv2d.warp").whyNot(problem, target("sm_80"));
  };
  EXPECT_EQ(whyNot(conv(1, 64, 64)), "");
  Problem taps = conv(1, 64, 64);
  taps.filterWidth = kUnknownExtent;
  EXPECT_THAT(whyNot(taps), HasSubstr("height and width are known"));
  Problem groups = conv(1, 64, kUnknownExtent);
  EXPECT_EQ(whyNot(groups), "");
  groups.groups = 4;
  EXPECT_THAT(whyNot(groups), HasSubstr("groups whose channels and filters"));
  Problem reduced = conv(1, 64, 64);
  reduced.reductions = 1;
  EXPECT_THAT(whyNot(reduced), HasSubstr("reduces nothing"));
  Problem planes = conv(1, 64, 64, ElementType::I8);
  EXPECT_EQ(whyNot(planes), "");
  planes.channelsLast = false;
  EXPECT_THAT(whyNot(planes), HasSubstr("rows run along k"));
}

TEST(GPUConv, BulkCopiesWalkThroughImages) {
  auto whyNot = [](const Problem &problem) {
    return find("conv2d.warpgroup").whyNot(problem, target("sm_90a"));
  };
  Problem problem = conv(32, 64, 64);
  EXPECT_EQ(whyNot(problem), "");
  EXPECT_THAT(find("conv2d.warpgroup").whyNot(problem, target("sm_80")),
              HasSubstr("no unit 'wgmma'"));
  // Images may be as many as the run has; how they are walked through is known.
  problem.images = kUnknownExtent;
  EXPECT_EQ(whyNot(problem), "");
  auto with = [&](int64_t Problem::*field, int64_t value) {
    Problem other = problem;
    other.*field = value;
    return whyNot(other);
  };
  EXPECT_THAT(with(&Problem::imageHeight, kUnknownExtent),
              HasSubstr("images of known height"));
  EXPECT_THAT(with(&Problem::outputWidth, kUnknownExtent),
              HasSubstr("images of known width"));
  EXPECT_EQ(with(&Problem::strideHeight, 4), "bulk copies end at most 127 "
                                             "pixels from the border of an "
                                             "image");
  EXPECT_EQ(with(&Problem::strideWidth, 2), "");
  EXPECT_EQ(with(&Problem::strideWidth, 9),
            "bulk copies have steps of at most 8, found 9");
  EXPECT_EQ(with(&Problem::padLeft, 120), "");
  EXPECT_THAT(with(&Problem::padLeft, 128), HasSubstr("at most 127 pixels"));
  EXPECT_EQ(with(&Problem::dilationWidth, 127), "");
  EXPECT_THAT(with(&Problem::dilationWidth, 128),
              HasSubstr("taps at most 255 pixels away, found 256"));
  EXPECT_THAT(with(&Problem::groups, 2), HasSubstr("walk through groups"));
  EXPECT_THAT(with(&Problem::groupChannels, kUnknownExtent),
              HasSubstr("known number of channels"));
  problem.filterAlongTaps = true;
  EXPECT_THAT(whyNot(problem), HasSubstr("rows of channels"));
}

TEST(GPUConv, BulkCopiesOfManyPixelsWin) {
  Problem problem = conv(32, 64, 64, ElementType::BF16);
  auto cycles = [&](const char *variant) {
    const Variant &found = find(variant);
    return found.cycles(problem, target("sm_90a"),
                        found.plan(problem, target("sm_90a")));
  };
  EXPECT_LT(cycles("conv2d.warpgroup"), 0.8 * cycles("conv2d.warp"));
  // Rows of 63 channels are copied to rows of 64 first, once for all taps.
  double whole = cycles("conv2d.warpgroup");
  problem.groupChannels = problem.imageRow = problem.filterRow = 63;
  EXPECT_GT(cycles("conv2d.warpgroup"), 1.1 * whole);
  EXPECT_LT(cycles("conv2d.warpgroup"), 3 * whole);
}

/// 3 x 3 taps of each channel over images of 56 x 56 pixels.
Problem depthwise(int64_t images, int64_t channels,
                  ElementType type = ElementType::BF16) {
  Problem problem = conv(images, 1, 1, type);
  problem.groups = channels;
  return problem;
}

TEST(GPULaneConv, PlansHold) {
  for (const char *name : {"sm_75", "sm_80", "sm_90a"})
    for (int64_t channels :
         {int64_t(1), int64_t(37), int64_t(96), int64_t(4096), kUnknownExtent})
      for (int64_t stride : {1, 2, 3, 5})
        for (int64_t taps : {1, 3, 7, 11})
          for (ElementType type : {ElementType::BF16, ElementType::F32,
                                   ElementType::F64, ElementType::I8}) {
            Problem problem = depthwise(4, channels, type);
            if (type == ElementType::F64)
              problem.accumulator = ElementType::F64;
            problem.strideHeight = problem.strideWidth = stride;
            problem.filterHeight = problem.filterWidth = taps;
            const Variant &lanes = find("conv2d.lanes");
            ASSERT_EQ(lanes.whyNot(problem, target(name)), "");
            Plan plan = lanes.plan(problem, target(name));
            EXPECT_EQ(lanes.check(problem, target(name), plan), "")
                << name << " " << channels << " " << stride << " " << taps;
            EXPECT_GT(lanes.cycles(problem, target(name), plan), 0);
          }
}

TEST(GPULaneConv, SaysWhatItExpects) {
  auto with = [](auto field, int64_t value) {
    Problem problem = depthwise(8, 96);
    problem.*field = value;
    return find("conv2d.lanes").whyNot(problem, target("sm_80"));
  };
  EXPECT_EQ(with(&Problem::outputHeight, kUnknownExtent), "");
  EXPECT_THAT(with(&Problem::groupChannels, 2), HasSubstr("not depthwise"));
  EXPECT_THAT(with(&Problem::groupFilters, 2), HasSubstr("not depthwise"));
  EXPECT_THAT(with(&Problem::filterWidth, kUnknownExtent),
              HasSubstr("height and width are known"));
  EXPECT_THAT(with(&Problem::filterHeight, 100),
              HasSubstr("1 to 256 taps, found 100 x 3"));
  EXPECT_THAT(with(&Problem::strideWidth, 300), HasSubstr("found 300"));
  Problem reduced = depthwise(8, 96);
  reduced.reductions = 1;
  EXPECT_THAT(find("conv2d.lanes").whyNot(reduced, target("sm_80")),
              HasSubstr("no results beside"));
  Problem planes = depthwise(8, 96);
  planes.channelsLast = false;
  EXPECT_THAT(find("conv2d.lanes").whyNot(planes, target("sm_80")),
              HasSubstr("neighbours in memory"));
}

TEST(GPULaneConv, ChecksPlans) {
  Problem problem = depthwise(8, 96);
  auto with = [&](std::vector<int64_t> tile, schedule::Extents registers) {
    Plan plan = find("conv2d.lanes").emptyPlan();
    plan.tile = std::move(tile);
    plan.registers() = registers;
    return find("conv2d.lanes").check(problem, target("sm_90a"), plan);
  };
  EXPECT_EQ(with({8, 8, 32}, {8, 8}), "");
  EXPECT_THAT(with({8, 8}, {8, 8}), HasSubstr("3 extents"));
  EXPECT_THAT(with({8, 8, 32}, {8, 3}), HasSubstr("power of two of channels"));
  EXPECT_THAT(with({8, 8, 32}, {8, 16}), HasSubstr("at most 16 bytes"));
  EXPECT_THAT(with({8, 16, 32}, {16, 8}), HasSubstr("96 registers"));
  EXPECT_THAT(with({8, 8, 48}, {8, 8}), HasSubstr("times a power of two"));
  EXPECT_THAT(with({6, 8, 32}, {8, 8}), HasSubstr("height must be a power"));
  EXPECT_THAT(with({8, 12, 32}, {8, 8}), HasSubstr("multiple of the pixels"));
  EXPECT_THAT(with({4, 8, 32}, {8, 8}), HasSubstr("takes 16 lanes"));
  EXPECT_THAT(with({256, 8, 32}, {8, 8}),
              HasSubstr("152 registers, of which there are 64"));
  EXPECT_THAT(with({32, 1024, 32}, {8, 8}), HasSubstr("shared memory"));
  problem.strideHeight = 2;
  EXPECT_THAT(with({8, 8, 32}, {8, 8}), HasSubstr("must take 128 bytes"));
  EXPECT_EQ(with({8, 8, 64}, {8, 8}), "");
}

TEST(GPULaneConv, WaitsForMemoryOrForMultiplyAdds) {
  auto cycles = [&](const Problem &problem) {
    const Variant &lanes = find("conv2d.lanes");
    return lanes.cycles(problem, target("sm_90a"),
                        lanes.plan(problem, target("sm_90a")));
  };
  Problem small = depthwise(32, 96), large = small;
  large.filterHeight = large.filterWidth = 7;
  EXPECT_GT(cycles(large), 1.2 * cycles(small));
  Problem wide = small;
  wide.groups *= 4;
  EXPECT_GT(cycles(wide), 3 * cycles(small));
}

/// Groups of eight channels and filters over images of 56 x 56 pixels.
Problem eights(int64_t groups) {
  Problem problem = conv(32, 8, 8, ElementType::BF16);
  problem.groups = groups;
  return problem;
}

TEST(GPUGroupConv, BeatsTilesThatAreMostlyPadding) {
  Problem problem = eights(32);
  auto cycles = [&](const char *variant) {
    const Variant &found = find(variant);
    Plan plan = found.plan(problem, target("sm_90a"));
    EXPECT_EQ(found.check(problem, target("sm_90a"), plan), "");
    return found.cycles(problem, target("sm_90a"), plan);
  };
  EXPECT_LT(3 * cycles("conv2d.groups"), cycles("conv2d.warp"));
}

TEST(GPUGroupConv, SaysWhatItExpects) {
  auto with = [](int64_t Problem::*field, int64_t value) {
    Problem problem = eights(32);
    problem.*field = value;
    return find("conv2d.groups").whyNot(problem, target("sm_80"));
  };
  EXPECT_EQ(with(&Problem::images, kUnknownExtent), "");
  EXPECT_THAT(with(&Problem::groups, 1), HasSubstr("groups of 8 channels"));
  EXPECT_THAT(with(&Problem::groupFilters, 16),
              HasSubstr("groups of 8 channels"));
  EXPECT_THAT(with(&Problem::filterHeight, 2),
              HasSubstr("odd number of taps up to 49, found 6"));
  EXPECT_THAT(with(&Problem::filterHeight, kUnknownExtent),
              HasSubstr("found any"));
  EXPECT_THAT(with(&Problem::strideWidth, 3), HasSubstr("found 3"));
  EXPECT_THAT(with(&Problem::dilationWidth, 65), HasSubstr("found 65"));
  EXPECT_THAT(find("conv2d.groups").whyNot(eights(32), target("sm_75")),
              HasSubstr("copies that run beside lanes"));
  Problem single = eights(32);
  single.operand = single.second = ElementType::F32;
  EXPECT_THAT(find("conv2d.groups").whyNot(single, target("sm_80")),
              HasSubstr("f16 or bf16"));
}

TEST(GPUGroupConv, ChecksPlans) {
  Problem problem = eights(32);
  auto with = [&](std::vector<int64_t> tile, schedule::Extents registers) {
    Plan plan = find("conv2d.groups").emptyPlan(UnitKind::MMASync);
    plan.tile = std::move(tile);
    plan.registers() = registers;
    return find("conv2d.groups").check(problem, target("sm_90a"), plan);
  };
  EXPECT_EQ(with({8, 32, 32}, {32, 8}), "");
  EXPECT_EQ(with({8, 32, 64}, {32, 8}), "");
  EXPECT_THAT(with({8, 32}, {32, 8}), HasSubstr("3 extents"));
  EXPECT_THAT(with({8, 32, 32}, {24, 8}), HasSubstr("16, 32 or 64 pixels"));
  EXPECT_THAT(with({8, 32, 32}, {32, 16}), HasSubstr("of 8 filters"));
  EXPECT_THAT(with({8, 96, 32}, {32, 8}), HasSubstr("power of two of warps"));
  EXPECT_THAT(with({0, 32, 32}, {32, 8}), HasSubstr("height must be"));
  EXPECT_THAT(with({8, 32, 16}, {32, 8}), HasSubstr("take 64 bytes"));
  EXPECT_THAT(with({256, 32, 64}, {32, 8}), HasSubstr("shared memory"));
  problem.strideWidth = 2;
  EXPECT_EQ(with({8, 32, 32}, {32, 8}), "");
  EXPECT_THAT(with({8, 32, 64}, {32, 8}), HasSubstr("without a stride"));
}

} // namespace
