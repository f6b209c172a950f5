//===- F2Matrix.h - Linear maps over F2 -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A map F2^n -> F2^m, n and m at most 64, is kept as its n columns: column j is
// the image of input bit j, an m-bit integer. Every layout question (is it a
// permutation, what does a conversion move, how many banks collide) is a
// question about such a map.
//
// Elimination takes columns in their order, so earlier input bits become the
// pivots and are preferred in every solution. Lane maps rely on it: their
// inputs are ordered register, lane, warp, block, and a value that a register
// of the same lane holds is found there before it is looked for in another
// lane.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_ALGEBRA_F2MATRIX_H
#define TRACEA_ALGEBRA_F2MATRIX_H

#include "tracea/Algebra/Expected.h"
#include "tracea/Algebra/F2Subspace.h"
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

namespace tracea::algebra {

class F2Matrix {
public:
  static constexpr unsigned maxBits = 64;

  /// The 0 -> 0 map.
  F2Matrix() = default;

  /// From columns. Fails on more than 64 columns or output bits, and on a
  /// column with a bit at or above `numOutputs`.
  static Expected<F2Matrix> get(unsigned numOutputs, F2Vectors columns);
  /// The identity on `size` bits; sizes above 64 are clamped to 64.
  static F2Matrix identity(unsigned size);

  unsigned numInputs() const { return columns_.size(); }
  unsigned numOutputs() const { return outputs; }
  const F2Vectors &columns() const { return columns_; }
  uint64_t column(unsigned input) const { return columns_[input]; }

  /// The image of `x`; bits of `x` at or above numInputs() are ignored.
  uint64_t apply(uint64_t x) const;

  /// this ∘ inner. Fails unless inner.numOutputs() == numInputs().
  Expected<F2Matrix> compose(const F2Matrix &inner) const;
  /// [this | right]: the inputs of `right` above those of this. Fails unless
  /// both have the same number of outputs, or beyond 64 inputs.
  Expected<F2Matrix> concat(const F2Matrix &right) const;
  /// this ⊕ high: block diagonal, `high` on the upper bits. Fails beyond 64.
  Expected<F2Matrix> directSum(const F2Matrix &high) const;
  F2Matrix transpose() const;

  unsigned rank() const;
  /// A basis of { x : apply(x) = 0 }, numInputs() - rank() vectors.
  F2Vectors kernel() const;
  /// The canonical basis of the image.
  F2Vectors image() const { return canonicalBasis(columns_); }
  /// Some x with apply(x) = y that uses the earliest possible input bits, or
  /// nothing when y is not in the image.
  std::optional<uint64_t> solve(uint64_t y) const;

  bool isInjective() const { return rank() == numInputs(); }
  bool isSurjective() const { return rank() == numOutputs(); }
  bool isInvertible() const {
    return numInputs() == numOutputs() && isInjective();
  }
  bool isIdentity() const;

  /// R with this ∘ R = id; nothing unless surjective.
  std::optional<F2Matrix> rightInverse() const;
  /// L with L ∘ this = id; nothing unless injective. A complement of the image
  /// goes to 0.
  std::optional<F2Matrix> leftInverse() const;
  /// Nothing unless invertible.
  std::optional<F2Matrix> inverse() const;

  friend bool operator==(const F2Matrix &a, const F2Matrix &b) {
    return a.outputs == b.outputs && a.columns_ == b.columns_;
  }
  friend bool operator!=(const F2Matrix &a, const F2Matrix &b) {
    return !(a == b);
  }

  /// One row of 0 and 1 per output bit, highest bit first; input bit 0 is the
  /// leftmost column.
  void print(std::ostream &os) const;
  std::string str() const;

private:
  F2Matrix(unsigned outputs, F2Vectors columns)
      : outputs(outputs), columns_(std::move(columns)) {}

  unsigned outputs = 0;
  F2Vectors columns_;
};

std::ostream &operator<<(std::ostream &os, const F2Matrix &matrix);

} // namespace tracea::algebra

#endif // TRACEA_ALGEBRA_F2MATRIX_H
