//===- LaneStores.h - Tiles that lanes carry out ----------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_CONVERSION_TRACEAPIPETOGPU_LANESTORES_H
#define TRACEA_CONVERSION_TRACEAPIPETOGPU_LANESTORES_H

#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"

namespace mlir::tracea_pipe {

/// Lanes of the team store the rows of the staged tile at `buffer` that lie
/// below the limits. Those along the last dimension end with the memory. Fails,
/// without code, where rows do not fit this.
LogicalResult emitRowStores(Emitter &b, CopyOutOp op,
                            const StagedWindow &source,
                            const GlobalWindow &dest, Value buffer,
                            ValueRange limits);

/// The same of a tile of any form, element by element.
void emitElementStores(Emitter &b, CopyOutOp op, const StagedWindow &source,
                       const GlobalWindow &dest, Value buffer,
                       ValueRange limits);

} // namespace mlir::tracea_pipe

#endif // TRACEA_CONVERSION_TRACEAPIPETOGPU_LANESTORES_H
