//===- LaneMaps.h - Lane maps of types as algebra ---------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_UTILS_LANEMAPS_H
#define TRACEA_DIALECT_TRACEAPIPE_UTILS_LANEMAPS_H

#include "tracea/Algebra/LaneMap.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea_pipe {

/// The lane map that an encoding stands for. Fails as LaneMap::get.
::tracea::algebra::Expected<::tracea::algebra::LaneMap>
getLaneMap(LanesAttr lanes);

/// The encoding of basis vectors that repeat `outer` times. It has no blocks.
LanesAttr getLanesAttr(MLIRContext *context,
                       const ::tracea::algebra::LaneBases &bases,
                       ArrayRef<int64_t> outer);

/// The basis vectors of a lane map, to be extended to a larger tile.
::tracea::algebra::LaneBases
getLaneBases(const ::tracea::algebra::LaneMap &map);

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_UTILS_LANEMAPS_H
