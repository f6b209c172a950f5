//===- PlanStores.h - How results are staged --------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_DIALECT_TRACEAPIPE_TRANSFORMS_PLANSTORES_H
#define TRACEA_LIB_DIALECT_TRACEAPIPE_TRANSFORMS_PLANSTORES_H

#include "TileParts.h"

namespace mlir::tracea_pipe {

/// The rows that copies can swizzle, in bytes, and the bits of the address that
/// they move: 16-byte chunks by the bits of the row.
constexpr std::pair<int64_t, int64_t> kSwizzledRows[] = {
    {128, 3}, {64, 2}, {32, 1}};

/// How a store leaves in parts of at most `most` columns; nothing where it had
/// better stay as it is.
std::optional<StagedStore> planStore(StoreOp store, int64_t most);

/// Whether parts of `store` had better be narrower: a polynomial stands for a
/// function where many digits of it are stored, whose intermediate values need
/// registers while what several loads bring for the next part has some, too.
bool isLong(StoreOp store);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_DIALECT_TRACEAPIPE_TRANSFORMS_PLANSTORES_H
