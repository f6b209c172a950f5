//===- Dimensions.h - Dimensions of memory ----------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_DIMENSIONS_H
#define TRACEA_DIALECT_TRACEAPIPE_IR_DIMENSIONS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"

namespace mlir::tracea_pipe {

/// Refuses the extent of a dimension that is not there: valid IR upstream,
/// without a meaning; folding one reads beyond the type.
LogicalResult verifyDimension(ShapedDimOpInterface op);

/// Whether elements of two memrefs lie equally far apart.
bool haveSameStrides(MemRefType a, MemRefType b);

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_IR_DIMENSIONS_H
