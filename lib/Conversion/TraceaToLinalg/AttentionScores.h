//===- AttentionScores.h - Scores of attention, masked ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOLINALG_ATTENTIONSCORES_H
#define TRACEA_LIB_CONVERSION_TRACEATOLINALG_ATTENTIONSCORES_H

#include "Emitter.h"

namespace mlir::tracea {

/// keys [b, g, j, d] as [b, h, j, d]: head h reads key head h / (H / G).
Value repeatHeads(Emitter &e, Value keys, OpFoldResult heads);

/// Two extents that have to be equal.
struct AgreeingExtents {
  Value tensor;
  int64_t dim;
  Value other;
  int64_t otherDim;
  StringRef what;
};

/// Adds that a tensor has a row for each of the query's.
void addAgreeingRows(SmallVectorImpl<AgreeingExtents> &agreeing, Value query,
                     Value other, StringRef what);

/// Compares extents where only the run knows them: those of queries, keys,
/// values and masks, and `further` ones.
void emitAttentionChecks(Emitter &e, AttentionOpInterface op,
                         ArrayRef<AgreeingExtents> further);

/// The factor of scores, in the type of sums.
Value emitScale(Emitter &e, AttentionOpInterface op);

/// Scaled scores [b, h, i, j] of queries and `keys`, whose heads have been
/// repeated; -inf where a mask leaves them out.
Value emitScores(Emitter &e, AttentionOpInterface op, Value keys);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOLINALG_ATTENTIONSCORES_H
