//===- GemmShape.h - The operands of a matrix product -----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_GEMMSHAPE_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_GEMMSHAPE_H

#include "KernelBuilder.h"

namespace mlir::tracea {

class GemmResults;

/// What all variants of gemm know of their operands.
struct GemmShape {
  explicit GemmShape(GemmOp op)
      : op(op),
        resultRank(cast<RankedTensorType>(op.getResult().getType()).getRank()),
        batchRank(op.getBatchRank()), lhsBatch(batchOf(op.getLhs())),
        rhsBatch(batchOf(op.getRhs())), lhsM(lhsBatch + op.getTransposeLhs()),
        lhsK(lhsBatch + !op.getTransposeLhs()),
        rhsK(rhsBatch + op.getTransposeRhs()),
        rhsN(rhsBatch + !op.getTransposeRhs()) {}

  static int64_t batchOf(Value operand) {
    return cast<RankedTensorType>(operand.getType()).getRank() - 2;
  }
  /// Refuses operands that disagree where only the run knows their extents.
  void emitChecks(RewriterBase &rewriter);
  /// Indices of an operand's matrix at (row, column) of its stored form.
  SmallVector<Value> at(ValueRange batch, int64_t operandBatch, Value row,
                        Value column) {
    SmallVector<Value> indices(batch.take_front(operandBatch));
    indices.push_back(row);
    indices.push_back(column);
    return indices;
  }

  GemmOp op;
  int64_t resultRank, batchRank;
  int64_t lhsBatch, rhsBatch;
  /// Dimensions of m, k and n in the operands.
  int64_t lhsM, lhsK, rhsK, rhsN;
};

/// An operand whose rows begin at multiples of 16 bytes: `operand`, or a padded
/// copy of it that a kernel before `op` makes. Rows whose extent neither its
/// type nor that of what must agree with it tells stay what they are.
Value padRows(KernelRewriter &rewriter, GemmOp op, Value operand);
/// Both operands of `op`, by one kernel where their grids are alike.
std::pair<Value, Value> padOperands(KernelRewriter &rewriter, GemmOp op);

/// Replaces `op` by a launch of what `build` makes: one kernel for memory whose
/// rows begin at multiples of 16 bytes, as far as types allow it, and one for
/// any other; the latter alone where types say that no rows of operands begin
/// so. `isWanted` says of which arguments the first one asks that; null: of
/// all.
void buildForMemory(KernelRewriter &rewriter, GemmOp op,
                    const GemmResults &results,
                    function_ref<void(KernelBuilder &)> build,
                    function_ref<bool(unsigned)> isWanted = nullptr);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_GEMMSHAPE_H
