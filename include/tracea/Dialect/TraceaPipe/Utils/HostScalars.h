//===- HostScalars.h - Numbers that a run knows beforehand ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program has no host code. What the run knows without a kernel are sizes,
// the numbers that it is given, arithmetic on those of them that are integers,
// and buffers that hold nothing else.

#ifndef TRACEA_DIALECT_TRACEAPIPE_UTILS_HOSTSCALARS_H
#define TRACEA_DIALECT_TRACEAPIPE_UTILS_HOSTSCALARS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::tracea_pipe {

/// Arithmetic on indices and integers. Divisions are among it, although they
/// are not pure: the runtime refuses to divide by zero.
bool isIndexArithmetic(Operation *op);

/// A number that the function is given, which launches pass on.
bool isScalarArgument(Value value);

/// Whether the runtime can evaluate `value` from the shapes of the inputs and
/// from those that are integers.
bool isExpressible(Value value);

/// Whether the number is the same in all of a run, and known before it: a
/// constant, an argument, or what follows from those that are integers.
bool isKnownScalar(Value value);

/// Whether `op`, or something in it, may write the buffer `root`.
bool writesBuffer(Operation *op, Value root);

/// Most elements that a table has.
constexpr int64_t kMaxTableElements = 1024;

/// What the elements of the buffer are, in row-major order, where stores of the
/// function give each of them once a number that the run knows, and nothing
/// else writes it: the run makes it without a kernel. Else nothing.
SmallVector<Value> getTable(memref::AllocOp alloc);

/// Whether `op` is a store that a table stands for.
bool isTableStore(Operation *op);

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_UTILS_HOSTSCALARS_H
