//===- Powers.cpp - x^y and roots -----------------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Functions.h"

using namespace mlir;
using namespace mlir::tracea;

/// |x|^y as e^(y log |x|). The logarithm has more digits than the format by
/// those of the largest exponent.
static Real powerOfMagnitude(Real magnitude, Real y) {
  FloatEmitter &e = *y.emitter;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Truth isZero = magnitude == 0, isInfinite = magnitude == infinity;
  Pair log = logForPower(select(isZero | isInfinite, 1.0, magnitude));
  log.high = select(isZero, -infinity, log.high);
  log.high = select(isInfinite, infinity, log.high);
  Real high = y * log.high;
  Pair product = addOrdered(high, fma(y, log.low, fma(y, log.high, -high)));
  // Where the first part is beyond what counts the second may be NaN.
  double largest = largestExponent(e), least = leastExponent(e);
  Pair most{e.real(largest), e.real(0)}, fewest{e.real(least), e.real(0)};
  product = select(high > largest, most, product);
  product = select(high < least, fewest, product);
  return round(expPair(product));
}

/// Special values as IEEE 754-2019 has them, 9.2.1.
Real mlir::tracea::expandPow(Real x, Real y) {
  FloatEmitter &e = *x.emitter;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Real magnitude = abs(x);
  Real result = powerOfMagnitude(magnitude, y);
  result = select(magnitude == 1.0, 1.0, result);

  // Every number that is too large to have a fraction is even when halved.
  Real half = y * 0.5;
  Truth isInteger = floor(y) == y;
  Truth isOdd = isInteger & (floor(half) != half);
  Truth isNegativeBase = isNegative(asBits(x));
  result = select(isOdd & isNegativeBase, -result, result);
  Truth undefined = (x < 0) & !isInteger & (magnitude < infinity);
  // Infinity is an integer to `floor`, and has a power of every base.
  Real nan = e.real(std::numeric_limits<double>::quiet_NaN());
  result = select(undefined | isNaN(x) | isNaN(y), nan, result);
  return select((x == 1.0) | (y == 0.0), 1.0, result);
}

Real mlir::tracea::expandCbrt(Real x) {
  FloatEmitter &e = *x.emitter;
  // Raised by a multiple of three.
  Real magnitude = abs(x);
  unsigned raised = e.isDouble() ? 54 : 24;
  Truth small = magnitude < e.pick(0x1p-1022, 0x1p-126);
  Real normal =
      select(small, magnitude * std::ldexp(1.0, int(raised)), magnitude);
  Truth isSpecial =
      (magnitude == 0) | !(magnitude < std::numeric_limits<double>::infinity());
  normal = select(isSpecial, 1.0, normal);

  // x = 8^q · 2^r · fraction, and 2^r · fraction lies from 1/2 to 4.
  Split split = splitNormal(normal, 0.5);
  uint64_t offset = 3 * 400;
  Bits positive = split.exponentBits + offset;
  Bits third = divideUnsigned(positive, 3);
  Bits rest = positive - third * e.bits(3);
  Real m = split.fraction * powerOfTwo(rest);

  Real root = evaluate(e.tables.cbrt, m);
  // Halley's step triples the digits, of which the polynomial has nine.
  for (unsigned step = 0; step < (e.isDouble() ? 2 : 1); ++step) {
    Real cube = root * root * root;
    root = root * ((cube + (m + m)) / ((cube + cube) + m));
  }
  // Newton's step on the exact residue leaves one rounding.
  Pair square = multiplyExactly(root, root);
  Pair cube = square * root;
  Real residue = (cube.high - m) + cube.low;
  root = root - residue / (square.high * 3.0);

  Bits exponent = third - e.bits(offset / 3);
  exponent = select(small, exponent - e.bits(raised / 3), exponent);
  Real result = copySign(root * powerOfTwo(exponent), x);
  return select(isSpecial, x, result);
}
