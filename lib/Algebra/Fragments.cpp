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
static LaneMap known(Expected<LaneMap> map) {
  if (!map)
    std::abort();
  return *map;
}
static LaneMap table(TileCoord shape, const LaneBases &bases) {
  return known(LaneMap::get(std::move(shape), bases));
}

Expected<LaneMap> tracea::algebra::mmaM16N8(MatrixOperand operand, int64_t k,
                                            unsigned elementBits) {
  if (elementBits != 1 && elementBits != 4 && elementBits != 8 &&
      elementBits != 16 && elementBits != 32)
    return Error{"mma m16n8: expected elements of 1, 4, 8, 16 or 32 bits, "
                 "found " +
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

Expected<LaneMap> tracea::algebra::mmaM8N8(MatrixOperand operand,
                                           unsigned elementBits) {
  if (elementBits != 1 && elementBits != 4 && elementBits != 8 &&
      elementBits != 64)
    return Error{"mma m8n8: expected elements of 1, 4, 8 or 64 bits, found " +
                 std::to_string(elementBits)};
  int64_t packed = elementBits == 64 ? 1 : 32 / elementBits;
  switch (operand) {
  case MatrixOperand::A:
    return LaneMap::get({8, 4 * packed},
                        {doubling(1, packed, /*alongRows=*/false),
                         col({packed, 2 * packed}) + row({1, 2, 4}),
                         {},
                         {}});
  case MatrixOperand::B:
    return LaneMap::get({4 * packed, 8},
                        {doubling(1, packed, /*alongRows=*/true),
                         row({packed, 2 * packed}) + col({1, 2, 4}),
                         {},
                         {}});
  case MatrixOperand::D:
    break;
  }
  return LaneMap::get({8, 8}, {col({1}), col({2, 4}) + row({1, 2, 4}), {}, {}});
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

Expected<LaneMap> tracea::algebra::stmatrix(int64_t count, bool transposed) {
  return ldmatrix(count, transposed);
}

Expected<LaneMap> tracea::algebra::ldmatrixRows(int64_t count) {
  if (count != 1 && count != 2 && count != 4)
    return Error{"ldmatrix: expected 1, 2 or 4 matrices, found " +
                 std::to_string(count)};
  Vectors lanes = doubling(1, 8 * count, /*alongRows=*/true);
  lanes.resize(5, {0, 0});
  return LaneMap::get({8 * count, 1}, {{}, lanes, {}, {}});
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

Expected<LaneMap> tracea::algebra::mfma(MatrixOperand operand, int64_t extent,
                                        int64_t perLane, bool f64) {
  if (extent != 16 && extent != 32)
    return Error{"mfma: expected blocks of 16x16 or 32x32, found " +
                 std::to_string(extent)};
  if (perLane != 1 && perLane != 2 && perLane != 4 && perLane != 8)
    return Error{"mfma: expected 1, 2, 4 or 8 elements a lane, found " +
                 std::to_string(perLane)};
  if (f64 && (extent != 16 || perLane != 1))
    return Error{"mfma: expected 16x16 and one element a lane for f64"};
  // Lanes count along the extent first; the remaining lane bits are blocks of
  // perLane along K.
  int64_t k = perLane * 64 / extent;
  switch (operand) {
  case MatrixOperand::A:
    return LaneMap::get(
        {extent, k}, {doubling(1, perLane, false),
                      doubling(1, extent, true) + doubling(perLane, k, false),
                      {},
                      {}});
  case MatrixOperand::B:
    return LaneMap::get(
        {k, extent}, {doubling(1, perLane, true),
                      doubling(1, extent, false) + doubling(perLane, k, true),
                      {},
                      {}});
  case MatrixOperand::D:
    break;
  }
  if (f64)
    return LaneMap::get({16, 16},
                        {row({4, 8}), col({1, 2, 4, 8}) + row({1, 2}), {}, {}});
  if (extent == 16)
    return LaneMap::get({16, 16},
                        {row({1, 2}), col({1, 2, 4, 8}) + row({4, 8}), {}, {}});
  return LaneMap::get(
      {32, 32}, {row({1, 2, 8, 16}), col({1, 2, 4, 8, 16}) + row({4}), {}, {}});
}

LaneMap tracea::algebra::mfma16x16x16(MatrixOperand operand) {
  return known(mfma(operand, 16, 4));
}

LaneMap tracea::algebra::mfma32x32x8(MatrixOperand operand) {
  return known(mfma(operand, 32, 4));
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

LaneMap tracea::algebra::wmmaGfx12(MatrixOperand operand) {
  if (operand == MatrixOperand::A)
    return table({16, 16},
                 {col({1, 2, 4}), row({1, 2, 4, 8}) + col({8}), {}, {}});
  // B is A transposed, and D has the shape of B.
  return table({16, 16},
               {row({1, 2, 4}), col({1, 2, 4, 8}) + row({8}), {}, {}});
}

Expected<LaneMap> tracea::algebra::dotOperandB(int64_t lanes, int64_t perLane) {
  auto isPower = [](int64_t n) { return n >= 1 && !(n & (n - 1)); };
  if (!isPower(lanes) || !isPower(perLane) || lanes > 1024 || perLane > 1024)
    return Error{"dot operand: expected powers of two up to 1024, found " +
                 std::to_string(lanes) + " lanes of " +
                 std::to_string(perLane)};
  return LaneMap::get(
      {perLane, lanes},
      {{},
       doubling(1, perLane, /*alongRows=*/true) + doubling(1, lanes, false),
       {},
       {}});
}

LaneMap tracea::algebra::simdgroup8x8() {
  return table(
      {8, 8}, {col({1}), col({2}) + row({1, 2}) + col({4}) + row({4}), {}, {}});
}
