//===- SplitScans.h - Sums so far, in blocks --------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_LANES_SPLITSCANS_H
#define TRACEA_LIB_TRANSFORMS_HOST_LANES_SPLITSCANS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::tracea {

/// Where each iteration of `lanes` goes through a loop that carries a sum, a
/// product, a maximum or a minimum and stores what it was so far, has lanes
/// share that loop as well: what blocks of it come to, what all blocks before
/// one come to, and the loop again from there. The order is always the same.
/// `cores`: multiprocessors that there are lanes for.
void splitScan(scf::ForallOp lanes, int64_t cores);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_LANES_SPLITSCANS_H
