//===- CPUGemm.cpp - What products of matrices on CPUs share --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//===----------------------------------------------------------------------===//
#include "CPUGemm.h"
#include "../Numbers.h"

#include <algorithm>

using namespace tracea::doctor;

int64_t tracea::doctor::bytesOfSecond(const Problem &problem) {
  return assumed(problem.k) * assumed(problem.n) * bytesOf(problem.second);
}

bool tracea::doctor::isSecondFar(const Problem &problem,
                                 const CPUModel &model) {
  constexpr int64_t far = 4;
  return bytesOfSecond(problem) > far * model.l2;
}

bool tracea::doctor::isCrowded(const Problem &problem, const CPUModel &model) {
  return model.isSecondLevelSmall() && problem.n > 0 &&
         problem.n * bytesOf(problem.second) % kPageBytes == 0;
}

int64_t tracea::doctor::rowsOfBlocks(const Problem &problem,
                                     const CPUModel &model) {
  constexpr int64_t more = int64_t(1) << 20;
  if (problem.transposeSecond || problem.n == kUnknownExtent ||
      problem.k == kUnknownExtent)
    return more;
  int64_t rowBytes = problem.n * bytesOf(problem.second);
  if (rowBytes < kLongRow)
    return more;
  if (model.isSecondLevelSmall())
    return !isSecondFar(problem, model) ? more
           : isCrowded(problem, model)  ? kWaysOfSet / 2 + 1
                                        : kWaysOfSet + 1;
  // Long vectors multiply faster than memory gives.
  constexpr int64_t longVector = 64;
  if (model.lanes * model.elementBytes < longVector ||
      2 * bytesOfSecond(problem) < 3 * model.l2)
    return more;
  return rowBytes <= kPageBytes ? 32 : 64;
}

int64_t tracea::doctor::chooseKBlock(const CPUModel &model, int64_t k,
                                     int64_t usual) {
  int64_t block = usual * 4 / model.elementBytes;
  if (k == kUnknownExtent)
    return block;
  // Measured against float64, largest errors: 1.6 to 2.1 times those of
  // OpenBLAS for 512 and 640 products in a row, 2.0 to 2.8 for 760.
  constexpr int64_t mostInRow = 640;
  int64_t blocks = (2 * k + block - 1) / (2 * block);
  if (blocks <= 1 && k <= mostInRow)
    return std::max<int64_t>(1, k);
  blocks = std::max<int64_t>(blocks, 2);
  return roundUp(ceilDiv(k, blocks), 8);
}

int64_t tracea::doctor::evenShare(int64_t extent, int64_t factor,
                                  int64_t most) {
  extent = std::max<int64_t>(1, extent);
  int64_t cap = std::max(factor, roundDown(most, factor));
  int64_t pieces = ceilDiv(roundUp(extent, factor), cap);
  return roundUp(ceilDiv(extent, pieces), factor);
}
