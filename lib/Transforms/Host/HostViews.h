//===- HostViews.h - Views of the buffers of a program ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_HOSTVIEWS_H
#define TRACEA_LIB_TRANSFORMS_HOST_HOSTVIEWS_H

#include "mlir/IR/Operation.h"

namespace mlir::tracea {

bool isView(Operation *op);

/// The operations that make `view` from `root`, the first one first; none where
/// one of them is of another kind, or needs a number that no launch passes.
SmallVector<Operation *> getViewSteps(Value view, Value root);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_HOSTVIEWS_H
