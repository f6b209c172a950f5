//===- TraceaPipeAsync.cpp - What runs beside its role --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of operations that are started and waited for: asynchronous
// multiplies, groups, copies out.

#include "Verifiers.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
using namespace mlir::tracea_pipe::verifiers;

LogicalResult InFlightType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   RankedTensorType tile) {
  if (tile && isRegisterTile(tile))
    return success();
  return emitError() << "a tile in flight is a register tile, found " << tile;
}

LogicalResult
OrderBarrierType::verify(function_ref<InFlightDiagnostic()> emitError,
                         int64_t teams) {
  if (teams >= 2 && teams <= 8)
    return success();
  return emitError() << "2 to 8 teams take turns, found " << teams;
}

//===----------------------------------------------------------------------===//
// mma_async
//===----------------------------------------------------------------------===//

RankedTensorType MmaAsyncOp::getTileType() {
  return cast<InFlightType>(getResult().getType()).getTile();
}

LogicalResult MmaAsyncOp::verify() {
  RankedTensorType tile = getTileType();
  if (failed(verifyTileType(*this, "result", tile)))
    return failure();
  if (Value acc = getAcc()) {
    Type type = acc.getType();
    if (auto inFlight = dyn_cast<InFlightType>(type))
      type = inFlight.getTile();
    if (type != tile)
      return emitOpError()
             << "expects to accumulate onto a tile of its result's "
                "type "
             << tile << ", found " << type;
  }
  auto lhs = cast<ShapedType>(getLhs().getType());
  auto rhs = cast<ShapedType>(getRhs().getType());
  if (!lhs.hasStaticShape() || !rhs.hasStaticShape())
    return emitOpError() << "expects operands of static shape, found " << lhs
                         << " and " << rhs;
  return verifyProduct(*this, lhs, rhs, tile);
}

void MmaAsyncOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  addMemRefEffect(getLhsMutable(), /*write=*/false, effects);
  addMemRefEffect(getRhsMutable(), /*write=*/false, effects);
}

//===----------------------------------------------------------------------===//
// wait_group
//===----------------------------------------------------------------------===//

ParseResult WaitGroupOp::parse(OpAsmParser &parser, OperationState &result) {
  UnitAttr unit;
  int64_t pending;
  if (parser.parseCustomAttributeWithFallback(unit, Type(), "unit",
                                              result.attributes) ||
      parser.parseKeyword("pending") || parser.parseInteger(pending))
    return failure();
  result.addAttribute(getPendingAttrName(result.name),
                      parser.getBuilder().getI64IntegerAttr(pending));
  if (succeeded(parser.parseOptionalLParen())) {
    SmallVector<OpAsmParser::UnresolvedOperand> operands;
    SmallVector<Type> types;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseOperandList(operands) || parser.parseColonTypeList(types) ||
        parser.parseRParen() ||
        parser.resolveOperands(operands, types, loc, result.operands))
      return failure();
    for (Type type : types) {
      auto inFlight = dyn_cast<InFlightType>(type);
      if (!inFlight)
        return parser.emitError(loc)
               << "expected tiles in flight, found " << type;
      result.addTypes(inFlight.getTile());
    }
  }
  return parser.parseOptionalAttrDict(result.attributes);
}

void WaitGroupOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyUnit(getUnit()) << " pending "
          << static_cast<int64_t>(getPending());
  if (!getInFlight().empty())
    printer << " (" << getInFlight() << " : " << getInFlight().getTypes()
            << ')';
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getUnitAttrName(), getPendingAttrName()});
}

LogicalResult WaitGroupOp::verify() {
  int64_t pending = getPending();
  if (pending < 0 || pending > 7)
    return emitOpError() << "expects 0 to 7 pending groups, found " << pending;
  if (!getInFlight().empty() && getUnit() != Unit::Mma)
    return emitOpError() << "takes tiles in flight, which only the unit 'mma' "
                            "makes, from the unit '"
                         << stringifyUnit(getUnit()) << "'";
  if (getInFlight().size() != getTiles().size())
    return emitOpError() << "expects one result for each of its "
                         << getInFlight().size() << " tiles in flight, found "
                         << getTiles().size();
  for (auto [inFlight, tile] : llvm::zip_equal(getInFlight(), getTiles()))
    if (cast<InFlightType>(inFlight.getType()).getTile() != tile.getType())
      return emitOpError() << "expects a result of type "
                           << cast<InFlightType>(inFlight.getType()).getTile()
                           << ", found " << tile.getType();
  return success();
}

//===----------------------------------------------------------------------===//
// copy_out
//===----------------------------------------------------------------------===//

LogicalResult CopyOutOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  auto dest = cast<MemRefType>(getDest().getType());
  if (!isa_and_nonnull<StagedAttr>(source.getMemorySpace()))
    return emitOpError() << "expects a source in staged memory, found "
                         << source;
  if (isa_and_nonnull<StagedAttr>(dest.getMemorySpace()))
    return emitOpError() << "expects a destination outside of staged memory, "
                            "found "
                         << dest;
  if (!source.hasStaticShape())
    return emitOpError() << "expects a source of static shape, found "
                         << source;
  if (source.getElementType() != dest.getElementType())
    return emitOpError() << "expects one element type, found "
                         << source.getElementType() << " and "
                         << dest.getElementType();
  if (failed(verifyTransfer(*this)))
    return failure();
  if (!isInjective(*getTileTransfer(*this)))
    return emitOpError() << "expects a map known to send no two elements of "
                         << source << " to one place, found " << getMapAttr();
  return success();
}

void CopyOutOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  addMemRefEffect(getSourceMutable(), /*write=*/false, effects);
  addMemRefEffect(getDestMutable(), /*write=*/true, effects);
}
