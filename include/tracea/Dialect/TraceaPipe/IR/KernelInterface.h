//===- KernelInterface.h - What lowered kernels say of themselves -*- C++ -*-=//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_KERNELINTERFACE_H
#define TRACEA_DIALECT_TRACEAPIPE_IR_KERNELINTERFACE_H

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea_pipe {

/// The KernelInterfaceAttr of a kernel's function.
constexpr llvm::StringLiteral kInterfaceAttrName = "tracea_pipe.interface";

/// What is proved of a kernel, or of its function: certificates by check.
constexpr llvm::StringLiteral kCertificatesAttrName =
    "tracea_pipe.certificates";

/// A unit attribute of a load: nothing changes the memory while the kernel
/// runs, so that all who load from one address find one value.
constexpr llvm::StringLiteral kUnchangedAttrName = "tracea_pipe.unchanged";

/// The bytes of memory of its own that each thread hands to a CPU's function.
constexpr llvm::StringLiteral kWorkspaceAttrName = "tracea_pipe.workspace";

/// Null where a function has none.
inline KernelInterfaceAttr getKernelInterface(Operation *function) {
  return function->getAttrOfType<KernelInterfaceAttr>(kInterfaceAttrName);
}

/// The corners of a tensor map in im2col mode go from -reach to reach - 1, by
/// how many dimensions lie between the contiguous and the outermost one; the
/// offsets of a copy from 0 to 2 reach - 1. No reach if there are none or too
/// many.
int64_t getCornerReach(unsigned numCorners);

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_IR_KERNELINTERFACE_H
