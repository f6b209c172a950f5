//===- HeadOrder.h - The order of dimensions in memory ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_HEADORDER_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_HEADORDER_H

#include "tracea/Conversion/TraceaToTraceaPipe/KernelBuilder.h"

namespace mlir::tracea {

/// A tensor of an attention as it lies in memory, with batches, heads, rows and
/// columns in an order of its own: heads behind rows, say.
struct OrderedTensor {
  Value tensor;
  /// Which dimensions of it batches, heads, rows and columns are.
  std::array<int64_t, 4> order = {0, 1, 2, 3};

  /// From one for each of batches, heads, rows and columns to one for each
  /// dimension of the tensor.
  template <typename T>
  SmallVector<T> arrange(ArrayRef<T> all) const {
    SmallVector<T> found(all.size());
    for (auto [at, dim] : llvm::zip_equal(all, order))
      found[dim] = at;
    return found;
  }
};

/// Where queries, keys and values lie. Kernels read through transpositions, and
/// write results through one each, that leave columns beside one another:
/// nothing is copied for them.
struct AttentionOperands {
  OrderedTensor query, key, value;

  /// Before transpositions.
  static AttentionOperands getOrdered(RewriterBase &rewriter,
                                      AttentionOpInterface op);
};

/// The same of an attention and its first result.
struct AttentionMemory : AttentionOperands {
  OrderedTensor output;

  /// As they are.
  static AttentionMemory get(AttentionOp op) {
    return {{{op.getQuery()}, {op.getKey()}, {op.getValue()}}, {op.getInit()}};
  }
  /// Before and behind transpositions.
  static AttentionMemory getOrdered(RewriterBase &rewriter, AttentionOp op);
};

/// The tensor that `operand` is a transposition of, or itself. Whoever asks for
/// extents of `operand` is given those of the other.
OrderedTensor getBefore(RewriterBase &rewriter, Value operand);
/// Memory for what the only user of a result of `op` makes of it, or for the
/// result.
OrderedTensor getBehind(RewriterBase &rewriter, ScheduledOpInterface op,
                        unsigned number);

/// Replaces the operation by `results`, and the transpositions of those that
/// have been written to `written`, which has the first ones. Transpositions
/// that nobody needs any more are gone.
void replaceOrdered(RewriterBase &rewriter, ScheduledOpInterface op,
                    ArrayRef<OrderedTensor> written, ValueRange results);

/// Has the run refuse operands that disagree where types do not tell: queries,
/// keys, values and masks.
void emitOperandChecks(RewriterBase &rewriter, AttentionOpInterface op,
                       const AttentionOperands &operands);
/// The same of rows, those of a tensor of batches, heads and rows, or more.
void emitRowChecks(RewriterBase &rewriter, Operation *op,
                   const OrderedTensor &query, const OrderedTensor &other,
                   StringRef what);
/// The same of an attention.
void emitAttentionChecks(RewriterBase &rewriter, AttentionOp op,
                         const AttentionMemory &memory);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_HEADORDER_H
