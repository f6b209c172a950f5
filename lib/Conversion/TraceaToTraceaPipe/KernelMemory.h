//===- KernelMemory.h - A kernel for each kind of memory --------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_KERNELMEMORY_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_KERNELMEMORY_H

#include "tracea/Conversion/TraceaToTraceaPipe/KernelBuilder.h"
#include "tracea/Dialect/TraceaPipe/Utils/KernelMemory.h"

namespace mlir::tracea {

/// Launches what `build` makes before the operation: one kernel for memory
/// whose rows begin at multiples of 16 bytes, as far as types allow it, and one
/// for any other, of which the first one that can run is taken; the latter
/// alone where types say that no rows of the first `numOperands` begin so.
/// `build` is told whether it makes the former.
/// `isWanted` says of which arguments the first one asks that; null: of all.
/// Returns the results.
ValueRange launchForMemory(KernelRewriter &rewriter, Operation *op,
                           ValueRange inputs, ValueRange inits,
                           unsigned numOperands,
                           function_ref<void(KernelBuilder &, bool)> build,
                           function_ref<bool(unsigned)> isWanted = nullptr);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_KERNELMEMORY_H
