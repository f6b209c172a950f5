//===- Logarithms.cpp - log and what is one -------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// u = 2^n (1 + f) with 1 + f from sqrt(1/2) to sqrt(2). With s = f / (2 + f)
// log(1 + f) is log((1 + s) / (1 - s)) = 2 s + s³ (2/3 + s² P(s²)). Sums are
// kept as pairs, also the argument, so that log1p and the inverse hyperbolic
// functions are logarithms of pairs.

#include "Functions.h"

using namespace mlir;
using namespace mlir::tracea;

namespace {
struct LogParts {
  /// log(1 + f).
  Pair rest;
  /// n.
  Real exponent;
};
} // namespace

/// log(1 + f). With `precise`, to some ten digits less than a pair has.
static Pair reducedLog1p(Pair f, bool precise) {
  FloatEmitter &e = *f.high.emitter;
  Pair divisor = addOrdered(e.real(2), f.high);
  divisor.low = divisor.low + f.low;
  Pair s = f / divisor;
  if (!precise) {
    Real z = s.high * s.high;
    Real inner =
        fma(z, evaluate(e.tables.log, z), e.real(e.tables.twoThirds.high));
    Real tail = fma(s.high * z, inner, s.low + s.low);
    return addOrdered(s.high + s.high, tail);
  }
  Pair z = s * s;
  Pair inner = addOrdered(e.real(e.tables.twoThirds.high),
                          z.high * evaluate(e.tables.log, z.high));
  inner.low = inner.low + e.tables.twoThirds.low;
  return scale(s, 2) + s * z * inner;
}

/// log(u) of a pair whose high part is positive and normal.
static LogParts logParts(Pair u, bool precise = false) {
  FloatEmitter &e = *u.high.emitter;
  Split split = splitNormal(u.high, 0x1.6a09e6p-1);
  Real high = split.fraction - 1.0;
  // The low part to the same power. Of the largest exponent the power's
  // negative is no normal number, and the low part does not count.
  Bits power =
      e.bits(2 * uint64_t(e.bias)) - (split.exponentBits + uint64_t(e.bias));
  power = select(isNegative(power), e.bits(0), power);
  Real low = u.low * asReal(power << e.fractionBits);
  return {reducedLog1p(addOrdered(high, low), precise), split.exponent};
}

/// n · unit + rest, where the unit's high part is short.
static Pair addExponent(Real exponent, PairConstant unit, Pair rest) {
  Pair sum = addOrdered(exponent * unit.high, rest.high);
  return {sum.high, sum.low + fma(exponent, unit.low, rest.low)};
}

static Pair naturalLog(LogParts parts) {
  return addExponent(parts.exponent, parts.exponent.emitter->tables.ln2,
                     parts.rest);
}

/// A number that is normal, and by how much its exponent was raised.
static std::pair<Real, Real> normalize(Real x) {
  FloatEmitter &e = *x.emitter;
  double steps = e.fractionBits + 2;
  Truth small = x < e.pick(0x1p-1022, 0x1p-126);
  return {select(small, x * std::ldexp(1.0, int(steps)), x),
          select(small, e.real(-steps), e.real(0))};
}

/// The values at the ends of the domain of a logarithm of `x`.
static Real finishLog(Real x, double pole, Real result) {
  FloatEmitter &e = *x.emitter;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  result = select(x == infinity, infinity, result);
  Real outside = select(x == pole, e.real(-infinity),
                        e.real(std::numeric_limits<double>::quiet_NaN()));
  return select(x > pole, result, outside);
}

static LogParts logPartsOf(Real x, bool precise = false) {
  auto [normal, raised] = normalize(x);
  LogParts parts = logParts({normal, x.emitter->real(0)}, precise);
  parts.exponent = parts.exponent + raised;
  return parts;
}

/// log(1 + f) + exponent ln 2. Of f32 a polynomial is faster than a division
/// and a shorter one.
static Real logOfSingle(Real f, Real exponent) {
  FloatEmitter &e = *f.emitter;
  Real square = f * f;
  Real rest =
      fma(f * square, evaluate(kLogOfSingle, f), exponent * e.tables.ln2.low);
  return fma(exponent, e.tables.ln2.high, f - fma(square, e.real(0.5), -rest));
}

/// Without pairs, for the sake of speed. As 2 s = f - s f, the logarithm is
/// f - f²/2 + s (f²/2 + s² (2/3 + s² P(s²))): f is exact, and all else is
/// small.
Real mlir::tracea::expandLog(Real x) {
  FloatEmitter &e = *x.emitter;
  auto [normal, raised] = normalize(x);
  Split split = splitNormal(normal, 0x1.6a09e6p-1);
  Real exponent = split.exponent + raised;
  Real f = split.fraction - 1.0;
  if (!e.isDouble())
    return finishLog(x, 0, logOfSingle(f, exponent));
  Real s = f / (f + 2.0);
  Real z = s * s;
  Real inner =
      fma(z, evaluate(e.tables.log, z), e.real(e.tables.twoThirds.high));
  Real half = f * f * 0.5;
  Real rest = fma(s, fma(z, inner, half), exponent * e.tables.ln2.low);
  return finishLog(x, 0, fma(exponent, e.tables.ln2.high, f - (half - rest)));
}

Real mlir::tracea::expandLog2(Real x) {
  FloatEmitter &e = *x.emitter;
  LogParts parts = logPartsOf(x);
  Pair rest = parts.rest * e.pair(e.tables.log2e);
  return finishLog(x, 0, round(addExponent(parts.exponent, {1, 0}, rest)));
}

Real mlir::tracea::expandLog10(Real x) {
  FloatEmitter &e = *x.emitter;
  LogParts parts = logPartsOf(x);
  Pair rest = parts.rest * e.pair(e.tables.log10e);
  return finishLog(x, 0,
                   round(addExponent(parts.exponent, e.tables.log10of2, rest)));
}

/// log(1 + x).
static Pair log1pPair(Pair x) {
  Pair sum = addExactly(x.high.emitter->real(1), x.high);
  return naturalLog(logParts({sum.high, sum.low + x.low}));
}

Real mlir::tracea::expandLog1p(Real x) {
  FloatEmitter &e = *x.emitter;
  Real result = finishLog(x, -1, round(log1pPair({x, e.real(0)})));
  return select(abs(x) < e.pick(0x1p-54, 0x1p-25), x, result);
}

Pair mlir::tracea::logForPower(Real x) {
  LogParts parts = logPartsOf(x, /*precise=*/true);
  FloatEmitter &e = *x.emitter;
  Pair sum = addOrdered(parts.exponent * e.tables.ln2.high, parts.rest.high);
  // The second product is below the first's last digits: one rounding of it
  // is beyond the pair.
  Real low = sum.low + fma(parts.exponent, e.tables.ln2.low, parts.rest.low);
  return addOrdered(sum.high, low);
}

/// Arguments whose square added to 1 is lost in it.
static double getLarge(const FloatEmitter &e) {
  return e.pick(0x1p+28, 0x1p+13);
}

/// log(2 x) of a number that is large, in place of `otherwise`.
static Real logOfTwice(Real x, Real otherwise) {
  FloatEmitter &e = *x.emitter;
  LogParts parts = logParts({x, e.real(0)});
  parts.exponent = parts.exponent + 1.0;
  Real result = round(naturalLog(parts));
  result = select(x == std::numeric_limits<double>::infinity(), x, result);
  return select(x > getLarge(e), result, otherwise);
}

Real mlir::tracea::expandAsinh(Real x) {
  FloatEmitter &e = *x.emitter;
  Real magnitude = abs(x), one = e.real(1);
  Real moderate = select(magnitude > getLarge(e), 1.0, magnitude);
  // log(1 + (x + x² / (1 + sqrt(1 + x²)))).
  Pair square = multiplyExactly(moderate, moderate);
  Pair inner = square / (sqrt(square + one) + one);
  Real result = logOfTwice(select(magnitude > 1.0, magnitude, 1.0),
                           round(log1pPair(inner + moderate)));
  Truth tiny = magnitude < e.pick(0x1p-27, 0x1p-13);
  result = select(isNaN(x), x, copySign(result, x));
  return select(tiny, x, result);
}

Real mlir::tracea::expandAcosh(Real x) {
  FloatEmitter &e = *x.emitter;
  Real moderate = select(x > getLarge(e), 1.0, x);
  // With t = x - 1 it is log(1 + (t + sqrt(2 t + t²))).
  Pair t = addExactly(moderate, e.real(-1));
  Pair root = sqrt(scale(t, 2) + t * t);
  Real result = logOfTwice(select(x > 1.0, x, 1.0), round(log1pPair(root + t)));
  return select(x >= 1.0, result, std::numeric_limits<double>::quiet_NaN());
}

Real mlir::tracea::expandAtanh(Real x) {
  FloatEmitter &e = *x.emitter;
  Real magnitude = abs(x);
  Real inside = select(magnitude < 1.0, magnitude, 0.0);
  // log(1 + 2 x / (1 - x)) / 2.
  Pair quotient =
      Pair{inside + inside, e.real(0)} / addOrdered(e.real(1), -inside);
  Real result = round(log1pPair(quotient)) * 0.5;
  Real outside =
      select(magnitude == 1.0, e.real(std::numeric_limits<double>::infinity()),
             e.real(std::numeric_limits<double>::quiet_NaN()));
  result = select(magnitude < 1.0, result, outside);
  return select(magnitude < e.pick(0x1p-27, 0x1p-13), x, copySign(result, x));
}
