//===- Operands.h - What operations of target IR are and have -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_OPERANDS_H
#define TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_OPERANDS_H

#include "tracea/Analysis/TargetProtocol/Values.h"

namespace mlir::tracea {

/// Whether it points into shared memory, of the block or its cluster.
bool isSharedPointer(Type type);

/// Text of inline assembly that synchronises or touches shared memory.
bool asmSynchronizes(llvm::StringRef text);

/// Operations that have nothing to do with a block's protocol.
bool isHarmless(Operation *op);

/// A constant of at most 2^31.
std::optional<int64_t> constantOf(const Symbol *symbol);

} // namespace mlir::tracea

#endif // TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_OPERANDS_H
