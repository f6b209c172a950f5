//===- LaneTiles.h - Structured operations as register tiles ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_LANETILES_H
#define TRACEA_LIB_TRANSFORMS_HOST_LANETILES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea {

/// Whether lanes of a GPU can compute the operation, on buffers, tile by tile:
/// nothing is reduced, each index is that of one loop, and the body is
/// arithmetic on single elements.
bool canBeLaneTiles(linalg::LinalgOp op);

/// Builds the grid of the kernel that `op`, on the kernel's arguments, stands
/// in, and erases it. `isAligned`: the kernel asks for rows that begin at
/// multiples of 16 bytes. Returns the threads of a workgroup.
int64_t buildLaneTiles(OpBuilder &builder, linalg::LinalgOp op, bool isAligned,
                       int64_t subgroup);

/// Has loops over neighbouring dimensions that all operands hold as one become
/// one loop; returns what does it.
linalg::LinalgOp joinLoops(linalg::LinalgOp op);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_LANETILES_H
