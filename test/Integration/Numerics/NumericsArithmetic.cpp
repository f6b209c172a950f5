//===- NumericsArithmetic.cpp - Random numbers and error bounds -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Numerics.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tracea;
using namespace tracea::numerics;

//===----------------------------------------------------------------------===//
// Random
//===----------------------------------------------------------------------===//

uint64_t Random::next() {
  // SplitMix64 (Steele, Lea and Flood, 2014).
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

double Random::normal() {
  // The sum of twelve uniform numbers: close enough, and the same everywhere.
  double sum = -6;
  for (int i = 0; i < 12; ++i)
    sum += uniform();
  return sum;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {

struct Format {
  int digits;
  int minExponent; // of the smallest normal number, as 2^minExponent
  int maxExponent; // all numbers are below 2^maxExponent
};

Format formatOf(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return {24, -126, 128};
  case ElementType::F16:
    return {11, -14, 16};
  case ElementType::BF16:
    return {8, -126, 128};
  case ElementType::F8E4M3FN:
    return {4, -6, 9};
  case ElementType::F8E5M2:
    return {3, -14, 16};
  default:
    return {53, -1022, 1024};
  }
}

} // namespace

bool numerics::isInteger(ElementType type) { return !runtime::isFloat(type); }
int64_t numerics::bytesOf(ElementType type) { return runtime::sizeOf(type); }

ElementType numerics::accumulatorOf(ElementType type) {
  if (type == ElementType::F64)
    return type;
  return isInteger(type) ? ElementType::I32 : ElementType::F32;
}

Real numerics::roundTo(ElementType type, Real value) {
  if (isInteger(type))
    return std::rint(value);
  // The place of infinity and of what rounds beyond 448 has NaN.
  bool isFinite = type == ElementType::F8E4M3FN;
  if (!std::isfinite(value) || value == 0)
    return isFinite && value != 0 ? std::numeric_limits<Real>::quiet_NaN()
                                  : value;
  Format format = formatOf(type);
  int exponent;
  std::frexp(value, &exponent); // |value| in [2^(exponent-1), 2^exponent)
  int lowest = format.minExponent - (format.digits - 1);
  int quantum = std::max(exponent - format.digits, lowest);
  Real rounded = std::ldexp(std::rint(std::ldexp(value, -quantum)), quantum);
  if (isFinite && std::fabs(rounded) > 448)
    return std::numeric_limits<Real>::quiet_NaN();
  if (std::fabs(rounded) >= std::ldexp(Real(1), format.maxExponent))
    return std::copysign(std::numeric_limits<Real>::infinity(), value);
  return rounded;
}

Real numerics::unitRoundoff(ElementType type) {
  return isInteger(type) ? 0 : std::ldexp(Real(1), -formatOf(type).digits);
}

Real numerics::smallest(ElementType type) {
  return isInteger(type) ? 0 : std::ldexp(Real(1), formatOf(type).minExponent);
}

Real numerics::sumRoundings(int64_t count) {
  return std::min<Real>(count, 6 * std::sqrt(Real(count))) + 2;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// The rounding of an operation's result: none where its operands and it are
/// exact.
static Real roundingError(ElementType type, Real value, Real inherited) {
  if (isInteger(type) || !std::isfinite(value) ||
      (inherited == 0 && roundTo(type, value) == value))
    return 0;
  return unitRoundoff(type) * (std::fabs(value) + inherited) + smallest(type);
}

static bool usesUnit = false;

void numerics::takeFunctionsOfUnit() { usesUnit = true; }

Real numerics::errorOfUnit(ElementType stored) {
  if (!usesUnit || isInteger(stored) || bytesOf(stored) > 2)
    return 0;
  return stored == ElementType::F16 ? 0x1p-18L : 0x1p-10L;
}

static int digitsOfUnit = 0;

static bool roundsWeights = false;

void numerics::takeRoundedWeights(bool areRounded) {
  roundsWeights = areRounded;
}

Real numerics::roundingOfWeights(ElementType type) {
  bool isHalf = type == ElementType::F16 || type == ElementType::BF16;
  return (usesUnit || roundsWeights) && isHalf ? unitRoundoff(type) : 0;
}

Real numerics::smallestOfWeights(ElementType type) {
  // Half of the last place of subnormal numbers; the greatest weight is 2^7.
  return usesUnit && type == ElementType::F16 ? 0x1p-32L : 0;
}

void numerics::takeDigitsOfSums(int digits) { digitsOfUnit = digits; }

int numerics::digitsOfSums(ElementType operand) {
  bool isByteFloat =
      operand == ElementType::F8E4M3FN || operand == ElementType::F8E5M2;
  return isByteFloat ? digitsOfUnit : 0;
}

void UnitSum::add(Real term) {
  sum += term;
  magnitude += std::fabs(term);
  largest = std::max(largest, std::fabs(term));
  farthest = std::max(farthest, std::fabs(sum));
  ++count;
  positive += term > 0;
  negative += term < 0;
}

Real UnitSum::error(int digits) const {
  // Of one instruction all terms and what they are added to are cut off at a
  // multiple of `cut`, towards zero. What they are added to is at most the way
  // between two partial sums.
  Real scale = std::min(magnitude, 2 * farthest + largest);
  Real cut = std::ldexp(scale, 1 - digits);
  // No instruction adds fewer than 16 terms. What each cuts off the sum has the
  // sum's sign. What it cuts off a term has the term's, and is anything from 0
  // to `cut`: half of it on average, with a standard deviation of 0.29.
  Real instructions = Real(count / 16 + 1);
  Real more = std::fabs(Real(positive - negative));
  Real terms = std::min(Real(count), more / 2 + 2 * std::sqrt(Real(count)));
  return (instructions + terms) * cut;
}

Approx Arithmetic::add(Approx a, Approx b) const {
  Real value = a.value + b.value, error = a.error + b.error;
  return {value, error + roundingError(type, value, error)};
}

Approx Arithmetic::mul(Approx a, Approx b) const {
  Real value = a.value * b.value;
  // Infinity times something is certain where that is certainly not zero.
  auto isCertain = [](Approx x) {
    return x.error == 0 || std::fabs(x.value) > x.error;
  };
  if (!std::isfinite(a.value) || !std::isfinite(b.value))
    return {value, std::isnan(a.value) || std::isnan(b.value) ||
                           (isCertain(a) && isCertain(b))
                       ? 0
                       : std::numeric_limits<Real>::infinity()};
  Real error = a.error * b.error;
  if (a.error != 0)
    error += a.error * std::fabs(b.value);
  if (b.error != 0)
    error += b.error * std::fabs(a.value);
  return {value, error + roundingError(type, value, error)};
}

Approx Arithmetic::div(Approx a, Approx b) const {
  Real value = a.value / b.value;
  Real left = std::fabs(b.value) - b.error;
  Real error = (a.error == 0 && b.error == 0) ? 0
               : left > 0 ? (a.error + std::fabs(value) * b.error) / left
                          : std::numeric_limits<Real>::infinity();
  return {value, error + roundingError(type, value, error)};
}

Approx Arithmetic::apply(Approx a, Real value, Real slope,
                         Real roundings) const {
  if (!std::isfinite(a.value))
    return {value, a.error};
  return {value, a.error * slope +
                     roundings * unitRoundoff(type) * std::fabs(value) +
                     smallest(type)};
}

Approx Arithmetic::convert(Approx a) const {
  return {a.value, a.error + roundingError(type, a.value, a.error)};
}
