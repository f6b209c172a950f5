//===- RegisterTileTest.cpp - CPU register tiles and their formula --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/RegisterTile.h"
#include "gtest/gtest.h"

using namespace tracea::algebra;

struct TileCase {
  int64_t rows, cols, lanes;
};

static void PrintTo(const TileCase &c, std::ostream *os) {
  *os << c.rows << "x" << c.cols << " lanes " << c.lanes;
}

class VectorTile : public testing::TestWithParam<TileCase> {};

TEST_P(VectorTile, RegistersAreRowMajorVectors) {
  TileCase c = GetParam();
  Expected<LaneMap> tile = vectorTile(c.rows, c.cols, c.lanes);
  ASSERT_TRUE(tile) << tile.message();
  EXPECT_EQ(tile->tileShape(), (TileCoord{c.rows, c.cols}));
  EXPECT_EQ(tile->numLanes(), c.lanes);
  EXPECT_EQ(tile->numRegisters(), c.rows * c.cols / c.lanes);
  EXPECT_EQ(tile->numWarps(), 1);
  EXPECT_TRUE(tile->isPermutation());
  EXPECT_EQ(tile->contiguousLanes(1), c.lanes);
  int64_t vectors = c.cols / c.lanes;
  for (int64_t row = 0; row < c.rows; ++row)
    for (int64_t col = 0; col < c.cols; ++col) {
      int64_t reg = row * vectors + col / c.lanes, lane = col % c.lanes;
      ASSERT_EQ(*tile->coordinate(reg, lane), (TileCoord{row, col}));
      ASSERT_EQ(*tile->locate({row, col}), (Location{reg, lane, 0, 0}));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, VectorTile,
    testing::Values(TileCase{14, 32, 16}, // AVX-512 f32
                    TileCase{16, 16, 16}, TileCase{8, 48, 16},
                    TileCase{30, 16, 16}, TileCase{12, 32, 16},
                    TileCase{7, 32, 8},                     // AVX-512 f64
                    TileCase{6, 16, 8}, TileCase{4, 24, 8}, // AVX2 f32
                    TileCase{8, 8, 4}, TileCase{8, 12, 4},  // NEON f32
                    TileCase{6, 8, 2}, TileCase{5, 96, 16}, // f64; 6 vectors
                    TileCase{1, 1, 1}, TileCase{3, 7, 1}));

TEST(VectorTileShape, KeepsWhatIsLinearLinear) {
  LaneMap tile = *vectorTile(6, 16, 8);
  EXPECT_EQ(tile.linearShape(), (TileCoord{2, 16}));
  EXPECT_EQ(tile.outer(), (TileCoord{3, 1}));
  LaneMap odd = *vectorTile(4, 24, 8);
  EXPECT_EQ(odd.linearShape(), (TileCoord{1, 8}));
  EXPECT_EQ(odd.outer(), (TileCoord{4, 3}));
}

TEST(VectorTileShape, Rejects) {
  EXPECT_EQ(vectorTile(6, 12, 8).message(),
            "vector tile: expected columns divisible by the 8 lanes, found 12");
  EXPECT_FALSE(vectorTile(6, 12, 6));
  EXPECT_FALSE(vectorTile(6, 12, 0));
  EXPECT_FALSE(vectorTile(6, 12, -4));
  EXPECT_FALSE(vectorTile(0, 8, 8));
  EXPECT_FALSE(vectorTile(8, 0, 8));
  EXPECT_FALSE(vectorTile(-1, 8, 8));
  EXPECT_FALSE(vectorTile(int64_t(1) << 40, 8, 8));
  EXPECT_FALSE(vectorTile(8, 8, int64_t(1) << 40));
}
