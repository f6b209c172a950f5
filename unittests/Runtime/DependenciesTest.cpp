//===- DependenciesTest.cpp - Orders of steps, and their streams ----------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random steps on random buffers: what is found is compared with the rule in
// its plainest form, that of two steps that share a written buffer one ends
// before the other begins.
//
//===----------------------------------------------------------------------===//

#include "StreamPlan.h"

#include "tracea/Runtime/Dependencies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace tracea::runtime;

namespace {
struct Access {
  int64_t buffer;
  bool isWritten;
};

EntrySpec makeEntry(const std::vector<std::vector<Access>> &steps,
                    int64_t buffers) {
  EntrySpec entry;
  ExprBuilder e(entry.exprs);
  for (int64_t i = 0; i < buffers; ++i)
    entry.buffers.push_back(BufferSpec::temp(e.constant(64)));
  for (const std::vector<Access> &accesses : steps) {
    StepSpec step;
    for (const Access &access : accesses) {
      step.args.push_back(ArgSpec::fromView(
          e.rowMajorView(access.buffer, ElementType::F32, {e.constant(4)})));
      if (access.isWritten)
        step.writes.push_back(access.buffer);
    }
    entry.steps.push_back(step);
  }
  addDependencies(entry);
  return entry;
}

constexpr bool reads = false, writes = true;

std::vector<std::vector<int64_t>> orderOf(const EntrySpec &entry) {
  std::vector<std::vector<int64_t>> order;
  for (const StepSpec &step : entry.steps)
    order.push_back(step.after);
  return order;
}
using Order = std::vector<std::vector<int64_t>>;
} // namespace

TEST(Dependencies, ReadersDoNotWaitForEachOther) {
  EntrySpec entry = makeEntry({{{0, writes}},
                               {{0, reads}, {1, writes}},
                               {{0, reads}, {2, writes}},
                               {{1, reads}, {2, reads}, {3, writes}},
                               {{0, writes}}},
                              4);
  EXPECT_EQ(orderOf(entry), (Order{{}, {0}, {0}, {1, 2}, {1, 2}}));
}

TEST(Dependencies, TheFirstUseOfZerosIsAWrite) {
  std::vector<std::vector<Access>> steps = {{{0, reads}}, {{0, reads}}};
  EntrySpec entry = makeEntry(steps, 1);
  EXPECT_EQ(orderOf(entry), (Order{{}, {}}));
  entry.buffers[0].contents = TempContents::Zero;
  addDependencies(entry);
  EXPECT_EQ(orderOf(entry), (Order{{}, {0}}));
}

TEST(Dependencies, InputsAndConstantsAreOnlyRead) {
  EntrySpec entry = makeEntry({{{0, reads}}, {{0, reads}}}, 1);
  entry.buffers[0] = BufferSpec::input(0);
  assumeDependencies(entry);
  EXPECT_EQ(orderOf(entry), (Order{{}, {}}));
  EXPECT_THAT(entry.steps[0].writes, testing::IsEmpty());
  entry.buffers[0] = BufferSpec::temp(0);
  assumeDependencies(entry);
  EXPECT_EQ(orderOf(entry), (Order{{}, {0}}));
  EXPECT_THAT(entry.steps[0].writes, testing::ElementsAre(0));
}

TEST(Dependencies, FillsAndCopiesWriteTheirTargets) {
  EntrySpec entry = makeEntry({{{0, writes}}, {{1, reads}}}, 2);
  ViewSpec zero = entry.steps[0].args[0].view,
           one = entry.steps[1].args[0].view;
  entry.steps = {StepSpec::fill(zero, 1), StepSpec::copy(zero, one),
                 StepSpec::fill(zero, 2), StepSpec::fill(one, 3)};
  addDependencies(entry);
  EXPECT_EQ(orderOf(entry), (Order{{}, {0}, {1}, {1}}));
}

TEST(StreamPlan, BranchesGoToStreams) {
  // A diamond: 0, then 1 and 2, then 3.
  EntrySpec entry = makeEntry({{{0, writes}},
                               {{0, reads}, {1, writes}},
                               {{0, reads}, {2, writes}},
                               {{1, reads}, {2, reads}, {3, writes}}},
                              4);
  StreamPlan plan = planStreams(entry, 4);
  EXPECT_EQ(plan.numStreams, 2);
  EXPECT_EQ(plan.steps[0].stream, plan.steps[1].stream);
  EXPECT_NE(plan.steps[1].stream, plan.steps[2].stream);
  EXPECT_THAT(plan.steps[2].waits, testing::ElementsAre(0));
  EXPECT_EQ(plan.steps[3].waits.size(), 1u);
  EXPECT_FALSE(plan.endsBefore(1, 2));
  EXPECT_TRUE(plan.endsBefore(0, 3));
  EXPECT_TRUE(plan.endsBefore(2, 4));
  EXPECT_TRUE(plan.endsBefore(-1, 0));
  EXPECT_FALSE(plan.endsBefore(0, -1));
  // With one stream nobody waits.
  plan = planStreams(entry, 1);
  EXPECT_EQ(plan.numStreams, 1);
  for (const StreamPlan::Step &step : plan.steps) {
    EXPECT_THAT(step.waits, testing::IsEmpty());
    EXPECT_FALSE(step.isAwaited);
  }
  EXPECT_TRUE(plan.endsBefore(1, 2));
}

TEST(Dependencies, LongestPathsGoToTheEnd) {
  EntrySpec entry = makeEntry({{{0, writes}},
                               {{1, writes}},
                               {{1, reads}, {2, writes}},
                               {{2, reads}, {3, writes}},
                               {{0, reads}, {3, reads}, {4, writes}}},
                              5);
  EXPECT_THAT(findLongestPaths(entry), testing::ElementsAre(2, 4, 3, 2, 1));
  // What is done once for a constant lengthens no run's path.
  entry.inputs.push_back({"w", ElementType::F32, {4}});
  entry.inputs.back().isConstant = true;
  entry.buffers.push_back(BufferSpec::input(0));
  entry.buffers[1].contents = TempContents::Constant;
  ViewSpec view = entry.steps[1].args[0].view;
  view.buffer = 5;
  entry.steps[1].args.insert(entry.steps[1].args.begin(),
                             ArgSpec::fromView(view));
  EXPECT_THAT(findLongestPaths(entry), testing::ElementsAre(2, 3, 3, 2, 1));
}

// The program has three short branches first and the long one last; the end
// needs all of them.
TEST(StreamPlan, TheLongestPathComesFirst) {
  std::vector<std::vector<Access>> steps = {
      {{0, writes}}, {{1, writes}}, {{2, writes}}, {{3, writes}}};
  for (int64_t i = 4; i < 7; ++i)
    steps.push_back({{i - 1, reads}, {i, writes}});
  steps.push_back(
      {{0, reads}, {1, reads}, {2, reads}, {6, reads}, {7, writes}});
  EntrySpec entry = makeEntry(steps, 8);
  StreamPlan plan = planStreams(entry, 2);
  EXPECT_EQ(plan.numStreams, 2);
  EXPECT_EQ(plan.order.front(), 3u);
  for (size_t s : {3, 4, 5, 6, 7}) {
    EXPECT_EQ(plan.steps[s].stream, 0) << s;
    EXPECT_EQ(plan.steps[s].waits.size(), s == 7 ? 1u : 0u) << s;
  }
  for (size_t s : {0, 1, 2})
    EXPECT_EQ(plan.steps[s].stream, 1) << s;
  EXPECT_THAT(plan.finalWaits, testing::IsEmpty());
  // One stream has the program's order.
  EXPECT_THAT(planStreams(entry, 1).order,
              testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(StreamPlan, AChainHasOneStream) {
  EntrySpec entry = makeEntry(
      {{{0, writes}}, {{0, reads}, {1, writes}}, {{1, reads}, {2, writes}}}, 3);
  StreamPlan plan = planStreams(entry, 8);
  EXPECT_EQ(plan.numStreams, 1);
  EXPECT_THAT(plan.order, testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(plan.finalWaits, testing::IsEmpty());
}

TEST(StreamPlan, RandomPlansKeepTheOrder) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    int64_t buffers = 1 + static_cast<int64_t>(random() % 6);
    std::vector<std::vector<Access>> steps(random() % 24);
    for (std::vector<Access> &accesses : steps)
      for (int64_t b = 0; b < buffers; ++b)
        if (random() % 3 == 0)
          accesses.push_back({b, random() % 2 == 0});
    EntrySpec entry = makeEntry(steps, buffers);
    int streams = 1 + static_cast<int>(random() % 5);
    StreamPlan plan = planStreams(entry, streams);
    ASSERT_LE(plan.numStreams, streams);

    // What happens before what, by streams and by what is waited for alone.
    size_t n = steps.size();
    std::vector<std::vector<bool>> ended(n + 1, std::vector<bool>(n + 1));
    std::vector<int64_t> last(static_cast<size_t>(streams), -1);
    auto join = [&](size_t s, int64_t before) {
      if (before < 0)
        return;
      ended[s][static_cast<size_t>(before)] = true;
      for (size_t i = 0; i < n; ++i)
        if (ended[static_cast<size_t>(before)][i])
          ended[s][i] = true;
    };
    ASSERT_EQ(plan.order.size(), n);
    for (size_t s : plan.order) {
      int64_t &tail = last[static_cast<size_t>(plan.steps[s].stream)];
      join(s, tail);
      for (int64_t before : plan.steps[s].waits) {
        EXPECT_TRUE(plan.steps[static_cast<size_t>(before)].isAwaited);
        join(s, before);
      }
      tail = static_cast<int64_t>(s);
    }
    join(n, last[0]);
    for (int64_t before : plan.finalWaits)
      join(n, before);

    for (size_t b = 0; b < n; ++b) {
      EXPECT_TRUE(ended[n][b]) << "the run ends before step " << b;
      for (size_t a = 0; a < n; ++a) {
        if (a == b)
          continue;
        bool mustWait = false;
        for (const Access &x : steps[a])
          for (const Access &y : steps[b])
            mustWait |= x.buffer == y.buffer && (x.isWritten || y.isWritten);
        EXPECT_TRUE(a > b || !mustWait || ended[b][a]) << a << " before " << b;
        EXPECT_EQ(
            plan.endsBefore(static_cast<int64_t>(a), static_cast<int64_t>(b)),
            ended[b][a])
            << a << " and " << b;
      }
    }
  }
}
