//===- TraceaPipeTiles.cpp - Register tiles and staged tiles --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/IR/Builders.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

//===----------------------------------------------------------------------===//
// Shared checks
//===----------------------------------------------------------------------===//

/// A register tile's shape must be the one that its lane map covers. Parsed
/// types were checked already; types made by passes are checked here.
static LogicalResult verifyTileType(Operation *op, StringRef what, Type type) {
  if (!isRegisterTile(type))
    return success();
  auto tensor = cast<RankedTensorType>(type);
  return getLanes(type).verifyEncoding(
      tensor.getShape(), tensor.getElementType(),
      [&]() { return op->emitOpError() << what << " is a "; });
}

/// Coefficients of access maps stay where no index arithmetic can overflow.
static constexpr int64_t kMaxCoefficient = int64_t(1) << 30;

/// Checks indices, map and limits of an access from a tile of `tileShape` to
/// `memory`.
static LogicalResult verifyAccess(Operation *op, ShapedType memory,
                                  ArrayRef<int64_t> tileShape,
                                  ValueRange indices, ValueRange limits,
                                  AffineMap map) {
  int64_t tileRank = tileShape.size();
  if (static_cast<int64_t>(indices.size()) != memory.getRank())
    return op->emitOpError()
           << "expects one index per dimension of " << memory << " ("
           << memory.getRank() << "), found " << indices.size();
  if (static_cast<int64_t>(map.getNumDims()) != tileRank ||
      map.getNumSymbols() != 0 ||
      static_cast<int64_t>(map.getNumResults()) != memory.getRank())
    return op->emitOpError()
           << "expects a map from the tile's " << tileRank
           << " dimensions to the memory's " << memory.getRank() << ", found "
           << AffineMapAttr::get(map);
  for (AffineExpr result : map.getResults()) {
    std::optional<LinearForm> form = tryGetLinearForm(result, tileRank);
    auto isLarge = [](int64_t c) {
      return c > kMaxCoefficient || c < -kMaxCoefficient;
    };
    if (!form || isLarge(form->constant) ||
        llvm::any_of(form->coefficients, isLarge))
      return op->emitOpError() << "expects a map linear in the tile's "
                                  "coordinates, with coefficients in [-2^30, "
                                  "2^30], found "
                               << AffineMapAttr::get(map);
  }
  if (!limits.empty() && static_cast<int64_t>(limits.size()) != tileRank)
    return op->emitOpError() << "expects one limit per tile dimension ("
                             << tileRank << "), found " << limits.size();
  return success();
}

static LogicalResult verifyPadded(Operation *op, ArrayRef<int64_t> padded,
                                  int64_t rank) {
  for (auto [position, dim] : llvm::enumerate(padded)) {
    if (dim < 0 || dim >= rank)
      return op->emitOpError() << "expects padded dimensions of the source, "
                                  "which has rank "
                               << rank << ", found " << dim;
    if (llvm::is_contained(padded.take_front(position), dim))
      return op->emitOpError() << "repeats the padded dimension " << dim;
  }
  return success();
}

/// What a copy can convert: floats and signless integers.
static LogicalResult verifyCopied(Operation *op, Type source, Type dest) {
  auto isNumber = [](Type type) {
    return type.isSignlessIntOrFloat() && type.getIntOrFloatBitWidth() <= 64;
  };
  if (!isNumber(source) || !isNumber(dest))
    return op->emitOpError() << "copies floats and signless integers of up to "
                                "64 bits, found "
                             << source << " and " << dest;
  return success();
}

/// Whether no two elements of the tile have one place in memory. A dimension
/// that has a memory dimension to itself cannot collide; only what is left is
/// enumerated, and taken to collide when that is too much.
static bool isInjective(AffineMap map, ArrayRef<int64_t> shape) {
  SmallVector<LinearForm> forms;
  for (AffineExpr expr : map.getResults())
    forms.push_back(getLinearForm(expr, shape.size()));
  SmallVector<int64_t> mixed;
  int64_t elements = 1;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    bool alone = llvm::any_of(forms, [&, dim = dim](const LinearForm &form) {
      return form.coefficients[dim] != 0 &&
             llvm::count_if(form.coefficients,
                            [](int64_t c) { return c != 0; }) == 1;
    });
    if (alone || extent <= 1)
      continue;
    mixed.push_back(dim);
    if (llvm::MulOverflow(elements, extent, elements) || elements > 65536)
      return false;
  }
  llvm::DenseSet<ArrayRef<int64_t>> seen;
  std::vector<SmallVector<int64_t>> images(elements);
  for (int64_t element = 0; element < elements; ++element) {
    SmallVector<int64_t> &image = images[element];
    image.assign(forms.size(), 0);
    int64_t rest = element;
    for (int64_t dim : mixed) {
      for (auto [sum, form] : llvm::zip(image, forms))
        sum += form.coefficients[dim] * (rest % shape[dim]);
      rest /= shape[dim];
    }
    if (!seen.insert(image).second)
      return false;
  }
  return true;
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
  if (failed(verifyAccess(*this, dest, tile.getShape(), getIndices(),
                          getLimits(), getMap())))
    return failure();
  if (!isInjective(getMap(), tile.getShape()))
    return emitOpError() << "expects a map known to send no two elements of "
                         << tile << " to one place, found " << getMapAttr();
  return success();
}

void StoreOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  addMemRefEffect(getDestMutable(), /*write=*/true, effects);
}

LogicalResult PrefetchOp::verify() {
  int64_t elements = 1;
  for (int64_t extent : getShape())
    if (extent < 1 || llvm::MulOverflow(elements, extent, elements) ||
        elements > 65536)
      return emitOpError() << "expects a shape of 1 to 65536 elements, found ["
                           << getShape() << "]";
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
  auto isNumber = [](Type type) {
    return type.isSignlessIntOrFloat() && type.getIntOrFloatBitWidth() >= 8;
  };
  if (!isNumber(lhs.getElementType()) || !isNumber(acc.getElementType()) ||
      isa<FloatType>(lhs.getElementType()) !=
          isa<FloatType>(acc.getElementType()) ||
      lhs.getElementTypeBitWidth() > acc.getElementTypeBitWidth())
    return emitOpError() << "cannot accumulate products of "
                         << lhs.getElementType() << " in "
                         << acc.getElementType();
  if (!getDepth() && ShapedType::isDynamic(lhs.getDimSize(1)) &&
      ShapedType::isDynamic(rhs.getDimSize(0)))
    return emitOpError()
           << "expects a depth, as both operands have a dynamic k";
  if (!getLimits().empty() && getLimits().size() != 2)
    return emitOpError() << "expects two limits, of rows and columns, found "
                         << getLimits().size();
  return success();
}

void MmaOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  addMemRefEffect(getLhsMutable(), /*write=*/false, effects);
  addMemRefEffect(getRhsMutable(), /*write=*/false, effects);
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
  auto expected = RankedTensorType::get(shape, value.getElementType(),
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
  Type elementType = result.getElementType();
  if (!elementType.isIntOrIndex())
    return emitOpError() << "expects an integer or index result, found "
                         << elementType;
  int64_t largest = result.getDimSize(dim) - 1;
  if (!elementType.isIndex() &&
      !llvm::isIntN(elementType.getIntOrFloatBitWidth(), largest))
    return emitOpError() << "expects a type that holds " << largest
                         << ", found " << elementType;
  return success();
}

//===----------------------------------------------------------------------===//
// stage, view, scratch, copy
//===----------------------------------------------------------------------===//

LogicalResult StageOp::verify() {
  auto tile = cast<RankedTensorType>(getResult().getType());
  auto source = cast<MemRefType>(getSource().getType());
  int64_t slots = getSlots();
  if (slots < 1 || slots > 64)
    return emitOpError() << "expects 1 to 64 slots, found " << slots;
  if (failed(verifyPadded(*this, getPadded(), source.getRank())) ||
      failed(
          verifyCopied(*this, source.getElementType(), tile.getElementType())))
    return failure();
  // Types made by passes; parsed ones were checked already.
  if (failed(cast<StagedAttr>(tile.getEncoding())
                 .verifyEncoding(tile.getShape(), tile.getElementType(),
                                 [&]() { return emitOpError() << "makes "; })))
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
  auto memory = dyn_cast<MemRefType>(source);
  auto window = dyn_cast<MemRefType>(result);
  Attribute sourceSpace = memory ? memory.getMemorySpace()
                                 : cast<RankedTensorType>(source).getEncoding();
  Attribute resultSpace = window ? window.getMemorySpace()
                                 : cast<RankedTensorType>(result).getEncoding();
  if (!memory != !window || sourceSpace != resultSpace)
    return emitOpError() << "expects a view in the source's memory, found "
                         << source << " and " << result;
  if (!result.hasStaticShape())
    return emitOpError() << "expects a view of static shape, found " << result;
  if (failed(verifyAccess(*this, source, result.getShape(), getOffsets(), {},
                          getMap())))
    return failure();
  // Memory without elements has no strides to speak of.
  if (!memory || llvm::is_contained(memory.getShape(), 0))
    return success();
  // The type's strides must be the ones that the map makes.
  SmallVector<int64_t> strides;
  int64_t offset;
  std::optional<SmallVector<int64_t>> expected =
      getViewStrides(memory, getMap());
  if (!expected || failed(window.getStridesAndOffset(strides, offset)))
    return emitOpError() << "expects strided layouts, found " << memory
                         << " and " << window;
  if (!ShapedType::isDynamic(offset))
    return emitOpError() << "expects a view of dynamic offset, found "
                         << window;
  for (auto [dim, stride] : llvm::enumerate(strides)) {
    if (ShapedType::isDynamic(stride) || window.getDimSize(dim) == 1 ||
        (*expected)[dim] == stride)
      continue;
    InFlightDiagnostic diag = emitOpError()
                              << "expects strides that follow from its map, "
                                 "found "
                              << window << " where the map gives ";
    if (ShapedType::isDynamic((*expected)[dim]))
      return diag << "a dynamic stride of dimension " << dim;
    return diag << (*expected)[dim] << " for dimension " << dim;
  }
  return success();
}

LogicalResult ScratchOp::verify() {
  auto memref = cast<MemRefType>(getResult().getType());
  auto space = dyn_cast_or_null<StagedAttr>(memref.getMemorySpace());
  if (!space || !memref.getLayout().isIdentity())
    return emitOpError() << "expects a memref of identity layout in staged "
                            "memory, found "
                         << memref;
  return space.verifyEncoding(memref.getShape(), memref.getElementType(),
                              [&]() { return emitOpError(); });
}

LogicalResult CopyOp::verify() {
  auto dest = cast<MemRefType>(getDest().getType());
  auto source = cast<MemRefType>(getSource().getType());
  if (!dest.hasStaticShape() ||
      !isa_and_nonnull<StagedAttr>(dest.getMemorySpace()))
    return emitOpError() << "expects a destination of static shape in staged "
                            "memory, found "
                         << dest;
  if (failed(verifyPadded(*this, getPadded(), source.getRank())) ||
      failed(
          verifyCopied(*this, source.getElementType(), dest.getElementType())))
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
