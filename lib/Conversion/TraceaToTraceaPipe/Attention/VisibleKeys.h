//===- VisibleKeys.h - Which keys a query sees ------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_VISIBLEKEYS_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_VISIBLEKEYS_H

#include "tracea/Conversion/TraceaToTraceaPipe/KernelBuilder.h"

namespace mlir::tracea {

/// The mask of an attention in a kernel: which keys there are to visit, which
/// blocks of scores have to be masked, and how. Queries and keys are counted
/// from the first ones of their sequences, whose ends are aligned.
///
/// The same from the side of the keys: which queries see one. Then queries are
/// what is said here of keys, and keys what is said of queries.
class VisibleKeys {
public:
  /// What the rows of a tile are: heads have all the place of its first query.
  enum class Rows { Queries, Heads, Keys };

  /// `sizeI` and `sizeJ` are the numbers of queries and keys, `endJ` is where
  /// the keys end that a batch has; null: where all do.
  VisibleKeys(KernelBuilder &kb, AttentionOpInterface op, Value sizeI,
              Value sizeJ, Rows rows = Rows::Queries, Value endJ = Value());

  /// Whether a causal mask or a window leaves some keys out.
  static bool hasBand(AttentionOpInterface op);

  /// Says in the kernel which keys a query needs: keys are dimension `dims[k]`
  /// of argument `operands[k]`, queries and batches are two dimensions of
  /// `result`.
  void define(int64_t result, int64_t queryDim, int64_t batchDim,
              ArrayRef<int64_t> operands, ArrayRef<int64_t> dims);

  /// The first key that queries [i, i + rows) see, rounded down to a multiple
  /// of `step`, and the one behind the last. The block mask is not looked at.
  std::pair<Value, Value> getRange(Value i, int64_t rows, int64_t step);

  /// Which of the `tiles` of `step` keys from `j` on, a multiple of `step`
  /// behind where a range begins, queries [i, i + rows) see: the first, and the
  /// one behind the last, which may lie in front of it. The block mask is not
  /// looked at.
  std::pair<Value, Value> getTiles(Value i, int64_t rows, Value j, int64_t step,
                                   Value tiles);

  /// Whether the block mask shows the block that query `i` and key `j` lie in,
  /// i1.
  Value isShown(Value batch, Value head, Value i, Value j);

  /// Sets those of the scores of queries from `i` and keys from `j` to minus
  /// infinity that are not seen. The block mask is not looked at. Places are
  /// compared as `number`s: `index`, or i32.
  Value mask(Value scores, Value i, Value j, Type number);
  /// The same of the scores of `rows` queries, where a tile that all of them
  /// see wholly is left as it is, and one at an edge is compared with that edge
  /// alone.
  Value maskEdges(Value scores, Value i, int64_t rows, Value j, Type number);

private:
  /// Where keys begin, and where they end, that a query sees.
  enum class Edge { First, Last };

  /// Whether an edge of queries [i, i + rows) cuts the keys [j, j + columns),
  /// i1; null where it cuts none.
  Value isCut(Edge edge, Value i, int64_t rows, Value j, int64_t columns);
  Value mask(Edge edge, Value scores, Value i, Value j, Type number);

  /// How far behind its own place a query sees keys, and how far before it;
  /// nothing where it sees all.
  std::optional<int64_t> after, before;

  KernelBuilder &kb;
  ImplicitLocOpBuilder &b;
  IndexMath &ix;
  AttentionOpInterface op;
  Value endJ;
  Rows rows;
  /// The key at the place of the first query.
  Value shift;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_VISIBLEKEYS_H
