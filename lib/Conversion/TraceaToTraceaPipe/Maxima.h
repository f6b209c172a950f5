//===- Maxima.h - Maxima that exponents count from --------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_MAXIMA_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_MAXIMA_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tracea {

/// Of x and y the greater one; y where x is NaN. One instruction of a vector
/// unit, where a maximum that NaN wins takes four. What NaN is an exponent of
/// is NaN whatever the exponents count from.
inline Value emitGreater(ImplicitLocOpBuilder &b, Value x, Value y) {
  Value isGreater = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y);
  return arith::SelectOp::create(b, isGreater, x, y);
}

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_MAXIMA_H
