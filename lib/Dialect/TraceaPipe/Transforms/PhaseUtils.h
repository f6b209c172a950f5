//===- PhaseUtils.h - Phases along their ring -------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_DIALECT_TRACEAPIPE_TRANSFORMS_PHASEUTILS_H
#define TRACEA_LIB_DIALECT_TRACEAPIPE_TRANSFORMS_PHASEUTILS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea_pipe {

/// The phase of the same ring that a block ends with, when it has `phase` at
/// some point: after all advances and loops that take it on.
Value getLastPhase(Value phase);

/// Removes the loop's iteration arguments for which `drop` holds. Their
/// results must be unused, and the arguments used by nothing that matters:
/// what is left of them is replaced by their initial values.
scf::ForOp dropIterArgs(RewriterBase &rewriter, scf::ForOp loop,
                        llvm::function_ref<bool(unsigned)> drop);

/// Removes iteration arguments that only feed themselves, and what then has no
/// use and no effect, everywhere below `root`.
void removeDeadCode(Operation *root);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_DIALECT_TRACEAPIPE_TRANSFORMS_PHASEUTILS_H
