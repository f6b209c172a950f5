//===- Compare.h - Results against what they should be ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TOOLS_RUNNING_COMPARE_H
#define TRACEA_TOOLS_RUNNING_COMPARE_H

#include "Support.h"

namespace tracea::driver {

/// The distance of 1 to the next number, the smallest normal number and the
/// largest finite one.
struct FloatFacts {
  double epsilon;
  double smallest;
  double largest;
};
FloatFacts getFacts(runtime::ElementType type);

struct OutputCheck {
  bool passed = false;
  /// Integers, which must be equal.
  bool exact = false;
  double maxAbsError = 0;
  /// Over the elements whose reference is not zero; for information.
  double maxRelError = 0;
  /// max |r|
  double scale = 0;
  /// max |y - r| / max |r|
  double error = 0;
  double bound = 0;
  /// Elements that are NaN or infinite on one side only, or, for integers,
  /// that differ.
  int64_t mismatches = 0;
  /// The element that is furthest off, by its indices, and the two values.
  std::vector<int64_t> worst;
  double found = 0;
  double expected = 0;
};

/// `reference` has f64 where `found` has floats, else its type. The tensors are
/// row-major.
OutputCheck compareTensors(const runtime::Tensor &found,
                           const runtime::Tensor &reference, double bound);

/// Floats in f64, row-major; all else as it is.
Expected<runtime::Tensor> widen(const runtime::Tensor &tensor);

/// Lines on an output by its number.
std::string formatOutput(size_t number, const OutputCheck &check);
nlohmann::ordered_json toJSON(const OutputCheck &check);

} // namespace tracea::driver

#endif // TRACEA_TOOLS_RUNNING_COMPARE_H
