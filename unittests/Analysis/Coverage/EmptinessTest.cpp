//===- EmptinessTest.cpp - Points of conjunctions, few and many variables -===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branch and bound answers alone where a conjunction has many variables. A
// conjunction of parts that share no variable has a point where each part has
// one, and that can be tried for parts of three variables in a box.

#include "Emptiness.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <array>
#include <random>

using namespace tracea::coverage;

namespace {
constexpr int64_t kSide = 4;

/// Coefficients of three variables, and the constant.
using Row = std::array<int64_t, 4>;

struct Part {
  Row equality;
  std::vector<Row> inequalities;

  explicit Part(std::mt19937_64 &generator) {
    auto pick = [&](int64_t low, int64_t high) {
      return std::uniform_int_distribution<int64_t>(low, high)(generator);
    };
    equality = {pick(2, 7), pick(-7, -2), pick(-3, 3), pick(-5, 5)};
    for (int64_t i = 0, n = pick(1, 4); i < n; ++i)
      inequalities.push_back(
          {pick(-9, 9), pick(-9, 9), pick(-9, 9), pick(-12, 3)});
  }

  bool holds(int64_t x, int64_t y, int64_t z) const {
    auto at = [&](const Row &row) {
      return row[0] * x + row[1] * y + row[2] * z + row[3];
    };
    return at(equality) == 0 &&
           std::all_of(inequalities.begin(), inequalities.end(),
                       [&](const Row &row) { return at(row) >= 0; });
  }

  bool hasPoint() const {
    for (int64_t x = -kSide; x <= kSide; ++x)
      for (int64_t y = -kSide; y <= kSide; ++y)
        for (int64_t z = -kSide; z <= kSide; ++z)
          if (holds(x, y, z))
            return true;
    return false;
  }

  void addTo(LinearSystem &system, std::array<Term, 3> terms) const {
    auto at = [&](const Row &row) {
      return row[0] * Expr(terms[0]) + row[1] * Expr(terms[1]) +
             row[2] * Expr(terms[2]) + row[3];
    };
    system.add(equal(at(equality), 0));
    for (const Row &row : inequalities)
      system.add(atLeast(at(row), 0));
    for (Term term : terms) {
      system.add(atLeast(term, -kSide));
      system.add(atMost(term, kSide));
    }
  }
};

/// What is answered of so many parts together agrees with trying them.
void checkParts(unsigned numParts, unsigned rounds, unsigned seed) {
  std::mt19937_64 generator(seed);
  unsigned empty = 0, numGivenUp = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    Space space;
    LinearSystem system;
    std::vector<Part> parts;
    std::vector<std::array<Term, 3>> terms;
    bool isEmpty = false;
    while (parts.size() < numParts) {
      Part part(generator);
      // Most parts have points, or all conjunctions of many would be empty.
      bool hasPoint = part.hasPoint();
      if (!hasPoint && generator() % numParts != 0)
        continue;
      isEmpty |= !hasPoint;
      parts.push_back(part);
      terms.push_back(
          {space.symbol("x"), space.symbol("y"), space.symbol("z")});
      part.addTo(system, terms.back());
    }
    LinearSystem::Point point;
    LinearSystem::Answer answer = system.findPoint(point);
    empty += isEmpty;
    if (answer == LinearSystem::Unknown) {
      ++numGivenUp;
      continue;
    }
    ASSERT_EQ(answer, isEmpty ? LinearSystem::Empty : LinearSystem::Found)
        << round;
    for (size_t i = 0; !isEmpty && i < parts.size(); ++i)
      EXPECT_TRUE(parts[i].holds(point[terms[i][0]], point[terms[i][1]],
                                 point[terms[i][2]]))
          << round;
  }
  // A part without points is looked into once for each branch of those before
  // it, so that some searches are given up.
  EXPECT_LE(numGivenUp, numParts == 1 ? 0 : rounds / 10);
  EXPECT_GT(empty, rounds / 20);
  EXPECT_LT(empty, rounds - rounds / 20);
}

TEST(Emptiness, FewVariables) { checkParts(1, 2000, 11); }

TEST(Emptiness, ManyVariables) { checkParts(9, 300, 12); }

// Points are nowhere near, and no bound stops the branches: a reduced basis
// finds that there are none.
TEST(Emptiness, WithoutBounds) {
  Space space;
  LinearSystem system;
  Term x = space.symbol("x"), y = space.symbol("y"), z = space.symbol("z");
  // Between two multiples of 3.
  Expr sum = 6 * Expr(x) + 9 * Expr(y) + 15 * Expr(z);
  system.add(atLeast(sum, 1));
  system.add(atMost(sum + Expr(x), Expr(x) + 2));
  LinearSystem::Point point;
  EXPECT_EQ(system.findPoint(point), LinearSystem::Empty);
  // The same with slack variables, which hides the common factor.
  LinearSystem hidden;
  Term s = space.symbol("s");
  hidden.add(equal(sum, Expr(s)));
  hidden.add(atLeast(s, 1));
  hidden.add(atMost(s, 2));
  EXPECT_EQ(hidden.findPoint(point), LinearSystem::Empty);
}

} // namespace
