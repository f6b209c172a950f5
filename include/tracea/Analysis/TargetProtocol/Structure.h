//===- Structure.h - Loops and branches out of blocks ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that are about to become LLVM IR have blocks and jumps. Those that
// come from loops and branches are turned back into them, in a copy.

#ifndef TRACEA_ANALYSIS_TARGETPROTOCOL_STRUCTURE_H
#define TRACEA_ANALYSIS_TARGETPROTOCOL_STRUCTURE_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::tracea {

/// A kernel of one block, of which the operations of `origins` stand for those
/// of the kernel that it was copied from.
struct StructuredKernel {
  OwningOpRef<LLVM::LLVMFuncOp> kernel;
  DenseMap<Operation *, Operation *> origins;
  /// Why there is none, and where.
  std::string reason;
  Operation *reasonOp = nullptr;

  /// What `op` came from; for what was added, what it is in.
  Operation *getOrigin(Operation *op) const {
    for (; op; op = op->getParentOp())
      if (Operation *origin = origins.lookup(op))
        return origin;
    return nullptr;
  }
};

/// Natural loops with one exit become `scf.while`, or `scf.for` if they count;
/// branches that meet again become `scf.if`.
StructuredKernel structureKernel(LLVM::LLVMFuncOp kernel);

} // namespace mlir::tracea

#endif // TRACEA_ANALYSIS_TARGETPROTOCOL_STRUCTURE_H
