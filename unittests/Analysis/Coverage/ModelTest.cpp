//===- ModelTest.cpp - Problems as text that nobody vouches for -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Designs.h"
#include "gtest/gtest.h"
#include <random>

using namespace tracea::coverage;
using namespace tracea::coverage::designs;
using tracea::algebra::Expected;

namespace {
std::vector<Problem> problems() {
  return {tiles({{}, {256, 256}}),
          tiles({{128, 120}}, true),
          symbolicTiles(true),
          symbolicTiles(false),
          rasterByCases(4),
          raster(true),
          persistent(),
          persistentSymbolic(true),
          splitK(3),
          splitK(4, SplitFault::InclusiveEnd),
          splitKSymbolic(),
          pixels(56, 56),
          pixelsSymbolic(),
          convInput({2, 3, 1, 7}),
          halo({8, 1, 3, 1, 9}),
          attention(),
          vectorStores(),
          fragments(FragmentFault::GuardedReplicas),
          fragments(FragmentFault::DoubledRegister),
          fragmentByDivision(24),
          wholeGemm()};
}

TEST(Model, RoundTrip) {
  for (const Problem &problem : problems()) {
    std::string text = writeModel(problem);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    Expected<Problem> read = readModel(text);
    ASSERT_TRUE(bool(read)) << read.message() << "\n" << text;
    // Terms may be numbered anew, once.
    std::string again = writeModel(*read);
    Expected<Problem> twice = readModel(again);
    ASSERT_TRUE(bool(twice)) << twice.message();
    EXPECT_EQ(writeModel(*twice), again);
    Result before = decide(problem), after = decide(*read);
    EXPECT_EQ(before.verdict, after.verdict) << text << "\n" << after.reason;
    EXPECT_EQ(before.finding.property, after.finding.property);
    EXPECT_EQ(describe(problem).size(), describe(*read).size());
  }
}

TEST(Model, Text) {
  EXPECT_EQ(writeModel(tiles({{}})),
            "coverage 1; symbol N0 [0, ); id t0 [0, (N0 + 127)/128); id i0 [0, "
            "128); coordinate x0 [0, N0); stage \"tiles\" affine (x0); writer "
            "\"store\" (t0, i0) {N0 - 128*t0 - i0 - 1 >= 0} {128*t0 + i0} {}; "
            "outputs (x0)");
}

TEST(Model, Errors) {
  auto expectError = [](const std::string &text, const std::string &message) {
    Expected<Problem> read = readModel(text);
    ASSERT_FALSE(bool(read)) << text;
    EXPECT_NE(read.message().find(message), std::string::npos)
        << read.message();
  };
  expectError("", "expected a word");
  expectError("coverage 2", "expected 'coverage 1'");
  expectError("coverage 1; nonsense", "unknown word 'nonsense'");
  expectError("coverage 1; id t [0, M)", "'M' has not been declared");
  expectError("coverage 1; symbol M [0, ); symbol M [0, )", "declared twice");
  expectError("coverage 1; symbol M [0, ); assume M/0 >= 0", "invalid");
  expectError("coverage 1; symbol M [0, 99999999999999999999)", "64 bits");
  expectError("coverage 1; symbol M [0, ); assume M > 0", "expected '='");
  expectError("coverage 1; writer \"w\" () {} {} {}", "outside of a stage");
  expectError("coverage 1; stage \"s\" round ()", "unknown kind of stage");
  expectError("coverage 1; symbol M [0, ); value " + std::string(200, '(') +
                  "M",
              "nested too deeply");
  expectError("coverage 1; symbol M [0, ); value M" + std::string(1 << 19, ' '),
              "at most");
  expectError("coverage 1; stage \"s\" lanes () shape (3) outer (1)", "");
  expectError("coverage 1 symbol", "expected ';'");
  std::string many = "coverage 1";
  for (int i = 0; i < 5000; ++i)
    many += "; symbol s" + std::to_string(i) + " [0, )";
  expectError(many, "terms");
}

/// Nothing crashes or runs for long, whatever the text.
TEST(Model, DamagedText) {
  std::mt19937_64 generator(3);
  auto pick = [&](size_t bound) { return size_t(generator() % bound); };
  std::vector<std::string> texts;
  for (const Problem &problem : problems())
    texts.push_back(writeModel(problem));
  Options options;
  options.maxQueries = 60;
  options.maxEvents = 2000;
  options.maxMilliseconds = 200;
  int read = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = texts[pick(texts.size())];
    for (size_t i = 0, n = 1 + pick(3); i < n; ++i) {
      size_t at = pick(text.size());
      switch (pick(5)) {
      case 0:
        text[at] = "0123456789*/+-()[]{},;=>_M\"' x"[pick(31)];
        break;
      case 1:
        text.erase(at, 1 + pick(8));
        break;
      case 2: {
        const std::string &other = texts[pick(texts.size())];
        size_t from = pick(other.size());
        text.insert(at, other.substr(from, pick(30)));
        break;
      }
      case 3:
        text.insert(at, std::to_string(generator() >> pick(64)));
        break;
      case 4: // another number
        if (size_t digit = text.find_first_of("0123456789", at);
            digit != std::string::npos)
          text[digit] = char('0' + pick(10));
        break;
      }
    }
    Expected<Problem> problem = readModel(text);
    problem ? ++read : ++refused;
    if (!problem)
      continue;
    Result result = decide(*problem, options);
    if (getenv("TRACEA_COVERAGE_TIMES") &&
        result.statistics.longestMilliseconds > 20)
      printf("%.1f ms, %ld x %ld: %s\n", result.statistics.longestMilliseconds,
             result.statistics.variables, result.statistics.constraints,
             text.c_str());
    LaunchGuard guard = launchGuard(*problem);
    violates(*problem, guard, {{"M", 5}});
    describe(*problem);
    EXPECT_TRUE(bool(readModel(writeModel(*problem))));
  }
  EXPECT_GT(read, 300);
  EXPECT_GT(refused, 300);
}
} // namespace
