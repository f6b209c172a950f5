//===- NumericsAttention.h - Random attention, and gradients of it -*- C++ -*-//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSATTENTION_H
#define TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSATTENTION_H

#include "Numerics.h"

namespace tracea::numerics {

/// Queries, keys and values, and who sees whom: the first three inputs, and
/// those of masks behind others.
struct AttentionProblem {
  Sizes sizes;
  ElementType type = ElementType::F32, accumulator = ElementType::F32;
  std::vector<SizedType> arguments;
  SizedType query, key, value;
  bool causal = false, hasWindow = false, hasScale = false;
  bool hasMask = false, hasLengths = false;
  /// Whether query, key, value and a tensor in the shape of the result have
  /// their heads behind their rows.
  bool behind[4] = {false, false, false, false};
  int64_t window[2] = {-1, -1}, block[2] = {1, 1};
  double scale = 1;
  int maskArgument = -1, lengthArgument = -1;
  int b = 0, h = 0, g = 0, i = 0, j = 0, d = 0, e = 0, mi = 0, mj = 0;
  double dynamicChance = 0;
  Fill fill = Fill::Normal;

  /// Draws sizes, types and masks; masks and lengths with these chances.
  void draw(Random &random, bool large, double maskChance, double lengthChance);
  /// Draws the types of operands, in `text`.
  SizedType drawType(Random &random, ModuleText &text, ElementType of,
                     std::vector<int> dims);
  void drawOperands(Random &random, ModuleText &text);
  /// The type with heads behind rows, or before them again.
  static SizedType exchange(SizedType type);
  /// Writes an argument whose memory is that of place `number` of `behind`; its
  /// name with heads before rows.
  std::string writeOperand(ModuleText &text, const std::string &name,
                           const SizedType &type, int number);
  static std::string writeTranspose(ModuleText &text, const std::string &from,
                                    const SizedType &type);
  /// The operation's name and attributes; its masks, with their arguments.
  std::string writeAttributes(const std::string &name) const;
  std::string writeMasks(Random &random, ModuleText &text);

  void derive() {
    sizes.set(mi, (sizes[i] + block[0] - 1) / block[0]);
    sizes.set(mj, (sizes[j] + block[1] - 1) / block[1]);
  }
  /// Inputs of which each is filled; lengths are before the first key, behind
  /// the last one, and between them.
  Instance makeInputs(Random &random, bool first);

  /// The number of a row of `heads` heads, of which each has `rows`.
  static int64_t rowOf(bool isBehind, int64_t batch, int64_t heads,
                       int64_t head, int64_t rows, int64_t row) {
    return isBehind ? (batch * rows + row) * heads + head
                    : (batch * heads + head) * rows + row;
  }
  const double *queryAt(const Instance &instance, int64_t ib, int64_t ih,
                        int64_t ii) const;
  const double *keyAt(const Instance &instance, int64_t ib, int64_t ih,
                      int64_t ij) const;
  const double *valueAt(const Instance &instance, int64_t ib, int64_t ih,
                        int64_t ij) const;
  double factor() const;
  bool sees(const Instance &instance, int64_t ib, int64_t ih, int64_t ii,
            int64_t ij) const;
  /// The score, scaled.
  Approx score(const Instance &instance, int64_t ib, int64_t ih, int64_t ii,
               int64_t ij) const;
};

} // namespace tracea::numerics

#endif // TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSATTENTION_H
