//===- PastCaches.h - Results written past the caches -----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A store to a line that is in no cache reads it first. What a result of many
// times the second level would gain by staying in a cache is gone when somebody
// reads it, so such results are written by non-temporal stores of whole lines:
// a copy of 64 MiB takes half of its time on a Xeon. Those are in no order with
// other stores until a fence, which stands at the end of the kernel's function.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_DIALECT_TRACEAPIPE_UTILS_PASTCACHES_H
#define TRACEA_DIALECT_TRACEAPIPE_UTILS_PASTCACHES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tracea_pipe {

constexpr int64_t kCacheLineBytes = 64;

/// Whether memory of this type is written past the caches of a target whose
/// second level has `l2` bytes: it is large, and has elements that processors
/// have such stores for.
bool isWrittenPastCaches(MemRefType memory, int64_t l2);

/// Whether the element `offset` of `memory` begins a cache line, as an i1.
Value beginsCacheLine(ImplicitLocOpBuilder &b, Value memory, Value offset);

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_UTILS_PASTCACHES_H
