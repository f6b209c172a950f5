//===- WordOperands.h - Operands of a CPU's dot products --------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the variants that multiply by dot products stage their operands, and the
// others, which convert them to the accumulator's type.

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_WORDOPERANDS_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_WORDOPERANDS_H

#include "tracea/Conversion/TraceaToTraceaPipe/KernelBuilder.h"

namespace mlir::tracea {

struct WordOperands {
  /// Elements of a word; 1: operands are staged element by element.
  int64_t length = 1;
  /// The element types that the left and the right operand are staged with.
  Type lhs, rhs;

  /// `shape`, with the elements of a word behind it.
  SmallVector<int64_t> getShape(ArrayRef<int64_t> shape) const;
};

/// What the schedule of `op`, a product of `lhs` and `rhs`, says: words of the
/// target's dot product where its variant is `variant`. An error where the
/// target has none, or where `block`, the extent along k of what is staged at a
/// time, is no multiple of a word.
FailureOr<WordOperands> getWordOperands(ScheduledOpInterface op,
                                        StringRef variant, Value lhs, Value rhs,
                                        Type accumulator, int64_t block);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_WORDOPERANDS_H
