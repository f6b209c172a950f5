//===- BlockLists.cpp - The blocks that a block mask shows ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each row of a mask is compacted by two kernels of one form. Nothing is
// written to a place that data says: each lane has a place p of the row, goes
// over all of it, and counts the thresholds that are not above p.
//
//   ranks[p]  = how many j have  (j is shown ? j + 1 : far)  <= p
//   blocks[p] = how many j have  ranks[j + 1]                <= p
//
// The first counts the blocks in front of p that are shown, c in all. Number p
// of them is where ranks rise above p; as many ranks as blocks in front of it
// do not. From p = c on none rises above p, and all n blocks are counted.
//
//===----------------------------------------------------------------------===//

#include "BlockLists.h"
#include "VisibleKeys.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Dimensions of a mask: batch, heads, rows, columns.
static constexpr unsigned kMaskRank = 4;
/// Places of a workgroup, one a lane.
static constexpr int64_t kMaskWarps = 4, kPlaces = kMaskWarps * 32;
/// Thresholds that are read before the first of them is compared.
static constexpr int64_t kAhead = 8;

namespace {
/// A kernel that counts, for each place of each row of its result, the
/// thresholds of the row that are not above the place.
class ThresholdCount {
public:
  /// The threshold of a column: `row` is batch, head and row.
  using Threshold = function_ref<Value(ValueRange row, Value column)>;

  explicit ThresholdCount(KernelBuilder &kb)
      : kb(kb), b(kb.builder()), ix(kb.index()),
        places(RankedTensorType::get(
            {1, kPlaces}, b.getI32Type(),
            getLanesAttr(b.getContext(),
                         {{},
                          {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}},
                          {{0, 32}, {0, 64}},
                          {}},
                         {1, 1}))) {}

  void build(Threshold threshold);

private:
  Value spread(Value number) {
    return tensor::SplatOp::create(
        b, b.createOrFold<arith::IndexCastOp>(b.getI32Type(), number), places);
  }

  KernelBuilder &kb;
  ImplicitLocOpBuilder &b;
  IndexMath &ix;
  RankedTensorType places;
};
} // namespace

void ThresholdCount::build(Threshold threshold) {
  kb.getKernel().setWarps(kMaskWarps);
  Value counts = kb.getDest(0);
  SmallVector<Value> bounds;
  for (unsigned dim = 0; dim < kMaskRank; ++dim)
    bounds.push_back(kb.getExtent(counts, dim));
  Value extent = bounds.back(), columns = ix.sub(extent, 1);
  bounds.back() = ix.ceilDiv(extent, kPlaces);
  SmallVector<Value> at(kb.beginTiles(bounds));
  ValueRange row = ValueRange(at).drop_back();
  Value first = ix.mul(at.back(), kPlaces);
  Value place = arith::AddIOp::create(b, CoordinateOp::create(b, places, 1),
                                      spread(first));
  Value count = kb.loop(
      columns, kAhead, kb.splat(places, 0), [&](Value column, Value count) {
        SmallVector<Value> thresholds;
        for (int64_t next = 0; next < kAhead; ++next) {
          // Behind the last column none is counted.
          Value own = ix.add(column, next);
          Value found =
              threshold(row, next ? ix.min(own, ix.sub(columns, 1)) : own);
          if (next)
            found = b.createOrFold<arith::SelectOp>(
                b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, own,
                                              columns),
                found, extent);
          thresholds.push_back(found);
        }
        for (Value found : thresholds) {
          Value isCounted = arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                                                  spread(found), place);
          Value one = arith::SelectOp::create(b, isCounted, kb.splat(places, 1),
                                              kb.splat(places, 0));
          count = arith::AddIOp::create(b, count, one);
        }
        return count;
      });
  at.back() = first;
  StoreOp::create(b, count, counts, at,
                  ValueRange{ix.constant(1), ix.sub(extent, first)},
                  kb.map(2, {kb.zero(), kb.zero(), kb.zero(), kb.dim(1)}));
}

/// A block of keys that is shown counts from the place behind it on.
static void buildRanks(KernelBuilder &kb, AttentionOp op,
                       const AttentionMemory &memory) {
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  Value mask = kb.getMemRef(op.getBlockMask());
  ArrayRef<int64_t> block = *op.getBlockSize();
  std::optional<VisibleKeys> visible;
  if (VisibleKeys::hasBand(op))
    visible.emplace(kb, op,
                    kb.getDim(memory.query.tensor, memory.query.order[2]),
                    kb.getDim(memory.key.tensor, memory.key.order[2]));
  ThresholdCount(kb).build([&](ValueRange row, Value column) -> Value {
    SmallVector<Value> at(row);
    at.push_back(column);
    Value isShown =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                              ReadOp::create(b, mask, at), ix.constant(0));
    if (visible) {
      auto [begin, end] =
          visible->getRange(ix.mul(row.back(), block[0]), block[0], block[1]);
      Value key = ix.mul(column, block[1]);
      if (getStatic(begin) != 0)
        isShown = arith::AndIOp::create(b, isShown, ix.lessOrEqual(begin, key));
      isShown = arith::AndIOp::create(
          b, isShown,
          b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, key, end));
    }
    Value far = kb.getExtent(kb.getDest(0), kMaskRank - 1);
    return arith::SelectOp::create(b, isShown, ix.add(column, 1), far);
  });
}

BlockLists BlockLists::create(KernelRewriter &rewriter, AttentionOp op,
                              const AttentionMemory &memory) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, op.getBlockMask());
  sizes.back() = affine::makeComposedFoldedAffineApply(
      rewriter, loc, rewriter.getAffineSymbolExpr(0) + 1, sizes.back());
  auto makeMemory = [&]() -> Value {
    return tensor::EmptyOp::create(rewriter, loc, sizes, rewriter.getI32Type());
  };
  SmallVector<Value> inputs{op.getBlockMask()};
  if (VisibleKeys::hasBand(op))
    inputs.append({memory.query.tensor, memory.key.tensor});
  BlockLists lists;
  KernelBuilder ranks(rewriter, op, inputs, makeMemory());
  buildRanks(ranks, op, memory);
  lists.ranks = ranks.launch().front();
  rewriter.setInsertionPoint(op);
  KernelBuilder blocks(rewriter, op, lists.ranks, makeMemory());
  Value known = blocks.getMemRef(lists.ranks);
  ThresholdCount(blocks).build([&](ValueRange row, Value column) -> Value {
    SmallVector<Value> at(row);
    at.push_back(blocks.index().add(column, 1));
    return ReadOp::create(blocks.builder(), known, at);
  });
  lists.blocks = blocks.launch().front();
  return lists;
}
