//===- Tables.h - Polynomials and constants ---------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_MATHEXPANSION_TABLES_H
#define TRACEA_LIB_CONVERSION_MATHEXPANSION_TABLES_H

#include "mlir/Support/LLVM.h"
#include <cstdint>

namespace mlir::tracea {

/// A constant as the sum of two numbers of the format.
struct PairConstant {
  double high, low;
};

/// What expansions of one format are made of. Coefficients stand lowest first.
/// tables.py says what each approximates.
struct MathTables {
  ArrayRef<double> exp, exp2, log, sin, cos, atan, asin, erf, erfc, cbrt;
  /// The first parts of these two are so short that their product with any
  /// exponent of the format is exact.
  PairConstant ln2, log10of2;
  PairConstant log2e, log10e, halfPi, quarterPi, atanHalf, twoThirds;
  double erfcShift;
  /// Words of an integer as wide as the format, behind one of zeros.
  ArrayRef<uint64_t> twoOverPi;
};

extern const MathTables kDoubleTables, kSingleTables;

/// What numbers of f32 from `least` on are multiplied by, in f64, to count half
/// turns but for whole turns.
struct HalfTurns {
  double least;
  PairConstant part;
};
extern const ArrayRef<HalfTurns> kHalfTurns;
/// sin(π f) / f as a polynomial in f².
extern const ArrayRef<double> kSinOfHalfTurns;

/// (log(1 + f) - f + f²/2) / f³ as a polynomial in f, for f32.
extern const ArrayRef<double> kLogOfSingle;

/// What erf of f32 is made of: x + x nearZero(x²) up to `split`, and
/// 1 - 2^log2(x) beyond, with 2^r = 1 + r exp2(r) for |r| <= 1/2.
struct SingleErf {
  double split;
  ArrayRef<double> nearZero, log2, exp2;
};
extern const SingleErf kSingleErf;

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_MATHEXPANSION_TABLES_H
