//===- LinearIndex.h - Indices as sums of values ----------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_LANEREADS_LINEARINDEX_H
#define TRACEA_LIB_TRANSFORMS_HOST_LANEREADS_LINEARINDEX_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::tracea {

/// A number as a sum of multiples of values and a constant: two computations of
/// one number have one form, where they add, and multiply by constants.
struct LinearIndex {
  llvm::MapVector<Value, int64_t> terms;
  int64_t constant = 0;

  static LinearIndex of(Value value);
  /// Computes it, of what it is a multiple of in sight.
  Value materialize(ImplicitLocOpBuilder &b) const;

  LinearIndex operator+(const LinearIndex &other) const;
  LinearIndex operator*(int64_t factor) const;
  LinearIndex operator-(const LinearIndex &other) const {
    return *this + other * -1;
  }
  /// Whether they differ by a constant.
  bool isParallelTo(const LinearIndex &other) const;
  bool operator==(const LinearIndex &other) const {
    return constant == other.constant && isParallelTo(other);
  }
  /// Whether all but the constant is a multiple of `factor`.
  bool isMultiple(int64_t factor) const;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_LANEREADS_LINEARINDEX_H
