//===- VectorTranspose.h - Transposes in registers --------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_UTILS_VECTORTRANSPOSE_H
#define TRACEA_DIALECT_TRACEAPIPE_UTILS_VECTORTRANSPOSE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tracea_pipe {

/// The columns of a square whose rows are `rows`, vectors of as many elements
/// as there are of them, a power of two.
SmallVector<Value> transposeVectors(ImplicitLocOpBuilder &b,
                                    SmallVector<Value> rows);

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_UTILS_VECTORTRANSPOSE_H
