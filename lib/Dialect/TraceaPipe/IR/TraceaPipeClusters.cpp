//===- TraceaPipeClusters.cpp - Workgroups that share a sum ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the operations by which workgroups of a cluster read each
// other's memory.

#include "Verifiers.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
using namespace mlir::tracea_pipe::verifiers;

//===----------------------------------------------------------------------===//
// cluster_sum
//===----------------------------------------------------------------------===//

LogicalResult ClusterSumOp::verify() {
  auto value = cast<RankedTensorType>(getValue().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (failed(verifyTileType(*this, "value", value)) ||
      failed(verifyTileType(*this, "result", result)))
    return failure();
  if (value.getRank() != 2 || result.getRank() != 2 ||
      value.getElementType() != result.getElementType() ||
      value.getDimSize(1) != result.getDimSize(1))
    return emitOpError() << "expects a result of some rows of its value, with "
                            "all columns and the same elements, found "
                         << value << " and " << result;
  auto tiles = (*this)->getParentOfType<TilesOp>();
  if (!tiles)
    return emitOpError() << "expects to stand in a grid";
  int64_t cluster = tiles.getCluster();
  if (cluster == 1 || value.getDimSize(0) != cluster * result.getDimSize(0)) {
    InFlightDiagnostic diag =
        emitOpError() << "expects to share " << value.getDimSize(0)
                      << " rows evenly among the workgroups of a cluster, "
                         "found a result of "
                      << result.getDimSize(0);
    diag.attachNote(tiles.getLoc())
        << "the grid has clusters of " << cluster << " workgroups";
    return diag;
  }
  if (getPart() != tiles.getIndices().front())
    return emitOpError() << "expects the first index of the grid, the "
                            "workgroup's number in its cluster, as its part";
  return success();
}

//===----------------------------------------------------------------------===//
// peer
//===----------------------------------------------------------------------===//

LogicalResult PeerOp::verify() {
  auto memory = cast<MemRefType>(getMemory().getType());
  if (!isa_and_nonnull<StagedAttr>(memory.getMemorySpace()) ||
      !memory.hasStaticShape())
    return emitOpError() << "expects staged memory of static shape, found "
                         << memory;
  return success();
}
