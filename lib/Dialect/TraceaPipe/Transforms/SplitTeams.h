//===- SplitTeams.h - A role's work divided among its teams -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_DIALECT_TRACEAPIPE_TRANSFORMS_SPLITTEAMS_H
#define TRACEA_LIB_DIALECT_TRACEAPIPE_TRANSFORMS_SPLITTEAMS_H

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea_pipe {

/// Gives each of the role's teams, a power of two, the part of every register
/// tile that the highest warp bits of its lane map number. The role's argument
/// becomes the team's number in indices and windows. Fails after an error.
LogicalResult splitTeams(RoleOp role, int64_t teams);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_DIALECT_TRACEAPIPE_TRANSFORMS_SPLITTEAMS_H
