//===- F2MatrixTest.cpp - Linear maps against their definitions -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/F2Matrix.h"
#include "RandomF2.h"
#include "gtest/gtest.h"
#include <set>

using namespace tracea::algebra;

TEST(F2Matrix, ApplyIsTheSumOfSelectedColumns) {
  F2Matrix m = *F2Matrix::get(3, {0b001, 0b011, 0b110});
  EXPECT_EQ(m.apply(0b000), 0b000u);
  EXPECT_EQ(m.apply(0b010), 0b011u);
  EXPECT_EQ(m.apply(0b101), 0b111u);
  EXPECT_EQ(m.apply(0b111), 0b100u);
  EXPECT_EQ(m.apply(0b1000), 0u); // Beyond the inputs.
}

TEST(F2Matrix, KernelImageSolveOnRandomMaps) {
  RandomF2 random(2);
  for (int round = 0; round < 1000; ++round) {
    unsigned in = random.below(8), out = random.below(8);
    F2Matrix m = random.matrix(out, in);
    // By enumeration.
    std::set<uint64_t> image, kernel;
    for (uint64_t x = 0; x < (uint64_t(1) << in); ++x) {
      image.insert(m.apply(x));
      if (m.apply(x) == 0)
        kernel.insert(x);
    }
    ASSERT_EQ(uint64_t(1) << m.rank(), image.size()) << m;
    ASSERT_EQ(uint64_t(1) << m.kernel().size(), kernel.size()) << m;
    for (uint64_t x : combinations(m.kernel()))
      ASSERT_TRUE(kernel.count(x)) << m;
    ASSERT_EQ(rankOf(m.kernel()), m.kernel().size()) << m;
    F2Vectors spanned = combinations(m.image());
    ASSERT_EQ(std::set<uint64_t>(spanned.begin(), spanned.end()), image) << m;
    for (uint64_t y = 0; y < (uint64_t(1) << out); ++y) {
      std::optional<uint64_t> x = m.solve(y);
      ASSERT_EQ(x.has_value(), image.count(y) == 1) << m << y;
      if (x) {
        ASSERT_EQ(m.apply(*x), y) << m;
      }
    }
    EXPECT_EQ(m.isInjective(), kernel.size() == 1);
    EXPECT_EQ(m.isSurjective(), image.size() == uint64_t(1) << out);
    EXPECT_EQ(m.isInvertible(), in == out && kernel.size() == 1);
  }
}

TEST(F2Matrix, SolveUsesTheEarliestInputs) {
  // Inputs 0 and 1 reach everything; 2 and 3 repeat them.
  F2Matrix m = *F2Matrix::get(2, {1, 2, 1, 3});
  for (uint64_t y = 0; y < 4; ++y)
    EXPECT_LT(*m.solve(y), 4u) << y;
  F2Matrix swapped = *F2Matrix::get(2, {0, 2, 1, 3});
  EXPECT_EQ(*swapped.solve(1), 4u);
}

TEST(F2Matrix, InversesOnRandomMaps) {
  RandomF2 random(3);
  unsigned right = 0, left = 0;
  for (int round = 0; round < 2000; ++round) {
    unsigned in = random.below(8), out = random.below(8);
    F2Matrix m = random.matrix(out, in);
    std::optional<F2Matrix> r = m.rightInverse();
    ASSERT_EQ(r.has_value(), m.isSurjective()) << m;
    if (r) {
      ++right;
      ASSERT_EQ(r->numInputs(), out);
      ASSERT_EQ(r->numOutputs(), in);
      ASSERT_EQ(*m.compose(*r), F2Matrix::identity(out)) << m;
    }
    std::optional<F2Matrix> l = m.leftInverse();
    ASSERT_EQ(l.has_value(), m.isInjective()) << m;
    if (l) {
      ++left;
      ASSERT_EQ(l->numInputs(), out);
      ASSERT_EQ(l->numOutputs(), in);
      ASSERT_EQ(*l->compose(m), F2Matrix::identity(in)) << m;
    }
    ASSERT_EQ(m.inverse().has_value(), in == out && r && l) << m;
    if (std::optional<F2Matrix> inverse = m.inverse()) {
      ASSERT_EQ(*inverse->compose(m), F2Matrix::identity(in));
      ASSERT_EQ(*m.compose(*inverse), F2Matrix::identity(in));
    }
  }
  EXPECT_GT(right, 100u); // The cases did occur.
  EXPECT_GT(left, 100u);
}

// The unit vectors that complete the image to a basis go to 0.
TEST(F2Matrix, LeftInverseKillsAComplement) {
  F2Matrix m = *F2Matrix::get(3, {0b010, 0b110});
  F2Matrix left = *m.leftInverse();
  EXPECT_EQ(left.columns(), (F2Vectors{0b00, 0b01, 0b11}));
  EXPECT_EQ(left.rank(), 2u);
}

TEST(F2Matrix, ComposeAppliesInnerFirst) {
  RandomF2 random(4);
  for (int round = 0; round < 200; ++round) {
    unsigned a = random.below(7), b = random.below(7), c = random.below(7);
    F2Matrix inner = random.matrix(b, a), outer = random.matrix(c, b);
    F2Matrix both = *outer.compose(inner);
    ASSERT_EQ(both.numInputs(), a);
    ASSERT_EQ(both.numOutputs(), c);
    for (uint64_t x = 0; x < (uint64_t(1) << a); ++x)
      ASSERT_EQ(both.apply(x), outer.apply(inner.apply(x)));
  }
}

TEST(F2Matrix, DirectSumActsOnBothHalves) {
  F2Matrix low = *F2Matrix::get(2, {3, 2, 1}), high = *F2Matrix::get(1, {1, 1});
  F2Matrix both = *low.directSum(high);
  EXPECT_EQ(both.numInputs(), 5u);
  EXPECT_EQ(both.numOutputs(), 3u);
  for (uint64_t x = 0; x < 8; ++x)
    for (uint64_t y = 0; y < 4; ++y)
      EXPECT_EQ(both.apply(x | y << 3), low.apply(x) | high.apply(y) << 2);
  // Full width: nothing is left to shift into.
  F2Matrix full = F2Matrix::identity(64);
  EXPECT_EQ(*full.directSum(F2Matrix()), full);
  EXPECT_EQ(*F2Matrix().directSum(full), full);
  // An input without outputs above 64 bits of output.
  F2Matrix top = *F2Matrix::get(64, {uint64_t(1) << 63});
  EXPECT_EQ(top.directSum(*F2Matrix::get(0, {0}))->columns(),
            (F2Vectors{uint64_t(1) << 63, 0}));
}

TEST(F2Matrix, ConcatAndTranspose) {
  F2Matrix a = *F2Matrix::get(3, {1, 6}), b = *F2Matrix::get(3, {4});
  EXPECT_EQ(a.concat(b)->columns(), (F2Vectors{1, 6, 4}));
  F2Matrix t = a.transpose();
  EXPECT_EQ(t.numOutputs(), 2u);
  EXPECT_EQ(t.columns(), (F2Vectors{1, 2, 2}));
  EXPECT_EQ(t.transpose(), a);
}

TEST(F2Matrix, EqualityNeedsTheSameShape) {
  EXPECT_NE(*F2Matrix::get(1, {1}), *F2Matrix::get(2, {1}));
  EXPECT_NE(*F2Matrix::get(1, {1}), *F2Matrix::get(1, {1, 0}));
  EXPECT_NE(*F2Matrix::get(1, {1}), *F2Matrix::get(1, {0}));
  EXPECT_EQ(*F2Matrix::get(1, {1}), F2Matrix::identity(1));
  EXPECT_FALSE(F2Matrix::get(2, {1})->isIdentity());
  EXPECT_FALSE(F2Matrix::get(2, {2, 1})->isIdentity());
  EXPECT_TRUE(F2Matrix().isIdentity());
}

TEST(F2Matrix, WorksAt64Bits) {
  F2Matrix full = F2Matrix::identity(64);
  EXPECT_TRUE(full.isInvertible());
  EXPECT_EQ(full.apply(~uint64_t(0)), ~uint64_t(0));
  RandomF2 random(5);
  F2Matrix m = random.invertible(64);
  EXPECT_EQ(*m.compose(*m.inverse()), full);
  uint64_t x = random.bits(64);
  EXPECT_EQ(m.solve(m.apply(x)), x);
  EXPECT_EQ(F2Matrix::identity(70), full);
}

TEST(F2Matrix, Rejects) {
  EXPECT_EQ(F2Matrix::get(2, {1, 4}).message(),
            "F2 matrix: column 1 = 4 does not fit 2 output bits");
  EXPECT_FALSE(F2Matrix::get(65, {}));
  EXPECT_FALSE(F2Matrix::get(1, F2Vectors(65, 0)));
  EXPECT_FALSE(F2Matrix::get(0, {1}));
  EXPECT_TRUE(F2Matrix::get(64, F2Vectors(64, ~uint64_t(0))));
  F2Matrix one = F2Matrix::identity(1), two = F2Matrix::identity(2);
  EXPECT_EQ(two.compose(one).message(),
            "composition: expected an inner map with 2 output bits, found 1");
  EXPECT_FALSE(two.concat(one));
  EXPECT_FALSE(F2Matrix::identity(64).concat(F2Matrix::identity(64)));
  EXPECT_FALSE(F2Matrix::identity(64).directSum(one));
}

TEST(F2Matrix, PrintsRowsHighestBitFirst) {
  EXPECT_EQ(F2Matrix::get(2, {1, 2, 3})->str(), "0 1 1\n1 0 1\n");
  EXPECT_EQ(F2Matrix().str(), "");
}
