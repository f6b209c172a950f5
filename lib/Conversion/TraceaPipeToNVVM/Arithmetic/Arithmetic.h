//===- Arithmetic.h - Functions that the target computes --------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_ARITHMETIC_ARITHMETIC_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_ARITHMETIC_ARITHMETIC_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/PatternMatch.h"
#include "tracea/TargetInfo/TargetInfo.h"

namespace mlir::tracea_pipe {

/// Instructions that not every target has.
struct ArithmeticUnits {
  /// The hyperbolic tangent.
  bool tangent = false;
  /// The greater and the lesser of two, of which NaN wins.
  bool extrema = false;
};

/// Puts what the target has, or polynomials, in place of functions of `math`,
/// for which it has no library. `digits` are the bits of the significand that
/// results are rounded to in the end, and say what may stand for a function:
///
/// - The base-2 exponential is always the unit's, to 2 ulp (CUDA C++
///   Programming Guide, "Intrinsic Functions": ex2.approx.ftz.f32). e^x is one
///   of x · log2 e; beyond 11 digits the product's rounding is made up for.
/// - Up to 11 (f16): divisions and square roots are to 2 ulp, too, and so are
///   those of which other results than the widest have no more.
/// - Up to 8 (bf16, 8-bit floats): the hyperbolic tangent is the unit's, where
///   it has one (`units.tangent`), with a relative error of 2^-10.98 (PTX ISA,
///   "tanh"). The logistic function is one of it, and so is the error function,
///   to 4e-5.
///
/// All other functions, and all of f64,
/// are expanded: docs/Accuracy.md. `facts` say what the target converts.
LogicalResult lowerArithmetic(Operation *function, unsigned digits,
                              ArithmeticUnits units,
                              const ::tracea::target::TargetDescription &facts);

/// `element` in the shape of `like`.
Type withElement(Type like, Type element);

/// Powers of floats and integers whose exponent is an integer.
void populatePowerPatterns(RewritePatternSet &patterns);

/// Computes on floats of 8 bits in single precision.
LogicalResult widenByteFloats(Operation *function);
/// An error for what is left that computes on them.
LogicalResult verifyByteFloats(Operation *function);
/// Conversions from and to floats of 8 bits: as instructions, two at a time,
/// where the target has them, otherwise on their bits.
void populateByteFloatPatterns(
    RewritePatternSet &patterns,
    const ::tracea::target::TargetDescription &facts);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_ARITHMETIC_ARITHMETIC_H
