//===- AttentionUnit.h - What multiplies in an attention --------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_ATTENTIONUNIT_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_ATTENTIONUNIT_H

#include "tracea/Conversion/TraceaToTraceaPipe/KernelBuilder.h"

namespace mlir::tracea {

/// Multiplies the tiles of an attention, and says which of their elements lanes
/// hold. Rows of a tile are shared out among warps, all columns of a row are in
/// one of them.
class AttentionUnit {
public:
  enum class Block { Queries, Keys, Values };
  /// The left operand from an element of k on.
  using Left = std::function<Value(int64_t)>;

  virtual ~AttentionUnit() = default;

  virtual int64_t getNumWarps() const = 0;
  /// Elements of k that one multiply takes of `extent`.
  virtual int64_t getDepth(int64_t extent) const = 0;
  /// Whether operands are read while the ones before are multiplied.
  virtual bool readsAhead() const = 0;
  /// The columns for a head's extent that are there in tiles and blocks.
  virtual int64_t roundUp(int64_t extent) const = 0;
  /// Columns of which each lane has some that are neighbouring registers: rows
  /// are folded so many at a time.
  virtual int64_t getPartWidth() const = 0;

  /// All rows of the workgroup's tile as products leave them.
  virtual RankedTensorType getAccumulator(int64_t columns, Type type) const = 0;
  /// Operands of one multiply of `depth` elements of k.
  virtual RankedTensorType getLeft(int64_t depth) const = 0;
  virtual RankedTensorType getRight(int64_t depth, int64_t columns,
                                    bool isAlongK) const = 0;
  /// A block as it is staged, `width` columns of which belong to a head.
  virtual RankedTensorType getBlock(Block block, int64_t rows,
                                    int64_t width) const = 0;
  /// Whether lanes keep all queries as left operands.
  virtual bool keepsQueries() const = 0;

  /// Adds a product to `others`, of operands as they have been read.
  virtual Value multiply(KernelBuilder &kb, Value left, Value right,
                         Value others) const = 0;
  /// Weights, as the left operand of the second product.
  virtual Left takeWeights(KernelBuilder &kb, Value weights) = 0;
  /// A result as lanes store it.
  virtual Value toRows(KernelBuilder &kb, Value result) const = 0;
};

/// Fragments that warps multiply, of `warpRows` rows of the tile each. With
/// `rereads` left operands stay in shared memory.
std::unique_ptr<AttentionUnit> makeWarpUnit(Type element, int64_t rows,
                                            int64_t warpRows, bool rereads);
/// What a schedule must say for fragments to follow it.
LogicalResult verifyWarpUnit(Operation *op, ScheduleAttr schedule);

/// Attention in the form of FlashAttention-2, whose schedule has the fields of
/// `schedule::AttentionRing`, by the unit that `makeUnit` makes for each of its
/// kernels. Replaces the operation.
LogicalResult
lowerFlashAttention2(KernelRewriter &rewriter, AttentionOp op,
                     function_ref<std::unique_ptr<AttentionUnit>()> makeUnit);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_ATTENTIONUNIT_H
