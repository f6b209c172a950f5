//===- TransposingCopy.h - Copies whose rows become columns -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_TRANSPOSINGCOPY_H
#define TRACEA_LIB_TRANSFORMS_HOST_TRANSPOSINGCOPY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::tracea {

/// A copy of elements in which neighbours of the source are no neighbours of
/// the result.
struct TransposingCopy {
  /// The loop through neighbours of the source, and of the result.
  unsigned sourceDim, resultDim;

  static std::optional<TransposingCopy> match(linalg::LinalgOp op);
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_TRANSPOSINGCOPY_H
