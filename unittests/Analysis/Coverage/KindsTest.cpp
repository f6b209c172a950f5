//===- KindsTest.cpp - Every kind of kernel is decided --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Designs.h"
#include "gtest/gtest.h"

using namespace tracea::coverage;
using namespace tracea::coverage::designs;

namespace {
void expectProved(const Problem &problem, const std::string &what) {
  Result result = decide(problem);
  EXPECT_EQ(result.verdict, Verdict::Proved)
      << what << ": " << result.reason << result.finding.str();
  // A statement about nothing would be proved as well.
  EXPECT_TRUE(!problem.stages.empty() || !problem.accesses.empty() ||
              !problem.claims.empty());
  if (getenv("TRACEA_COVERAGE_TIMES"))
    printf(
        "%-40s %8.2f ms %5ld queries, at most %ld variables, %ld constraints\n",
        what.c_str(), result.statistics.milliseconds, result.statistics.queries,
        result.statistics.variables, result.statistics.constraints);
}

TEST(Kinds, MaskedTiles) {
  std::vector<Tiles> dimensions;
  for (int n = 1; n <= 5; ++n) {
    int64_t tile = n % 2 ? 128 : 256;
    dimensions.push_back({tile, tile});
    expectProved(tiles(dimensions),
                 "masked tiles, " + std::to_string(n) + "-D");
  }
  Tiles aligned{128, 128, Tiles::None};
  expectProved(tiles({aligned, aligned}, true), "aligned tiles without a mask");
  Tiles more{128, 128, Tiles::Less, Tiles::OneMore};
  expectProved(tiles({more}), "one tile more, masked");
}

TEST(Kinds, SymbolicTiles) {
  expectProved(symbolicTiles(true), "symbolic tile, lemma");
  expectProved(symbolicTiles(false), "symbolic tile, products");
}

TEST(Kinds, Raster) {
  for (int64_t group : {2, 4, 8, 16})
    expectProved(rasterByCases(group),
                 "raster by cases " + std::to_string(group));
  expectProved(raster(false), "raster, 16 rows");
  expectProved(raster(true), "raster, symbolic rows");
}

TEST(Kinds, Persistent) {
  expectProved(persistent(), "persistent loop");
  expectProved(persistentSymbolic(true), "persistent loop, symbolic, lemma");
  expectProved(persistentSymbolic(false),
               "persistent loop, symbolic, products");
}

TEST(Kinds, SplitK) {
  for (int64_t splits : {2, 3, 16, 64})
    expectProved(splitK(splits), "split-K " + std::to_string(splits));
  expectProved(splitKSymbolic(), "split-K, symbolic");
}

TEST(Kinds, Pixels) {
  expectProved(pixels(56, 56), "pixels 56 x 56");
  expectProved(pixels(7, 7), "pixels 7 x 7");
  expectProved(pixels(64, 32), "pixels 64 x 32");
  expectProved(pixels(112, 113), "pixels 112 x 113");
  expectProved(pixelsSymbolic(), "pixels, symbolic");
}

TEST(Kinds, ConvInput) {
  expectProved(convInput({2, 3, 1, 7}), "conv input, stride 2 pad 3 taps 7");
  expectProved(convInput({3, 2, 2, 5}),
               "conv input, stride 3 pad 2 dilation 2");
  expectProved(convInput({1, 0, 1, 3}), "conv input, no pad");
  expectProved(convInputSymbolic(), "conv input, symbolic stride, dilation");
}

TEST(Kinds, RowMajor) {
  expectProved(rowMajor(), "row-major offsets, symbolic leading");
}

TEST(Kinds, Halo) {
  expectProved(halo({}), "halo, stride 1");
  expectProved(halo({8, 2, 3, 1, 17, 8}), "halo, stride 2");
}

TEST(Kinds, Attention) { expectProved(attention(), "attention tile lists"); }

TEST(Kinds, VectorStores) { expectProved(vectorStores(), "vector stores"); }

TEST(Kinds, Fragments) {
  expectProved(fragments(), "tile x warpgroup x fragment");
  expectProved(fragments(FragmentFault::GuardedReplicas), "guarded replicas");
  expectProved(fragmentByDivision(256), "fragment by division, 256 columns");
  expectProved(fragmentByDivision(24), "fragment by division, 24 columns");
}

TEST(Kinds, WholeGemm) { expectProved(wholeGemm(), "whole product"); }
} // namespace
