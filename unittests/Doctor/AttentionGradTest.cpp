//===- AttentionGradTest.cpp - Gradients of attention by warps ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Doctor/Registry.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace tracea::doctor;
using testing::HasSubstr;

namespace {

constexpr OpKind kKinds[] = {OpKind::AttentionQGrad, OpKind::AttentionKVGrad};

TargetDescription target(const char *name) {
  return *tracea::target::lookup(name);
}

/// Of 8 batches of 12 heads.
Problem gradient(OpKind kind, int64_t extent, int64_t length = 1024,
                 ElementType type = ElementType::BF16) {
  Problem problem;
  problem.kind = kind;
  problem.batch = 96;
  problem.m = problem.n = length;
  problem.k = problem.valueDim = extent;
  problem.operand = problem.second = type;
  problem.accumulator = ElementType::F32;
  problem.result = type;
  return problem;
}

const Variant &variantOf(OpKind kind) {
  return *Registry::builtin().find(kind == OpKind::AttentionQGrad
                                       ? "attention_qgrad.warp"
                                       : "attention_kvgrad.warp");
}

TEST(AttentionGrad, HeadsOfAnyExtentThatRegistersHold) {
  for (OpKind kind : kKinds)
    for (const char *name : {"sm_80", "sm_90a"})
      for (int64_t extent : {16, 40, 64, 128, 160}) {
        Problem problem = gradient(kind, extent);
        Candidate first =
            rank(Registry::builtin(), problem, target(name)).front();
        EXPECT_EQ(first.variant, &variantOf(kind)) << name << extent;
        EXPECT_EQ(first.variant->check(problem, target(name), first.plan), "");
      }
}

TEST(AttentionGrad, PlansPassTheirOwnCheckOrSayWhy) {
  for (OpKind kind : kKinds)
    for (int64_t length :
         {int64_t(0), int64_t(1), int64_t(1021), kUnknownExtent})
      for (int64_t extent : {1, 33, 64, 128}) {
        Problem problem = gradient(kind, extent, length);
        const Variant &variant = variantOf(kind);
        ASSERT_EQ(variant.whyNot(problem, target("sm_90a")), "");
        Plan plan = variant.plan(problem, target("sm_90a"));
        EXPECT_EQ(variant.check(problem, target("sm_90a"), plan), "");
        EXPECT_GT(variant.cycles(problem, target("sm_90a"), plan), 0);
      }
}

TEST(AttentionGrad, RefusesWhatItsKernelsDoNot) {
  for (OpKind kind : kKinds) {
    auto why = [&](const Problem &problem, const char *name = "sm_90a") {
      return variantOf(kind).whyNot(problem, target(name));
    };
    EXPECT_THAT(why(gradient(kind, 64, 1024, ElementType::F32)),
                HasSubstr("f16 or bf16"));
    EXPECT_THAT(why(gradient(kind, 257)), HasSubstr("above"));
    EXPECT_THAT(why(gradient(kind, kUnknownExtent)), HasSubstr("not static"));
    EXPECT_THAT(why(gradient(kind, 64), "sm_70"),
                HasSubstr("copies that run beside lanes"));
    Problem ended = gradient(kind, 64);
    ended.hasLengths = true;
    EXPECT_THAT(why(ended), HasSubstr("only the run knows"));
    Problem masked = gradient(kind, 64);
    masked.maskRows = masked.maskColumns = 128;
    EXPECT_THAT(why(masked), HasSubstr("mask"));
  }
}

TEST(AttentionGrad, RefusesPlansThatRegistersOrMemoryDoNotHold) {
  for (OpKind kind : kKinds) {
    Problem problem = gradient(kind, 128);
    const Variant &variant = variantOf(kind);
    Plan plan = variant.plan(problem, target("sm_90a"));
    Plan tall = plan;
    tall.tile = {128, 64};
    tall.registers() = {64, 64};
    EXPECT_THAT(variant.check(problem, target("sm_90a"), tall),
                HasSubstr("registers of a lane"));
    Plan deep = plan;
    deep.as<schedule::WarpAttentionGrad>().slots = 64;
    EXPECT_THAT(variant.check(problem, target("sm_90a"), deep),
                HasSubstr("shared memory"));
    Plan thin = plan;
    thin.registers()[0] = 8;
    EXPECT_THAT(variant.check(problem, target("sm_90a"), thin),
                HasSubstr("multiple of 16"));
    Plan flat = plan;
    flat.tile = {64};
    EXPECT_THAT(variant.check(problem, target("sm_90a"), flat),
                HasSubstr("2 extents"));
    Plan other = plan;
    other.unit = UnitKind::Vector;
    EXPECT_THAT(variant.check(problem, target("sm_90a"), other),
                HasSubstr("the unit must be"));
  }
}

TEST(AttentionGrad, SharedHeadsLeaveParts) {
  Problem shared = gradient(OpKind::AttentionKVGrad, 64);
  shared.sharedHeads = 4;
  const Variant &variant = variantOf(OpKind::AttentionKVGrad);
  Plan plan = variant.plan(shared, target("sm_90a"));
  EXPECT_THAT(variant.whyAlone(shared, target("sm_90a"), plan),
              HasSubstr("heads that share"));
  EXPECT_EQ(variant.whyAlone(gradient(OpKind::AttentionKVGrad, 64),
                             target("sm_90a"), plan),
            "");
  Problem open = shared;
  open.sharedHeads = kUnknownExtent;
  EXPECT_THAT(variant.whyNot(open, target("sm_90a")), HasSubstr("not static"));
  EXPECT_EQ(variantOf(OpKind::AttentionQGrad).whyNot(open, target("sm_90a")),
            "");
}

} // namespace
