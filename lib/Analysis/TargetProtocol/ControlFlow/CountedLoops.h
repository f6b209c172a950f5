//===- CountedLoops.h - Loops that count ----------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_COUNTEDLOOPS_H
#define TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_COUNTEDLOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::tracea {

/// The `scf.for` that a loop `while (i < bound) { ...; i += step; }` is, in its
/// place; null, and nothing changes, if it is none. Results among `values` are
/// replaced.
scf::ForOp countLoop(scf::WhileOp loop, MutableArrayRef<Value> values);

} // namespace mlir::tracea

#endif // TRACEA_LIB_ANALYSIS_TARGETPROTOCOL_COUNTEDLOOPS_H
