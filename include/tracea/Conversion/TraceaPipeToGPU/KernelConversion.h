//===- KernelConversion.h - From a kernel's body to a vendor ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The second step of a vendor's conversion: types and patterns that all share,
// to which the vendor adds its own.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_CONVERSION_TRACEAPIPETOGPU_KERNELCONVERSION_H
#define TRACEA_CONVERSION_TRACEAPIPETOGPU_KERNELCONVERSION_H

#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"

namespace mlir::tracea_pipe {

/// Converts the function that a KernelBuilder has made. Staged memory becomes
/// the offset of its bytes, a phase its slot and parity, a register tile the
/// vector of what one lane holds; channels become nothing.
class KernelConversion {
public:
  explicit KernelConversion(KernelContext &context, MLIRContext *mlirContext);

  /// Converts `function` after what the vendor has added. Fails with an error
  /// on what nobody lowers, and on memory in use that is none of its accesses.
  LogicalResult apply(Operation *function);

  KernelContext &context;
  TypeConverter converter;
  ConversionTarget target;
  RewritePatternSet patterns;
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_CONVERSION_TRACEAPIPETOGPU_KERNELCONVERSION_H
