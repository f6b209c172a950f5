//===- MergeParts.h - Outputs of parts of the keys --------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_MERGEPARTS_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_MERGEPARTS_H

#include "HeadOrder.h"

namespace mlir::tracea {

/// What attention over parts of the keys leaves behind.
struct AttentionParts {
  /// Memory for `count` parts of the operation's results in single precision.
  static AttentionParts create(KernelRewriter &rewriter, AttentionOp op,
                               int64_t count);

  Value outputs; // part, batch, head, query, column
  Value lse;     // part, batch, head, query: log-sum-exp; minus infinity where
                 // a query sees none of the part's keys
};

/// Puts parts together in their order, and returns the operation's results, the
/// first of which is `output`. A tile has rows along dimension `rowDim`, those
/// of batches, heads and queries being 0, 1 and 2.
///
///   m = max over p of lse_p;  w_p = exp(lse_p - m);  w = sum of w_p
///   O = (sum of w_p O_p) / w;  lse = m + log w
///
/// Queries that see no key at all give zeros.
ValueRange mergeParts(KernelRewriter &rewriter, AttentionOp op,
                      const AttentionParts &parts, const OrderedTensor &output,
                      int64_t rowDim);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_MERGEPARTS_H
