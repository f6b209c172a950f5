//===- BlockSums.h - Long sums of scalars, in blocks ------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_BLOCKSUMS_H
#define TRACEA_LIB_TRANSFORMS_HOST_BLOCKSUMS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::tracea {

/// Whether `op`, on buffers, is a sum of so many terms that they are taken in
/// blocks: one whose innermost loops are those over the terms.
bool isBlockSum(linalg::LinalgOp op);

/// Creates loops over scalars for a part of such a sum, with all its terms.
void emitBlockSum(OpBuilder &builder, linalg::LinalgOp op,
                  ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes);

/// Replaces such a sum by loops over scalars.
void lowerBlockSum(linalg::LinalgOp op);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_BLOCKSUMS_H
