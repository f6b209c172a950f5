//===- UnitSumTest.cpp - Bounds of sums with few digits -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums as Hopper's unit makes them of 8-bit floats, against the bounds by which
// random tests judge them.

#include "../../test/Integration/Numerics/Numerics.h"

#include "gtest/gtest.h"

using namespace tracea::numerics;

namespace {

struct Sum {
  Random random;
  Fill fill;
  int64_t count;
  HostTensor lhs, rhs;

  Sum(uint64_t seed, Fill fill, int64_t count)
      : random(seed), fill(fill), count(count) {
    lhs = randomTensor(random, ElementType::F8E4M3FN, {count}, fill);
    rhs = randomTensor(random, ElementType::F8E4M3FN, {count}, fill);
  }

  /// Each instruction cuts its terms and what it adds them to off at one place,
  /// so many digits from the largest of them.
  Real addInUnit(int digits) const {
    constexpr int64_t terms = 32;
    Real sum = 0;
    for (int64_t first = 0; first < count; first += terms) {
      int64_t end = std::min(count, first + terms);
      Real largest = std::fabs(sum);
      for (int64_t i = first; i < end; ++i)
        largest =
            std::max(largest, std::fabs(Real(lhs.values[i]) * rhs.values[i]));
      int exponent;
      std::frexp(largest, &exponent);
      auto cut = [&](Real value) {
        return std::ldexp(std::trunc(std::ldexp(value, digits - exponent)),
                          exponent - digits);
      };
      sum = cut(sum);
      for (int64_t i = first; i < end; ++i)
        sum += cut(Real(lhs.values[i]) * rhs.values[i]);
      std::frexp(sum, &exponent);
      sum = cut(sum);
    }
    return sum;
  }

  Approx bound(int digits) const {
    return dotProduct(
        ElementType::F32, count,
        [&](int64_t i, double &a, double &b) {
          a = lhs.values[i];
          b = rhs.values[i];
        },
        digits);
  }
};

constexpr int kDigits = 14;
constexpr int64_t kCounts[] = {1, 2, 7, 31, 32, 33, 48, 64, 300, 1025, 4096};

} // namespace

TEST(UnitSum, ErrorsOfTheUnitAreWithinTheBound) {
  for (Fill fill : {Fill::Normal, Fill::Integers, Fill::Special, Fill::Offset})
    for (int64_t count : kCounts)
      for (uint64_t seed = 0; seed < 50; ++seed) {
        Sum sum(seed, fill, count);
        Approx bound = sum.bound(kDigits);
        if (!std::isfinite(bound.value))
          continue;
        EXPECT_LE(std::fabs(sum.addInUnit(kDigits) - bound.value), bound.error)
            << count << " terms, seed " << seed << ", fill " << int(fill);
      }
}

// What the bound of an accumulator of single precision would refuse.
TEST(UnitSum, TheAccumulatorsBoundKnowsNothingOfIt) {
  int64_t beyond = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Sum sum(seed, Fill::Normal, 48);
    Approx bound = sum.bound(0);
    beyond += std::fabs(sum.addInUnit(kDigits) - bound.value) > bound.error;
  }
  EXPECT_GT(beyond, 25);
}

// A unit with fewer digits is caught: results have many sums.
TEST(UnitSum, FewerDigitsAreBeyondTheBound) {
  for (int64_t count : {7, 48, 300, 1025}) {
    int64_t beyond = 0;
    for (uint64_t seed = 0; seed < 50; ++seed) {
      Sum sum(seed, Fill::Normal, count);
      Approx bound = sum.bound(kDigits);
      beyond +=
          std::fabs(sum.addInUnit(kDigits - 5) - bound.value) > bound.error;
    }
    EXPECT_GT(beyond, 0) << count << " terms";
  }
}

TEST(UnitSum, SmallIntegersStayExact) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Sum sum(seed, Fill::Integers, 300);
    Approx bound = sum.bound(kDigits);
    EXPECT_EQ(bound.error, 0);
    EXPECT_EQ(sum.addInUnit(kDigits), bound.value);
  }
}

// Digits are those of the operands of the unit, not of others.
TEST(UnitSum, DigitsAreThoseOfByteFloats) {
  takeDigitsOfSums(kDigits);
  EXPECT_EQ(digitsOfSums(ElementType::F8E4M3FN), kDigits);
  EXPECT_EQ(digitsOfSums(ElementType::F8E5M2), kDigits);
  EXPECT_EQ(digitsOfSums(ElementType::BF16), 0);
  takeDigitsOfSums(0);
  EXPECT_EQ(digitsOfSums(ElementType::F8E4M3FN), 0);
}
