//===- SymbolsTest.cpp - Expressions of addresses, slots and lanes --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/TargetProtocol/Symbols.h"

#include <gtest/gtest.h>

using namespace mlir::tracea;
using ::tracea::analysis::Operator;

namespace {

class Symbols : public ::testing::Test {
protected:
  const Symbol *number(uint64_t value, unsigned bits = 32) {
    return table.constant(value, bits);
  }
  const Symbol *make(Operator op, const Symbol *a, const Symbol *b,
                     unsigned bits = 32) {
    return table.apply(op, bits, {a, b});
  }
  SymbolTable table;
};

} // namespace

TEST_F(Symbols, EqualOnesAreOne) {
  const Symbol *n = table.opaque("n", 32, false);
  const Symbol *a = make(Operator::Add, n, number(63));
  const Symbol *b = make(Operator::Add, number(63), n);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, make(Operator::Add, n, number(64)));
  EXPECT_EQ(table.opaque("n", 32, false), n);
  EXPECT_NE(table.opaque("m", 32, false), n);
}

TEST_F(Symbols, ConstantsFold) {
  EXPECT_TRUE(make(Operator::Add, number(3), number(4))->isConstant(7));
  EXPECT_TRUE(
      make(Operator::Sub, number(3), number(4))->isConstant(0xFFFFFFFF));
  // Undefined ones stay as they are.
  EXPECT_FALSE(make(Operator::Div, number(3), number(0))->isConstant());
  EXPECT_FALSE(make(Operator::ShiftLeft, number(3), number(40))->isConstant());
}

// tid of warps 4 to 7: the warpgroup is a constant, the lane has a range.
TEST_F(Symbols, RangesOfThreads) {
  const Symbol *tid = table.thread(128, 255);
  EXPECT_TRUE(make(Operator::ShiftRight, tid, number(7))->isConstant(1));
  const Symbol *lane = make(Operator::And, tid, number(127));
  EXPECT_EQ(lane->low, 0u);
  EXPECT_EQ(lane->high, 127u);
  const Symbol *first = make(Operator::Equal, lane, number(0));
  EXPECT_FALSE(first->isConstant());
  EXPECT_EQ(evaluateForThread(first, 128, false), 1u);
  EXPECT_EQ(evaluateForThread(first, 129, false), 0u);
  EXPECT_TRUE(make(Operator::Equal, tid, number(0))->isConstant(0));
  // Multiples of sixteen stay below their bound.
  const Symbol *chunk =
      make(Operator::Mul, make(Operator::And, tid, number(7)), number(16));
  EXPECT_EQ(make(Operator::Xor, chunk, number(32))->high, 112u);
}

TEST_F(Symbols, AddressesAreLinear) {
  const Symbol *slot = table.walk(0, 32);
  const Symbol *offset = make(
      Operator::Add, make(Operator::ShiftLeft, slot, number(3)), number(1024));
  Linear linear =
      table.linearize(make(Operator::Add, table.base(), offset, 64));
  EXPECT_EQ(linear.constant, 1024);
  EXPECT_EQ(linear.terms.lookup(slot), 8);
  EXPECT_EQ(linear.terms.lookup(table.base()), 1);
  // A step back is a negative factor, not a wrapped one.
  linear = table.linearize(make(Operator::Add, slot, number(0xFFFFFFFF)));
  EXPECT_EQ(linear.constant, -1);
}

// ((base & 0x3FFFF) + 2048) >> 4 | fields, as matrix descriptors have it.
TEST_F(Symbols, DescriptorsKeepTheirAddress) {
  const Symbol *window = make(Operator::And, table.base(), number(0x3FFFF));
  EXPECT_EQ(window, table.base());
  const Symbol *units =
      make(Operator::ShiftRight, make(Operator::Add, window, number(2048)),
           number(4));
  uint64_t fields = uint64_t(1) << 62 | uint64_t(64) << 32 | 1 << 16;
  Linear linear =
      table.linearize(make(Operator::Or, units, number(fields, 64), 64));
  EXPECT_EQ(linear.terms.lookup(table.base(4)), 1);
  EXPECT_EQ(static_cast<uint64_t>(linear.constant), fields + 128);
  // What is not a multiple of sixteen cannot be shifted out.
  linear = table.linearize(make(
      Operator::ShiftRight, make(Operator::Add, window, number(8)), number(4)));
  EXPECT_EQ(linear.terms.lookup(table.base(4)), 0);
}

TEST_F(Symbols, KnowsWhatItDependsOn) {
  const Symbol *sum = make(Operator::Add, table.walk(1, 32),
                           table.opaque("load", 32, /*isPrivate=*/true,
                                        /*varies=*/true));
  EXPECT_TRUE(sum->onWalk);
  EXPECT_TRUE(sum->onOpaque);
  EXPECT_TRUE(sum->isPrivate);
  EXPECT_TRUE(sum->varies);
  EXPECT_FALSE(sum->onThread);
  EXPECT_FALSE(sum->onBase);
}

TEST_F(Symbols, BitsThatMayChange) {
  // A swizzle moves bytes within a row.
  const Symbol *offset = table.opaque("o", 32, false, false, 256, 18430);
  const Symbol *row =
      make(Operator::And, table.opaque("r", 32, false), number(112));
  const Symbol *moved = make(Operator::Xor, offset, row);
  EXPECT_EQ(moved->low, 256u);
  EXPECT_EQ(moved->high, 18430u | 127u);
  const Symbol *joined = make(Operator::Or, row, offset);
  EXPECT_EQ(joined->low, 256u);
  EXPECT_EQ(joined->high, 18430u | 127u);
}
