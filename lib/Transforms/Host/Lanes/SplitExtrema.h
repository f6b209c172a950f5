//===- SplitExtrema.h - Extrema and where they are --------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_LANES_SPLITEXTREMA_H
#define TRACEA_LIB_TRANSFORMS_HOST_LANES_SPLITEXTREMA_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::tracea {

/// Has an operation that finds the greatest or the least elements along a loop
/// and their numbers (argmax, argmin) become reductions of one result each,
/// which lanes share; others stay as they are.
void splitExtremum(linalg::LinalgOp op);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_LANES_SPLITEXTREMA_H
