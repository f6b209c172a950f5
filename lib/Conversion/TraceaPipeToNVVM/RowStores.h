//===- RowStores.h - Tiles that end before the memory does ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_ROWSTORES_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_ROWSTORES_H

#include "Lowering.h"

namespace mlir::tracea_pipe {

/// Lanes of the team store the rows of the staged tile at `buffer` that lie
/// below the limits. Those along the last dimension end with the memory. Fails,
/// without code, where rows do not fit this.
LogicalResult emitRowStores(Emitter &b, CopyOutOp op,
                            const StagedWindow &source,
                            const GlobalWindow &dest, Value buffer,
                            ValueRange limits);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_ROWSTORES_H
