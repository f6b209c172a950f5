//===- CheckAccesses.h - Numbers that data decides --------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_CHECKACCESSES_H
#define TRACEA_LIB_TRANSFORMS_HOST_CHECKACCESSES_H

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea_pipe {

/// Makes a kernel of plain loops refuse numbers that come from data where they
/// would make it leave its buffers, run for ever or trap: an index is asserted
/// to lie in its buffer, a step to be positive, a divisor not to be zero. What
/// an assertion fails for is not done: nothing is read (zero stands for it) or
/// written, the loop has no iterations. Accesses that follow from sizes and
/// loops alone are left to the proofs.
void checkAccesses(KernelOp kernel);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_TRANSFORMS_HOST_CHECKACCESSES_H
