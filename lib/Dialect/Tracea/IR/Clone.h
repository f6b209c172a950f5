//===- Clone.h - Copies an operation onto other operands --------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_DIALECT_TRACEA_IR_CLONE_H
#define TRACEA_LIB_DIALECT_TRACEA_IR_CLONE_H

#include "mlir/IR/Builders.h"

namespace mlir::tracea {

/// Copies `op` with its attributes and regions onto as many operands and
/// results of other types. Unlike mlir::clone it takes empty regions.
inline Operation *cloneOnto(OpBuilder &builder, Operation *op, TypeRange types,
                            ValueRange operands) {
  Operation *copy = builder.clone(*op);
  copy->setOperands(operands);
  for (auto [result, type] : llvm::zip_equal(copy->getResults(), types))
    result.setType(type);
  return copy;
}

/// Patterns of `grouped_gemm`.
void populateGroupedGemmCanonicalizations(RewritePatternSet &patterns);

} // namespace mlir::tracea

#endif // TRACEA_LIB_DIALECT_TRACEA_IR_CLONE_H
