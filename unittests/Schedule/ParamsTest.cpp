//===- ParamsTest.cpp - Fields of families of variants --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Schedule/Params.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir::tracea::schedule;
using testing::HasSubstr;

namespace {

TEST(Params, TheTableNamesTheFamilyOfAVariant) {
  EXPECT_EQ(Params::ofVariant("gemm.skinny")->getFamily(), "warpgroup_gemm");
  EXPECT_EQ(Params::ofVariant("grouped.warpgroup")->getFamily(),
            "warpgroup_grouped");
  EXPECT_FALSE(Params::ofVariant("gemm.magic"));
  EXPECT_THAT(Params::listVariants(),
              HasSubstr("'gemm.packed', 'gemm.direct'"));
}

TEST(Params, OnlyWhatHasNotItsDefaultIsPrinted) {
  EXPECT_EQ(Params(WarpgroupGemm()).print(), "");
  WarpgroupGemm gemm;
  gemm.slots = 4;
  gemm.pingPong = 2;
  EXPECT_EQ(Params(gemm).print(), "slots = 4, ping_pong = 2");
  CPUGemm packed;
  packed.registers = {8, 32};
  packed.group = 2;
  packed.split = 3;
  EXPECT_EQ(Params(packed).print(),
            "registers = [8, 32], group = 2, split = 3");
}

TEST(Params, FieldsAreTheFamilysOwn) {
  EXPECT_EQ(Params(SimtGemm()).listFields(),
            "'registers', 'slots', 'group', 'split', 'table'");
  EXPECT_EQ(Params(Untiled()).listFields(), "none");
  Params grouped = WarpgroupGrouped();
  EXPECT_EQ(grouped.getFields().find("ping_pong"), nullptr);
  ASSERT_NE(grouped.getFields().find("slots"), nullptr);
  *grouped.getFields().find("slots")->values = 3;
  EXPECT_EQ(grouped.as<WarpgroupRing>().slots, 3);
  EXPECT_EQ(grouped.getIf<WarpgroupGemm>(), nullptr);
}

TEST(Params, EqualAreThoseOfOneFamilyWithEqualFields) {
  WarpgroupGemm gemm;
  gemm.lines = 2;
  EXPECT_EQ(Params(gemm), Params(gemm));
  EXPECT_NE(Params(gemm), Params(WarpgroupGemm()));
  WarpGemm warp;
  SimtGemm simt;
  EXPECT_NE(Params(warp), Params(simt));
  WarpGemm other;
  other.registers = {16, 8};
  EXPECT_NE(Params(warp), Params(other));
}

TEST(Params, RangesAreChecked) {
  auto check = [](auto change) {
    WarpgroupGemm gemm;
    gemm.producers = gemm.consumers = 1;
    change(gemm);
    return Params(gemm).check();
  };
  EXPECT_EQ(check([](WarpgroupGemm &) {}), "");
  EXPECT_EQ(check([](WarpgroupGemm &g) { g.slots = 65; }),
            "expected 'slots' of 1 to 64, found 65");
  EXPECT_EQ(check([](WarpgroupGemm &g) { g.group = -1; }),
            "expected 'group' of at least 0, found -1");
  EXPECT_THAT(check([](WarpgroupGemm &g) { g.producers = 0; }),
              HasSubstr("both 0 or both positive, found 0 and 1"));
  EXPECT_THAT(check([](WarpgroupGemm &g) { g.split = g.cluster = 3; }),
              HasSubstr("of 1, 2, 4, 8 or 16, found 3"));
  EXPECT_THAT(check([](WarpgroupGemm &g) {
                g.split = 4;
                g.cluster = 2;
              }),
              HasSubstr("for each of the 4 parts of 'split', found 2"));
}

TEST(Params, RegisterTilesHaveToBeGiven) {
  auto check = [](Extents registers) {
    CPURows rows;
    rows.registers = registers;
    return Params(rows).check();
  };
  EXPECT_EQ(check({1, 64}), "");
  EXPECT_EQ(check({0, 0}), "expected 'registers' with 2 extents, found none");
  EXPECT_EQ(check({8, -8}), "expected 'registers' of 1 to 4096, found -8");
  EXPECT_EQ(check({64, 65}),
            "expected 'registers' of at most 4096 elements, found 4160");
}

} // namespace
