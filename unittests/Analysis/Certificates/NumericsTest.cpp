//===- NumericsTest.cpp - Normal forms read back, tiny systems ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Numerics.h"
#include "../../../lib/Analysis/Numerics/Feasible.h"
#include "mlir/Analysis/Presburger/Simplex.h"

#include <gtest/gtest.h>
#include <random>

using namespace mlir::tracea;

namespace {

const char *const product =
    "numerics 1 cpu fma; out 2[r0,r1] = %4; %0 = in 0 bf16[r0, k1]; "
    "%1 = arith.extf bf16 -> f32(%0); %2 = fma f32(%1, %1, s1.0); "
    "%3 = fold k1 0 to 128, s1.0 from 0.000000e+00 : f32 next %2; "
    "%4 = arith.truncf f32 -> bf16(%3)";

TEST(NumericsWords, SayWhereIsRounded) {
  EXPECT_EQ(describeRounding(product),
            "; summed in f32; rounded by fma f32, arith.truncf bf16");
  EXPECT_EQ(describeRounding("numerics 1 cpu; out 0[r0] = %1; %0 = in 1 "
                             "f32[r0]; %1 = arith.negf f32 -> f32(%0)"),
            "; no rounding");
}

TEST(NumericsWords, RefuseWhatIsNoNormalForm) {
  for (const char *text :
       {"", "numerics 1 cpu", "numerics 2 cpu; out 0[] = 1 : f32",
        "numerics 1 cpu; %0 = in 0 f32[r0]",
        // Used before it is defined, never defined, defined twice.
        "numerics 1 cpu; out 0[r0] = %0; %0 = fma f32(%1, %1, %1); %1 = in 0 "
        "f32[r0]",
        "numerics 1 cpu; out 0[r0] = %1; %0 = in 0 f32[r0]",
        "numerics 1 cpu; out 0[r0] = %0; %0 = in 0 f32[r0]; %0 = in 1 f32[r0]"})
    EXPECT_FALSE(describeRounding(text)) << text;
}

TEST(NumericsWords, BelongToTheirModel) {
  std::string name = "class " + getNumericsClass(product) + ": ";
  std::string words = "a sum" + *describeRounding(product);
  EXPECT_TRUE(isNumericsClaimOf(name + words, product));
  EXPECT_FALSE(isNumericsClaimOf(name + "a sum; no rounding", product));
  EXPECT_FALSE(isNumericsClaimOf("class 0123456789abcdef: " + words, product));
}

/// Compares random systems with Presburger's simplex; how many were decided.
int compareSystems(int systems, int64_t scale, int &solvable) {
  std::mt19937 random(7);
  auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  int decided = 0;
  for (int trial = 0; trial < systems; ++trial) {
    unsigned variables = pick(1, 6), rows = pick(1, 12);
    llvm::SmallVector<bool> isNatural(variables);
    for (bool &natural : isNatural)
      natural = pick(0, 1);
    mlir::presburger::Simplex simplex(variables);
    llvm::SmallVector<int64_t> system;
    llvm::SmallVector<llvm::DynamicAPInt> row(variables + 1);
    for (unsigned i = 0; i < rows; ++i) {
      system.push_back(pick(-20, 8));
      row.back() = llvm::DynamicAPInt(system.back());
      for (unsigned j = 0; j < variables; ++j) {
        system.push_back(pick(0, 2) ? pick(-3, 3) : scale * pick(-1, 1));
        row[j] = llvm::DynamicAPInt(system.back());
      }
      simplex.addInequality(row);
    }
    for (unsigned j = 0; j < variables; ++j)
      if (isNatural[j]) {
        llvm::fill(row, llvm::DynamicAPInt(0));
        row[j] = llvm::DynamicAPInt(1);
        simplex.addInequality(row);
      }
    std::optional<bool> feasible = numerics::isFeasible(system, isNatural);
    if (!feasible)
      continue;
    ++decided;
    solvable += *feasible;
    EXPECT_EQ(*feasible, !simplex.isEmpty()) << "system " << trial;
  }
  return decided;
}

TEST(NumericsFeasible, AgreesWithPresburger) {
  constexpr int kSystems = 2000;
  int solvable = 0;
  EXPECT_GT(compareSystems(kSystems, 64, solvable), kSystems - 10);
  EXPECT_GT(solvable, kSystems / 10);
  EXPECT_LT(solvable, kSystems * 9 / 10);
}

// What overflows is not decided, and not decided wrongly.
TEST(NumericsFeasible, SaysNothingWhereNumbersOverflow) {
  constexpr int kSystems = 2000;
  int solvable = 0;
  EXPECT_LT(compareSystems(kSystems, (int64_t(1) << 62) - 57, solvable),
            kSystems - 10);
}

} // namespace
