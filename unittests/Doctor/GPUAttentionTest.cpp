//===- GPUAttentionTest.cpp - Attention by warps --------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Doctor/Registry.h"

#include "gtest/gtest.h"

using namespace tracea::doctor;

/// So many batches of 16 heads, 4096 queries and keys of 128 elements.
static Problem attention(int64_t batches) {
  Problem problem;
  problem.kind = OpKind::Attention;
  problem.batch = 16 * batches;
  problem.m = problem.n = 4096;
  problem.k = problem.valueDim = 128;
  problem.operand = problem.second = ElementType::BF16;
  problem.result = ElementType::BF16;
  problem.accumulator = ElementType::F32;
  return problem;
}

static const Variant &warps() {
  return *Registry::builtin().find("attention.warp");
}

static int64_t mostResidents(const Problem &problem) {
  int64_t most = 0;
  for (const Plan &plan :
       warps().plans(problem, *tracea::target::lookup("sm_90a")))
    most = std::max(most, plan.as<schedule::WarpAttention>().residents);
  return most;
}

// Where no edge hides keys and waves are full, three workgroups of small tiles
// share a multiprocessor.
TEST(GPUAttention, ThreeWorkgroupsWithoutEdges) {
  Problem problem = attention(/*batches=*/8);
  Plan plan = warps().plan(problem, *tracea::target::lookup("sm_90a"));
  EXPECT_EQ(plan.tile, (std::vector<int64_t>{64, 32}));
  EXPECT_EQ(plan.as<schedule::WarpAttention>().residents, 3);
  EXPECT_EQ(plan.as<schedule::WarpAttention>().slots, 4);
}

// The loop that masks edges has no registers for a third.
TEST(GPUAttention, EdgesLeaveTwoWorkgroups) {
  Problem problem = attention(/*batches=*/8);
  EXPECT_EQ(mostResidents(problem), 3);
  problem.isCausal = true;
  EXPECT_EQ(mostResidents(problem), 2);
  problem.isCausal = false;
  problem.hasWindow = true;
  EXPECT_EQ(mostResidents(problem), 2);
}
