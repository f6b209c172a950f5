//===- RowParts.cpp - Rows that are cut into parts -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row that is too long for a workgroup leaves what each of its parts reduces
// to in memory; the kernel that computes the result reads those of all parts.

#include "RowKernel.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

int64_t RowKernel::getSplit() {
  return cast<ScheduledOpInterface>(op.getOperation())
      .getScheduleAttr()
      .getFields<schedule::LaneRows>()
      .split;
}

RankedTensorType RowKernel::getPartsType(RowOpInterface row, int64_t split) {
  auto type = cast<RankedTensorType>(row.getInput().getType());
  SmallVector<int64_t> shape(type.getShape().drop_back());
  shape.push_back(split);
  return RankedTensorType::get(
      shape,
      cast<EpilogueOpInterface>(row.getOperation()).getAccumulatorType());
}

RankedTensorType RowKernel::getPartsTile() {
  auto parts = static_cast<int64_t>(llvm::PowerOf2Ceil(getSplit()));
  LanesAttr lanes = getLanes(accTile);
  ::tracea::algebra::LaneBases bases;
  int64_t step = 1;
  auto add = [&](size_t bits, std::vector<::tracea::algebra::TileCoord> &to) {
    for (size_t bit = 0; bit < bits; ++bit, step *= 2)
      to.push_back({0, step < parts ? step : 0});
  };
  add(lanes.getLane().size(), bases.lane);
  add(lanes.getWarp().size(), bases.warp);
  return RankedTensorType::get(
      {1, parts}, accTile.getElementType(),
      getLanesAttr(b.getContext(), bases,
                   {1, std::max<int64_t>(parts / step, 1)}));
}

void RowKernel::storePart(ArrayRef<Value> values) {
  SmallVector<Value> at(indices.begin(), indices.end() - 1);
  at.push_back(part);
  SmallVector<AffineExpr> exprs(type.getRank(), kb.zero());
  exprs.back() = kb.dim(1);
  Value one = ix.constant(1);
  for (auto [index, value] : llvm::enumerate(values))
    StoreOp::create(b, value, kb.getDest(static_cast<unsigned>(index)), at,
                    ValueRange{one, one}, kb.map(2, exprs));
}

Value RowKernel::loadParts(Value memory, double padding) {
  SmallVector<Value> at(indices.begin(), indices.end() - 1);
  at.push_back(ix.constant(0));
  SmallVector<AffineExpr> exprs(type.getRank(), kb.zero());
  exprs.back() = kb.dim(1);
  RankedTensorType tile = getPartsTile();
  Value pad = arith::ConstantOp::create(
      b, b.getFloatAttr(cast<FloatType>(tile.getElementType()), padding));
  return LoadOp::create(b, tile, kb.getMemRef(memory), at,
                        ValueRange{ix.constant(1), ix.constant(getSplit())},
                        pad, kb.map(2, exprs));
}

Value RowKernel::reduceParts(ReduceKind kind, Value parts) {
  return ReduceOp::create(b, getRowValueType(), kind, parts, 1);
}

Value RowKernel::spreadParts(Value rowValue) {
  return BroadcastOp::create(b, getPartsTile(), rowValue);
}

Value RowKernel::getPartCounts() {
  RankedTensorType tile = getPartsTile();
  RankedTensorType indexTile = tile.clone(b.getIndexType());
  auto splat = [&](int64_t value) -> Value {
    return tensor::SplatOp::create(b, ix.constant(value), indexTile);
  };
  Value number = CoordinateOp::create(b, indexTile, 1);
  Value begin = arith::MulIOp::create(b, number, splat(width));
  Value left =
      arith::SubIOp::create(b, splat(type.getDimSize(firstDim)), begin);
  Value count = arith::MinSIOp::create(b, left, splat(width));
  count = arith::MaxSIOp::create(b, count, splat(0));
  Value integer =
      arith::IndexCastOp::create(b, tile.clone(b.getI64Type()), count);
  return arith::SIToFPOp::create(b, tile, integer);
}
