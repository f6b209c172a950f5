//===- Numbers.h - Extents and bytes in estimates ---------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_DOCTOR_NUMBERS_H
#define TRACEA_LIB_DOCTOR_NUMBERS_H

#include "tracea/Doctor/Problem.h"

#include <algorithm>
#include <string>
#include <vector>

namespace tracea::doctor {

inline std::string text(int64_t value) { return std::to_string(value); }

constexpr int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }
constexpr int64_t roundUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }
constexpr int64_t roundDown(int64_t a, int64_t b) { return a / b * b; }

constexpr bool isPowerOf2(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

inline int64_t bytesOf(ElementType type) {
  return std::max<int64_t>(target::bitWidth(type) / 8, 1);
}

/// An extent as estimates take it: bounded, so that nothing overflows.
inline int64_t extentOf(int64_t extent) {
  return std::clamp<int64_t>(assumed(extent, 4096), 1, int64_t(1) << 31);
}

/// Elements of the result; extents unknown or overflowing count as typical.
inline double elementsOf(const Problem &problem) {
  return static_cast<double>(assumed(problem.rows)) *
         static_cast<double>(assumed(problem.columns));
}

/// The extents of the operands' rows in memory.
inline int64_t rowOf(const Problem &problem, bool isFirst) {
  if (problem.kind == OpKind::Conv2D)
    return isFirst ? problem.imageRow : problem.filterRow;
  // The gradient of the output comes first.
  if (problem.kind == OpKind::Conv2DWGrad)
    return isFirst ? problem.filterRow : problem.imageRow;
  if (isFirst)
    return problem.transposeFirst ? problem.m : problem.k;
  return problem.transposeSecond ? problem.k : problem.n;
}

/// Whether rows of an operand begin at multiples of 16 bytes, which copies in
/// bulk need. What only the run knows is looked at by the run.
inline bool hasAlignedRows(int64_t row, ElementType type) {
  return row == kUnknownExtent || row % 16 * bytesOf(type) % 16 == 0;
}

/// Elements that a product's operands have in memory, for each of its batch.
/// Taps of neighbouring pixels see the same elements of an image, and so do the
/// products of all taps of a gradient by the filter.
inline double firstElementsOf(const Problem &problem) {
  auto number = [](int64_t extent) {
    return static_cast<double>(extentOf(extent));
  };
  double all = number(problem.m) * number(problem.k);
  if (problem.kind == OpKind::Conv2DWGrad)
    return all / (number(problem.filterHeight) * number(problem.filterWidth));
  if (problem.kind != OpKind::Conv2D)
    return all;
  return std::min(all, number(problem.m) * number(problem.groupChannels) *
                           static_cast<double>(problem.strideHeight) *
                           static_cast<double>(problem.strideWidth));
}

inline double secondElementsOf(const Problem &problem) {
  auto number = [](int64_t extent) {
    return static_cast<double>(extentOf(extent));
  };
  double all = number(problem.k) * number(problem.n);
  return problem.kind == OpKind::Conv2DWGrad
             ? all /
                   (number(problem.filterHeight) * number(problem.filterWidth))
             : all;
}

/// Whether copies of an operand go from pixel to pixel of an image.
inline bool walksPixels(const Problem &problem, bool isFirst) {
  return problem.kind == OpKind::Conv2DWGrad ||
         (problem.kind == OpKind::Conv2D && isFirst);
}

/// The numbers of parts of a sum that are tried.
inline const std::vector<int64_t> &splitsOfSums() {
  static const std::vector<int64_t> splits = {1, 2, 3, 4, 6, 8, 12, 16, 32};
  return splits;
}

/// Why a sum over k, in steps of `depth`, cannot be cut into so many parts.
inline std::string checkParts(int64_t k, int64_t depth, int64_t split) {
  if (split > 1 && k != kUnknownExtent && ceilDiv(k, depth) < split)
    return "k has fewer steps than the " + text(split) + " parts of the sum";
  return "";
}

/// Rounds in which all cores take one of so many tiles each.
inline double wavesOf(double tiles, double cores) {
  auto whole = static_cast<double>(static_cast<int64_t>(tiles / cores));
  return whole * cores < tiles ? whole + 1 : whole;
}

} // namespace tracea::doctor

#endif // TRACEA_LIB_DOCTOR_NUMBERS_H
