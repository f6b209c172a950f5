//===- KernelMemory.h - What kernels ask of memory --------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_UTILS_KERNELMEMORY_H
#define TRACEA_DIALECT_TRACEAPIPE_UTILS_KERNELMEMORY_H

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea_pipe {

/// What bulk copies and vectors ask of memory.
constexpr int64_t kAlignedBytes = 16;

/// Asks for what bulk copies need of every argument whose type allows it.
void requireAlignment(KernelOp kernel);

/// Asks for memory that whole pieces can be copied from and vectors stored to,
/// of every argument that `isWanted` names and whose type allows it. Asks for
/// nothing, and says so, where no type of the first `numOperands` does.
bool requirePieces(KernelOp kernel, unsigned numOperands,
                   function_ref<bool(unsigned)> isWanted = nullptr);

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_UTILS_KERNELMEMORY_H
