//===- WarpAttention.cpp - Attention by the matrix units of warps ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variant "attention.warp": queries stay in registers, or are read again from
// shared memory. What a warp's scores become is the left operand of its second
// product as it stands, since an accumulator's registers are those of a
// fragment.
//
//===----------------------------------------------------------------------===//

#include "../Contraction/Contraction.h"
#include "../Variants.h"
#include "../WarpTile.h"
#include "AttentionUnit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using Operand = ::tracea::algebra::MatrixOperand;

namespace {
class WarpUnit final : public AttentionUnit {
public:
  WarpUnit(Type element, int64_t rows, int64_t warpRows, bool rereads)
      : element(element), rows(rows), warpRows(warpRows), rereads(rereads) {}

  int64_t getNumWarps() const override { return rows / warpRows; }
  int64_t getDepth(int64_t) const override {
    return ::mlir::tracea::getDepth(element);
  }
  bool readsAhead() const override { return true; }
  int64_t roundUp(int64_t extent) const override {
    return llvm::alignTo(std::max<int64_t>(extent, 1), WarpGrid::fragment[0]);
  }
  int64_t getPartWidth() const override { return WarpGrid::fragment[1]; }

  RankedTensorType getAccumulator(int64_t columns, Type type) const override {
    return WarpGrid({rows, columns}, {warpRows, columns})
        .getTile(Operand::D, {rows, columns}, type, element);
  }
  RankedTensorType getLeft(int64_t depth) const override {
    return WarpGrid({rows, depth}, {warpRows, depth})
        .getTile(Operand::A, {rows, depth}, element, element);
  }
  RankedTensorType getRight(int64_t depth, int64_t columns,
                            bool) const override {
    return WarpGrid({rows, columns}, {warpRows, columns})
        .getTile(Operand::B, {depth, columns}, element, element);
  }
  /// Rows that are a power of two lie in all banks.
  RankedTensorType getBlock(Block block, int64_t blockRows,
                            int64_t width) const override {
    bool readsAcross =
        block == Block::Values && element.getIntOrFloatBitWidth() == 32;
    return getWarpBlock(blockRows, llvm::PowerOf2Ceil(width), element,
                        readsAcross);
  }
  bool keepsQueries() const override { return !rereads; }

  Value multiply(KernelBuilder &kb, Value left, Value right,
                 Value others) const override {
    return MmaOp::create(kb.builder(), left, right, others, Value(),
                         ValueRange(),
                         element.isF32() ? Precision::TF32 : Precision::Full);
  }
  Left takeWeights(KernelBuilder &kb, Value weights) override {
    Value rounded = convertTile(kb.builder(), weights, element);
    int64_t depth = ::mlir::tracea::getDepth(element);
    return [&kb, rounded, piece = getAccumulator(depth, element),
            fragment = getLeft(depth)](int64_t at) -> Value {
      ImplicitLocOpBuilder &b = kb.builder();
      Value some = SliceOp::create(b, piece, rounded, ArrayRef<int64_t>{0, at});
      return piece == fragment ? some : RelayoutOp::create(b, fragment, some);
    };
  }
  Value toRows(KernelBuilder &kb, Value result) const override {
    return relayoutToRows(kb.builder(), result);
  }

private:
  Type element;
  int64_t rows, warpRows;
  bool rereads;
};
} // namespace

std::unique_ptr<AttentionUnit> mlir::tracea::makeWarpUnit(Type element,
                                                          int64_t rows,
                                                          int64_t warpRows,
                                                          bool rereads) {
  return std::make_unique<WarpUnit>(element, rows, warpRows, rereads);
}

LogicalResult mlir::tracea::verifyWarpUnit(Operation *op,
                                           ScheduleAttr schedule) {
  schedule::Extents registers =
      schedule.getFields<schedule::RegisterTile>().registers;
  auto fail = [&](const Twine &what) {
    return op->emitOpError() << "expects " << what << " for the variant '"
                             << schedule.getVariant() << "', found ";
  };
  if (schedule.getUnit() != MatrixUnit::MmaSync)
    return fail("the unit 'mma_sync'") << schedule;
  ArrayRef<int64_t> tile = schedule.getTile();
  if (registers[1] != tile[1] || registers[0] % 16 || tile[0] % registers[0] ||
      tile[1] % 16 || !llvm::isPowerOf2_64(tile[0] / registers[0]) ||
      tile[0] / registers[0] > 32)
    return fail("'registers' of a multiple of 16 rows, of which up to 32 warps "
                "make the 'tile', and all of its columns, a multiple of 16")
           << schedule;
  return success();
}

LogicalResult mlir::tracea::lowerAttentionWarp(KernelRewriter &rewriter,
                                               AttentionOp op) {
  ScheduleAttr schedule = op.getScheduleAttr();
  if (failed(verifyWarpUnit(op, schedule)))
    return failure();
  const auto &fields = schedule.getFields<schedule::WarpAttention>();
  return lowerFlashAttention2(rewriter, op, [&] {
    return makeWarpUnit(getElementTypeOrSelf(op.getQuery().getType()),
                        schedule.getTile()[0], fields.registers[0],
                        fields.reread);
  });
}
