//===- UnitProduct.h - A product as the unit of four warps has it -*- C++
//-*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_UNITPRODUCT_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_UNITPRODUCT_H

#include "GemmShape.h"

namespace mlir::tracea {

/// The warps of a team: those that multiply as one.
constexpr int64_t kTeamWarps = 4;

/// The product as the unit computes it: left times right, where the left
/// operand's rows go in 64s.
struct UnitProduct {
  UnitProduct(GemmOp op, bool isTransposed)
      : op(op), shape(op), lhs(op.getLhs()), rhs(op.getRhs()),
        isTransposed(isTransposed) {
    ScheduleAttr schedule = op.getScheduleAttr();
    tileM = schedule.getTile()[0];
    tileN = schedule.getTile()[1];
    tileK = schedule.getTile()[2];
    rows = isTransposed ? tileN : tileM;
    columns = isTransposed ? tileM : tileN;
    teams = std::max<int64_t>(schedule.getConsumers(), 1);
    element = cast<RankedTensorType>(op.getLhs().getType()).getElementType();
  }

  LogicalResult verify();
  /// What the kernel reads: both operands, then those of the epilogue.
  SmallVector<Value> getInputs() {
    SmallVector<Value> inputs{lhs, rhs};
    llvm::append_range(inputs, op.getExtras());
    return inputs;
  }
  /// Terms of the sum; padded rows have more, which are zeros.
  Value getSizeK(KernelBuilder &kb) {
    auto type = cast<RankedTensorType>(op.getLhs().getType());
    if (type.isDynamicDim(shape.lhsK))
      return kb.getDim(lhs, shape.lhsK);
    return kb.index().constant(type.getDimSize(shape.lhsK));
  }
  RankedTensorType getAccumulator();
  /// The result's dimensions of the accumulator's; the first are the batch's.
  AffineMap getResultMap(KernelBuilder &kb, int64_t leading) {
    return kb.matrixMap(leading, isTransposed);
  }
  /// Neighbours along m and n that one warp can reduce by itself: its rows of
  /// the accumulator, and columns that are linear in its registers.
  SmallVector<int64_t> getReach() const {
    int64_t pieces = columns / 8;
    int64_t across = std::min<int64_t>(8 * (pieces & -pieces), 64);
    return isTransposed ? SmallVector<int64_t>{across, 16}
                        : SmallVector<int64_t>{16, across};
  }
  /// In the accumulator's order.
  SmallVector<Value> getLimits(IndexMath &ix, Value sizeM, Value sizeN, Value m,
                               Value n) {
    SmallVector<Value> limits = {ix.sub(sizeM, m), ix.sub(sizeN, n)};
    if (isTransposed)
      std::swap(limits[0], limits[1]);
    return limits;
  }
  /// Sums steps [first, first + count) over k of the tile at (m, n).
  Value sum(KernelBuilder &kb, ValueRange batch, Value m, Value n, Value first,
            Value count);

  GemmOp op;
  /// What errors are about: the operation that the product is a part of.
  Operation *subject = op;
  GemmShape shape;
  /// The operands, or padded copies of them.
  Value lhs, rhs;
  bool isTransposed;
  int64_t tileM, tileN, tileK, rows, columns, teams;
  /// 64 rows of a team each; set by `verify`.
  int64_t blocks = 1;
  Type element;
  RankedTensorType lhsBlock, rhsBlock;
};

/// Asks for what bulk copies need of every argument whose type allows it.
void requireAlignment(tracea_pipe::KernelOp kernel);

/// What the pipeline level is told of the kernel's warps.
void setPipeline(KernelBuilder &kb, UnitProduct &product, bool isPersistent);

/// The sum in the parts that the schedule says, each in single precision, and
/// a kernel that adds them up and applies the epilogue; or in one kernel, by
/// the workgroups of a cluster.
LogicalResult lowerSplitProduct(KernelRewriter &rewriter, UnitProduct &product);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_UNITPRODUCT_H
