//===- WGradTest.cpp - Filter gradients as products -----------------------===//
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

/// By a filter of 3 x 3 taps, over 32 images of 56 x 56 pixels.
Problem gradient(ElementType type = ElementType::BF16) {
  Problem problem;
  problem.kind = OpKind::Conv2DWGrad;
  problem.images = 32;
  problem.outputHeight = problem.outputWidth = 56;
  problem.imageHeight = problem.imageWidth = 56;
  problem.padTop = problem.padLeft = 1;
  problem.groupChannels = problem.imageRow = 64;
  problem.groupFilters = problem.filterRow = 128;
  problem.filterHeight = problem.filterWidth = 3;
  problem.operand = problem.second = type;
  problem.accumulator = ElementType::F32;
  problem.result = type;
  return problem;
}

const Variant &find(const char *name) {
  return *Registry::builtin().find(name);
}

TEST(WGrad, LongSumsAreSplit) {
  // Nine tiles of 100352 pixels would leave most of a GPU idle.
  Plan plan = find("wgrad.warpgroup").plan(gradient(), target("sm_90a"));
  EXPECT_GT(plan.as<schedule::WarpgroupGemm>().split, 4);
  EXPECT_EQ(find("wgrad.warpgroup").check(gradient(), target("sm_90a"), plan),
            "");
}

TEST(WGrad, LanesSplitSumsToo) {
  for (const char *name : {"wgrad.warp", "wgrad.simt"}) {
    const Variant &variant = find(name);
    Plan plan = variant.plan(gradient(), target("sm_80"));
    EXPECT_GT(plan.as<schedule::LaneRing>().split, 4) << name;
    EXPECT_EQ(variant.check(gradient(), target("sm_80"), plan), "") << name;
    EXPECT_THAT(variant.whyAlone(gradient(), target("sm_80"), plan),
                HasSubstr("adds up the parts"))
        << name;
    // Parts of an unknown sum would often be empty.
    Problem open = gradient();
    open.images = kUnknownExtent;
    EXPECT_EQ(
        variant.plan(open, target("sm_80")).as<schedule::LaneRing>().split, 1)
        << name;
    Problem brief = gradient();
    brief.images = brief.outputHeight = brief.outputWidth = 1;
    EXPECT_THAT(variant.check(brief, target("sm_80"), plan),
                HasSubstr("fewer steps"))
        << name;
  }
}

TEST(WGrad, BulkCopiesWalkThroughRowsOfChannels) {
  const Variant &bulk = find("wgrad.warpgroup");
  TargetDescription hopper = target("sm_90a");
  EXPECT_EQ(bulk.whyNot(gradient(), hopper), "");
  Problem problem = gradient();
  problem.channelsLast = false;
  EXPECT_THAT(bulk.whyNot(problem, hopper), HasSubstr("rows of channels"));
  problem = gradient();
  problem.strideHeight = 9;
  EXPECT_THAT(bulk.whyNot(problem, hopper), HasSubstr("steps of at most 8"));
  // The unit reads f32 along k alone, and pixels are no rows.
  EXPECT_THAT(bulk.whyNot(gradient(ElementType::F32), hopper),
              HasSubstr("along k"));
}

TEST(WGrad, BulkCopiesReadGroupsOfWholePieces) {
  const Variant &bulk = find("wgrad.warpgroup");
  TargetDescription hopper = target("sm_90a");
  Problem problem = gradient();
  problem.groups = 4;
  EXPECT_EQ(bulk.whyNot(problem, hopper), "");
  // One matrix would be padded as it is copied, but a group's rows are parts of
  // rows.
  for (int64_t Problem::*channels :
       {&Problem::groupChannels, &Problem::groupFilters}) {
    Problem odd = problem;
    odd.*channels = 60;
    EXPECT_THAT(bulk.whyNot(odd, hopper), HasSubstr("pieces of 16 bytes"));
  }
  Problem within = problem;
  within.groupChannels = within.imageRow = 72;
  Plan plan = bulk.plan(within, hopper);
  plan.as<schedule::WarpgroupGemm>().lines = 2;
  EXPECT_THAT(bulk.check(within, hopper, plan), HasSubstr("whole ones"));
  within.groups = 1;
  EXPECT_EQ(bulk.check(within, hopper, plan), "");
}

TEST(WGrad, GroupsAreTilesOfTheirOwn) {
  // As many products over as many pixels as without groups, and what is beside
  // the channels of a small group is copied, not filled with zeros.
  const Variant &bulk = find("wgrad.warpgroup");
  TargetDescription hopper = target("sm_90a");
  Problem one = gradient(), four = gradient();
  one.filterHeight = 4;
  four.filterHeight = 1;
  four.groups = 4;
  Plan plan = bulk.plan(four, hopper);
  double ratio =
      bulk.cycles(four, hopper, plan) / bulk.cycles(one, hopper, plan);
  EXPECT_GT(ratio, 0.9);
  EXPECT_LT(ratio, 1.3);
  auto narrow = [](Problem problem) {
    problem.groupChannels = problem.imageRow = 8;
    return problem;
  };
  EXPECT_LT(bulk.cycles(narrow(one), hopper, plan),
            0.9 * bulk.cycles(narrow(four), hopper, plan));
}

TEST(WGrad, FewChannelsOfGroupsAreLoops) {
  Problem problem = gradient();
  problem.groups = 64;
  problem.groupChannels = problem.groupFilters = 1;
  for (const char *name : {"wgrad.warp", "wgrad.simt"})
    EXPECT_THAT(find(name).whyNotUnasked(problem, target("sm_80")),
                HasSubstr("fill no tile"));
  EXPECT_THAT(find("wgrad.windows").whyNotUnasked(problem, target("x86-64-v3")),
              HasSubstr("fill no register tile"));
}

TEST(WGrad, FiltersOfUnknownExtentsAreRefused) {
  Problem problem = gradient(ElementType::F32);
  problem.filterHeight = kUnknownExtent;
  EXPECT_THAT(find("wgrad.simt").whyNot(problem, target("sm_80")),
              HasSubstr("height and width are known"));
  EXPECT_THAT(find("wgrad.windows").whyNot(problem, target("x86-64-v3")),
              HasSubstr("height and width are known"));
}

} // namespace
