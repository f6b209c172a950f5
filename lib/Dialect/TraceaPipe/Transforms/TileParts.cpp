//===- TileParts.cpp - Blocks of columns of a stored tile -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Within the pipeline level. What an epilogue computes element by element is
// computed for a block of columns at a time, so that few registers are live.

#include "TileParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tracea/Dialect/TraceaPipe/IR/Parts.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

RankedTensorType mlir::tracea_pipe::getPartType(StagedStore &staged,
                                                int64_t width) {
  RankedTensorType tile = staged.getTile();
  LanesAttr lanes = getPartLanes(getLanes(tile), staged.columnDim, width);
  if (!lanes)
    return {};
  SmallVector<int64_t> shape(tile.getShape());
  shape[staged.columnDim] = width;
  return RankedTensorType::get(shape, tile.getElementType(), lanes);
}

PartBuilder::PartBuilder(ImplicitLocOpBuilder &b, RankedTensorType tile,
                         unsigned columnDim, int64_t offset, int64_t width)
    : b(b), tile(tile), columnDim(columnDim), offset(offset), width(width),
      lanes(getPartLanes(getLanes(tile), columnDim, width)) {}

/// `op` as a load from the caller's memory, of which parts can be loaded; null
/// for anything else.
static LoadOp getGlobalLoad(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  auto memory =
      load ? dyn_cast<MemRefType>(load.getSource().getType()) : nullptr;
  if (!memory || isa_and_nonnull<StagedAttr>(memory.getMemorySpace()) ||
      !load.getAlong().empty())
    return {};
  return load;
}

static bool isElementwise(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) &&
         op->getNumResults() == 1 && isMemoryEffectFree(op);
}

/// Whether the kernel writes to `memory`.
static bool isWritten(Value memory) {
  return llvm::any_of(memory.getUsers(), [&](Operation *user) {
    auto store = dyn_cast<StoreOp>(user);
    auto copy = dyn_cast<CopyOutOp>(user);
    return (store && store.getDest() == memory) ||
           (copy && copy.getDest() == memory);
  });
}

SmallVector<LoadOp> PartBuilder::getLoads(Value value) {
  SmallVector<LoadOp> loads;
  SmallVector<Value> list{value};
  DenseSet<Value> seen;
  while (!list.empty()) {
    Value next = list.pop_back_val();
    if (!isRegisterTile(next.getType()) || !seen.insert(next).second)
      continue;
    Operation *op = getAlike(next);
    if (!op)
      continue;
    if (LoadOp load = getGlobalLoad(op))
      loads.push_back(load);
    else if (isElementwise(op))
      llvm::append_range(list, llvm::reverse(op->getOperands()));
  }
  return loads;
}

void PartBuilder::prefetch(Value value) {
  for (LoadOp op : getLoads(value)) {
    if (isWritten(op.getSource()))
      continue;
    Value &known = loaded[op.getResult()];
    if (!known && !parts.contains(op.getResult()))
      known = load(op);
  }
}

Value PartBuilder::get(Value value) {
  if (Value known = parts.lookup(value))
    return known;
  Value result = compute(value);
  parts[value] = result;
  return result;
}

RankedTensorType PartBuilder::getType(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[columnDim] = width;
  return RankedTensorType::get(shape, type.getElementType(), lanes);
}

/// What defines a tile whose shape and lanes are those of the stored one.
Operation *PartBuilder::getAlike(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  bool isAlike =
      getLanes(type) == getLanes(tile) && type.getShape() == tile.getShape();
  return isAlike ? value.getDefiningOp() : nullptr;
}

Value PartBuilder::compute(Value value) {
  // The whole tile, or lanes of another kind.
  if (getType(value) == value.getType())
    return value;
  if (Operation *op = getAlike(value)) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
          dense && dense.isSplat())
        return arith::ConstantOp::create(
            b, DenseElementsAttr::get(getType(value),
                                      dense.getSplatValue<Attribute>()));
    if (LoadOp load = getGlobalLoad(op)) {
      Value tile = loaded.lookup(value);
      if (!tile)
        tile = this->load(load);
      if (tile.getType() != getType(value))
        tile = RelayoutOp::create(b, getType(value), tile);
      return tile;
    }
    if (isElementwise(op))
      return clone(op);
  }
  SmallVector<int64_t> offsets = {0, 0};
  offsets[columnDim] = offset;
  return SliceOp::create(b, getType(value), value, offsets);
}

Value PartBuilder::clone(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isRegisterTile(operand.getType()) ? get(operand)
                                                         : operand);
  Operation *part = static_cast<OpBuilder &>(b).create(
      op->getLoc(), op->getName().getIdentifier(), operands,
      TypeRange(getType(op->getResult(0))), op->getAttrs());
  return part->getResult(0);
}

/// Lanes with 16 bytes of a row each, where those of the tile have less of
/// rows that several lanes share: some of what lanes count along columns is
/// counted by registers instead, and the other way round.
static LanesAttr getWideLanes(LanesAttr lanes, unsigned columnDim,
                              int64_t elements) {
  SmallVector<DenseI64ArrayAttr> reg(lanes.getReg()), lane(lanes.getLane());
  auto isColumn = [&](DenseI64ArrayAttr vector, int64_t column) {
    return vector[columnDim] == column && vector[1 - columnDim] == 0;
  };
  auto find = [&](ArrayRef<DenseI64ArrayAttr> list, int64_t column) {
    return llvm::find_if(list,
                         [&](DenseI64ArrayAttr vector) {
                           return isColumn(vector, column);
                         }) -
           list.begin();
  };
  int64_t next = elements;
  for (int64_t column = 1; column < elements; column *= 2) {
    if (find(reg, column) < static_cast<int64_t>(reg.size()))
      continue;
    size_t from = find(lane, column), to = find(reg, next);
    if (from == lane.size() || to == reg.size())
      return {};
    std::swap(lane[from], reg[to]);
    next *= 2;
  }
  if (next == elements)
    return {};
  // Columns that one vector holds come first in the order.
  SmallVector<DenseI64ArrayAttr> sorted;
  for (int64_t column = 1; column < elements; column *= 2)
    sorted.push_back(reg[find(reg, column)]);
  for (DenseI64ArrayAttr vector : reg)
    if (!llvm::is_contained(sorted, vector))
      sorted.push_back(vector);
  return LanesAttr::get(lanes.getContext(), sorted, lane, lanes.getWarp(),
                        lanes.getOuter());
}

/// The part as it is loaded: rows in pieces as long as a lane can load.
RankedTensorType PartBuilder::getLoadedType(LoadOp op) {
  constexpr int64_t vectorBytes = 16;
  RankedTensorType type = getType(op.getResult());
  AffineMap map = op.getMap();
  auto memory = cast<MemRefType>(op.getSource().getType());
  int64_t bits = type.getElementTypeBitWidth();
  if (!isWide || bits % 8 || memory.getRank() < 2 || map.getNumDims() != 2)
    return type;
  int64_t elements = 8 * vectorBytes / bits;
  int64_t row = memory.getShape().back();
  LinearForm last = getLinearForm(map.getResults().back(), 2);
  bool runsAlongRows = last.coefficients[columnDim] == 1 &&
                       last.coefficients[1 - columnDim] == 0;
  bool isRepeated =
      llvm::none_of(map.getResults().drop_back(), [&](AffineExpr expr) {
        return getLinearForm(expr, 2).coefficients[1 - columnDim] != 0;
      });
  if (!runsAlongRows || isRepeated ||
      (!ShapedType::isDynamic(row) && row % elements))
    return type;
  LanesAttr wide = getWideLanes(lanes, columnDim, elements);
  return wide ? RankedTensorType::get(type.getShape(), type.getElementType(),
                                      wide)
              : type;
}

Value PartBuilder::load(LoadOp op) {
  AffineMap map = op.getMap();
  SmallVector<Value> indices(op.getIndices()), limits(op.getLimits());
  for (auto [index, expr] : llvm::zip_equal(indices, map.getResults())) {
    int64_t factor =
        getLinearForm(expr, map.getNumDims()).coefficients[columnDim];
    if (factor && offset)
      index = b.createOrFold<arith::AddIOp>(
          index, arith::ConstantIndexOp::create(b, factor * offset));
  }
  if (!limits.empty())
    limits[columnDim] = b.createOrFold<arith::SubIOp>(
        limits[columnDim], arith::ConstantIndexOp::create(b, offset));
  return LoadOp::create(b, getLoadedType(op), op.getSource(), indices, limits,
                        op.getPadding(), map, op.getReuse(), op.getPadded());
}
