//===- ExtremumKeys.h - An element and its number as one key ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_LANES_EXTREMUMKEYS_H
#define TRACEA_LIB_TRANSFORMS_HOST_LANES_EXTREMUMKEYS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tracea {

/// Which elements are extrema.
struct ExtremumOrder {
  /// The greatest element or the least; the last of several or the first.
  bool isMax = true, isLast = false;
  /// Elements that are NaN become the result, or are passed over.
  bool nanWins = false;
};

/// Integers, the greatest or least of which is that of the extremum: what
/// orders the element above, its number plus 1 below, or the complement of that
/// where a smaller number is to win. Of narrow elements, fewer than 2¹⁶ - 1,
/// they have 32 bits, else 64.
class ExtremumKeys {
public:
  /// Of `extent` elements.
  ExtremumKeys(const ExtremumOrder &order, Type element, int64_t extent);
  /// Whether elements of this type, so many of them, have keys.
  static bool areThere(Type element, int64_t extent);
  IntegerType getType(Builder &b) const;
  /// The key of no element, which changes no extremum of keys.
  int64_t getNone() const;
  /// The key of an element with the number `index`, an `index`.
  Value make(OpBuilder &b, Location loc, Value value, Value index) const;
  /// The greater or the lesser key.
  Value choose(OpBuilder &b, Location loc, Value x, Value y) const;
  Value getValue(OpBuilder &b, Location loc, Value key) const;
  /// The number, as an integer of 64 bits.
  Value getNumber(OpBuilder &b, Location loc, Value key) const;

private:
  bool isAscending() const { return order.isMax == order.isLast; }
  Value getOrder(ImplicitLocOpBuilder &b, Value wide, Value isNaN) const;
  Value getOrder(ImplicitLocOpBuilder &b, Value integer) const;

  ExtremumOrder order;
  Type element;
  /// Bits of a number.
  unsigned half;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_LANES_EXTREMUMKEYS_H
