//===- LaneGrid.h - Loops over the lanes of a GPU ---------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_LANES_LANEGRID_H
#define TRACEA_LIB_TRANSFORMS_HOST_LANES_LANEGRID_H

#include "Lanes/LaneBlocks.h"
#include "Lanes/LaneVectors.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea {

/// How many lanes a kernel has, and the grid that they work on.
struct LaneGrid {
  tracea_pipe::TilesOp tiles;
  int64_t lanes = 1;
};

/// Makes the grid of `op`, which stands on the kernel's own buffers and is
/// erased: an iteration of its parallel dimensions, or those that `vectors`
/// does together, is a lane's, which does all iterations of the others. The
/// extents of `op` are not known to be zero. What is reduced begins with
/// `start`, or without one with what the result held before.
FailureOr<LaneGrid> buildLaneGrid(OpBuilder &builder, TilingInterface op,
                                  const LaneVectors &vectors,
                                  const LaneBlock &block, TypedAttr start);

/// Whether a host operation is a loop of the module's author whose iterations
/// lanes can take: the launch knows how many there are.
bool isLaneLoop(Operation *op);
/// Makes the grid of such a loop in a kernel, and erases it: an iteration is a
/// lane's.
LaneGrid buildLaneGrid(OpBuilder &builder, scf::ForallOp loop);

/// Makes a grid of one tile, of which one lane runs what `body` builds.
LaneGrid buildSingleLane(OpBuilder &builder, Location loc,
                         function_ref<void(OpBuilder &)> body);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_LANES_LANEGRID_H
