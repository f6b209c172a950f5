//===- LaunchDivisors.h - Divisors that the launch knows --------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes divide by extents of images and grids. Those that are no constants are
// the same for all lanes of a launch, so that the host divides once, and lanes
// multiply and shift.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_CONVERSION_TRACEAPIPETOGPU_LAUNCHDIVISORS_H
#define TRACEA_CONVERSION_TRACEAPIPETOGPU_LAUNCHDIVISORS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::tracea_pipe {

/// Replaces divisions of indices without a sign whose divisor follows from
/// parameters of type i64. Each such divisor adds two parameters of that type
/// from `position` on, by `addParameter`, which is told where: the multiplier
/// and the shift that the host makes of it (`ExprOp::DivMultiplier`,
/// `DivShift`). The quotient is exact for every dividend and every divisor from
/// 1 on. Returns the divisors, whose symbols are the parameters in front of
/// `position`; null where there are none.
AffineMap passDivisors(FunctionOpInterface function, unsigned position,
                       function_ref<Value(unsigned)> addParameter);

} // namespace mlir::tracea_pipe

#endif // TRACEA_CONVERSION_TRACEAPIPETOGPU_LAUNCHDIVISORS_H
