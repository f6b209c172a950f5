//===- TraceaPipeTiles.cpp - Register tiles and staged tiles ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

//===----------------------------------------------------------------------===//
// Shared checks
//===----------------------------------------------------------------------===//

/// A register tile's shape must be the one that its lane map covers.
static LogicalResult verifyTileType(Operation *op, StringRef what, Type type) {
  if (!isRegisterTile(type))
    return success();
  auto tensor = cast<RankedTensorType>(type);
  LanesAttr lanes = getLanes(type);
  if (static_cast<int64_t>(lanes.getRank()) != tensor.getRank())
    return op->emitOpError() << what << " has rank " << tensor.getRank()
                             << ", its lane map " << lanes.getRank();
  SmallVector<int64_t> covered = lanes.getTileShape();
  if (ArrayRef<int64_t>(covered) != tensor.getShape()) {
    InFlightDiagnostic diag = op->emitOpError()
                              << what << " is " << type
                              << ", its lane map covers a tile of [";
    llvm::interleaveComma(covered, diag);
    return diag << "]";
  }
  return success();
}

/// Checks indices, map and limits of an access from a tile of `tileShape` to
/// `memory`.
static LogicalResult verifyAccess(Operation *op, ShapedType memory,
                                  ArrayRef<int64_t> tileShape,
                                  ValueRange indices, ValueRange limits,
                                  AffineMap map) {
  int64_t tileRank = tileShape.size();
  if (static_cast<int64_t>(indices.size()) != memory.getRank())
    return op->emitOpError() << "expects one index per dimension of " << memory
                             << " (" << memory.getRank() << "), found "
                             << indices.size();
  if (static_cast<int64_t>(map.getNumDims()) != tileRank ||
      map.getNumSymbols() != 0 ||
      static_cast<int64_t>(map.getNumResults()) != memory.getRank())
    return op->emitOpError()
           << "expects a map from the tile's " << tileRank
           << " dimensions to the memory's " << memory.getRank() << ", found "
           << AffineMapAttr::get(map);
  for (AffineExpr result : map.getResults())
    if (!result.isPureAffine() ||
        result.walk([](AffineExpr expr) {
                return expr.getKind() == AffineExprKind::FloorDiv ||
                               expr.getKind() == AffineExprKind::CeilDiv ||
                               expr.getKind() == AffineExprKind::Mod
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
            .wasInterrupted())
      return op->emitOpError()
             << "expects a map linear in the tile's coordinates, found "
             << AffineMapAttr::get(map);
  if (!limits.empty() && static_cast<int64_t>(limits.size()) != tileRank)
    return op->emitOpError() << "expects one limit per tile dimension ("
                             << tileRank << "), found " << limits.size();
  return success();
}

static LogicalResult verifyPadded(Operation *op, ArrayRef<int64_t> padded,
                                  int64_t rank) {
  for (int64_t dim : padded)
    if (dim < 0 || dim >= rank)
      return op->emitOpError() << "expects padded dimensions of the source, "
                                  "which has rank "
                               << rank << ", found " << dim;
  return success();
}

static void addMemRefEffect(
    OpOperand &operand, bool write,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (!isa<MemRefType>(operand.get().getType()))
    return;
  if (write)
    effects.emplace_back(MemoryEffects::Write::get(), &operand,
                         SideEffects::DefaultResource::get());
  else
    effects.emplace_back(MemoryEffects::Read::get(), &operand,
                         SideEffects::DefaultResource::get());
}

//===----------------------------------------------------------------------===//
// load, store, prefetch
//===----------------------------------------------------------------------===//

LogicalResult LoadOp::verify() {
  auto tile = cast<RankedTensorType>(getResult().getType());
  auto source = cast<ShapedType>(getSource().getType());
  if (failed(verifyTileType(*this, "result", tile)))
    return failure();
  if (source.getElementType() != tile.getElementType())
    return emitOpError() << "expects the source's element type "
                         << source.getElementType() << " in its result, found "
                         << tile.getElementType();
  if (getPadding() && getPadding().getType() != tile.getElementType())
    return emitOpError() << "expects padding of type " << tile.getElementType()
                         << ", found " << getPadding().getType();
  return verifyAccess(*this, source, tile.getShape(), getIndices(), getLimits(),
                      getMap());
}

void LoadOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  addMemRefEffect(getSourceMutable(), /*write=*/false, effects);
}

LogicalResult StoreOp::verify() {
  auto tile = cast<RankedTensorType>(getValue().getType());
  auto dest = cast<ShapedType>(getDest().getType());
  if (failed(verifyTileType(*this, "value", tile)))
    return failure();
  if (dest.getElementType() != tile.getElementType())
    return emitOpError() << "expects a tile of the destination's element type "
                         << dest.getElementType() << ", found "
                         << tile.getElementType();
  // A dimension that no result uses would write one element many times.
  for (int64_t dim = 0; dim < tile.getRank(); ++dim)
    if (tile.getDimSize(dim) > 1 &&
        llvm::none_of(getMap().getResults(),
                      [&](AffineExpr e) { return e.isFunctionOfDim(dim); }))
      return emitOpError() << "expects a map that uses tile dimension " << dim
                           << ", found " << getMapAttr();
  return verifyAccess(*this, dest, tile.getShape(), getIndices(), getLimits(),
                      getMap());
}

void StoreOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  addMemRefEffect(getDestMutable(), /*write=*/true, effects);
}

LogicalResult PrefetchOp::verify() {
  return verifyAccess(*this, cast<ShapedType>(getSource().getType()),
                      getShape(), getIndices(), getLimits(), getMap());
}

void PrefetchOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  // Both, so that the request stays where it was written.
  addMemRefEffect(getSourceMutable(), /*write=*/false, effects);
  addMemRefEffect(getSourceMutable(), /*write=*/true, effects);
}

//===----------------------------------------------------------------------===//
// mma, reduce, broadcast, relayout, coordinate
//===----------------------------------------------------------------------===//

LogicalResult MmaOp::verify() {
  auto lhs = cast<ShapedType>(getLhs().getType());
  auto rhs = cast<ShapedType>(getRhs().getType());
  auto acc = cast<RankedTensorType>(getAcc().getType());
  if (failed(verifyTileType(*this, "accumulator", acc)))
    return failure();
  if (lhs.getRank() != 2 || rhs.getRank() != 2 || acc.getRank() != 2)
    return emitOpError() << "expects operands of rank 2, found "
                         << lhs.getRank() << ", " << rhs.getRank() << " and "
                         << acc.getRank();
  auto differ = [](int64_t a, int64_t b) {
    return !ShapedType::isDynamic(a) && !ShapedType::isDynamic(b) && a != b;
  };
  if (differ(lhs.getDimSize(0), acc.getDimSize(0)) ||
      differ(rhs.getDimSize(1), acc.getDimSize(1)) ||
      differ(lhs.getDimSize(1), rhs.getDimSize(0)))
    return emitOpError() << "expects [m, k], [k, n] and [m, n], found " << lhs
                         << ", " << rhs << " and " << acc;
  if (lhs.getElementType() != rhs.getElementType())
    return emitOpError() << "expects one element type in both operands, found "
                         << lhs.getElementType() << " and "
                         << rhs.getElementType();
  if (isa<FloatType>(lhs.getElementType()) !=
      isa<FloatType>(acc.getElementType()))
    return emitOpError() << "cannot accumulate products of "
                         << lhs.getElementType() << " in "
                         << acc.getElementType();
  if (!getDepth() && ShapedType::isDynamic(lhs.getDimSize(1)) &&
      ShapedType::isDynamic(rhs.getDimSize(0)))
    return emitOpError() << "expects a depth, as both operands have a dynamic k";
  return success();
}

LogicalResult ReduceOp::verify() {
  auto value = cast<RankedTensorType>(getValue().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  int64_t dim = getDim();
  if (failed(verifyTileType(*this, "operand", value)))
    return failure();
  if (dim < 0 || dim >= value.getRank())
    return emitOpError() << "expects a dimension below " << value.getRank()
                         << ", found " << dim;
  SmallVector<int64_t> shape(value.getShape());
  shape[dim] = 1;
  auto expected =
      RankedTensorType::get(shape, value.getElementType(),
                            getLanes(value).getReduced(dim));
  if (result != expected)
    return emitOpError() << "expects a result of type " << expected
                         << ", found " << result;
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto value = cast<RankedTensorType>(getValue().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (failed(verifyTileType(*this, "operand", value)) ||
      failed(verifyTileType(*this, "result", result)))
    return failure();
  LanesAttr lanes = getLanes(result);
  if (value.getRank() != result.getRank() ||
      value.getElementType() != result.getElementType())
    return emitOpError() << "expects operand and result of one rank and "
                            "element type, found "
                         << value << " and " << result;
  for (int64_t dim = 0; dim < value.getRank(); ++dim) {
    if (value.getDimSize(dim) == result.getDimSize(dim))
      continue;
    if (value.getDimSize(dim) != 1)
      return emitOpError() << "expects extent 1 or " << result.getDimSize(dim)
                           << " in dimension " << dim << ", found "
                           << value.getDimSize(dim);
    lanes = lanes.getReduced(dim);
  }
  if (getLanes(value) != lanes)
    return emitOpError() << "expects an operand with the lane map " << lanes
                         << ", found " << getLanes(value);
  return success();
}

LogicalResult RelayoutOp::verify() {
  auto value = cast<RankedTensorType>(getValue().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (failed(verifyTileType(*this, "operand", value)) ||
      failed(verifyTileType(*this, "result", result)))
    return failure();
  if (value.getShape() != result.getShape() ||
      value.getElementType() != result.getElementType())
    return emitOpError() << "changes the lane map only, found " << value
                         << " and " << result;
  return success();
}

OpFoldResult RelayoutOp::fold(FoldAdaptor) {
  if (getValue().getType() == getResult().getType())
    return getValue();
  return {};
}

LogicalResult CoordinateOp::verify() {
  auto result = cast<RankedTensorType>(getResult().getType());
  if (failed(verifyTileType(*this, "result", result)))
    return failure();
  int64_t dim = getDim();
  if (dim < 0 || dim >= result.getRank())
    return emitOpError() << "expects a dimension below " << result.getRank()
                         << ", found " << dim;
  if (!result.getElementType().isIntOrIndex())
    return emitOpError() << "expects an integer or index result, found "
                         << result.getElementType();
  return success();
}

//===----------------------------------------------------------------------===//
// stage, view, scratch, copy
//===----------------------------------------------------------------------===//

LogicalResult StageOp::verify() {
  auto tile = cast<RankedTensorType>(getResult().getType());
  auto source = cast<MemRefType>(getSource().getType());
  if (getSlots() < 1 || getSlots() > 64)
    return emitOpError() << "expects 1 to 64 slots, found " << getSlots();
  if (failed(verifyPadded(*this, getPadded(), source.getRank())))
    return failure();
  return verifyAccess(*this, source, tile.getShape(), getIndices(), getLimits(),
                      getMap());
}

void StageOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  addMemRefEffect(getSourceMutable(), /*write=*/false, effects);
}

LogicalResult ViewOp::verify() {
  auto source = cast<ShapedType>(getSource().getType());
  auto result = cast<ShapedType>(getResult().getType());
  if (!result.hasRank() || source.getElementType() != result.getElementType())
    return emitOpError() << "expects a ranked view of element type "
                         << source.getElementType() << ", found " << result;
  if (isStagedTile(source) != isStagedTile(result))
    return emitOpError() << "expects a view in the source's memory, found "
                         << source << " and " << result;
  if (auto memref = dyn_cast<MemRefType>(source))
    if (memref.getMemorySpace() != cast<MemRefType>(result).getMemorySpace())
      return emitOpError() << "expects a view in the source's memory, found "
                           << source << " and " << result;
  return verifyAccess(*this, source, result.getShape(), getOffsets(), {},
                      getMap());
}

LogicalResult ScratchOp::verify() {
  auto memref = cast<MemRefType>(getResult().getType());
  if (!memref.hasStaticShape() || !memref.getLayout().isIdentity() ||
      !isa_and_nonnull<StagedAttr>(memref.getMemorySpace()))
    return emitOpError() << "expects a memref of static shape and identity "
                            "layout in staged memory, found "
                         << memref;
  return success();
}

LogicalResult CopyOp::verify() {
  auto dest = cast<MemRefType>(getDest().getType());
  auto source = cast<MemRefType>(getSource().getType());
  if (!dest.hasStaticShape() ||
      !isa_and_nonnull<StagedAttr>(dest.getMemorySpace()))
    return emitOpError() << "expects a destination of static shape in staged "
                            "memory, found "
                         << dest;
  if (failed(verifyPadded(*this, getPadded(), source.getRank())))
    return failure();
  return verifyAccess(*this, source, dest.getShape(), getIndices(), getLimits(),
                      getMap());
}

void CopyOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  addMemRefEffect(getSourceMutable(), /*write=*/false, effects);
  addMemRefEffect(getDestMutable(), /*write=*/true, effects);
}
