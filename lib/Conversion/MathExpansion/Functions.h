//===- Functions.h - One function each --------------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_MATHEXPANSION_FUNCTIONS_H
#define TRACEA_LIB_CONVERSION_MATHEXPANSION_FUNCTIONS_H

#include "FloatEmitter.h"

namespace mlir::tracea {

// Exponentials.cpp
Real expandExp(Real x);
Real expandExp2(Real x);
/// e^x and 2^x to one or two units in the last place, of exponents that are not
/// large; zero where that is below twice the least normal number.
Real expandFlushedExp(Real x);
Real expandFlushedExp2(Real x);
Real expandExpM1(Real x);
Real expandSinh(Real x);
Real expandCosh(Real x);
Real expandTanh(Real x);
/// fraction · 2^exponent.
struct Scaled {
  Pair fraction;
  Bits exponent;
};
/// e^x, for x that the function's result is a number for.
Scaled expPair(Pair x);
Real round(Scaled a);
/// Arguments from whose exponential no format's number differs from infinity
/// or zero.
double largestExponent(const FloatEmitter &e);
double leastExponent(const FloatEmitter &e);

// Logarithms.cpp
Real expandLog(Real x);
Real expandLog2(Real x);
Real expandLog10(Real x);
Real expandLog1p(Real x);
Real expandAsinh(Real x);
Real expandAcosh(Real x);
Real expandAtanh(Real x);
/// log x to more than twice the digits of the format but for some ten, of a
/// positive number.
Pair logForPower(Real x);

// Powers.cpp
Real expandPow(Real x, Real y);
Real expandCbrt(Real x);

// Trigonometry.cpp
Real expandSin(Real x);
Real expandCos(Real x);
Real expandTan(Real x);

// WideTrigonometry.cpp: of f32, computed in f64
Real expandWideSin(Real x);
Real expandWideCos(Real x);

// InverseTrigonometry.cpp
Real expandAtan(Real x);
Real expandAtan2(Real y, Real x);
Real expandAsin(Real x);
Real expandAcos(Real x);

// ErrorFunctions.cpp
Real expandErf(Real x);
Real expandErfc(Real x);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_MATHEXPANSION_FUNCTIONS_H
