//===- Assertions.h - What a kernel cannot do -------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_KERNELS_ASSERTIONS_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_KERNELS_ASSERTIONS_H

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea_pipe {

/// The type of the record of the kernel's assertions: a row for each.
MemRefType getRecordType(KernelOp kernel);

/// Replaces the assertions by code that fills `record` where they fail.
void lowerAssertions(KernelOp kernel, Value record);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_KERNELS_ASSERTIONS_H
