//===- ArenaTest.cpp - Plans of temporary memory --------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random liveness: nothing that lives together may overlap, and the block is
// at least as large as the fullest step.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/Arena.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace tracea::runtime;

namespace {
/// A region that is in use from step `first` to step `last`, both included.
struct Lived : ArenaRegion {
  int64_t first = 0;
  int64_t last = 0;
  Lived() = default;
  Lived(int64_t bytes, int64_t align, int64_t first, int64_t last)
      : ArenaRegion{bytes, align}, first(first), last(last) {}
};
} // namespace

static Expected<ArenaPlan> planOf(const std::vector<Lived> &lives) {
  std::vector<ArenaRegion> regions(lives.begin(), lives.end());
  return planArena(regions, [&](size_t a, size_t b) {
    return lives[a].first <= lives[b].last && lives[b].first <= lives[a].last;
  });
}

static void checkPlan(const std::vector<Lived> &regions) {
  Expected<ArenaPlan> plan = planOf(regions);
  ASSERT_TRUE(plan) << plan.message();
  int64_t end = 0, steps = 0;
  for (size_t i = 0; i < regions.size(); ++i) {
    const Lived &a = regions[i];
    steps = std::max(steps, a.last + 1);
    if (a.bytes == 0)
      continue;
    EXPECT_EQ(plan->offsets[i] % std::max<int64_t>(a.align, 64), 0);
    EXPECT_LE(a.align, plan->align);
    EXPECT_GE(plan->offsets[i], 0);
    end = std::max(end, plan->offsets[i] + a.bytes);
    for (size_t j = 0; j < i; ++j) {
      const Lived &b = regions[j];
      bool together = a.first <= b.last && b.first <= a.last && b.bytes != 0;
      bool apart = plan->offsets[i] + a.bytes <= plan->offsets[j] ||
                   plan->offsets[j] + b.bytes <= plan->offsets[i];
      EXPECT_TRUE(!together || apart);
    }
  }
  EXPECT_EQ(plan->bytes, end);
  for (int64_t step = -1; step < steps; ++step) {
    int64_t live = 0;
    for (const Lived &region : regions)
      if (region.first <= step && step <= region.last)
        live += region.bytes;
    EXPECT_GE(plan->bytes, live);
  }
}

TEST(Arena, RandomPlansAreSound) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<Lived> regions(random() % 40);
    for (Lived &region : regions) {
      region.bytes = random() % 5 == 0 ? 0 : random() % 5000;
      region.align = int64_t(1) << (random() % 13);
      region.first = static_cast<int64_t>(random() % 20) - 1;
      region.last = region.first + static_cast<int64_t>(random() % 6);
    }
    checkPlan(regions);
  }
}

TEST(Arena, ChainsTakeTwoBuffers) {
  std::vector<Lived> chain;
  for (int64_t i = 0; i < 10; ++i)
    chain.push_back({640, 64, i, i + 1});
  EXPECT_EQ(planOf(chain)->bytes, 1280);
  EXPECT_EQ(planOf({})->bytes, 0);
}

TEST(Arena, RefusesWhatDoesNotFit) {
  int64_t huge = (int64_t(1) << 62) + 1;
  EXPECT_FALSE(planOf({{huge, 64, 0, 1}, {huge, 64, 1, 2}}));
  EXPECT_TRUE(planOf({{huge, 64, 0, 1}, {huge, 64, 2, 2}}));
}
