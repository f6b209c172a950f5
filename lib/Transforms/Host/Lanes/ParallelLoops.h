//===- ParallelLoops.h - Loops whose iterations lanes share -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_LANES_PARALLELLOOPS_H
#define TRACEA_LIB_TRANSFORMS_HOST_LANES_PARALLELLOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::tracea {

/// Replaces a loop of a host function, on buffers, by an `scf.forall` over
/// those of the loops in it, and it, whose iterations have nothing to do with
/// each other: each has elements of its own in whatever is written. Loops
/// around them go on in every iteration. Null, and the loop as it was but for
/// structured operations in it, which are loops then, where there are none.
scf::ForallOp makeParallel(scf::ForOp loop);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_LANES_PARALLELLOOPS_H
