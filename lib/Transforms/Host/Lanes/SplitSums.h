//===- SplitSums.h - Long reductions of few results -------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_LANES_SPLITSUMS_H
#define TRACEA_LIB_TRANSFORMS_HOST_LANES_SPLITSUMS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::tracea {

/// Cuts a reduced loop of an operation that lanes can compute tile by tile into
/// equal parts, whose results a second operation combines, where its results
/// alone would leave most of the `cores` of a GPU, of subgroups of so many
/// lanes, without work.
void splitSum(linalg::LinalgOp op, int64_t cores, int64_t subgroup);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_LANES_SPLITSUMS_H
