//===- VisibleKeys.cpp - Which keys a query sees --------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Causal masks and windows are bands along the diagonal: a block of queries
// visits the keys of its part of the band, and masks the blocks at its edges.
//
//===----------------------------------------------------------------------===//

#include "VisibleKeys.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/TraceaPipe/IR/NeededTerms.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

VisibleKeys::VisibleKeys(KernelBuilder &kb, AttentionOpInterface op,
                         Value sizeI, Value sizeJ, Rows rows, Value endJ)
    : kb(kb), b(kb.builder()), ix(kb.index()), op(op), rows(rows) {
  if (op.getCausal())
    after = 0;
  if (std::optional<ArrayRef<int64_t>> window = op.getWindow()) {
    if ((*window)[0] >= 0)
      before = (*window)[0];
    if ((*window)[1] >= 0)
      after = std::min((*window)[1], after.value_or((*window)[1]));
  }
  // One query is at the last key's place.
  if (getStatic(sizeI) == 1)
    after.reset();
  // Key j is seen where i + s - before <= j <= i + s + after, s being how much
  // longer keys are: where j - s - after <= i <= j - s + before.
  if (rows == Rows::Keys) {
    std::swap(before, after);
    std::swap(sizeI, sizeJ);
  }
  this->endJ = endJ ? endJ : sizeJ;
  shift = ix.sub(sizeJ, sizeI);
}

bool VisibleKeys::hasBand(AttentionOpInterface op) {
  std::optional<ArrayRef<int64_t>> window = op.getWindow();
  return op.getCausal() || (window && ((*window)[0] >= 0 || (*window)[1] >= 0));
}

void VisibleKeys::define(int64_t result, int64_t queryDim, int64_t batchDim,
                         ArrayRef<int64_t> operands, ArrayRef<int64_t> dims) {
  Value lengths = op.getLengths();
  if (!before && !after && !lengths)
    return;
  kb.getKernel().setBandAttr(BandAttr::get(b.getContext(), result, queryDim,
                                           operands, dims, before.value_or(-1),
                                           after.value_or(-1)));
  if (lengths)
    EndedTerms{cast<BlockArgument>(kb.getMemRef(lengths)).getArgNumber(),
               batchDim}
        .set(kb.getKernel());
}

std::pair<Value, Value> VisibleKeys::getRange(Value i, int64_t rows,
                                              int64_t step) {
  Value place = ix.add(i, shift), begin = ix.constant(0), end = endJ;
  if (before)
    begin = ix.mul(ix.floorDiv(ix.max(ix.sub(place, *before), 0), step), step);
  if (after)
    end = ix.min(endJ, ix.add(place, rows + *after));
  return {begin, end};
}

std::pair<Value, Value> VisibleKeys::getTiles(Value i, int64_t rows, Value j,
                                              int64_t step, Value tiles) {
  Value place = ix.sub(ix.add(i, shift), j), first = ix.constant(0),
        last = tiles;
  if (before)
    first = ix.floorDiv(ix.max(ix.sub(place, *before), 0), step);
  if (after)
    last = ix.min(ix.ceilDiv(ix.max(ix.add(place, rows + *after), 0), step),
                  tiles);
  return {first, last};
}

Value VisibleKeys::isCut(Edge edge, Value i, int64_t rows, Value j,
                         int64_t columns) {
  Value any;
  auto add = [&](Value lesser, Value greater) {
    Value isMasked = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt,
                                                   lesser, greater);
    any = any ? b.createOrFold<arith::OrIOp>(any, isMasked) : isMasked;
  };
  Value place = ix.add(i, shift);
  if (edge == Edge::First) {
    if (before)
      add(j, ix.add(place, rows - 1 - *before));
    return any;
  }
  std::optional<int64_t> keys = getStatic(endJ);
  if (!keys || *keys % columns)
    add(endJ, ix.add(j, columns));
  if (after)
    add(ix.add(place, *after), ix.add(j, columns - 1));
  return any;
}

static Value getLowest(KernelBuilder &kb, Value scores) {
  return kb.splat(cast<RankedTensorType>(scores.getType()),
                  -std::numeric_limits<double>::infinity());
}

Value VisibleKeys::isShown(Value batch, Value head, Value i, Value j) {
  Value mask = op.getBlockMask();
  ArrayRef<int64_t> block = *op.getBlockSize();
  // An extent of one serves all batches, or all heads.
  Value maskBatch = ix.min(batch, ix.sub(kb.getDim(mask, 0), 1));
  Value maskHead = ix.min(head, ix.sub(kb.getDim(mask, 1), 1));
  Value shown =
      ReadOp::create(b, kb.getMemRef(mask),
                     ValueRange{maskBatch, maskHead, ix.floorDiv(i, block[0]),
                                ix.floorDiv(j, block[1])});
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, shown,
                               ix.constant(0));
}

Value VisibleKeys::mask(Edge edge, Value scores, Value i, Value j,
                        Type number) {
  auto type = cast<RankedTensorType>(scores.getType());
  RankedTensorType numbers = type.clone(number);
  Value lowest = getLowest(kb, scores);
  auto keep = [&](Value from, arith::CmpIPredicate predicate, Value bound) {
    // Of places far beyond the tile it does not matter how far they are.
    constexpr int64_t kFar = int64_t(1) << 30;
    if (!number.isIndex()) {
      from = b.createOrFold<arith::MaxSIOp>(from, ix.constant(-kFar));
      from = b.createOrFold<arith::IndexCastOp>(number, ix.min(from, kFar));
    }
    Value start = tensor::SplatOp::create(b, from, numbers);
    Value column =
        arith::AddIOp::create(b, CoordinateOp::create(b, numbers, 1), start);
    scores = arith::SelectOp::create(
        b, arith::CmpIOp::create(b, predicate, column, bound), scores, lowest);
  };
  std::optional<int64_t> keys = getStatic(endJ);
  if (edge == Edge::Last && (!keys || *keys % type.getDimSize(1)))
    keep(ix.sub(j, endJ), arith::CmpIPredicate::slt, kb.splat(numbers, 0));
  std::optional<int64_t> bound = edge == Edge::Last ? after : before;
  if (!bound)
    return scores;
  Value row = rows == Rows::Heads ? kb.splat(numbers, 0)
                                  : CoordinateOp::create(b, numbers, 0);
  // From the place of the tile's first query.
  Value first = ix.sub(j, ix.add(i, shift));
  if (edge == Edge::Last)
    keep(ix.sub(first, *bound), arith::CmpIPredicate::sle, row);
  else
    keep(ix.add(first, *bound), arith::CmpIPredicate::sge, row);
  return scores;
}

Value VisibleKeys::mask(Value scores, Value i, Value j, Type number) {
  scores = mask(Edge::Last, scores, i, j, number);
  return mask(Edge::First, scores, i, j, number);
}

Value VisibleKeys::maskEdges(Value scores, Value i, int64_t rows, Value j,
                             Type number) {
  int64_t columns = cast<RankedTensorType>(scores.getType()).getDimSize(1);
  for (Edge edge : {Edge::Last, Edge::First})
    if (Value isPartial = isCut(edge, i, rows, j, columns)) {
      Value whole = scores;
      scores = kb.select(
          isPartial, [&] { return mask(edge, whole, i, j, number); },
          [&] { return whole; });
    }
  return scores;
}
