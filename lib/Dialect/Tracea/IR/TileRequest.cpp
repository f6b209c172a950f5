//===- TileRequest.cpp - Tiles of the operands of an operation ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which loops a tile cuts, what an epilogue's operands are then, and the
// operation on slices of its operands.
//
//===----------------------------------------------------------------------===//

#include "TileRequest.h"
#include "Clone.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::tracea;

/// The tensor that a loop-carried destination had before the loops.
static Value lookThroughLoops(Value value) {
  while (BlockArgument argument = dyn_cast<BlockArgument>(value)) {
    LoopLikeOpInterface loop =
        dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    if (!init)
      break;
    value = init->get();
  }
  return value;
}

bool TileRequest::isWhole(unsigned loop) const {
  const Loop &range = loops[loop];
  int64_t extent =
      cast<RankedTensorType>(range.source.getType()).getDimSize(range.dim);
  OpFoldResult size = sizes[loop];
  // A tile lies within the domain: one of full size starts at zero.
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return *constant == extent;
  Value source = lookThroughLoops(range.source);
  if (tensor::DimOp dim = cast<Value>(size).getDefiningOp<tensor::DimOp>())
    return lookThroughLoops(dim.getSource()) == source &&
           dim.getConstantIndex() == range.dim;
  // The extent may have folded to the operand of whatever made the tensor.
  return isEqualConstantIntOrValue(
      tensor::getMixedSize(builder, getLoc(), source, range.dim), size);
}

Tile TileRequest::getMapped(const Tile &tile, AffineMap map) const {
  Tile mapped;
  for (AffineExpr expr : map.getResults()) {
    if (AffineDimExpr dim = dyn_cast<AffineDimExpr>(expr))
      mapped.append(tile.offsets[dim.getPosition()],
                    tile.sizes[dim.getPosition()]);
    else
      mapped.append(builder.getIndexAttr(0), builder.getIndexAttr(1));
  }
  return mapped;
}

LogicalResult TileRequest::setEpilogueOperands() {
  EpilogueOpInterface epilogue = cast<EpilogueOpInterface>(op);
  unsigned rank =
      cast<RankedTensorType>(epilogue.getEpilogueResult().getType()).getRank();
  Tile result;
  for (unsigned dim = 0; dim < rank; ++dim)
    result.append(offsets[dim], sizes[dim]);
  for (unsigned index = 0, e = epilogue.getExtras().size(); index < e; ++index)
    setOperand(epilogue.getExtrasMutable()[index],
               getMapped(result, getEpilogueMap(epilogue, index)));
  for (auto [index, init] : llvm::enumerate(epilogue.getAuxInitsMutable())) {
    Tile tile;
    llvm::SmallBitVector reduced(rank, true);
    for (AffineExpr expr : getAuxMap(epilogue, index).getResults()) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      tile.append(result.offsets[dim], result.sizes[dim]);
      reduced.reset(dim);
    }
    for (unsigned dim : reduced.set_bits())
      if (failed(expectWhole(dim, "an auxiliary result reduces it")))
        return failure();
    setOperand(init, std::move(tile));
  }
  setOperand(epilogue.getEpilogueInit(), std::move(result));
  return success();
}

/// Whether a tile is visibly all of the operand, so that no slice is needed.
static bool coversOperand(const Tile &tile, Value operand) {
  RankedTensorType type = cast<RankedTensorType>(operand.getType());
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    if (!isZeroInteger(tile.offsets[dim]) ||
        getConstantIntValue(tile.sizes[dim]) != extent)
      return false;
  return true;
}

TilingResult mlir::tracea::buildTile(const TileRequest &request) {
  OpBuilder &builder = request.builder;
  DestinationStyleOpInterface op =
      cast<DestinationStyleOpInterface>(request.op);
  TilingResult result;
  SmallVector<Value> operands;
  for (OpOperand &operand : request.op->getOpOperands()) {
    const std::optional<Tile> &tile =
        request.operands[operand.getOperandNumber()];
    if (!tile || coversOperand(*tile, operand.get())) {
      operands.push_back(operand.get());
      continue;
    }
    SmallVector<OpFoldResult> strides(tile->sizes.size(),
                                      builder.getIndexAttr(1));
    tensor::ExtractSliceOp slice =
        tensor::ExtractSliceOp::create(builder, op.getLoc(), operand.get(),
                                       tile->offsets, tile->sizes, strides);
    result.generatedSlices.push_back(slice);
    operands.push_back(slice);
  }
  SmallVector<Type> types;
  for (OpOperand &init : op.getDpsInitsMutable())
    types.push_back(operands[init.getOperandNumber()].getType());
  Operation *tiled = cloneOnto(builder, op, types, operands);
  if (request.update)
    request.update(tiled);
  result.tiledOps.push_back(tiled);
  result.tiledValues.assign(tiled->result_begin(), tiled->result_end());
  return result;
}
