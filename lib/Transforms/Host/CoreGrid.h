//===- CoreGrid.h - Loops over the cores of a CPU ---------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_COREGRID_H
#define TRACEA_LIB_TRANSFORMS_HOST_COREGRID_H

#include "mlir/Interfaces/TilingInterface.h"

namespace mlir::tracea {

/// Makes the grid of `op`, which stands on the kernel's own buffers: chunks of
/// its dimensions `parallel`, from the outermost inwards, each as small as
/// leaves a tile its grain. A tile is a part of the operation, or loops over
/// single elements where operands have no parts. `op` is left without meaning.
LogicalResult buildCoreGrid(OpBuilder &builder, TilingInterface op,
                            ArrayRef<unsigned> parallel,
                            ArrayRef<OpFoldResult> offsets,
                            ArrayRef<OpFoldResult> extents);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_COREGRID_H
