//===- FloatEmitter.h - Arithmetic as it is written on paper ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expansions are formulas over f32 or f64, of scalars or vectors. `Real`,
// `Bits` and `Truth` are values that are being emitted, with C++'s operators.
// Every operation is rounded as IEEE 754 says: none has fast-math flags.

#ifndef TRACEA_LIB_CONVERSION_MATHEXPANSION_FLOATEMITTER_H
#define TRACEA_LIB_CONVERSION_MATHEXPANSION_FLOATEMITTER_H

#include "Tables.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tracea {

class FloatEmitter;

/// The constant of a type that `value` is each element of.
Value splat(ImplicitLocOpBuilder &builder, Type type, TypedAttr value);

/// A number of the format.
struct Real {
  FloatEmitter *emitter;
  Value value;
};

/// An integer as wide as the format.
struct Bits {
  FloatEmitter *emitter;
  Value value;
};

struct Truth {
  FloatEmitter *emitter;
  Value value;
};

/// The unevaluated sum of two numbers; the second is at most half a unit in the
/// last place of the first, or nearly so.
struct Pair {
  Real high, low;
};

/// Where values are emitted, and their format.
class FloatEmitter {
public:
  /// `type` is f32 or f64, or a shaped type of such elements; `scales` where
  /// the target multiplies by powers of two, given their exponents.
  FloatEmitter(ImplicitLocOpBuilder &builder, Type type, bool scales = false);

  Real wrap(Value value) { return {this, value}; }
  Real real(double value);
  Pair pair(PairConstant value) { return {real(value.high), real(value.low)}; }
  Bits bits(uint64_t value);

  bool isDouble() const { return fractionBits == 52; }
  /// The least normal number, the largest one and so on, as the format has
  /// them.
  double pick(double ofDouble, double ofSingle) const {
    return isDouble() ? ofDouble : ofSingle;
  }

  ImplicitLocOpBuilder &builder;
  Type type, bitsType;
  const MathTables &tables;
  unsigned fractionBits, width;
  int64_t bias;
  bool scales;
};

Real operator+(Real a, Real b);
Real operator-(Real a, Real b);
Real operator*(Real a, Real b);
Real operator/(Real a, Real b);
Real operator-(Real a);
Real operator+(Real a, double b);
Real operator-(Real a, double b);
Real operator*(Real a, double b);
Real operator+(double a, Real b);
Real operator-(double a, Real b);
Real operator/(double a, Real b);
/// a · b + c, rounded once.
Real fma(Real a, Real b, Real c);
Real fma(Real a, double b, Real c);
Real abs(Real a);
Real sqrt(Real a);
Real floor(Real a);
/// The magnitude of `a` with the sign of `b`.
Real copySign(Real a, Real b);
Real select(Truth condition, Real a, Real b);
Real select(Truth condition, Real a, double b);
Real select(Truth condition, double a, Real b);

// Comparisons are false of NaN, but for `!=`.
Truth operator<(Real a, Real b);
Truth operator<(Real a, double b);
Truth operator<=(Real a, double b);
Truth operator>(Real a, Real b);
Truth operator>(Real a, double b);
Truth operator>=(Real a, double b);
Truth operator==(Real a, Real b);
Truth operator==(Real a, double b);
Truth operator!=(Real a, Real b);
Truth isNaN(Real a);
Truth operator&(Truth a, Truth b);
Truth operator|(Truth a, Truth b);
Truth operator^(Truth a, Truth b);
Truth operator!(Truth a);

Bits asBits(Real a);
Real asReal(Bits a);
/// The integer, which may have as many digits as the format, as a number.
Real convertSigned(Bits a);
Bits operator+(Bits a, Bits b);
Bits operator+(Bits a, uint64_t b);
Bits operator-(Bits a, Bits b);
Bits operator*(Bits a, Bits b);
Bits operator&(Bits a, uint64_t b);
Bits operator^(Bits a, Bits b);
Bits operator|(Bits a, Bits b);
Bits operator|(Bits a, uint64_t b);
Bits operator<<(Bits a, unsigned b);
Bits operator<<(Bits a, Bits b);
/// Zeros move in.
Bits operator>>(Bits a, unsigned b);
Bits operator>>(Bits a, Bits b);
/// Copies of the sign move in.
Bits shiftSigned(Bits a, unsigned b);
Bits divideUnsigned(Bits a, uint64_t b);
/// The upper half of the product of unsigned integers.
Bits multiplyHigh(Bits a, Bits b);
Bits select(Truth condition, Bits a, Bits b);
Truth operator==(Bits a, uint64_t b);
Truth isNegative(Bits a);
Truth isBitSet(Bits a, unsigned bit);

/// The polynomial with these coefficients, lowest first, at `x`.
Real evaluate(ArrayRef<double> coefficients, Real x);

//===----------------------------------------------------------------------===//
// Two numbers for one (Dekker; Knuth; Ogita, Rump and Oishi)
//===----------------------------------------------------------------------===//

/// a + b exactly, where |a| >= |b| or a is zero.
Pair addOrdered(Real a, Real b);
/// a + b exactly.
Pair addExactly(Real a, Real b);
/// a · b exactly.
Pair multiplyExactly(Real a, Real b);
Pair operator+(Pair a, Real b);
Pair operator+(Pair a, Pair b);
Pair operator*(Pair a, Real b);
Pair operator*(Pair a, Pair b);
Pair operator/(Pair a, Pair b);
Pair operator-(Pair a);
/// The square root of a pair whose high part is not negative.
Pair sqrt(Pair a);
/// Each part times a power of two.
Pair scale(Pair a, double power);
Pair select(Truth condition, Pair a, Pair b);
Real round(Pair a);

//===----------------------------------------------------------------------===//
// Powers of two
//===----------------------------------------------------------------------===//

/// 2^n for n within the exponents of normal numbers.
Real powerOfTwo(Bits n);
/// a · 2^n, rounded once, for n within twice the exponents of normal numbers.
Real scaleByPower(Real a, Bits n);

/// x = 2^exponent · fraction, with a fraction in [low, 2 low).
struct Split {
  Real exponent;
  Bits exponentBits;
  Real fraction;
};
/// Splits a positive normal number.
Split splitNormal(Real x, double low);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_MATHEXPANSION_FLOATEMITTER_H
