//===- JoinLoops.h - Loops that all operands hold as one --------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_LANES_JOINLOOPS_H
#define TRACEA_LIB_TRANSFORMS_HOST_LANES_JOINLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::tracea {

/// Has loops over neighbouring dimensions that all operands hold as one become
/// one loop; returns what does it.
linalg::LinalgOp joinLoops(linalg::LinalgOp op);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_LANES_JOINLOOPS_H
