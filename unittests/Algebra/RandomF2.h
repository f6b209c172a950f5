//===- RandomF2.h - Seeded random F2 maps for the property tests -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_UNITTESTS_ALGEBRA_RANDOMF2_H
#define TRACEA_UNITTESTS_ALGEBRA_RANDOMF2_H

#include "tracea/Algebra/F2Matrix.h"
#include <random>

namespace tracea::algebra {

/// Deterministic on every platform: std::mt19937_64 is specified bit by bit,
/// the distributions of the standard library are not.
class RandomF2 {
public:
  explicit RandomF2(uint64_t seed) : engine(seed) {}

  uint64_t below(uint64_t limit) { return engine() % limit; }
  uint64_t bits(unsigned count) { return count ? engine() >> (64 - count) : 0; }
  F2Vectors vectors(unsigned count, unsigned width) {
    F2Vectors result;
    for (unsigned i = 0; i < count; ++i)
      result.push_back(bits(width));
    return result;
  }
  F2Matrix matrix(unsigned outputs, unsigned inputs) {
    return *F2Matrix::get(outputs, vectors(inputs, outputs));
  }
  F2Matrix invertible(unsigned size) {
    while (true) {
      F2Matrix candidate = matrix(size, size);
      if (candidate.isInvertible())
        return candidate;
    }
  }

private:
  std::mt19937_64 engine;
};

} // namespace tracea::algebra

#endif // TRACEA_UNITTESTS_ALGEBRA_RANDOMF2_H
