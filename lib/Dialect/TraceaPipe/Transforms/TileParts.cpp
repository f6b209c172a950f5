//===- TileParts.cpp - Stored tiles and their parts -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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

/// `op` as a load from the caller's memory; null for anything else.
static LoadOp getGlobalLoad(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  auto memory =
      load ? dyn_cast<MemRefType>(load.getSource().getType()) : nullptr;
  if (!memory || isa_and_nonnull<StagedAttr>(memory.getMemorySpace()))
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
    Value &known = parts[op.getResult()];
    if (!known)
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
    if (LoadOp load = getGlobalLoad(op))
      return this->load(load);
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
  return LoadOp::create(b, getType(op.getResult()), op.getSource(), indices,
                        limits, op.getPadding(), map, op.getReuse());
}
