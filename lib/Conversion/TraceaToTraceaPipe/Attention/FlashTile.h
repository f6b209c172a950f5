//===- FlashTile.h - What attention and its gradients share -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workgroup has the rows of one sequence in its tile, and walks along the
// other sequence block by block. Blocks are copied ahead into a ring; products
// of both are in registers, and become operands of further products there.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_FLASHTILE_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_FLASHTILE_H

#include "AttentionUnit.h"
#include "HeadOrder.h"
#include "VisibleKeys.h"

namespace mlir::tracea {

class FlashTile {
protected:
  /// Rows of the tile that are a left operand: in registers, a piece of k each,
  /// or a block in shared memory.
  struct RowOperand {
    SmallVector<Value> pieces;
    int64_t depth = 0;
  };
  /// Where the tile's rows are: batch, head and row of the first one, which of
  /// these the others go along, and how many there are from it on.
  struct RowPlace {
    SmallVector<Value> at;
    int64_t rowDim = 2;
    Value limit;
  };

  /// `tile` is the rows of a workgroup, and what a block of the walk has.
  FlashTile(KernelBuilder &kb, AttentionOpInterface attention,
            AttentionUnit &unit, ArrayRef<int64_t> tile);

  /// Warps, copies and workgroups of the kernel.
  void begin(int64_t residents);

  Value fill(RankedTensorType tile, double value) {
    return kb.splat(tile, value);
  }
  /// A value for each row, in all columns of a tile.
  Value spread(Value rowTile, RankedTensorType tile) {
    return tracea_pipe::BroadcastOp::create(b, tile, rowTile);
  }
  /// Outputs of `columns` columns, in groups for which fragments take no more
  /// registers than there are.
  SmallVector<Value> makeOutputs(int64_t columns);

  /// The rows of the tile in `tensor`, which has `extent` columns.
  RowOperand readRows(const OrderedTensor &tensor, const RowPlace &place,
                      int64_t extent);
  AttentionUnit::Left getLeft(const RowOperand &operand);
  /// The block of a tensor at a place, whose rows lie along dimension `rowDim`.
  Value stageBlock(AttentionUnit::Block block, const OrderedTensor &operand,
                   int64_t rows, int64_t width, ArrayRef<Value> at,
                   int64_t rowDim, int64_t operandSlots);
  /// Adds the product of `depth` elements of k with columns from `column` on;
  /// `left` gives the left operand from an element on.
  Value multiply(function_ref<Value(int64_t)> left, Value staged, bool isAlongK,
                 int64_t depth, int64_t column, Value others);
  /// The same of all columns of outputs.
  void multiplyOutputs(AttentionUnit::Left left, Value staged, int64_t depth,
                       SmallVectorImpl<Value> &outputs);
  /// Products of rows and a block, as powers are made of them.
  Value score(const RowOperand &rows, Value block);
  /// 2^(scale x + origin)
  Value power(Value x, Value origin);
  /// What exponents are counted from, negated, where that is `by` times
  /// `exponents`: a number also where those are -inf.
  Value getOrigin(Value exponents, double by);

  /// The rows and columns of a tile in a tensor, rows along `rowDim`.
  AffineMap getMap(const OrderedTensor &tensor, int64_t rowDim);
  /// Stores outputs, of which `extent` columns are there, to a result.
  void storeOutputs(ArrayRef<Value> outputs, unsigned result,
                    const OrderedTensor &memory, const RowPlace &place,
                    int64_t extent, Value part = Value());

  AttentionUnit &unit;
  KernelBuilder &kb;
  ImplicitLocOpBuilder &b;
  IndexMath &ix;

  Type element, sumType;
  int64_t blockM, blockN;
  /// The extents of a query and of a value, and what products make of them.
  int64_t headD, headE, paddedD, paddedE;
  RankedTensorType scoreTile, partTile, rowTile;
  /// The factor of scores in powers of two; and the one that is left of it
  /// where scores have been multiplied because it would turn their order
  /// around.
  double factor, scale;
};

/// What any unit needs of operands that are f16, bf16 or, where `takesF32`,
/// f32, with sums of f32.
LogicalResult verifyFlash(AttentionOpInterface op, ScheduleAttr schedule,
                          bool takesF32);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_FLASHTILE_H
