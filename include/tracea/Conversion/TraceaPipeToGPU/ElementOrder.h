//===- ElementOrder.h - One element after the other -------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_CONVERSION_TRACEAPIPETOGPU_ELEMENTORDER_H
#define TRACEA_CONVERSION_TRACEAPIPETOGPU_ELEMENTORDER_H

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::tracea_pipe {

/// Computes one element of long vectors after the other where there is much to
/// compute.
void orderElements(Operation *function);

} // namespace mlir::tracea_pipe

#endif // TRACEA_CONVERSION_TRACEAPIPETOGPU_ELEMENTORDER_H
