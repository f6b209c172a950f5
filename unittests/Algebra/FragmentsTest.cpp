//===- FragmentsTest.cpp - Fragments lane by lane against closed formulas -===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formulas are written from the vendors' documents with division and
// remainder, independently of the basis vectors in Fragments.cpp.
//
//===----------------------------------------------------------------------===//

#include "tracea/Algebra/Fragments.h"
#include "gtest/gtest.h"
#include <functional>

using namespace tracea::algebra;

using Formula =
    std::function<TileCoord(int64_t reg, int64_t lane, int64_t warp)>;

static void check(const Expected<LaneMap> &map, TileCoord shape,
                  int64_t registers, int64_t lanes, int64_t warps,
                  const Formula &formula) {
  ASSERT_TRUE(map) << map.message();
  ASSERT_EQ(map->tileShape(), shape);
  ASSERT_EQ(map->numRegisters(), registers);
  ASSERT_EQ(map->numLanes(), lanes);
  ASSERT_EQ(map->numWarps(), warps);
  ASSERT_EQ(map->numBlocks(), 1);
  for (int64_t w = 0; w < warps; ++w)
    for (int64_t l = 0; l < lanes; ++l)
      for (int64_t r = 0; r < registers; ++r)
        ASSERT_EQ(*map->coordinate(r, l, w), formula(r, l, w))
            << "register " << r << " lane " << l << " warp " << w << "\n"
            << *map;
  // Each element once, or as often as there are locations for it.
  int64_t elements = shape[0] * shape[1];
  EXPECT_TRUE(map->coversTile());
  EXPECT_EQ(map->isPermutation(), registers * lanes * warps == elements);
  EXPECT_EQ(map->numReplicas(), registers * lanes * warps / elements);
}

// PTX ISA, mma.m16n8k*: groupID = lane / 4, threadID_in_group = lane % 4.
static int64_t group(int64_t lane) { return lane / 4; }
static int64_t inGroup(int64_t lane) { return lane % 4; }

TEST(Fragments, MmaAccumulator) {
  for (unsigned bits : {8u, 16u, 32u})
    check(mmaM16N8(MatrixOperand::D, 8 * 32 / bits, bits), {16, 8}, 4, 32, 1,
          [](int64_t i, int64_t l, int64_t) {
            return TileCoord{group(l) + (i >= 2 ? 8 : 0),
                             inGroup(l) * 2 + i % 2};
          });
}

TEST(Fragments, MmaHalf) {
  check(mmaM16N8(MatrixOperand::A, 16, 16), {16, 16}, 8, 32, 1,
        [](int64_t i, int64_t l, int64_t) {
          bool upper = i < 2 || (i >= 4 && i < 6);
          return TileCoord{group(l) + (upper ? 0 : 8),
                           inGroup(l) * 2 + i % 2 + (i >= 4 ? 8 : 0)};
        });
  check(mmaM16N8(MatrixOperand::B, 16, 16), {16, 8}, 4, 32, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{inGroup(l) * 2 + i % 2 + (i >= 2 ? 8 : 0), group(l)};
        });
  check(mmaM16N8(MatrixOperand::A, 8, 16), {16, 8}, 4, 32, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{group(l) + (i < 2 ? 0 : 8), inGroup(l) * 2 + i % 2};
        });
  check(mmaM16N8(MatrixOperand::B, 8, 16), {8, 8}, 2, 32, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{inGroup(l) * 2 + i, group(l)};
        });
}

TEST(Fragments, MmaTf32) {
  check(mmaM16N8(MatrixOperand::A, 8, 32), {16, 8}, 4, 32, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{group(l) + (i == 0 || i == 2 ? 0 : 8),
                           inGroup(l) + (i >= 2 ? 4 : 0)};
        });
  check(mmaM16N8(MatrixOperand::B, 8, 32), {8, 8}, 2, 32, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{inGroup(l) + (i ? 4 : 0), group(l)};
        });
  check(mmaM16N8(MatrixOperand::A, 4, 32), {16, 4}, 2, 32, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{group(l) + 8 * i, inGroup(l)};
        });
  check(mmaM16N8(MatrixOperand::B, 4, 32), {4, 8}, 1, 32, 1,
        [](int64_t, int64_t l, int64_t) {
          return TileCoord{inGroup(l), group(l)};
        });
}

TEST(Fragments, MmaByte) {
  check(mmaM16N8(MatrixOperand::A, 32, 8), {16, 32}, 16, 32, 1,
        [](int64_t i, int64_t l, int64_t) {
          bool upper = i < 4 || (i >= 8 && i < 12);
          return TileCoord{group(l) + (upper ? 0 : 8),
                           inGroup(l) * 4 + i % 4 + (i >= 8 ? 16 : 0)};
        });
  check(mmaM16N8(MatrixOperand::B, 32, 8), {32, 8}, 8, 32, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{inGroup(l) * 4 + i % 4 + (i >= 4 ? 16 : 0),
                           group(l)};
        });
  check(mmaM16N8(MatrixOperand::A, 16, 8), {16, 16}, 8, 32, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{group(l) + (i < 4 ? 0 : 8), inGroup(l) * 4 + i % 4};
        });
  check(mmaM16N8(MatrixOperand::B, 16, 8), {16, 8}, 4, 32, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{inGroup(l) * 4 + i, group(l)};
        });
}

TEST(Fragments, MmaRejects) {
  EXPECT_EQ(mmaM16N8(MatrixOperand::A, 32, 16).message(),
            "mma m16n8: expected K 8 or 16 with 16-bit elements, found 32");
  EXPECT_FALSE(mmaM16N8(MatrixOperand::D, 32, 16));
  EXPECT_FALSE(mmaM16N8(MatrixOperand::A, 16, 2));
  EXPECT_FALSE(mmaM16N8(MatrixOperand::A, 16, 64));
  EXPECT_FALSE(mmaM16N8(MatrixOperand::A, 16, 0));
  EXPECT_FALSE(mmaM16N8(MatrixOperand::B, 0, 16));
}

// PTX ISA, mma.m16n8k32 and k64 of .u4/.s4: eight elements a word.
TEST(Fragments, MmaNibble) {
  check(mmaM16N8(MatrixOperand::A, 64, 4), {16, 64}, 32, 32, 1,
        [](int64_t i, int64_t l, int64_t) {
          bool upper = i < 8 || (i >= 16 && i < 24);
          return TileCoord{group(l) + (upper ? 0 : 8),
                           inGroup(l) * 8 + i % 8 + (i >= 16 ? 32 : 0)};
        });
  check(mmaM16N8(MatrixOperand::B, 64, 4), {64, 8}, 16, 32, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{inGroup(l) * 8 + i % 8 + (i >= 8 ? 32 : 0),
                           group(l)};
        });
  check(mmaM16N8(MatrixOperand::A, 32, 4), {16, 32}, 16, 32, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{group(l) + (i < 8 ? 0 : 8), inGroup(l) * 8 + i % 8};
        });
  check(mmaM16N8(MatrixOperand::B, 32, 4), {32, 8}, 8, 32, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{inGroup(l) * 8 + i, group(l)};
        });
}

// PTX ISA, mma.m16n8k128 and k256 of .b1: 32 elements a word.
TEST(Fragments, MmaBit) {
  check(mmaM16N8(MatrixOperand::A, 256, 1), {16, 256}, 128, 32, 1,
        [](int64_t i, int64_t l, int64_t) {
          int64_t word = i / 32;
          return TileCoord{group(l) + (word % 2 ? 8 : 0),
                           inGroup(l) * 32 + i % 32 + (word >= 2 ? 128 : 0)};
        });
  check(mmaM16N8(MatrixOperand::B, 128, 1), {128, 8}, 32, 32, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{inGroup(l) * 32 + i, group(l)};
        });
}

// PTX ISA, mma.m8n8k4 of .f64, m8n8k16 of bytes, m8n8k32 of nibbles, m8n8k128
// of bits.
TEST(Fragments, MmaM8N8) {
  struct Case {
    unsigned bits;
    int64_t packed;
  };
  for (Case c : {Case{64, 1}, Case{8, 4}, Case{4, 8}, Case{1, 32}}) {
    check(mmaM8N8(MatrixOperand::A, c.bits), {8, 4 * c.packed}, c.packed, 32, 1,
          [c](int64_t i, int64_t l, int64_t) {
            return TileCoord{group(l), inGroup(l) * c.packed + i};
          });
    check(mmaM8N8(MatrixOperand::B, c.bits), {4 * c.packed, 8}, c.packed, 32, 1,
          [c](int64_t i, int64_t l, int64_t) {
            return TileCoord{inGroup(l) * c.packed + i, group(l)};
          });
    check(mmaM8N8(MatrixOperand::D, c.bits), {8, 8}, 2, 32, 1,
          [](int64_t i, int64_t l, int64_t) {
            return TileCoord{group(l), inGroup(l) * 2 + i};
          });
  }
  EXPECT_EQ(mmaM8N8(MatrixOperand::A, 16).message(),
            "mma m8n8: expected elements of 1, 4, 8 or 64 bits, found 16");
}

// Each lane receives the word at (lane / 4, lane % 4) of every 8×8 matrix of
// 16-bit elements; .trans hands out the transposed matrix.
TEST(Fragments, Ldmatrix) {
  for (int64_t count : {1, 2, 4}) {
    check(ldmatrix(count, false), {8 * count, 8}, 2 * count, 32, 1,
          [](int64_t i, int64_t l, int64_t) {
            return TileCoord{i / 2 * 8 + l / 4, l % 4 * 2 + i % 2};
          });
    check(ldmatrix(count, true), {8 * count, 8}, 2 * count, 32, 1,
          [](int64_t i, int64_t l, int64_t) {
            return TileCoord{i / 2 * 8 + l % 4 * 2 + i % 2, l / 4};
          });
  }
  EXPECT_FALSE(ldmatrix(3, false));
  EXPECT_FALSE(ldmatrix(8, false));
  EXPECT_FALSE(ldmatrix(0, true));
}

// stmatrix puts back what ldmatrix delivered; both take the address of row
// l % 8 of matrix l / 8 from lane l.
TEST(Fragments, StmatrixAndRows) {
  for (int64_t count : {1, 2, 4}) {
    for (bool transposed : {false, true})
      check(stmatrix(count, transposed), {8 * count, 8}, 2 * count, 32, 1,
            [transposed](int64_t i, int64_t l, int64_t) {
              int64_t major = l / 4, minor = l % 4 * 2 + i % 2;
              return transposed ? TileCoord{i / 2 * 8 + minor, major}
                                : TileCoord{i / 2 * 8 + major, minor};
            });
    LaneMap rows = *ldmatrixRows(count);
    for (int64_t l = 0; l < 32; ++l)
      EXPECT_EQ(*rows.coordinate(0, l),
                (TileCoord{l / 8 % count * 8 + l % 8, 0}));
  }
  EXPECT_FALSE(stmatrix(8, false));
  EXPECT_FALSE(ldmatrixRows(3));
}

// PTX ISA, wgmma accumulator: warp w has rows 16w …, four registers per eight
// columns. Every legal N, powers of two or not.
TEST(Fragments, WgmmaAccumulator) {
  for (int64_t n = 8; n <= 256; n += 8)
    check(wgmmaD(n), {64, n}, n / 2, 32, 4,
          [](int64_t i, int64_t l, int64_t w) {
            return TileCoord{w * 16 + l / 4 + i / 2 % 2 * 8,
                             i / 4 * 8 + l % 4 * 2 + i % 2};
          });
  EXPECT_FALSE(wgmmaD(0));
  EXPECT_FALSE(wgmmaD(12));
  EXPECT_FALSE(wgmmaD(264));
  EXPECT_FALSE(wgmmaD(-8));
}

TEST(Fragments, WgmmaAFromRegisters) {
  for (unsigned bits : {8u, 16u, 32u}) {
    int64_t packed = 32 / bits;
    check(wgmmaA(bits), {64, 8 * packed}, 4 * packed, 32, 4,
          [packed](int64_t i, int64_t l, int64_t w) {
            int64_t word = i / packed; // Row half first, then K half.
            return TileCoord{w * 16 + l / 4 + word % 2 * 8,
                             word / 2 * 4 * packed + l % 4 * packed +
                                 i % packed};
          });
  }
  EXPECT_FALSE(wgmmaA(64));
  EXPECT_FALSE(wgmmaA(0));
}

// AMD matrix instruction calculator, CDNA 3. 16×16×16: lane = 16 · block +
// index, four consecutive elements of K (of M for D) a block.
TEST(Fragments, Mfma16) {
  Formula kMajor = [](int64_t i, int64_t l, int64_t) {
    return TileCoord{l / 16 * 4 + i, l % 16};
  };
  check(mfma16x16x16(MatrixOperand::A), {16, 16}, 4, 64, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{l % 16, l / 16 * 4 + i};
        });
  check(mfma16x16x16(MatrixOperand::B), {16, 16}, 4, 64, 1, kMajor);
  check(mfma16x16x16(MatrixOperand::D), {16, 16}, 4, 64, 1, kMajor);
}

TEST(Fragments, Mfma32) {
  check(mfma32x32x8(MatrixOperand::A), {32, 8}, 4, 64, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{l % 32, l / 32 * 4 + i};
        });
  check(mfma32x32x8(MatrixOperand::B), {8, 32}, 4, 64, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{l / 32 * 4 + i, l % 32};
        });
  check(mfma32x32x8(MatrixOperand::D), {32, 32}, 16, 64, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{i / 4 * 8 + l / 32 * 4 + i % 4, l % 32};
        });
}

// AMD matrix instruction calculator: A[i][k] is in element k mod p of lane
// i + extent · (k / p), B[k][j] in the same of lane j + extent · (k / p), p the
// elements a lane. D[i][j] of 32 bits: 4 rows a register block, blocks spread
// over the lanes above the columns.
TEST(Fragments, MfmaFamily) {
  for (int64_t extent : {16, 32})
    for (int64_t p : {1, 2, 4, 8}) {
      int64_t k = p * 64 / extent;
      check(mfma(MatrixOperand::A, extent, p), {extent, k}, p, 64, 1,
            [=](int64_t i, int64_t l, int64_t) {
              return TileCoord{l % extent, l / extent * p + i};
            });
      check(mfma(MatrixOperand::B, extent, p), {k, extent}, p, 64, 1,
            [=](int64_t i, int64_t l, int64_t) {
              return TileCoord{l / extent * p + i, l % extent};
            });
      check(mfma(MatrixOperand::D, extent, p), {extent, extent},
            extent * extent / 64, 64, 1, [=](int64_t i, int64_t l, int64_t) {
              int64_t blockRows = 4 * (64 / extent);
              return TileCoord{i / 4 * blockRows + l / extent * 4 + i % 4,
                               l % extent};
            });
    }
  // v_mfma_f64_16x16x4_f64 (AMD lab notes on matrix cores): registers skip four
  // rows, groups of 16 lanes take consecutive ones.
  check(mfma(MatrixOperand::D, 16, 1, /*f64=*/true), {16, 16}, 4, 64, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{4 * i + l / 16, l % 16};
        });
  check(mfma(MatrixOperand::A, 16, 1, /*f64=*/true), {16, 4}, 1, 64, 1,
        [](int64_t, int64_t l, int64_t) { return TileCoord{l % 16, l / 16}; });
  EXPECT_FALSE(mfma(MatrixOperand::A, 4, 4));
  EXPECT_FALSE(mfma(MatrixOperand::A, 16, 3));
  EXPECT_FALSE(mfma(MatrixOperand::D, 32, 1, /*f64=*/true));
}

// RDNA 4: a lane holds eight consecutive elements of K, the upper half of the
// wave the upper eight, and eight consecutive rows of D.
TEST(Fragments, WmmaGfx12) {
  check(wmmaGfx12(MatrixOperand::A), {16, 16}, 8, 32, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{l % 16, l / 16 * 8 + i};
        });
  for (MatrixOperand operand : {MatrixOperand::B, MatrixOperand::D})
    check(wmmaGfx12(operand), {16, 16}, 8, 32, 1,
          [](int64_t i, int64_t l, int64_t) {
            return TileCoord{l / 16 * 8 + i, l % 16};
          });
}

// Intel Intrinsics Guide: dst[j] += Σ a[P·j + p] · b[P·j + p].
TEST(Fragments, DotOperand) {
  for (int64_t lanes : {4, 8, 16})
    for (int64_t p : {1, 2, 4})
      check(
          dotOperandB(lanes, p), {p, lanes}, 1, lanes * p, 1,
          [p](int64_t, int64_t l, int64_t) { return TileCoord{l % p, l / p}; });
  EXPECT_FALSE(dotOperandB(3, 2));
  EXPECT_FALSE(dotOperandB(4, 0));
}

// RDNA 3: lanes 16..31 repeat lanes 0..15 for A and B; D holds the even rows in
// the lower half and the odd rows in the upper half.
TEST(Fragments, WmmaGfx11) {
  check(wmmaGfx11(MatrixOperand::A), {16, 16}, 16, 32, 1,
        [](int64_t i, int64_t l, int64_t) { return TileCoord{l % 16, i}; });
  check(wmmaGfx11(MatrixOperand::B), {16, 16}, 16, 32, 1,
        [](int64_t i, int64_t l, int64_t) { return TileCoord{i, l % 16}; });
  check(wmmaGfx11(MatrixOperand::D), {16, 16}, 8, 32, 1,
        [](int64_t i, int64_t l, int64_t) {
          return TileCoord{2 * i + l / 16, l % 16};
        });
}

// Quads of lanes: quad = lane / 4, row (quad & 4) + (lane / 2) % 4, column
// (quad & 2) * 2 + (lane % 2) * 2.
TEST(Fragments, Simdgroup) {
  check(simdgroup8x8(), {8, 8}, 2, 32, 1, [](int64_t i, int64_t l, int64_t) {
    int64_t quad = l / 4;
    return TileCoord{(quad & 4) + l / 2 % 4, (quad & 2) * 2 + l % 2 * 2 + i};
  });
}

// Four 8×8 matrices placed at (0,0), (8,0), (0,8), (8,8) are the A fragment of
// m16n8k16; two transposed ones stacked are its B fragment.
TEST(Fragments, LdmatrixDeliversMmaOperands) {
  LaneMap x4 = *ldmatrix(4, false);
  LaneMap a = *mmaM16N8(MatrixOperand::A, 16, 16);
  LaneMap x2 = *ldmatrix(2, true);
  LaneMap b = *mmaM16N8(MatrixOperand::B, 16, 16);
  for (int64_t l = 0; l < 32; ++l) {
    for (int64_t r = 0; r < 8; ++r) {
      TileCoord stacked = *x4.coordinate(r, l);
      int64_t matrix = stacked[0] / 8;
      EXPECT_EQ(*a.coordinate(r, l), (TileCoord{stacked[0] % 8 + matrix % 2 * 8,
                                                stacked[1] + matrix / 2 * 8}));
    }
    for (int64_t r = 0; r < 4; ++r)
      EXPECT_EQ(*b.coordinate(r, l), *x2.coordinate(r, l));
  }
}
