//===- SumFlow.h - Which loops add up products ------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the result of a multiply goes: into the next multiply as its
// accumulator, around a loop, through memory that is loaded, added to and
// stored again. A loop through which it comes back to itself adds up.

#ifndef TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_SUMS_SUMFLOW_H
#define TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_SUMS_SUMFLOW_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::tracea {

/// The multiplies of a kernel that add onto one another.
struct Sum {
  llvm::SmallVector<Operation *> products;
  /// Loops whose iterations add to one tile.
  llvm::SetVector<Operation *> loops;
  /// Where the tile goes.
  llvm::SetVector<Operation *> stores;
};

/// Each multiply belongs to one sum.
std::vector<Sum> getSums(tracea_pipe::KernelOp kernel);

/// The multiplies that a register tile is computed from, element by element.
llvm::SetVector<Operation *> getOrigins(Value tile);

/// The loops around `op`, from the outside to the inside, up to the kernel.
llvm::SmallVector<Operation *> getLoopsAround(Operation *op);

} // namespace mlir::tracea

#endif // TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_SUMS_SUMFLOW_H
