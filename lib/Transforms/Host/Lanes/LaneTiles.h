//===- LaneTiles.h - Structured operations as register tiles ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_LANES_LANETILES_H
#define TRACEA_LIB_TRANSFORMS_HOST_LANES_LANETILES_H

#include "Lanes/TileShape.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea {

/// Whether lanes of a GPU can compute the operation, on buffers, tile by tile:
/// each index is that of one loop or a constant, the body is arithmetic on
/// single elements, and what is reduced is combined by one operation.
bool canBeLaneTiles(linalg::LinalgOp op);

/// What the body of a reduction combines with what was there before, for each
/// of its results; empty where one of them is not one value by one operation
/// whose order lanes may change.
SmallVector<Operation *> getTileCombiners(linalg::LinalgOp op);

/// What gives a result of a reduction one constant right before it, which
/// nobody sees before it is reduced; null where nothing does.
linalg::FillOp findFill(linalg::LinalgOp op, OpOperand &init);
/// Those of all results, where they change nothing of what lanes combine tile
/// by tile; else none.
SmallVector<linalg::FillOp> findNeutralFills(linalg::LinalgOp op);

/// Builds the grid of the kernel that `op`, on the kernel's arguments, stands
/// in, and erases it. `isAligned`: the kernel asks for rows that begin at
/// multiples of 16 bytes. `startsNeutral`: what a reduction's results hold
/// before changes nothing, and is not read. Returns what a workgroup takes.
TileShape buildLaneTiles(OpBuilder &builder, linalg::LinalgOp op,
                         bool isAligned, int64_t subgroup, bool startsNeutral);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_LANES_LANETILES_H
