//===- F2Elimination.h - Incremental elimination over F2 with combinations ===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors are added one by one and reduced by those before. Each pivot
// remembers which of the added vectors make it up, as a bit mask that the
// caller assigns.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_ALGEBRA_F2ELIMINATION_H
#define TRACEA_LIB_ALGEBRA_F2ELIMINATION_H

#include <array>
#include <cstdint>
#include <optional>

namespace tracea::algebra {

class F2Elimination {
public:
  /// Adds a vector named by `combination`. Independent: returns nothing.
  /// Dependent: returns the combination, this vector included, that sums to 0.
  std::optional<uint64_t> add(uint64_t vector, uint64_t combination = 0) {
    reduce(vector, combination);
    if (!vector)
      return combination;
    unsigned lead = 63 - __builtin_clzll(vector);
    vectors[lead] = vector;
    combinations[lead] = combination;
    ++pivots;
    return std::nullopt;
  }

  /// The combination of added vectors that sums to `vector`, if one does.
  std::optional<uint64_t> solve(uint64_t vector) const {
    uint64_t combination = 0;
    reduce(vector, combination);
    if (vector)
      return std::nullopt;
    return combination;
  }

  unsigned rank() const { return pivots; }
  /// The pivot with leading bit `bit`, or 0.
  uint64_t pivot(unsigned bit) const { return vectors[bit]; }

private:
  void reduce(uint64_t &vector, uint64_t &combination) const {
    while (vector) {
      unsigned lead = 63 - __builtin_clzll(vector);
      if (!vectors[lead])
        return;
      vector ^= vectors[lead];
      combination ^= combinations[lead];
    }
  }

  std::array<uint64_t, 64> vectors{};
  std::array<uint64_t, 64> combinations{};
  unsigned pivots = 0;
};

} // namespace tracea::algebra

#endif // TRACEA_LIB_ALGEBRA_F2ELIMINATION_H
