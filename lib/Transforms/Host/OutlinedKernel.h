//===- OutlinedKernel.h - Kernels for host operations -----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_OUTLINEDKERNEL_H
#define TRACEA_LIB_TRANSFORMS_HOST_OUTLINEDKERNEL_H

#include "mlir/IR/BuiltinOps.h"
#include "tracea/Dialect/TraceaPipe/Utils/KernelNames.h"

namespace mlir::tracea {

/// Operations that follow each other in a host function and become one kernel.
struct HostGroup {
  SmallVector<Operation *> ops;
  std::string sourceOp;
};

/// What is left on the host as it is.
bool belongsToHost(Operation *op);

/// Scalars that the host may not compute; they are recomputed in each kernel
/// that uses them.
bool isScalarComputation(Operation *op);

/// Replaces the group by a launch of a new kernel. On a GPU, whose subgroups
/// have so many lanes, its loops are shared out to lanes; 0 is a CPU.
LogicalResult outlineGroup(const HostGroup &group, ModuleOp module,
                           tracea_pipe::KernelNames &names,
                           int64_t subgroupSize);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_OUTLINEDKERNEL_H
