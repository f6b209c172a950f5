//===- LoopExtents.h - How far the loops of an operation go -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_LANES_LOOPEXTENTS_H
#define TRACEA_LIB_TRANSFORMS_HOST_LANES_LOOPEXTENTS_H

#include "mlir/Interfaces/TilingInterface.h"

namespace mlir::tracea {

/// The extents of the loops of `op`, built where the builder stands. One that
/// any operand of a structured operation knows, and that is not 0, is a
/// constant: the host compares the other operands with it (`assertShapes`).
SmallVector<OpFoldResult> getLoopExtents(OpBuilder &builder,
                                         TilingInterface op);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_LANES_LOOPEXTENTS_H
