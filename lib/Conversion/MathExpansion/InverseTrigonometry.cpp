//===- InverseTrigonometry.cpp - atan, asin, acos -------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Functions.h"

using namespace mlir;
using namespace mlir::tracea;

/// atan(p / q) for 0 <= p <= q. With the nearest c of 0, 1/2 and 1 it is
/// atan c + atan t, t = (p - c q) / (q + c p), and |t| <= 7/16. The numerator
/// is exact.
static Pair atanOfRatio(Real p, Real q) {
  FloatEmitter &e = *p.emitter;
  Truth toOne = p > q * 0.6875, toHalf = p > q * 0.4375;
  Real c = select(toOne, 1.0, select(toHalf, e.real(0.5), e.real(0)));
  Pair base = select(
      toOne, e.pair(e.tables.quarterPi),
      select(toHalf, e.pair(e.tables.atanHalf), Pair{e.real(0), e.real(0)}));
  Pair t = Pair{fma(-c, q, p), e.real(0)} / addOrdered(q, c * p);
  Real z = t.high * t.high;
  Real low = fma(-z, t.low, t.low);
  low = fma(t.high * z, evaluate(e.tables.atan, z), low);
  Pair sum = addOrdered(base.high, t.high);
  return addOrdered(sum.high, sum.low + (base.low + low));
}

Real mlir::tracea::expandAtan(Real x) {
  FloatEmitter &e = *x.emitter;
  // Beyond the limit nothing but π/2 is left.
  double limit = 0x1p+60;
  Real magnitude = abs(x);
  magnitude = select(magnitude > limit, limit, magnitude);
  Truth large = magnitude > 1.0;
  Pair angle =
      atanOfRatio(select(large, 1.0, magnitude), select(large, magnitude, 1.0));
  angle = select(large, e.pair(e.tables.halfPi) + -angle, angle);
  Real result = copySign(round(angle), x);
  return select(magnitude < e.pick(0x1p-27, 0x1p-13), x, result);
}

/// Special values as IEEE 754-2019 has them, 9.2.1.
Real mlir::tracea::expandAtan2(Real y, Real x) {
  FloatEmitter &e = *x.emitter;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Real p = abs(y), q = abs(x);
  Truth steep = p > q;
  Real most = select(steep, p, q), least = select(steep, q, p);
  // Of two infinities the angle is that of equal sides; of one, or of two
  // zeros, the ratio is zero.
  Truth bothInfinite = least == infinity;
  Truth isAxis = ((most == infinity) & !bothInfinite) | (most == 0);
  least = select(bothInfinite, 1.0, select(isAxis, 0.0, least));
  most = select(bothInfinite | isAxis, 1.0, most);
  // The longer side is brought to about 1, where no product is lost.
  Truth small = most < e.pick(0x1p-1022, 0x1p-126);
  double up = std::ldexp(1.0, int(e.fractionBits) + 2);
  most = select(small, most * up, most);
  least = select(small, least * up, least);
  Split split = splitNormal(most, 1.0);
  least = scaleByPower(least, e.bits(0) - split.exponentBits);

  Pair angle = atanOfRatio(least, split.fraction);
  angle = select(steep, e.pair(e.tables.halfPi) + -angle, angle);
  Pair pi = scale(e.pair(e.tables.halfPi), 2);
  angle = select(isNegative(asBits(x)), pi + -angle, angle);
  Real result = copySign(round(angle), y);
  return select(isNaN(x) | isNaN(y), x + y, result);
}

/// What asin and acos share: the arcus sine of the smaller of |x| and
/// sqrt((1 - |x|) / 2).
static Pair reducedAsin(Real magnitude, Truth large) {
  FloatEmitter &e = *magnitude.emitter;
  Real rest = (1.0 - magnitude) * 0.5;
  Pair root = sqrt(Pair{rest, e.real(0)});
  Pair t = select(large, root, Pair{magnitude, e.real(0)});
  Real z = select(large, rest, magnitude * magnitude);
  // The low part with the derivative, 1 / sqrt(1 - z).
  Real low = fma(z * 0.5, t.low, t.low);
  low = fma(t.high * z, evaluate(e.tables.asin, z), low);
  return addOrdered(t.high, low);
}

Real mlir::tracea::expandAsin(Real x) {
  FloatEmitter &e = *x.emitter;
  Real magnitude = abs(x);
  Truth large = magnitude > 0.5;
  Pair angle = reducedAsin(magnitude, large);
  angle = select(large, e.pair(e.tables.halfPi) + scale(-angle, 2), angle);
  Real result = copySign(round(angle), x);
  return select(magnitude < e.pick(0x1p-27, 0x1p-13), x, result);
}

Real mlir::tracea::expandAcos(Real x) {
  FloatEmitter &e = *x.emitter;
  Real magnitude = abs(x);
  Truth large = magnitude > 0.5, negative = x < 0;
  Pair angle = reducedAsin(magnitude, large);
  Pair halfPi = e.pair(e.tables.halfPi);
  Pair ofSmall = halfPi + select(negative, angle, -angle);
  Pair twice = scale(angle, 2);
  Pair ofLarge = select(negative, scale(halfPi, 2) + -twice, twice);
  return round(select(large, ofLarge, ofSmall));
}
