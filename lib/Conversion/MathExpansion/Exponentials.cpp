//===- Exponentials.cpp - e^x, 2^x and hyperbolic functions ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// x = n ln 2 + r with |r| <= ln 2 / 2; e^r - 1 is r plus a polynomial, kept as
// a pair, so that what is computed from it is rounded once.

#include "Functions.h"

using namespace mlir;
using namespace mlir::tracea;

namespace {
/// e^x = (1 + rest) 2^n.
struct Exponential {
  Pair rest;
  Bits n;
};
} // namespace

/// e^r - 1 for |r| <= 0.347.
static Pair reducedExpM1(Pair r) {
  Real square = r.high * r.high;
  Real low = fma(r.low, r.high, r.low);
  return addOrdered(
      r.high, fma(square, evaluate(r.high.emitter->tables.exp, r.high), low));
}

/// Adding it rounds to an integer, which then stands in the last digits.
static double getAnchor(const FloatEmitter &e) {
  return std::ldexp(1.5, e.fractionBits);
}

static Exponential expParts(Pair x) {
  FloatEmitter &e = *x.high.emitter;
  Real anchor = e.real(getAnchor(e));
  Real shifted = fma(x.high, e.tables.log2e.high, anchor);
  Real n = shifted - anchor;
  // The first product is exact, and so is the difference.
  Real first = fma(n, -e.tables.ln2.high, x.high);
  Real r = fma(n, -e.tables.ln2.low, first);
  Real low = fma(n, -e.tables.ln2.low, first - r) + x.low;
  // Beside a long argument its low part is not small beside what is left.
  return {reducedExpM1(addOrdered(r, low)), asBits(shifted) - asBits(anchor)};
}

double mlir::tracea::largestExponent(const FloatEmitter &e) {
  return e.pick(710, 89);
}
double mlir::tracea::leastExponent(const FloatEmitter &e) {
  return e.pick(-746, -104);
}

/// Beyond these the result is infinity or zero; NaN stays.
static Real clampExponent(Real x) {
  FloatEmitter &e = *x.emitter;
  x = select(x > largestExponent(e), largestExponent(e), x);
  return select(x < leastExponent(e), leastExponent(e), x);
}

Scaled mlir::tracea::expPair(Pair x) {
  Exponential parts = expParts(x);
  Pair sum = addOrdered(x.high.emitter->real(1), parts.rest.high);
  return {{sum.high, sum.low + parts.rest.low}, parts.n};
}

Real mlir::tracea::round(Scaled a) {
  return scaleByPower(round(a.fraction), a.exponent);
}

/// Without pairs, for the sake of speed: the roundings of the argument's rest,
/// of the polynomial and of the result add up to one unit at most.
Real mlir::tracea::expandExp(Real x) {
  FloatEmitter &e = *x.emitter;
  x = clampExponent(x);
  Real anchor = e.real(getAnchor(e));
  Real shifted = fma(x, e.tables.log2e.high, anchor);
  Real n = shifted - anchor;
  Real r = fma(n, -e.tables.ln2.low, fma(n, -e.tables.ln2.high, x));
  Real power = 1.0 + fma(r * r, evaluate(e.tables.exp, r), r);
  return scaleByPower(power, asBits(shifted) - asBits(anchor));
}

Real mlir::tracea::expandExp2(Real x) {
  FloatEmitter &e = *x.emitter;
  double largest = e.pick(1025, 129), least = e.pick(-1076, -151);
  x = select(x > largest, largest, x);
  x = select(x < least, least, x);
  Real anchor = e.real(getAnchor(e));
  Real shifted = x + anchor;
  Real rest = x - (shifted - anchor);
  // The parts of ln 2 are short and long; their sum is what is wanted.
  Pair ln2 = addOrdered(e.real(e.tables.ln2.high), e.real(e.tables.ln2.low));
  Pair r = multiplyExactly(rest, ln2.high);
  r.low = fma(rest, ln2.low, r.low);
  Pair power = reducedExpM1(r);
  Pair sum = addOrdered(e.real(1), power.high);
  return round(Scaled{{sum.high, sum.low + power.low},
                      asBits(shifted) - asBits(anchor)});
}

/// Adding it to an exponent of two rounds to an integer, which then stands in
/// the last digits with the bias less one: half of the power's exponent.
static double getHalvesAnchor(const FloatEmitter &e) {
  return getAnchor(e) + double(e.bias) - 1;
}

/// 2^(n + rest), n being what has been rounded to in `shifted`. Nothing is kept
/// of what the result's last digits hide, and there is one scaling.
static Real flushedPower(Real shifted, Real rest) {
  FloatEmitter &e = *rest.emitter;
  double least = e.pick(-1021, -125);
  SmallVector<double> power{2};
  for (double coefficient : e.tables.exp2)
    power.push_back(2 * coefficient);
  Real half = asReal(asBits(shifted) << e.fractionBits);
  return select(shifted < getHalvesAnchor(e) + least, 0.0,
                evaluate(power, rest) * half);
}

Real mlir::tracea::expandFlushedExp2(Real x) {
  FloatEmitter &e = *x.emitter;
  // A product is not rounded before something is added to it.
  auto product = x.value.getDefiningOp<arith::MulFOp>();
  auto addX = [&](Real to) {
    return product ? fma(e.wrap(product.getLhs()), e.wrap(product.getRhs()), to)
                   : x + to;
  };
  Real anchor = e.real(getHalvesAnchor(e));
  Real shifted = addX(anchor);
  return flushedPower(shifted, addX(anchor - shifted));
}

Real mlir::tracea::expandFlushedExp(Real x) {
  FloatEmitter &e = *x.emitter;
  Real anchor = e.real(getHalvesAnchor(e));
  Real shifted = fma(x, e.tables.log2e.high, anchor);
  Real rest =
      fma(x, e.tables.log2e.low, fma(x, e.tables.log2e.high, anchor - shifted));
  return flushedPower(shifted, rest);
}

/// e^x - 1 as a pair times 2^n; x is not below -45.
static Scaled expM1Pair(Real x) {
  FloatEmitter &e = *x.emitter;
  Exponential parts = expParts({x, e.real(0)});
  // (1 + rest) 2^n - 1 = (rest + (1 - 2^-n)) 2^n. Where n is large the power
  // is lost in the sum and need not be one.
  Truth large = isNegative(e.bits(64) - parts.n);
  Bits negated = select(large, e.bits(0), e.bits(0) - parts.n);
  Real power = select(large, 0.0, powerOfTwo(negated));
  Pair offset = addExactly(e.real(1), -power);
  return {offset + parts.rest, parts.n};
}

/// Results whose last digit the square of the argument does not reach.
static Truth isTiny(Real x) {
  FloatEmitter &e = *x.emitter;
  return abs(x) < e.pick(0x1p-27, 0x1p-13);
}

Real mlir::tracea::expandExpM1(Real x) {
  FloatEmitter &e = *x.emitter;
  Real clamped = select(x > largestExponent(e), largestExponent(e), x);
  clamped = select(clamped < -45.0, -45.0, clamped);
  return select(abs(x) < e.pick(0x1p-54, 0x1p-25), x,
                round(expM1Pair(clamped)));
}

/// e^|x| - 1 where its reciprocal still counts.
static Pair moderateExpM1(Real magnitude) {
  FloatEmitter &e = *magnitude.emitter;
  double limit = e.pick(40, 20);
  magnitude = select(magnitude > limit, limit, magnitude);
  Scaled parts = expM1Pair(magnitude);
  Real power = powerOfTwo(parts.exponent);
  return {parts.fraction.high * power, parts.fraction.low * power};
}

/// e^|x| / 2, also where e^|x| is no number.
static Real halfExp(Real magnitude) {
  FloatEmitter &e = *magnitude.emitter;
  double limit = e.pick(712, 91);
  magnitude = select(magnitude > limit, limit, magnitude);
  Scaled power = expPair({magnitude, e.real(0)});
  return round(Scaled{power.fraction, power.exponent - e.bits(1)});
}

Real mlir::tracea::expandSinh(Real x) {
  FloatEmitter &e = *x.emitter;
  Real magnitude = abs(x);
  // With E = e^x - 1 it is (E + E / (E + 1)) / 2.
  Pair power = moderateExpM1(magnitude);
  Pair sum = power + power / (power + e.real(1));
  Real result =
      select(magnitude > e.pick(40, 20), halfExp(magnitude), round(sum) * 0.5);
  return select(isTiny(x), x, copySign(result, x));
}

Real mlir::tracea::expandCosh(Real x) {
  FloatEmitter &e = *x.emitter;
  Real magnitude = abs(x);
  Pair power = moderateExpM1(magnitude) + e.real(1);
  Pair sum = power + Pair{e.real(1), e.real(0)} / power;
  return select(magnitude > e.pick(40, 20), halfExp(magnitude),
                round(sum) * 0.5);
}

Real mlir::tracea::expandTanh(Real x) {
  FloatEmitter &e = *x.emitter;
  // With E = e^2x - 1 it is E / (E + 2). Beyond the limit it is 1.
  double limit = e.pick(20, 10);
  Real magnitude = abs(x);
  magnitude = select(magnitude > limit, limit, magnitude);
  Pair power = moderateExpM1(magnitude + magnitude);
  Real result = round(power / (power + e.real(2)));
  return select(isTiny(x), x, copySign(result, x));
}
