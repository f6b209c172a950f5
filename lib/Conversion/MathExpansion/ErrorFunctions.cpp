//===- ErrorFunctions.cpp - erf and erfc ----------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Functions.h"

using namespace mlir;
using namespace mlir::tracea;

/// erfc x of x >= 1/2: e^(-x²) P(t) / (1 + 2 x), t = (x - K) / (x + K), in
/// which the last two factors vary slowly.
static Real tail(Real x) {
  FloatEmitter &e = *x.emitter;
  // From the limit on the result rounds to zero, and the argument is held there
  // so that nothing below overflows.
  double limit = e.pick(27.3, 10.2);
  x = select(x > limit, limit, x);
  x = select(x < 0.5, 0.5, x);
  double shift = e.tables.erfcShift;
  Real t = (x - shift) / (x + shift);
  Pair square = multiplyExactly(x, x);
  Scaled power = expPair(-square);
  Pair divisor = addOrdered(x + x, e.real(1));
  // 2 x may be the smaller one by a little, and nothing is lost by that.
  power.fraction = power.fraction * evaluate(e.tables.erfc, t) / divisor;
  return round(power);
}

/// erf x = x + x P(x²) up to 1.
static Real nearZero(Real x) { return evaluate(x.emitter->tables.erf, x * x); }

/// Without pairs and without a division, for the sake of speed. What is taken
/// from 1 is below 0.21, and so are its errors.
static Real erfOfSingle(Real x) {
  FloatEmitter &e = *x.emitter;
  const SingleErf &tables = kSingleErf;
  Real magnitude = abs(x);
  // From here on the result rounds to 1.
  constexpr double limit = 4;
  Real power =
      evaluate(tables.log2, select(magnitude > limit, limit, magnitude));
  // Adding it rounds to an integer, which then stands in the last digits.
  double anchor = std::ldexp(1.5, e.fractionBits);
  Real shifted = power + anchor;
  Real rest = power - (shifted - anchor);
  Real fraction = fma(rest, evaluate(tables.exp2, rest), e.real(1));
  // Of the anchor's own digits none are left in the exponent's place.
  Real tail = asReal(asBits(fraction) + (asBits(shifted) << e.fractionBits));
  Real near = fma(x, evaluate(tables.nearZero, x * x), x);
  return select(magnitude > tables.split, copySign(1.0 - tail, x), near);
}

Real mlir::tracea::expandErf(Real x) {
  if (!x.emitter->isDouble())
    return erfOfSingle(x);
  Real magnitude = abs(x);
  Real far = copySign(1.0 - tail(magnitude), x);
  Truth isNear = magnitude <= 1.0;
  Real near = select(isNear, x, 1.0);
  Real result = select(isNear, fma(near, nearZero(near), near), far);
  return select(isNaN(x), x, result);
}

Real mlir::tracea::expandErfc(Real x) {
  FloatEmitter &e = *x.emitter;
  Real magnitude = abs(x);
  Real far = tail(magnitude);
  far = select(x < 0, 2.0 - far, far);
  Truth isNear = magnitude < 0.5;
  Real near = select(isNear, x, 0.0);
  Pair difference = addOrdered(e.real(1), -near);
  Real result =
      select(isNear,
             difference.high + fma(-near, nearZero(near), difference.low), far);
  return select(isNaN(x), x, result);
}
