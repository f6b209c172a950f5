//===- WideTrigonometry.cpp - sin and cos of f32 in f64 -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where f64 is fast, half the lanes of f64 are worth more than pairs of f32.
// x = (k + f) π with |f| <= 1/2, and sin x = (-1)^k sin(π f): one polynomial,
// whatever the quadrant. A number of f32 has few digits, so that its product
// with a part of 1/π is one fused multiply-add without error, once k is taken
// off. Which part depends on the exponent alone: digits of 1/π that stand for
// whole turns are left out, as Payne and Hanek (1983) do.

#include "Functions.h"

using namespace mlir;
using namespace mlir::tracea;

/// sin(x + shift π) for a shift of 0 or 1/2, which is cos x.
static Real sinOfShifted(Real x, double shift) {
  FloatEmitter &narrow = *x.emitter;
  ImplicitLocOpBuilder &builder = narrow.builder;
  Type wide = builder.getF64Type();
  if (auto shaped = dyn_cast<ShapedType>(narrow.type))
    wide = shaped.clone(wide);
  FloatEmitter e(builder, wide, narrow.scales);
  Real number = e.wrap(arith::ExtFOp::create(builder, wide, x.value));

  Real magnitude = abs(number);
  Pair part = e.pair(kHalfTurns.front().part);
  for (const HalfTurns &turns : kHalfTurns.drop_front())
    part = select(magnitude >= turns.least, e.pair(turns.part), part);
  // A number so large that its last digit counts 1: adding to it rounds.
  constexpr double anchor = 0x1.8p+52;
  Real anchored = shift == 0 ? fma(number, part.high, e.real(anchor))
                             : fma(number, part.high, e.real(shift)) + anchor;
  Real turns = anchored - anchor;
  if (shift != 0)
    turns = turns - shift;
  Real f = fma(number, part.low, fma(number, part.high, -turns));

  Real result = f * evaluate(kSinOfHalfTurns, f * f);
  result = asReal(asBits(result) ^ (asBits(anchored) << 63u));
  return narrow.wrap(
      arith::TruncFOp::create(builder, narrow.type, result.value));
}

Real mlir::tracea::expandWideSin(Real x) { return sinOfShifted(x, 0); }
Real mlir::tracea::expandWideCos(Real x) { return sinOfShifted(x, 0.5); }
