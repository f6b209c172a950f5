//===- KernelOperands.h - What a kernel of host operations uses -*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a group of operations uses is passed to its kernel, cloned into it, or
// rebuilt there from sizes.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_TRANSFORMS_HOST_KERNELOPERANDS_H
#define TRACEA_LIB_TRANSFORMS_HOST_KERNELOPERANDS_H

#include "OutlinedKernel.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"

namespace mlir::tracea {

struct KernelOperands {
  /// Sorts what the group uses into what is passed and what is cloned, or says
  /// what a program cannot pass.
  LogicalResult collect(const HostGroup &group);
  /// Finds the buffers that the group writes.
  void findWrites(const HostGroup &group);
  /// Decides how each view reaches the kernel: as itself when it is row-major
  /// and its buffer's only one here, else as the whole buffer, of which the
  /// kernel makes the view again, or the numbers that describe it, which are
  /// found before `before`.
  void pass(Operation *before);

  llvm::SetVector<Value> buffers;      // views that the kernel needs
  llvm::SetVector<Value> sizes;        // scalars that the launch passes
  llvm::SetVector<Operation *> clones; // scalars and constants, to be cloned
  llvm::SmallDenseSet<Value> writtenRoots;

  struct PassedView {
    Value view;
    Value root;
    /// The view itself is an argument.
    bool direct = false;
    /// What makes the view from the whole buffer, if the kernel can do it
    /// again.
    SmallVector<Operation *> steps;
    SmallVector<OpFoldResult> offset, viewSizes, strides;
  };
  std::vector<PassedView> views;
  /// Of the launch.
  SmallVector<Value> inputs, outputs;

private:
  LogicalResult collectValue(Value value, Operation *first);
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_KERNELOPERANDS_H
