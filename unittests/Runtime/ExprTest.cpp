//===- ExprTest.cpp - Expressions of shapes -------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every operator against wide arithmetic, the edges of int64, and undefined
// values, which must reach the user and nobody else.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/Expr.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

using namespace tracea::runtime;
using ::testing::HasSubstr;

static const int64_t lowest = std::numeric_limits<int64_t>::min();
static const int64_t highest = std::numeric_limits<int64_t>::max();

static std::optional<int64_t> fit(__int128 value) {
  if (value < lowest || value > highest)
    return std::nullopt;
  return static_cast<int64_t>(value);
}

/// The meaning of an operator in arithmetic that cannot overflow.
static std::optional<int64_t> wide(ExprOp op, __int128 a, __int128 b) {
  if ((op == ExprOp::FloorDiv || op == ExprOp::CeilDiv || op == ExprOp::Mod) &&
      b == 0)
    return std::nullopt;
  __int128 floor = 0;
  if (b != 0) {
    floor = a / b;
    while (floor * b > a ? b > 0 : (floor * b < a && b < 0))
      --floor; // Truncation rounded up.
  }
  switch (op) {
  case ExprOp::Add:
    return fit(a + b);
  case ExprOp::Sub:
    return fit(a - b);
  case ExprOp::Mul:
    return fit(a * b);
  case ExprOp::FloorDiv:
    return fit(floor);
  case ExprOp::CeilDiv:
    return fit(floor * b == a ? floor : floor + 1);
  case ExprOp::Mod:
    return fit(a - floor * b);
  case ExprOp::Min:
    return fit(a < b ? a : b);
  case ExprOp::Max:
    return fit(a < b ? b : a);
  case ExprOp::Eq:
    return a == b;
  case ExprOp::Ne:
    return a != b;
  case ExprOp::Lt:
    return a < b;
  case ExprOp::Le:
    return a <= b;
  default:
    return std::nullopt;
  }
}

TEST(Expr, OperatorsAgreeWithWideArithmetic) {
  const int64_t samples[] = {lowest, lowest + 1, -4294967296, -7,     -3, -2,
                             -1,     0,          1,           2,      3,  7,
                             64,     4294967296, highest - 1, highest};
  for (int i = static_cast<int>(ExprOp::Add); i <= static_cast<int>(ExprOp::Le);
       ++i)
    for (int64_t a : samples)
      for (int64_t b : samples) {
        ExprOp op = static_cast<ExprOp>(i);
        EXPECT_EQ(applyExprOp(op, a, b, 0), wide(op, a, b))
            << nameOf(op) << " " << a << " " << b;
      }
  EXPECT_EQ(applyExprOp(ExprOp::Mod, -7, 3, 0), 2);
  EXPECT_EQ(applyExprOp(ExprOp::FloorDiv, -7, 3, 0), -3);
  EXPECT_EQ(applyExprOp(ExprOp::CeilDiv, -7, 3, 0), -2);
  EXPECT_EQ(applyExprOp(ExprOp::Mod, 7, -3, 0), -2);
}

/// What lanes make of a dividend.
static uint64_t divide(uint64_t n, int64_t multiplier, int64_t shift) {
  auto high = static_cast<uint64_t>(
      static_cast<unsigned __int128>(static_cast<uint64_t>(multiplier)) * n >>
      64);
  int64_t first = std::min<int64_t>(shift, 1);
  return (high + ((n - high) >> first)) >> (shift - first);
}

TEST(Expr, LanesDivideExactlyByWhatTheHostMakes) {
  // Around all powers of two, so that all corners of 32 and of 64 bits are
  // there, and numbers without a pattern.
  std::vector<uint64_t> numbers;
  for (int bit = 0; bit < 64; ++bit)
    for (int64_t off = -3; off <= 3; ++off)
      numbers.push_back((uint64_t(1) << bit) + static_cast<uint64_t>(off));
  numbers.push_back(0);
  uint64_t random = 88172645463325252;
  for (int i = 0; i < 400; ++i) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    numbers.push_back(random >> (i % 64));
  }
  for (uint64_t d : numbers) {
    auto divisor = static_cast<int64_t>(d);
    if (divisor < 1)
      continue;
    std::optional<int64_t> multiplier =
        applyExprOp(ExprOp::DivMultiplier, divisor, divisor, 0);
    std::optional<int64_t> shift =
        applyExprOp(ExprOp::DivShift, divisor, divisor, 0);
    ASSERT_TRUE(multiplier && shift);
    auto check = [&](uint64_t n) {
      ASSERT_EQ(divide(n, *multiplier, *shift), n / d) << n << " / " << d;
    };
    for (uint64_t n : numbers) {
      check(n);
      // Where quotients change.
      uint64_t whole = n / d * d;
      check(whole);
      check(whole - 1);
    }
  }
  for (int64_t none : {int64_t(0), int64_t(-1), lowest}) {
    EXPECT_EQ(applyExprOp(ExprOp::DivMultiplier, none, none, 0), 0);
    EXPECT_EQ(applyExprOp(ExprOp::DivShift, none, none, 0), 0);
  }
}

TEST(Expr, EvaluatesAnEntry) {
  std::vector<Expr> exprs;
  ExprBuilder e(exprs);
  int64_t rows = e.dim(0, 0), columns = e.dim(1, 2);
  int64_t product = e.mul(rows, columns);
  int64_t tiles = e.ceilDiv(product, e.constant(16));
  int64_t chosen = e.select(e.lt(rows, columns), tiles, e.constant(-1));
  std::vector<int64_t> first = {5}, second = {1, 2, 10};
  const std::vector<int64_t> *shapes[] = {&first, &second};
  ExprValues values;
  values.evaluate(exprs, shapes);
  EXPECT_EQ(*values.get(product), 50);
  EXPECT_EQ(*values.get(tiles), 4);
  EXPECT_EQ(*values.get(chosen), 4);
  first[0] = 11;
  values.evaluate(exprs, shapes);
  EXPECT_EQ(*values.get(chosen), -1);
}

TEST(Expr, UndefinedValuesNameTheirOrigin) {
  std::vector<Expr> exprs;
  ExprBuilder e(exprs);
  int64_t n = e.dim(0, 0);
  int64_t square = e.mul(n, n);
  int64_t next = e.add(square, e.constant(1));
  int64_t quotient = e.floorDiv(next, e.sub(n, n));
  int64_t zeroQuotient = e.floorDiv(n, e.sub(n, n));
  std::vector<int64_t> shape = {int64_t(1) << 40};
  const std::vector<int64_t> *shapes[] = {&shape};
  ExprValues values;
  values.evaluate(exprs, shapes);
  for (int64_t node : {square, next, quotient}) {
    Expected<int64_t> value = values.get(node);
    ASSERT_FALSE(value);
    EXPECT_EQ(value.message(),
              "expression 1, mul of 1099511627776 and 1099511627776, does not "
              "fit into 64 bits");
  }
  EXPECT_THAT(values.get(zeroQuotient).message(), HasSubstr("divides by zero"));
  EXPECT_TRUE(values.get(n));
}

TEST(Expr, SelectNeedsOnlyWhatItSelects) {
  std::vector<Expr> exprs;
  ExprBuilder e(exprs);
  int64_t n = e.dim(0, 0);
  int64_t quotient = e.floorDiv(e.constant(100), n);
  int64_t zero = e.constant(0);
  int64_t guarded = e.select(e.eq(n, zero), zero, quotient);
  int64_t badCondition = e.select(quotient, n, n + 0);
  int64_t badCondition2 = e.select(quotient, n, zero);
  EXPECT_EQ(badCondition, n); // Both sides are the same.
  std::vector<int64_t> shape = {0};
  const std::vector<int64_t> *shapes[] = {&shape};
  ExprValues values;
  values.evaluate(exprs, shapes);
  EXPECT_FALSE(values.get(quotient));
  EXPECT_FALSE(values.get(badCondition2));
  ASSERT_TRUE(values.get(guarded));
  EXPECT_EQ(*values.get(guarded), 0);
  shape[0] = 7;
  values.evaluate(exprs, shapes);
  EXPECT_EQ(*values.get(guarded), 14);
}

TEST(Expr, BuilderFoldsAndShares) {
  std::vector<Expr> exprs;
  ExprBuilder e(exprs);
  int64_t n = e.dim(0, 0);
  EXPECT_EQ(e.mul(e.constant(6), e.constant(7)), e.constant(42));
  EXPECT_EQ(e.mul(n, e.constant(1)), n);
  EXPECT_EQ(e.add(e.constant(0), n), n);
  EXPECT_EQ(e.mul(n, e.constant(2)), e.mul(n, e.constant(2)));
  EXPECT_EQ(e.dim(0, 0), n);
  size_t before = exprs.size();
  int64_t overflow = e.mul(e.constant(highest), e.constant(2));
  EXPECT_EQ(exprs[static_cast<size_t>(overflow)].op, ExprOp::Mul);
  EXPECT_GT(exprs.size(), before);
  EXPECT_EQ(e.select(e.constant(0), n, e.constant(42)), e.constant(42));
}
