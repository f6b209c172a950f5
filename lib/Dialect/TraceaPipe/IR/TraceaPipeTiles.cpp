//===- TraceaPipeTiles.cpp - Register tiles and staged tiles --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the operations on tiles: loads, stores, views, multiplies,
// reductions, changes of lanes.

#include "Verifiers.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "tracea/Dialect/TraceaPipe/IR/Words.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
using namespace mlir::tracea_pipe::verifiers;

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
  return verifyTransfer(*this);
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
  if (failed(verifyTransfer(*this)))
    return failure();
  for (Value walk : getWalks())
    if (GatherOp gather = getGather(walk)) {
      InFlightDiagnostic error =
          emitOpError() << "expects walks that go to each place once, found "
                           "one along a table, which may name a place twice";
      error.attachNote(gather.getLoc()) << "the table is read here";
      return error;
    }
  if (!isInjective(*getTileTransfer(*this)))
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
        elements > kMostElements)
      return emitOpError() << "expects a shape of 1 to " << kMostElements
                           << " elements, found [" << getShape() << "]";
  return verifyTransfer(*this);
}

void PrefetchOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  // Both, so that the request stays where it was written.
  addMemRefEffect(getSourceMutable(), /*write=*/false, effects);
  addMemRefEffect(getSourceMutable(), /*write=*/true, effects);
  // A staged tile is a value, of which nothing is written.
  if (!isa<MemRefType>(getSource().getType()))
    effects.emplace_back(MemoryEffects::Write::get(),
                         SideEffects::DefaultResource::get());
}

//===----------------------------------------------------------------------===//
// mma, reduce, broadcast, relayout, coordinate
//===----------------------------------------------------------------------===//

/// Whether `spans` are pairs of a first row, at most `lastFirst`, and an end of
/// `rows`.
static bool areSpans(ArrayRef<int64_t> spans, int64_t lastFirst, int64_t rows) {
  if (spans.size() % 2)
    return false;
  for (size_t i = 0; i < spans.size(); i += 2)
    if (spans[i] < 0 || spans[i] > lastFirst || spans[i] >= spans[i + 1] ||
        spans[i + 1] > rows)
      return false;
  return true;
}

LogicalResult MmaOp::verify() {
  auto lhs = cast<ShapedType>(getLhs().getType());
  auto rhs = cast<ShapedType>(getRhs().getType());
  auto acc = cast<RankedTensorType>(getAcc().getType());
  if (failed(verifyTileType(*this, "accumulator", acc)))
    return failure();
  if (failed(verifyProduct(*this, lhs, rhs, acc)))
    return failure();
  if (!getDepth() && ShapedType::isDynamic(lhs.getDimSize(1)) &&
      ShapedType::isDynamic(rhs.getDimSize(0)))
    return emitOpError()
           << "expects a depth, as both operands have a dynamic k";
  if (std::optional<int64_t> depth =
          getDepth() ? getConstantIntValue(getAsOpFoldResult(getDepth()))
                     : std::nullopt)
    for (int64_t extent : {lhs.getDimSize(1), rhs.getDimSize(0)})
      if (*depth < 0 || (!ShapedType::isDynamic(extent) && *depth > extent))
        return emitOpError() << "expects a depth of 0 to the extent of k in "
                                "both operands, found "
                             << *depth << " for " << lhs << " and " << rhs;
  if (!getLimits().empty() && getLimits().size() != 2)
    return emitOpError() << "expects two limits, of rows and columns, found "
                         << getLimits().size();
  if (!getLimits().empty() && getWordLength(lhs) > 1)
    return emitOpError() << "has no limits where its operands are packed in "
                            "words, which copies pad with zeros";
  if (!getRows().empty() && (getRows().size() != 2 || !getLimits().empty()))
    return emitOpError() << "expects a first row and an end of rows, without "
                            "limits, found "
                         << getRows().size() << " and " << getLimits().size()
                         << " limits";
  if (std::optional<ArrayRef<int64_t>> spans = getSpans()) {
    int64_t extent = acc.getDimSize(0);
    // Limits leave the first row in.
    if ((getRows().empty() && getLimits().empty()) ||
        !areSpans(*spans, getLimits().empty() ? extent : 0, extent))
      return emitOpError() << "expects spans, beside rows or limits, to be "
                              "pairs of a first one, beside limits 0, and a "
                              "later end of "
                           << extent << " rows, found [" << *spans << "]";
  }
  if (getPrecision() != Precision::Full)
    for (Type type :
         {lhs.getElementType(), rhs.getElementType(), acc.getElementType()})
      if (!type.isF32())
        return emitOpError()
               << "expects f32 where it has the precision '"
               << stringifyPrecision(getPrecision()) << "', found " << type;
  return success();
}

void MmaOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  addMemRefEffect(getLhsMutable(), /*write=*/false, effects);
  addMemRefEffect(getRhsMutable(), /*write=*/false, effects);
}

/// Whether `lanes` is the map of a reduced tile, or one in which lanes that
/// would hold the same elements share registers of it.
static bool isReducedMap(LanesAttr reduced, LanesAttr lanes) {
  if (lanes == reduced)
    return true;
  if (!lanes || lanes.getWarp() != reduced.getWarp() ||
      lanes.getOuter() != reduced.getOuter() ||
      lanes.getLane().size() != reduced.getLane().size())
    return false;
  SmallVector<DenseI64ArrayAttr> registers(reduced.getReg());
  for (auto [before, after] :
       llvm::zip_equal(reduced.getLane(), lanes.getLane())) {
    if (before == after)
      continue;
    auto *shared = llvm::find(registers, after);
    if (llvm::any_of(before.asArrayRef(), [](int64_t x) { return x != 0; }) ||
        shared == registers.end())
      return false;
    registers.erase(shared);
  }
  return ArrayRef<DenseI64ArrayAttr>(registers) == lanes.getReg();
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
  // To extent one, or to as many groups as the result has.
  int64_t groups =
      result.getRank() == value.getRank() ? result.getDimSize(dim) : 1;
  LanesAttr lanes = getLanes(value).getReduced(dim, groups);
  if (!lanes)
    return emitOpError() << "expects groups of a power of two of neighbours "
                            "that lie within the linear map of "
                         << value << ", found " << groups << " groups";
  SmallVector<int64_t> shape(value.getShape());
  shape[dim] = groups;
  auto expected = RankedTensorType::get(shape, value.getElementType(), lanes);
  if (result.getShape() != expected.getShape() ||
      result.getElementType() != expected.getElementType() ||
      !isReducedMap(lanes, getLanes(result)))
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

std::optional<SmallVector<int64_t>> SliceOp::getRegisters() {
  LanesAttr from = getLanes(getValue().getType());
  LanesAttr to = getLanes(getResult().getType());
  if (from.getLane() != to.getLane() || from.getWarp() != to.getWarp())
    return std::nullopt;
  // The same place of lane 0 is the same place of every lane: lanes add alike
  // where they share no bit with registers.
  if (!from.hasSeparateLanes() || !to.hasSeparateLanes())
    return std::nullopt;
  llvm::SmallDenseMap<ArrayRef<int64_t>, int64_t> places;
  std::vector<SmallVector<int64_t>> coordinates;
  for (int64_t reg = 0; reg < from.getNumRegisters(); ++reg)
    coordinates.push_back(from.getCoordinate(reg, 0));
  for (auto [reg, coordinate] : llvm::enumerate(coordinates))
    places.try_emplace(coordinate, reg);
  SmallVector<int64_t> registers;
  for (int64_t reg = 0; reg < to.getNumRegisters(); ++reg) {
    SmallVector<int64_t> place = to.getCoordinate(reg, 0);
    for (auto [coordinate, offset] : llvm::zip_equal(place, getOffsets()))
      coordinate += offset;
    auto it = places.find(place);
    if (it == places.end())
      return std::nullopt;
    registers.push_back(it->second);
  }
  return registers;
}

LogicalResult SliceOp::verify() {
  auto value = cast<RankedTensorType>(getValue().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (failed(verifyTileType(*this, "operand", value)) ||
      failed(verifyTileType(*this, "result", result)))
    return failure();
  if (value.getRank() != result.getRank() ||
      value.getElementType() != result.getElementType() ||
      static_cast<int64_t>(getOffsets().size()) != value.getRank())
    return emitOpError() << "expects operand, result and offsets of one rank "
                            "and element type, found "
                         << value << ", " << result << " and [" << getOffsets()
                         << "]";
  for (auto [dim, offset] : llvm::enumerate(getOffsets()))
    if (offset < 0 || offset > value.getDimSize(dim) - result.getDimSize(dim))
      return emitOpError() << "reaches beyond dimension " << dim << " of "
                           << value << " with offset " << offset
                           << " and extent " << result.getDimSize(dim);
  if (!getRegisters())
    return emitOpError() << "expects lane maps by which every lane keeps its "
                            "elements, found "
                         << getLanes(value) << " and " << getLanes(result);
  return success();
}

LogicalResult AnyOp::verify() {
  auto value = cast<RankedTensorType>(getValue().getType());
  if (failed(verifyTileType(*this, "operand", value)))
    return failure();
  if (!value.getElementType().isInteger(1))
    return emitOpError() << "expects a tile of conditions (i1), found "
                         << value.getElementType();
  return success();
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
  if (failed(
          verifyCopied(*this, source.getElementType(), tile.getElementType())))
    return failure();
  // Types made by passes; parsed ones were checked already.
  if (failed(cast<StagedAttr>(tile.getEncoding())
                 .verifyEncoding(tile.getShape(), tile.getElementType(),
                                 [&]() { return emitOpError() << "makes "; })))
    return failure();
  return verifyTransfer(*this);
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
  if (failed(verifyAccess(*this, source, result.getRank(), result.getRank(),
                          getOffsets(), {}, getMap())))
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
  if (failed(
          verifyCopied(*this, source.getElementType(), dest.getElementType())))
    return failure();
  return verifyTransfer(*this);
}

void CopyOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  addMemRefEffect(getSourceMutable(), /*write=*/false, effects);
  addMemRefEffect(getDestMutable(), /*write=*/true, effects);
}
