//===- Fragments.cpp - Lane maps of the matrix instructions of GPUs -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/Fragments.h"
#include <cstdlib>

using namespace tracea::algebra;

using Vectors = std::vector<TileCoord>;

/// Vectors along the rows and along the columns.
static Vectors row(std::initializer_list<int64_t> steps) {
  Vectors vectors;
  for (int64_t step : steps)
    vectors.push_back({step, 0});
  return vectors;
}
static Vectors col(std::initializer_list<int64_t> steps) {
  Vectors vectors;
  for (int64_t step : steps)
    vectors.push_back({0, step});
  return vectors;
}

static Vectors operator+(Vectors a, const Vectors &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// 1, 2, 4 … below `limit`.
static Vectors doubling(int64_t from, int64_t limit, bool alongRows) {
  Vectors vectors;
  for (int64_t step = from; step < limit; step *= 2)
    vectors.push_back(alongRows ? TileCoord{step, 0} : TileCoord{0, step});
  return vectors;
}

/// A table entry of this file, right by construction.
static LaneMap table(TileCoord shape, const LaneBases &bases) {
  Expected<LaneMap> map = LaneMap::get(std::move(shape), bases);
  if (!map)
    std::abort();
  return *map;
}

Expected<LaneMap> tracea::algebra::mmaM16N8(MatrixOperand operand, int64_t k,
                                            unsigned elementBits) {
  if (elementBits != 8 && elementBits != 16 && elementBits != 32)
    return Error{"mma m16n8: expected elements of 8, 16 or 32 bits, found " +
                 std::to_string(elementBits)};
  int64_t packed = 32 / elementBits; // Elements a word.
  if (k != 4 * packed && k != 8 * packed)
    return Error{"mma m16n8: expected K " + std::to_string(4 * packed) +
                 " or " + std::to_string(8 * packed) + " with " +
                 std::to_string(elementBits) + "-bit elements, found " +
                 std::to_string(k)};
  // Four lanes, one word each, span 4E of K; the second half of K, when there
  // is one, is the last register bit.
  int64_t half = 4 * packed;
  bool two = k != half;
  switch (operand) {
  case MatrixOperand::A:
    return LaneMap::get({16, k},
                        {doubling(1, packed, /*alongRows=*/false) + row({8}) +
                             (two ? col({half}) : Vectors()),
                         col({packed, 2 * packed}) + row({1, 2, 4}),
                         {},
                         {}});
  case MatrixOperand::B:
    return LaneMap::get({k, 8}, {doubling(1, packed, /*alongRows=*/true) +
                                     (two ? row({half}) : Vectors()),
                                 row({packed, 2 * packed}) + col({1, 2, 4}),
                                 {},
                                 {}});
  case MatrixOperand::D:
    break;
  }
  return LaneMap::get(
      {16, 8}, {col({1}) + row({8}), col({2, 4}) + row({1, 2, 4}), {}, {}});
}

Expected<LaneMap> tracea::algebra::ldmatrix(int64_t count, bool transposed) {
  if (count != 1 && count != 2 && count != 4)
    return Error{"ldmatrix: expected 1, 2 or 4 matrices, found " +
                 std::to_string(count)};
  Vectors matrices = doubling(8, 8 * count, /*alongRows=*/true);
  if (transposed)
    return LaneMap::get(
        {8 * count, 8},
        {row({1}) + matrices, row({2, 4}) + col({1, 2, 4}), {}, {}});
  return LaneMap::get(
      {8 * count, 8},
      {col({1}) + matrices, col({2, 4}) + row({1, 2, 4}), {}, {}});
}

Expected<LaneMap> tracea::algebra::wgmmaD(int64_t n) {
  if (n < 8 || n > 256 || n % 8)
    return Error{"wgmma: expected N a multiple of 8 in 8..256, found " +
                 std::to_string(n)};
  int64_t linear = n & -n;
  return LaneMap::get(
      {64, linear},
      {col({1}) + row({8}) + doubling(8, linear, /*alongRows=*/false),
       col({2, 4}) + row({1, 2, 4}),
       row({16, 32}),
       {}},
      {1, n / linear});
}

Expected<LaneMap> tracea::algebra::wgmmaA(unsigned elementBits) {
  if (elementBits != 8 && elementBits != 16 && elementBits != 32)
    return Error{"wgmma: expected elements of 8, 16 or 32 bits, found " +
                 std::to_string(elementBits)};
  // Each warp holds the mma.sync fragment of its 16 rows.
  Expected<LaneMap> warp =
      mmaM16N8(MatrixOperand::A, 8 * 32 / elementBits, elementBits);
  if (!warp)
    return warp;
  return warp->product(table({4, 1}, {{}, {}, row({1, 2}), {}}));
}

LaneMap tracea::algebra::mfma16x16x16(MatrixOperand operand) {
  if (operand == MatrixOperand::A)
    return table({16, 16},
                 {col({1, 2}), row({1, 2, 4, 8}) + col({4, 8}), {}, {}});
  // B is A transposed, and D has the shape of B.
  return table({16, 16},
               {row({1, 2}), col({1, 2, 4, 8}) + row({4, 8}), {}, {}});
}

LaneMap tracea::algebra::mfma32x32x8(MatrixOperand operand) {
  switch (operand) {
  case MatrixOperand::A:
    return table({32, 8},
                 {col({1, 2}), row({1, 2, 4, 8, 16}) + col({4}), {}, {}});
  case MatrixOperand::B:
    return table({8, 32},
                 {row({1, 2}), col({1, 2, 4, 8, 16}) + row({4}), {}, {}});
  case MatrixOperand::D:
    break;
  }
  return table({32, 32},
               {row({1, 2, 8, 16}), col({1, 2, 4, 8, 16}) + row({4}), {}, {}});
}

LaneMap tracea::algebra::wmmaGfx11(MatrixOperand operand) {
  switch (operand) {
  case MatrixOperand::A:
    return table({16, 16}, {col({1, 2, 4, 8}), row({1, 2, 4, 8, 0}), {}, {}});
  case MatrixOperand::B:
    return table({16, 16}, {row({1, 2, 4, 8}), col({1, 2, 4, 8, 0}), {}, {}});
  case MatrixOperand::D:
    break;
  }
  return table({16, 16},
               {row({2, 4, 8}), col({1, 2, 4, 8}) + row({1}), {}, {}});
}

LaneMap tracea::algebra::simdgroup8x8() {
  return table(
      {8, 8}, {col({1}), col({2}) + row({1, 2}) + col({4}) + row({4}), {}, {}});
}
