//===- Trigonometry.cpp - sin, cos, tan -----------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// x = q π/2 + r with |r| <= π/4. The digits of x · 2/π that matter are computed
// in integers, from those words of 2/π that are neither multiples of four turns
// nor too small (Payne and Hanek, 1983): the same code for all x.

#include "Functions.h"

using namespace mlir;
using namespace mlir::tracea;

namespace {
struct Reduced {
  /// q modulo 4.
  Bits quadrant;
  Pair rest;
};
} // namespace

/// Words first, first + 1, first + 2 and first + 3 of 2/π.
static std::array<Bits, 4> selectWords(Bits first) {
  FloatEmitter &e = *first.emitter;
  SmallVector<Bits> words;
  for (uint64_t word : e.tables.twoOverPi)
    words.push_back(e.bits(word));
  for (unsigned bit = llvm::Log2_64(words.size() - 4) + 1; bit-- > 0;) {
    unsigned step = 1u << bit;
    // Words that later bits of `first` can still select.
    unsigned count = 4 + step - 1;
    Truth moved = isBitSet(first, bit);
    for (unsigned i = 0; i < count && i < words.size(); ++i)
      if (i + step < words.size())
        words[i] = select(moved, words[i + step], words[i]);
    words.truncate(std::min<size_t>(count, words.size()));
  }
  return {words[0], words[1], words[2], words[3]};
}

/// The sum of the halves of `words`, of which the first is signed, as a number
/// where the first word counts 1.
static Pair convertFixedPoint(std::array<Bits, 2> words) {
  FloatEmitter &e = *words[0].emitter;
  unsigned half = e.width / 2;
  uint64_t mask = (uint64_t(1) << half) - 1;
  Bits parts[] = {shiftSigned(words[0], half), words[0] & mask,
                  words[1] >> half, words[1] & mask};
  Pair sum{convertSigned(parts[0]), e.real(0)};
  double unit = 1;
  for (Bits part : ArrayRef(parts).drop_front()) {
    unit = std::ldexp(unit, -int(half));
    sum = sum + convertSigned(part) * unit;
  }
  return scale(sum, std::ldexp(1.0, -int(half)));
}

/// Reduces a number from π/4 on, by multiplying with the bits of 2/π that
/// matter (Payne and Hanek, 1983).
static Reduced reduceLarge(Real x) {
  FloatEmitter &e = *x.emitter;
  unsigned width = e.width;
  Bits bits = asBits(x);
  Bits fraction = (bits & ((uint64_t(1) << e.fractionBits) - 1)) |
                  (uint64_t(1) << e.fractionBits);
  // x = fraction · 2^exponent. Bit i of 2/π counts 2^-i, i from 1 on, and the
  // product with bits before the (exponent - 1)st is a multiple of 4. A word
  // of zeros stands in front.
  Bits exponent =
      (bits >> e.fractionBits) - e.bits(uint64_t(e.bias) + e.fractionBits);
  Bits position = exponent + uint64_t(int64_t(width) - 2);
  Bits first = position >> llvm::Log2_32(width);
  Bits shift = position & (width - 1);
  std::array<Bits, 4> words = selectWords(first);
  Bits back = e.bits(width - 1) - shift;
  std::array<Bits, 3> aligned = {words[0], words[1], words[2]};
  for (unsigned i = 0; i < 3; ++i)
    // Shifting by the whole width, for no shift, would be undefined.
    aligned[i] = (words[i] << shift) | ((words[i + 1] >> 1) >> back);

  // fraction · 0.w0w1w2 without its integer part: a quarter of x · 2/π modulo
  // 1.
  Bits low = fraction * aligned[2];
  Bits middle = fraction * aligned[1];
  auto carry = [&](Bits sum, Bits term) {
    return Truth{&e, arith::CmpIOp::create(e.builder, arith::CmpIPredicate::ult,
                                           sum.value, term.value)
                         .getResult()};
  };
  Bits sum1 = middle + multiplyHigh(fraction, aligned[2]);
  Bits carry1 = select(carry(sum1, middle), e.bits(1), e.bits(0));
  Bits sum0 =
      fraction * aligned[0] + multiplyHigh(fraction, aligned[1]) + carry1;

  // The nearest quarter turn, and what is left of the fraction, as a signed
  // number of quarter turns.
  Bits quadrant = ((sum0 >> (width - 3)) + uint64_t(1)) >> 1;
  std::array<Bits, 2> rest = {(sum0 << 2u) | (sum1 >> (width - 2)),
                              (sum1 << 2u) | (low >> (width - 2))};
  Pair turns = convertFixedPoint(rest);
  return {quadrant, turns * e.pair(e.tables.halfPi)};
}

static Reduced reduce(Real magnitude) {
  FloatEmitter &e = *magnitude.emitter;
  Truth small = magnitude < 0.78539;
  Truth usable = magnitude < std::numeric_limits<double>::infinity();
  Reduced reduced = reduceLarge(select(usable & !small, magnitude, 1.0));
  reduced.quadrant = select(small, e.bits(0), reduced.quadrant);
  reduced.rest = select(small, Pair{magnitude, e.real(0)}, reduced.rest);
  return reduced;
}

/// sin r and cos r for |r| <= π/4.
static Pair reducedSin(Pair r) {
  Real z = r.high * r.high;
  Real low = fma(z * -0.5, r.low, r.low);
  return addOrdered(
      r.high, fma(r.high * z, evaluate(r.high.emitter->tables.sin, z), low));
}

static Pair reducedCos(Pair r) {
  FloatEmitter &e = *r.high.emitter;
  Pair square = multiplyExactly(r.high, r.high);
  Real z = square.high;
  Pair first = addOrdered(e.real(1), z * -0.5);
  Real low = fma(square.low, -0.5, -(r.high * r.low));
  low = fma(z * z, evaluate(e.tables.cos, z), low);
  return addOrdered(first.high, first.low + low);
}

/// NaN of infinity and NaN, for which there is no angle.
static Real finish(Real x, Real result) {
  return select(abs(x) < std::numeric_limits<double>::infinity(), result,
                std::numeric_limits<double>::quiet_NaN());
}

static Truth isTiny(Real x) {
  return abs(x) < x.emitter->pick(0x1p-27, 0x1p-13);
}

Real mlir::tracea::expandSin(Real x) {
  Reduced reduced = reduce(abs(x));
  Real result =
      round(select(isBitSet(reduced.quadrant, 0), reducedCos(reduced.rest),
                   reducedSin(reduced.rest)));
  Truth negated = isBitSet(reduced.quadrant, 1) ^ (x < 0);
  result = select(negated, -result, result);
  return select(isTiny(x), x, finish(x, result));
}

Real mlir::tracea::expandCos(Real x) {
  Reduced reduced = reduce(abs(x));
  Real result =
      round(select(isBitSet(reduced.quadrant, 0), reducedSin(reduced.rest),
                   reducedCos(reduced.rest)));
  Truth negated = isBitSet(reduced.quadrant + uint64_t(1), 1);
  return finish(x, select(negated, -result, result));
}

Real mlir::tracea::expandTan(Real x) {
  Reduced reduced = reduce(abs(x));
  Pair sine = reducedSin(reduced.rest), cosine = reducedCos(reduced.rest);
  Truth odd = isBitSet(reduced.quadrant, 0);
  Real result = round(select(odd, cosine, sine) / select(odd, sine, cosine));
  Truth negated = odd ^ (x < 0);
  result = select(negated, -result, result);
  return select(isTiny(x), x, finish(x, result));
}
