//===- Arithmetic.h - Functions that the target computes --------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_ARITHMETIC_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_ARITHMETIC_H

#include "mlir/IR/Operation.h"

namespace mlir::tracea_pipe {

/// Puts what the target has, or polynomials, in place of functions of `math`,
/// for which it has no library. The base-2 exponential is its own, to 2 ulp
/// (CUDA C++ Programming Guide, "Intrinsic Functions": ex2.approx.ftz.f32).
/// With `approximate`, for results that are rounded to 16 bits or fewer
/// afterwards, divisions and square roots are to 2 ulp, too.
LogicalResult lowerArithmetic(Operation *function, bool approximate);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_ARITHMETIC_H
