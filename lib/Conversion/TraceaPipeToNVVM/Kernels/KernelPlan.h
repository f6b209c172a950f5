//===- KernelPlan.h - Barriers and bulk copies of a kernel ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What NVIDIA's GPUs add to the plan of a kernel: barriers of channels in
// shared memory, named barriers of teams and turns, and the boxes of bulk
// copies.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_KERNELS_KERNELPLAN_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_KERNELS_KERNELPLAN_H

#include "BulkCopies/BulkCopy.h"
#include "tracea/Conversion/TraceaPipeToGPU/KernelPlan.h"

namespace mlir::tracea_pipe {

/// Warps of a warpgroup.
constexpr int64_t kWarpsOfGroup = 4;

struct NVVMPlan : KernelPlan {
  /// The first named barrier of each round of turns.
  DenseMap<Operation *, int64_t> turnBarriers;
  /// Bytes that the unit brings into a slot after each acquire.
  DenseMap<Operation *, int64_t> acquiredBytes;
  /// Those that a commit says to expect, where lanes write to the slot as well
  /// and the unit always does; otherwise each copy says it.
  DenseMap<Operation *, int64_t> committedBytes;
  /// The acquires of such slots.
  llvm::DenseSet<Operation *> expectedByCommit;
  /// How each copy and copy_out is done by the unit; absent where lanes do it.
  DenseMap<Operation *, BulkCopy> bulkCopies;
  SmallVector<TensorMapRecipe, 0> tensorMaps;
  /// The named barrier that says that the barriers of channels are there; 0 is
  /// the workgroup's, where all wait. Otherwise the first role only arrives.
  int64_t startBarrier = 0;
  int64_t numLaneCopies = 0;
};

struct PlanOptions {
  /// Every copy is done by lanes.
  bool laneCopies = false;
  /// A first role of a single lane need not wait for the others to begin.
  bool earlyStart = false;
};

/// Plans a kernel; an error at the operation that has no place in it.
LogicalResult planKernel(KernelOp kernel, const PlanOptions &options,
                         const GPUTarget &target, NVVMPlan &plan);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_KERNELS_KERNELPLAN_H
