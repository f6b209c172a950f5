//===- ProcessesTest.cpp - Jobs in processes of their own -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../test/Integration/Support/Processes.h"

#include "gtest/gtest.h"

#include <csignal>
#include <cstdlib>
#include <unistd.h>

using namespace tracea::campaign;

namespace {

struct Taken {
  std::vector<int64_t> numbers;
  std::vector<JobResult> results;
  int64_t badEnds = 0;
};

Taken run(int64_t count, const JobLimits &limits, const Work &work) {
  Taken taken;
  taken.badEnds = runJobs(
      count, limits, [&] { return work; },
      [&](int64_t number, const JobResult &result) {
        taken.numbers.push_back(number);
        taken.results.push_back(result);
      });
  return taken;
}

/// Job 0 is the last one to be done.
std::vector<std::string> slowest(int64_t number, const Say &say) {
  if (number == 0)
    usleep(200000);
  say("said " + std::to_string(number));
  say("\n\x01");
  return {std::to_string(number), "", "two\nlines"};
}

TEST(ProcessesTest, ResultsComeInOrder) {
  for (int processes : {1, 3, 20}) {
    Taken taken = run(10, {processes, 10}, slowest);
    ASSERT_EQ(taken.numbers.size(), 10u);
    EXPECT_EQ(taken.badEnds, 0);
    for (int64_t number = 0; number < 10; ++number) {
      EXPECT_EQ(taken.numbers[number], number);
      const JobResult &result = taken.results[number];
      EXPECT_EQ(result.said, "said " + std::to_string(number) + "\n\x01");
      EXPECT_EQ(result.fields, (std::vector<std::string>{std::to_string(number),
                                                         "", "two\nlines"}));
      EXPECT_EQ(result.end, "");
    }
  }
}

TEST(ProcessesTest, NoJobs) {
  EXPECT_TRUE(run(0, {2, 10}, slowest).numbers.empty());
}

/// How some jobs end.
std::vector<std::string> ending(int64_t number, const Say &say) {
  say("begun");
  if (number == 1)
    std::raise(SIGSEGV);
  if (number == 2)
    std::_Exit(3);
  if (number == 3)
    std::_Exit(0);
  if (number == 4)
    for (volatile int forever = 1; forever;)
      ;
  return {"done"};
}

TEST(ProcessesTest, WhatEndsAProcessIsOneJobs) {
  for (int processes : {1, 2}) {
    Taken taken = run(6, {processes, 1}, ending);
    ASSERT_EQ(taken.results.size(), 6u);
    EXPECT_EQ(taken.badEnds, 0);
    EXPECT_NE(taken.results[1].end.find("ended by signal: "),
              std::string::npos);
    EXPECT_EQ(taken.results[2].end, "ended by itself");
    EXPECT_EQ(taken.results[3].end, "ended by itself");
    EXPECT_EQ(taken.results[4].end, "takes longer than 1 s");
    for (int64_t number = 0; number < 6; ++number) {
      bool isDone = number == 0 || number == 5;
      EXPECT_EQ(taken.results[number].said, "begun");
      EXPECT_EQ(taken.results[number].end.empty(), isDone);
      EXPECT_EQ(taken.results[number].fields.size(), isDone ? 1u : 0u);
    }
  }
}

TEST(ProcessesTest, AProcessThatEndsBeforeItsJobsIsCounted) {
  std::vector<int64_t> numbers;
  int64_t badEnds = runJobs(
      2, {1, 10}, [&]() -> Work { std::_Exit(1); },
      [&](int64_t number, const JobResult &) { numbers.push_back(number); });
  EXPECT_TRUE(numbers.empty());
  EXPECT_EQ(badEnds, 1);
}

TEST(ProcessesTest, OneChild) {
  EXPECT_EQ(inChild(10, [] { return std::string(100000, 'x'); }),
            std::string(100000, 'x'));
  EXPECT_EQ(inChild(10, []() -> std::string { finishChild("early"); }),
            "early");
  EXPECT_EQ(inChild(10, []() -> std::string { std::_Exit(1); }),
            "ended by itself");
  EXPECT_EQ(inChild(1,
                    []() -> std::string {
                      for (volatile int forever = 1; forever;)
                        ;
                      return "";
                    }),
            "takes longer than 1 s");
}

} // namespace
