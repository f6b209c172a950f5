//===- Verification.h - Checks shared by the operations ---------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_DIALECT_TRACEA_IR_VERIFICATION_H
#define TRACEA_LIB_DIALECT_TRACEA_IR_VERIFICATION_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace mlir::tracea {

class AttentionOpInterface;

/// Expects `type`, the type of the operand called `name`, to have `rank`.
LogicalResult verifyRank(Operation *op, StringRef name, Type type,
                         int64_t rank);

/// Expects two static extents to be equal; `what` names the dimension and
/// `expectedIn` and `foundIn` the operands that each was read from.
LogicalResult verifyExtent(Operation *op, StringRef what, StringRef expectedIn,
                           int64_t expected, StringRef foundIn, int64_t found);

/// Expects the operands called `foundIn` and `expectedIn` to agree in every
/// static extent; they have the same rank.
LogicalResult verifySameShape(Operation *op, StringRef expectedIn,
                              ArrayRef<int64_t> expected, StringRef foundIn,
                              ArrayRef<int64_t> found);

/// Expects f64, f32, f16 or bf16.
LogicalResult verifyFloat(Operation *op, StringRef name, Type elementType);

/// Expects an accumulator that products of `elementType` may be summed in.
LogicalResult verifyAccumulator(Operation *op, Type elementType,
                                Type accumulator);

/// Expects `value` to be an index into the `rank` dimensions of the input.
LogicalResult verifyDimension(Operation *op, StringRef name, int64_t value,
                              int64_t rank);

/// Expects `count` entries, each at least `minimum` and below 2^31.
LogicalResult verifyEntries(Operation *op, StringRef name,
                            ArrayRef<int64_t> entries, size_t count,
                            int64_t minimum);

/// Expects queries, keys, values and masks of an attention, or of a gradient of
/// it, that go together.
LogicalResult verifyAttention(AttentionOpInterface op);

} // namespace mlir::tracea

#endif // TRACEA_LIB_DIALECT_TRACEA_IR_VERIFICATION_H
