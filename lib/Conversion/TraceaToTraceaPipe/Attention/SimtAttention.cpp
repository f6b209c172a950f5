//===- SimtAttention.cpp - Attention by the lanes of a GPU ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variant "attention.simt": no unit multiplies, and nothing is rounded but by
// the sums. Lanes read queries, keys and values from shared memory, four along
// k at a time; weights go through it on their way to the lanes that multiply
// them.
//
//===----------------------------------------------------------------------===//

#include "../LaneTile.h"
#include "../Variants.h"
#include "AttentionUnit.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

namespace {
class LaneUnit final : public AttentionUnit {
public:
  explicit LaneUnit(AttentionOp op)
      : element(getElementTypeOrSelf(op.getQuery().getType())),
        sumType(op.getAccumulatorType()) {
    ScheduleAttr schedule = op.getScheduleAttr();
    rows = schedule.getTile()[0];
    keys = schedule.getTile()[1];
    laneRows = schedule.getFields<schedule::SimtAttention>().registers[0];
  }

  int64_t getNumWarps() const override {
    return rows / (laneRows * LaneGrid::kLanes[0]);
  }
  /// Of a step of few products the proof that each term is there once is short.
  int64_t getDepth(int64_t extent) const override {
    constexpr int64_t kProducts = 4, kMost = 16;
    return std::clamp(extent / kProducts, LaneGrid::kLongestRun,
                      extent > keys ? kMost / 2 : kMost);
  }
  bool readsAhead() const override { return false; }
  int64_t roundUp(int64_t extent) const override {
    return llvm::PowerOf2Ceil(std::max(extent, kSpan));
  }
  int64_t getPartWidth() const override { return kSpan; }

  RankedTensorType getAccumulator(int64_t columns, Type type) const override {
    return getTile({rows, columns}, columns, type, LaneOperand::Result, 1,
                   false);
  }
  RankedTensorType getLeft(int64_t depth) const override {
    return getTile({rows, depth}, kSpan, element, LaneOperand::Lhs, depth,
                   true);
  }
  RankedTensorType getRight(int64_t depth, int64_t columns,
                            bool isAlongK) const override {
    return getTile({depth, columns}, columns, element, LaneOperand::Rhs, depth,
                   isAlongK);
  }
  /// Lanes read rows of queries and keys a run apart, and values along rows.
  RankedTensorType getBlock(Block block, int64_t blockRows,
                            int64_t width) const override {
    if (block == Block::Queries)
      return getLaneBlock({blockRows, width}, element, getRun(),
                          LaneGrid::kLanes[0]);
    return getLaneBlock({blockRows, width}, element, LaneGrid::kLongestRun,
                        block == Block::Keys ? LaneGrid::kLanes[1] : 1);
  }
  bool keepsQueries() const override { return false; }

  Value multiply(KernelBuilder &kb, Value left, Value right,
                 Value others) const override {
    ImplicitLocOpBuilder &b = kb.builder();
    return MmaOp::create(b, convertTile(b, left, sumType),
                         convertTile(b, right, sumType), others, Value(),
                         ValueRange());
  }
  Left takeWeights(KernelBuilder &kb, Value weights) override;
  Value toRows(KernelBuilder &, Value result) const override { return result; }

private:
  /// Columns that the runs of a warp's lanes make.
  static constexpr int64_t kSpan = LaneGrid::kLongestRun * LaneGrid::kLanes[1];

  /// Rows beside one another of a lane.
  int64_t getRun() const { return std::min(laneRows, LaneGrid::kLongestRun); }
  MemRefType getWeightMemory() const;
  /// A tile of an operand of a product that has `columns`.
  RankedTensorType getTile(ArrayRef<int64_t> shape, int64_t columns, Type type,
                           LaneOperand operand, int64_t depth,
                           bool isAlongK) const {
    LaneGrid grid({rows, columns}, {laneRows, columns / LaneGrid::kLanes[1]});
    return RankedTensorType::get(shape, type,
                                 grid.getLanes(type.getContext(), operand,
                                               depth, isAlongK,
                                               grid.groups[0]));
  }

  Type element, sumType;
  int64_t rows, keys, laneRows;
};
} // namespace

/// Lanes that write at a time are two rows, a run apart, of four runs of
/// columns; those that read are four such rows of one run.
MemRefType LaneUnit::getWeightMemory() const {
  constexpr int64_t kRowBit = 6, kNextBit = 5;
  int64_t rowBytes = keys * sumType.getIntOrFloatBitWidth() / 8;
  int64_t row = llvm::Log2_64(rowBytes * getRun());
  return MemRefType::get(
      {rows, keys}, sumType, AffineMap(),
      StagedAttr::get(sumType.getContext(), {kRowBit, row, kNextBit, row + 1}));
}

AttentionUnit::Left LaneUnit::takeWeights(KernelBuilder &kb, Value weights) {
  ImplicitLocOpBuilder &b = kb.builder();
  Value memory;
  {
    // One for all blocks of keys.
    OpBuilder::InsertionGuard guard(b);
    Operation *tile = b.getInsertionBlock()->getParentOp();
    while (!isa<TilesOp>(tile->getParentOp()))
      tile = tile->getParentOp();
    b.setInsertionPointToStart(tile->getBlock());
    memory = ScratchOp::create(b, getWeightMemory());
  }
  Value zero = kb.index().constant(0);
  // Lanes that still multiply weights of the block before come first.
  SyncOp::create(b);
  StoreOp::create(b, weights, memory, ValueRange{zero, zero}, ValueRange(),
                  kb.matrixMap(0));
  SyncOp::create(b);
  auto type = cast<RankedTensorType>(getLeft(getDepth(keys))).clone(sumType);
  return [&kb, memory, type](int64_t at) -> Value {
    IndexMath &ix = kb.index();
    return LoadOp::create(kb.builder(), type, memory,
                          ValueRange{ix.constant(0), ix.constant(at)},
                          ValueRange(), Value(), kb.matrixMap(0));
  };
}

/// What the schedule must say for the unit to follow it.
static LogicalResult verify(AttentionOp op) {
  ScheduleAttr schedule = op.getScheduleAttr();
  const auto &fields = schedule.getFields<schedule::SimtAttention>();
  auto fail = [&](const Twine &what) {
    return op.emitOpError()
           << "expects " << what << " for the variant 'attention.simt', found ";
  };
  constexpr int64_t kMostRows = 16, kMostWarps = 32, kLeastKeys = 32;
  if (schedule.getUnit() != MatrixUnit::Vector)
    return fail("the unit 'vector'") << schedule;
  ArrayRef<int64_t> tile = schedule.getTile();
  int64_t rows = fields.registers[0], span = rows * LaneGrid::kLanes[0];
  if (!llvm::isPowerOf2_64(rows) || rows > kMostRows || tile[0] % span ||
      !llvm::isPowerOf2_64(tile[0] / span) || tile[0] / span > kMostWarps ||
      !llvm::isPowerOf2_64(tile[1]) || tile[1] < kLeastKeys ||
      fields.registers[1] * LaneGrid::kLanes[1] != tile[1])
    return fail("'registers' of a power of two up to 16 rows, of which four "
                "times up to 32, a power of two, make the 'tile', and an "
                "eighth of its columns, a power of two from 32 on")
           << schedule;
  return success();
}

LogicalResult mlir::tracea::lowerAttentionSimt(KernelRewriter &rewriter,
                                               AttentionOp op) {
  if (failed(verify(op)))
    return failure();
  return lowerFlashAttention2(rewriter, op,
                              [&] { return std::make_unique<LaneUnit>(op); });
}
