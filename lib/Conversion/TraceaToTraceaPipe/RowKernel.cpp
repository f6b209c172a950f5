//===- RowKernel.cpp - Reductions of rows and what is made of them --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowKernel.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "tracea/Dialect/TraceaPipe/IR/Parts.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Lanes side by side along rows, each with a vector, or with one element where
/// no vector can be read at a time: neighbours are read together. Lanes of a
/// subgroup, and subgroups, that are left over take other rows.
static LanesAttr getRowLanes(MLIRContext *context, ArrayRef<int64_t> tile,
                             int64_t lanes, int64_t vector, int64_t subgroup) {
  ::tracea::algebra::LaneBases bases;
  for (int64_t step = 1; step < vector; step *= 2)
    bases.reg.push_back({0, step});
  int64_t threads = 1;
  auto add = [&](::tracea::algebra::TileCoord step) {
    (threads < subgroup ? bases.lane : bases.warp).push_back(std::move(step));
    threads *= 2;
  };
  for (int64_t step = 1; step < lanes; step *= 2)
    add({0, step * vector});
  for (int64_t step = 1; step < tile[0]; step *= 2)
    add({step, 0});
  return getLanesAttr(context, bases, {1, tile[1] / (lanes * vector)});
}

RankedTensorType RowKernel::getTile() {
  ScheduleAttr schedule =
      cast<ScheduledOpInterface>(op.getOperation()).getScheduleAttr();
  Type element = op.getAccumulatorType();
  const auto *lanes = schedule.getFieldsIf<schedule::LaneRows>();
  if (!lanes)
    return kb.getTileType(schedule.getTile(), element);
  int64_t subgroup =
      op->getParentOfType<ModuleOp>()
          ->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName)
          .getSubgroup();
  KernelOp kernel = kb.getKernel();
  kernel.setWarps(
      llvm::divideCeil(lanes->lanes * schedule.getTile()[0], subgroup));
  if (lanes->residents > 1)
    kernel->setAttr(kResidentsAttrName, b.getI64IntegerAttr(lanes->residents));
  return RankedTensorType::get(
      schedule.getTile(), element,
      getRowLanes(b.getContext(), schedule.getTile(), lanes->lanes,
                  isAligned ? lanes->vector : 1, subgroup));
}

RankedTensorType RowKernel::getRowTile(Type elementType) {
  if (!lanesReduced())
    return accTile.clone(elementType);
  return RankedTensorType::get({height, 1}, elementType,
                               getLanes(accTile).getReduced(1));
}

Value RowKernel::reduceLanes(ReduceKind kind, Value tile) {
  if (!lanesReduced())
    return tile;
  return ReduceOp::create(b, getRowTile(getElementTypeOrSelf(tile.getType())),
                          kind, tile, 1);
}

AffineMap RowKernel::getMap() {
  SmallVector<AffineExpr> exprs(type.getRank(), kb.zero());
  if (getRowDim() >= 0)
    exprs[getRowDim()] = kb.dim(0);
  exprs.back() = kb.dim(1);
  return kb.map(2, exprs);
}

void RowKernel::begin() {
  int64_t rank = type.getRank();
  accTile = getTile();
  height = accTile.getDimSize(0);
  width = accTile.getDimSize(1);
  isResident = role != RowRole::Whole ||
               (lanesReduced() && endDim - firstDim == 1 &&
                !type.isDynamicDim(firstDim) && type.getDimSize(firstDim) > 0 &&
                type.getDimSize(firstDim) <= width);
  auto stepOf = [&](int64_t dim) {
    return dim == rank - 1 ? width : dim == getRowDim() ? height : 1;
  };
  SmallVector<Value> bounds;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim < firstDim || dim >= endDim)
      bounds.push_back(ix.ceilDiv(kb.getDim(input, dim), stepOf(dim)));
  if (role != RowRole::Whole)
    bounds.push_back(ix.constant(getSplit()));
  else if (bounds.empty())
    bounds.push_back(ix.constant(1));
  Block::BlockArgListType tiles = kb.beginTiles(bounds);
  SmallVector<Value> grid(tiles.begin(), tiles.end());
  // What has been read last is in the cache: it comes first.
  if (role == RowRole::Combined)
    for (auto [place, bound] : llvm::zip_equal(grid, bounds))
      place = ix.sub(ix.sub(bound, 1), place);
  indices.assign(rank, Value());
  limits = {ix.constant(1), Value()};
  unsigned next = 0;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim >= firstDim && dim < endDim)
      continue;
    indices[dim] = ix.mul(grid[next++], stepOf(dim));
    bool isColumn = dim == rank - 1;
    if (isColumn || (dim == getRowDim() && height > 1))
      limits[isColumn] = ix.sub(kb.getDim(input, dim), indices[dim]);
  }
  if (role == RowRole::Whole)
    return;
  part = grid.back();
  int64_t columns = type.getDimSize(firstDim);
  indices[firstDim] = ix.mul(part, width);
  limits[1] = columns % width ? ix.sub(ix.constant(columns), indices[firstDim])
                              : ix.constant(width);
}

Value RowKernel::overDims(int64_t dim, Value carried,
                          function_ref<Value(Value)> body) {
  if (dim == endDim)
    return body(carried);
  bool isLanes = dim == type.getRank() - 1;
  auto at = [&](Value position) {
    indices[dim] = position;
    if (isLanes)
      limits[1] = ix.sub(kb.getDim(input, dim), position);
  };
  Value bound = kb.getDim(input, dim);
  int64_t step = isLanes ? width : 1;
  if (!carried) {
    kb.loop(bound, step, [&](Value position) {
      at(position);
      overDims(dim + 1, Value(), body);
    });
    return Value();
  }
  return kb.loop(bound, step, carried, [&](Value position, Value inner) {
    at(position);
    return overDims(dim + 1, inner, body);
  });
}

Value RowKernel::overRow(Value carried, function_ref<Value(Value)> body) {
  if (role != RowRole::Whole)
    return body(carried);
  return overDims(firstDim, carried, body);
}

Value RowKernel::readTile(Value memory, std::optional<double> padding) {
  Type elementType = cast<MemRefType>(memory.getType()).getElementType();
  Value pad;
  if (padding)
    pad = arith::ConstantOp::create(
        b, b.getFloatAttr(cast<FloatType>(elementType), *padding));
  Value x = LoadOp::create(b, accTile.clone(elementType), memory, indices,
                           limits, pad, getMap());
  return convertTile(b, x, op.getAccumulatorType());
}

Value RowKernel::readInput(std::optional<double> padding,
                           SmallVectorImpl<Value> &kept) {
  if (!hasPrologue(row))
    return readTile(kb.getMemRef(input), padding);
  Value x =
      LoadOp::create(b, accTile.clone(type.getElementType()),
                     kb.getMemRef(input), indices, limits, Value(), getMap());
  SmallVector<Value> computed = kb.emitScalars(
      row.getPrologue().front(), x, row.getPrologueOperands(),
      row.getPrologueMaps(), {kb.getMemRef(input), indices, getMap()}, limits);
  kept.assign(computed.begin() + 1, computed.end());
  x = convertTile(b, computed.front(), op.getAccumulatorType());
  return padding ? dropPadding(x, *padding) : x;
}

void RowKernel::storeKept(ArrayRef<Value> kept) {
  // The first destination is the result's.
  for (auto [index, tile] : llvm::enumerate(kept))
    StoreOp::create(b, tile, kb.getDest(static_cast<unsigned>(index + 1)),
                    indices, limits, getMap());
}

std::optional<unsigned> RowKernel::findKeptRow() {
  if (!hasPrologue(row))
    return std::nullopt;
  auto yield = cast<YieldOp>(row.getPrologue().front().getTerminator());
  for (auto [index, value] : llvm::enumerate(yield.getValues().drop_front()))
    if (value == yield.getValue())
      return index;
  return std::nullopt;
}

Value RowKernel::loadInput(std::optional<double> padding) {
  SmallVector<Value> kept;
  if (isResident) {
    if (!held) {
      heldPadding = padding.value_or(0);
      held = readInput(padding, kept);
      if (!isPart())
        storeKept(kept);
    }
    return padding && *padding != heldPadding ? dropPadding(held, *padding)
                                              : held;
  }
  std::optional<unsigned> keptRow = findKeptRow();
  if (isRead && keptRow)
    return readTile(kb.getDest(*keptRow + 1), padding);
  Value x = readInput(padding, kept);
  if (!isRead)
    storeKept(kept);
  isRead = true;
  return x;
}

Value RowKernel::reduce(ReduceKind kind, double init,
                        std::optional<double> padding,
                        function_ref<Value(Value, Value)> body) {
  Value result;
  auto fold = [&](Value carried) {
    result = body(loadInput(padding), carried);
    return carried ? result : Value();
  };
  if (isResident)
    overRow(Value(), fold);
  else
    result = overRow(kb.splat(accTile, init), fold);
  return reduceLanes(kind, result);
}

SmallVector<Value> RowKernel::getKeptPlace() {
  Value zero = ix.constant(0);
  if (lanesReduced())
    return {zero, indices[firstDim]};
  return {indices[firstDim], zero};
}

void RowKernel::beginKept() {
  // Elements that second-level caches have room for.
  constexpr int64_t kMostKept = 1 << 16;
  int64_t extent = type.getDimSize(firstDim);
  if (isLanes() || isResident || endDim - firstDim != 1 ||
      ShapedType::isDynamic(extent))
    return;
  SmallVector<int64_t> shape{extent, width};
  if (lanesReduced())
    shape = {1, static_cast<int64_t>(llvm::alignTo(extent, width))};
  if (extent == 0 || shape[0] * shape[1] > kMostKept)
    return;
  keptMemory = ScratchOp::create(
      b, MemRefType::get(shape, accTile.getElementType(), AffineMap(),
                         StagedAttr::get(b.getContext(), ArrayRef<int64_t>())));
}

bool RowKernel::asksAhead() {
  return !isLanes() && !isResident && lanesReduced();
}

void RowKernel::prefetchResult() {
  if (asksAhead())
    PrefetchOp::create(b, kb.getDest(op.getEpilogueInit().get()), indices,
                       limits, getMap(), accTile.getShape(), /*write=*/true);
}

void RowKernel::prefetchNext() {
  if (!asksAhead() || firstDim == 0)
    return;
  SmallVector<Value> next(indices);
  Value &rowIndex = next[firstDim - 1];
  rowIndex = ix.min(ix.add(rowIndex, height),
                    ix.sub(kb.getDim(input, firstDim - 1), 1));
  PrefetchOp::create(b, kb.getMemRef(input), next, limits, getMap(),
                     accTile.getShape(), /*write=*/false);
}

void RowKernel::keep(Value tile) {
  if (keptMemory)
    StoreOp::create(b, tile, keptMemory, getKeptPlace(), ValueRange(),
                    kb.map(2, {kb.dim(0), kb.dim(1)}));
  else if (role == RowRole::Whole && isResident && !isLanes())
    keptTile = tile;
}

Value RowKernel::loadKept() {
  if (!keptMemory)
    return keptTile;
  return LoadOp::create(b, accTile, keptMemory, getKeptPlace(), ValueRange(),
                        Value(), kb.map(2, {kb.dim(0), kb.dim(1)}));
}

Value RowKernel::spread(Value rowValue) {
  RankedTensorType tile =
      accTile.clone(getElementTypeOrSelf(rowValue.getType()));
  if (rowValue.getType() == tile)
    return rowValue;
  return BroadcastOp::create(b, tile, rowValue);
}

Value RowKernel::dropPadding(Value value, TypedAttr padding) {
  int64_t columns = type.getShape().back();
  if (role == RowRole::Whole && !ShapedType::isDynamic(columns) &&
      columns % width == 0)
    return value;
  std::optional<int64_t> end = getStatic(limits[1]);
  if (!lanesReduced() || (end && *end >= width))
    return value;
  RankedTensorType indexTile = accTile.clone(b.getIndexType());
  Value position = CoordinateOp::create(b, indexTile, 1);
  Value ends = tensor::SplatOp::create(b, limits[1], indexTile);
  Value valid =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, position, ends);
  return arith::SelectOp::create(
      b, valid, value,
      kb.splat(cast<RankedTensorType>(value.getType()), padding));
}

Value RowKernel::getCount() {
  Value count = isPart() ? ix.min(limits[1], width) : ix.constant(1);
  for (int64_t dim = firstDim; !isPart() && dim < endDim; ++dim)
    count = ix.mul(count, kb.getDim(input, dim));
  Value integer = arith::IndexCastOp::create(b, b.getI64Type(), count);
  Value number = arith::SIToFPOp::create(b, op.getAccumulatorType(), integer);
  return tensor::SplatOp::create(b, number, getRowValueType());
}

Value RowKernel::readNormalized(Value tensor) {
  auto tensorType = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> at(indices.begin() + firstDim, indices.begin() + endDim);
  SmallVector<AffineExpr> exprs(tensorType.getRank(), kb.zero());
  exprs.back() = kb.dim(1);
  // All rows read the same ones, those past the last one too.
  SmallVector<Value> ends = {ix.constant(height), limits[1]};
  return LoadOp::create(b, accTile.clone(tensorType.getElementType()),
                        kb.getMemRef(tensor), at, ends, Value(),
                        kb.map(2, exprs));
}

void RowKernel::fetchNormalized(ArrayRef<Value> tensors) {
  // No read passes the barriers of a reduction: where the row is one wait, this
  // one passes beside it. Rows of several tensors leave no registers, and what
  // more than a few warps reduce to leaves them for one tensor of two.
  constexpr int64_t kMostVectors = 4, kLanesOfFewWarps = 128;
  const auto *lanes = cast<ScheduledOpInterface>(op.getOperation())
                          .getScheduleAttr()
                          .getFieldsIf<schedule::LaneRows>();
  if (!lanes || !isResident || !isAligned || hasPrologue(row) ||
      width > lanes->lanes * lanes->vector * kMostVectors)
    return;
  int64_t vectors = width / (lanes->lanes * lanes->vector);
  int64_t left =
      lanes->lanes > kLanesOfFewWarps ? kMostVectors : 2 * kMostVectors;
  overRow(Value(), [&](Value) {
    for (Value tensor : tensors) {
      if (!tensor || fetched.contains(tensor) || left < vectors)
        continue;
      fetched[tensor] = readNormalized(tensor);
      left -= vectors;
    }
    return Value();
  });
}

Value RowKernel::loadNormalized(Value tensor) {
  Value x = fetched.lookup(tensor);
  return convertTile(b, x ? x : readNormalized(tensor),
                     op.getAccumulatorType());
}

RankedTensorType RowKernel::getPiece() {
  const auto *lanes = cast<ScheduledOpInterface>(op.getOperation())
                          .getScheduleAttr()
                          .getFieldsIf<schedule::LaneRows>();
  int64_t run = lanes ? lanes->lanes * lanes->vector : width;
  LanesAttr part = getPartLanes(getLanes(accTile), 1, run);
  return part && lanesReduced() && computesFunctions(op)
             ? RankedTensorType::get({height, run}, accTile.getElementType(),
                                     part)
             : accTile;
}

void RowKernel::map(function_ref<Value(Value)> body) {
  if (hasFinish(op))
    return finish(body);
  AffineMap resultMap = getMap();
  RankedTensorType piece = getPiece();
  overRow(Value(), [&](Value) {
    Value value = body(loadInput(std::nullopt));
    Value dest = kb.getDest(op.getEpilogueInit().get());
    for (int64_t column = 0; column < width; column += piece.getDimSize(1)) {
      SmallVector<Value> at(indices), ends(limits);
      Value some = value;
      if (piece != accTile) {
        at.back() = ix.add(at.back(), column);
        ends[1] = ix.sub(ends[1], column);
        some = SliceOp::create(b, piece, value, ArrayRef<int64_t>{0, column});
      }
      Value out = kb.emitEpilogue(op, some, {dest, at, resultMap}, ends);
      StoreOp::create(b, out, dest, at, ends, resultMap);
    }
    return Value();
  });
}

bool RowKernel::isLanes() {
  ScheduleAttr schedule =
      cast<ScheduledOpInterface>(op.getOperation()).getScheduleAttr();
  return schedule.getFieldsIf<schedule::LaneRows>() != nullptr;
}

Value RowKernel::multiplyAdd(Value x, Value y, Value z) {
  if (isLanes())
    return math::FmaOp::create(b, x, y, z);
  return arith::AddFOp::create(b, arith::MulFOp::create(b, x, y), z);
}
