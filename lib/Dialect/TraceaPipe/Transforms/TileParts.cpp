//===- TileParts.cpp - Stored tiles and their parts -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TileParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// The lane map of `width` columns: registers that reach beyond them are left
/// out. Null where lanes or warps do.
static LanesAttr getNarrowLanes(LanesAttr lanes, int64_t dim, int64_t extent,
                                int64_t width) {
  if (width == extent)
    return lanes;
  SmallVector<int64_t> outer(lanes.getOuter());
  int64_t piece = extent / outer[dim];
  if (width % piece == 0) {
    outer[dim] = width / piece;
    return LanesAttr::get(lanes.getContext(), lanes.getReg(), lanes.getLane(),
                          lanes.getWarp(), outer);
  }
  if (piece % width || !llvm::isPowerOf2_64(width))
    return {};
  outer[dim] = 1;
  auto isBeyond = [&](DenseI64ArrayAttr vector) {
    return vector[dim] >= width;
  };
  if (llvm::any_of(lanes.getLane(), isBeyond) ||
      llvm::any_of(lanes.getWarp(), isBeyond))
    return {};
  SmallVector<DenseI64ArrayAttr> reg;
  llvm::copy_if(lanes.getReg(), std::back_inserter(reg),
                [&](DenseI64ArrayAttr vector) { return !isBeyond(vector); });
  return LanesAttr::get(lanes.getContext(), reg, lanes.getLane(),
                        lanes.getWarp(), outer);
}

RankedTensorType mlir::tracea_pipe::getPartType(StagedStore &staged,
                                                int64_t width) {
  RankedTensorType tile = staged.getTile();
  LanesAttr lanes = getNarrowLanes(getLanes(tile), staged.columnDim,
                                   staged.getColumns(), width);
  if (!lanes)
    return {};
  SmallVector<int64_t> shape(tile.getShape());
  shape[staged.columnDim] = width;
  return RankedTensorType::get(shape, tile.getElementType(), lanes);
}
PartBuilder::PartBuilder(ImplicitLocOpBuilder &b, StagedStore &staged,
                         const Part &part)
    : b(b), staged(staged), part(part),
      lanes(getLanes(getPartType(staged, part.width))) {}

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
  auto tile = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(tile.getShape());
  shape[staged.columnDim] = part.width;
  return RankedTensorType::get(shape, tile.getElementType(), lanes);
}

/// What defines a tile whose lanes are those of the stored one.
Operation *PartBuilder::getAlike(Value value) {
  auto tile = cast<RankedTensorType>(value.getType());
  bool isAlike = getLanes(tile) == getLanes(staged.getTile()) &&
                 tile.getShape() == staged.getTile().getShape();
  return isAlike ? value.getDefiningOp() : nullptr;
}

Value PartBuilder::compute(Value value) {
  auto tile = cast<RankedTensorType>(value.getType());
  // The whole tile, or lanes of another kind.
  if (getType(value) == tile)
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
  offsets[staged.columnDim] = part.offset;
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
        getLinearForm(expr, map.getNumDims()).coefficients[staged.columnDim];
    if (factor && part.offset)
      index = b.createOrFold<arith::AddIOp>(
          index, arith::ConstantIndexOp::create(b, factor * part.offset));
  }
  if (!limits.empty())
    limits[staged.columnDim] = b.createOrFold<arith::SubIOp>(
        limits[staged.columnDim],
        arith::ConstantIndexOp::create(b, part.offset));
  return LoadOp::create(b, getType(op.getResult()), op.getSource(), indices,
                        limits, op.getPadding(), map, op.getReuse());
}
