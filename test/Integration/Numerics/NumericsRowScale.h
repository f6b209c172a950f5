//===- NumericsRowScale.h - Rows by a scale of their own --------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What front ends write behind a norm to quantise its rows: the greatest
// absolute value of each, a scale of it, and the elements divided by that.

#ifndef TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSROWSCALE_H
#define TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSROWSCALE_H

#include "Numerics.h"

namespace tracea::numerics {

class RowScale {
public:
  /// Draws one for `input`, of which `isReduced` says the dimensions of a row,
  /// and writes it behind the value %y of the module.
  static RowScale draw(Random &random, ModuleText &text, const SizedType &input,
                       std::vector<bool> isReduced);

  /// %q of the elements and %s of the rows.
  SizedType elements, rows;

  /// Their values, from those of %y.
  std::vector<ExpectedTensor> apply(const ExpectedTensor &y,
                                    const Sizes &sizes) const;

private:
  ElementType type = ElementType::F32;
  std::vector<bool> isReduced;
  double most = 1;
};

} // namespace tracea::numerics

#endif // TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSROWSCALE_H
