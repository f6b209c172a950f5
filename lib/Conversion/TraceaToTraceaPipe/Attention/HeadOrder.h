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

/// Where the operands and the first result of an attention lie. Kernels read
/// through transpositions, and write through one, that leave columns beside one
/// another: nothing is copied for them.
struct AttentionMemory {
  OrderedTensor query, key, value, output;

  /// As they are.
  static AttentionMemory get(AttentionOp op) {
    return {{op.getQuery()}, {op.getKey()}, {op.getValue()}, {op.getInit()}};
  }
  /// Before and behind transpositions.
  static AttentionMemory getOrdered(RewriterBase &rewriter, AttentionOp op);
  /// Replaces the operation, and the transposition of its first result where
  /// that is what has been written. Transpositions that nobody needs any more
  /// are gone.
  void replace(RewriterBase &rewriter, AttentionOp op,
               ValueRange results) const;
};

/// Has the run refuse operands that disagree where types do not tell.
void emitAttentionChecks(RewriterBase &rewriter, AttentionOp op,
                         const AttentionMemory &memory);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_HEADORDER_H
