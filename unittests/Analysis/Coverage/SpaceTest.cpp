//===- SpaceTest.cpp - Expressions are exact and shared -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Coverage/Space.h"
#include "gtest/gtest.h"
#include <random>

using namespace tracea::coverage;

namespace {
int64_t floorOf(int64_t a, int64_t b) { return a / b - (a % b < 0); }

TEST(Space, EqualExpressionsAreShared) {
  Space s;
  Term m = s.symbol("M"), t = s.id("t", 4), i = s.id("i", 128);
  EXPECT_EQ(s.ceilDiv(m, 128), s.floorDiv(m + 127, 128));
  EXPECT_EQ(s.floorDiv(m - 1, 128) + 1, s.ceilDiv(m, 128));
  // Multiples of the divisor, common factors, nested divisions.
  EXPECT_EQ(s.floorDiv(128 * t + i, 64), 2 * t + s.floorDiv(i, 64));
  EXPECT_EQ(s.floorDiv(6 * t + 4 * i + 3, 8), s.floorDiv(3 * t + 2 * i + 1, 4));
  EXPECT_EQ(s.floorDiv(s.floorDiv(m, 4), 8), s.floorDiv(m, 32));
  EXPECT_EQ(s.floorDiv(4 * t + s.floorDiv(i, 32), 64),
            s.floorDiv(128 * t + i, 2048));
  EXPECT_EQ(s.product(m + 1, t - 1), s.product(t, m) - Expr(m) + Expr(t) - 1);
  EXPECT_EQ(s.floorDiv(s.product(m, t), m), Expr(t));
  EXPECT_EQ(s.min(m, m + 1), Expr(m));
  // Ranges: i < 128, t < 4.
  EXPECT_EQ(s.floorDiv(128 * t + i, 128), Expr(t));
  EXPECT_EQ(s.floorDiv(s.floorDiv(i, 4), 32), Expr(0));
  EXPECT_EQ(s.min(i, t + 127), s.min(t + 127, i));
  EXPECT_EQ(s.min(i, t + 128), Expr(i));
  EXPECT_NE(s.floorDiv(i, 127), Expr(0));
  EXPECT_EQ(s.floorDiv(s.id("none", 0), 2).terms().size(), 1u);
  EXPECT_EQ(s.min(m, t), s.min(t, m));
  EXPECT_EQ(s.mod(m, 1), Expr(0));
}

TEST(Space, NamesAreUniqueAndReadable) {
  Space s;
  EXPECT_EQ(s.name(s.symbol("M")), "M");
  EXPECT_EQ(s.name(s.symbol("M")), "M.1");
  EXPECT_EQ(s.name(s.symbol("arg 0:dim")), "arg_0_dim");
  EXPECT_EQ(s.name(s.symbol("0")), "_0");
  EXPECT_EQ(s.find("M.1")->index, 1u);
}

TEST(Space, Text) {
  Space s;
  Term m = s.symbol("M"), t = s.id("t", 4);
  EXPECT_EQ(s.str(s.ceilDiv(m, 128) - t - 1), "(M + 127)/128 - t - 1");
  EXPECT_EQ(s.str(2 * s.mod(m, 8)), "2*M - 16*(M/8)");
  EXPECT_EQ(s.str(s.min(m, t) - s.product(m, t)), "min(M, t) - M*t");
  EXPECT_EQ(s.str(less(t, m)), "M - t - 1 >= 0");
}

TEST(Space, InvalidExpressionsStayInvalid) {
  Space s;
  Term m = s.symbol("M");
  EXPECT_FALSE(s.floorDiv(m, 0).isValid());
  EXPECT_FALSE(s.floorDiv(m, -4).isValid());
  EXPECT_FALSE((INT64_MAX * m + INT64_MAX * m).isValid());
  EXPECT_FALSE((Expr(INT64_MAX) + 1).isValid());
  EXPECT_FALSE(s.mod(INT64_MAX * m + INT64_MAX * m, 3).isValid());
  EXPECT_FALSE(s.product(INT64_MAX * m, 2 * m).isValid());
  Expr power = m;
  for (int i = 0; i < 20; ++i)
    power = s.product(power, m);
  EXPECT_FALSE(power.isValid());
  EXPECT_NE(Expr::invalid(), Expr::invalid());
}

/// Random expressions have the value that C++ computes, before and after
/// variables are replaced.
TEST(Space, EvaluatesAsWritten) {
  std::mt19937_64 generator(11);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(generator);
  };
  for (int round = 0; round < 300; ++round) {
    Space s;
    std::vector<Term> variables;
    std::map<Term, int64_t> values;
    std::map<Term, Expr> constants;
    for (int i = 0; i < 3; ++i) {
      variables.push_back(s.id("v", Range(-20, 21)));
      values[variables.back()] = pick(-20, 20);
      constants[variables.back()] = values[variables.back()];
    }
    std::vector<std::pair<Expr, int64_t>> pool;
    for (Term v : variables)
      pool.emplace_back(v, values[v]);
    for (int step = 0; step < 8; ++step) {
      auto [a, x] = pool[size_t(pick(0, pool.size() - 1))];
      auto [b, y] = pool[size_t(pick(0, pool.size() - 1))];
      int64_t d = pick(1, 9);
      switch (pick(0, 5)) {
      case 0:
        pool.emplace_back(a + pick(-3, 3) * b, 0);
        pool.back().second = *s.evaluate(pool.back().first, values);
        break;
      case 1:
        pool.emplace_back(s.floorDiv(a, d), floorOf(x, d));
        break;
      case 2:
        pool.emplace_back(s.mod(a, d), x - d * floorOf(x, d));
        break;
      case 3:
        pool.emplace_back(s.min(a, b), std::min(x, y));
        break;
      case 4:
        pool.emplace_back(s.max(a, b), std::max(x, y));
        break;
      case 5:
        if (std::abs(x) < 1000 && std::abs(y) < 1000)
          pool.emplace_back(s.product(a, b), x * y);
        break;
      }
      auto [last, expected] = pool.back();
      if (!last.isValid())
        break;
      EXPECT_EQ(s.evaluate(last, values), expected) << s.str(last);
      Expr folded = s.substitute(last, constants);
      EXPECT_TRUE(folded.isConstant()) << s.str(folded);
      EXPECT_EQ(folded.constant(), expected) << s.str(last);
    }
  }
}

TEST(Space, EvaluationNoticesWhatHasNoValue) {
  Space s;
  Term m = s.symbol("M"), d = s.symbol("d");
  EXPECT_FALSE(s.evaluate(m, {}));
  EXPECT_FALSE(s.evaluate(s.floorDiv(m, d), {{m, 3}, {d, 0}}));
  EXPECT_EQ(s.evaluate(s.floorDiv(m, d), {{m, -3}, {d, 2}}), -2);
  EXPECT_FALSE(s.evaluate(s.product(m, d), {{m, INT64_MAX}, {d, 2}}));
}
} // namespace
