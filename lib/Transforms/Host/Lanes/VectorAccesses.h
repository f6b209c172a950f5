//===- VectorAccesses.h - Vectors in a kernel of loops -*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_LANES_VECTORACCESSES_H
#define TRACEA_LIB_TRANSFORMS_HOST_LANES_VECTORACCESSES_H

#include "mlir/IR/Operation.h"

namespace mlir::tracea {

/// Whether something in `op` accesses vectors in memory.
bool accessesVectors(Operation *op);

/// Has what is in `root` access the elements of vectors one by one.
void accessSingles(Operation *root);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_LANES_VECTORACCESSES_H
