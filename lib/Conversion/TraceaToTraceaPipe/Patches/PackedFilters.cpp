//===- PackedFilters.cpp - Filters in panels of a register tile -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A filter is read in panels: all taps and channels of those filters that one
// register tile computes. They are staged for every tile of pixels, which is up
// to a third of the time where these are few. Where the filter is a constant
// the panels are made once, by a kernel that uses constants alone, and read
// where they lie.
//
//===----------------------------------------------------------------------===//

#include "PackedFilters.h"
#include "../Definitions.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/Tracea/IR/Constants.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Channels that a tile of the packing kernel copies.
static constexpr int64_t kChannels = 16;

bool mlir::tracea::hasConstantPanels(Conv2DOp op, Type element) {
  auto type = cast<RankedTensorType>(op.getFilter().getType());
  return op.getLayout() == ImageLayout::NHWC &&
         element == type.getElementType() && type.hasStaticShape() &&
         type.getNumElements() > 0 && isConstant(op.getFilter());
}

SmallVector<Value> mlir::tracea::getInputs(Conv2DOp op, Value filter,
                                           Value more) {
  SmallVector<Value> inputs;
  for (OpOperand *operand : op.getDpsInputOperands())
    inputs.push_back(operand == &op.getFilterMutable() ? filter
                                                       : operand->get());
  if (more)
    inputs.push_back(more);
  return inputs;
}

Value mlir::tracea::packFilter(KernelRewriter &rewriter, Conv2DOp op,
                               int64_t width) {
  Value filter = op.getFilter();
  auto type = cast<RankedTensorType>(filter.getType());
  auto extent = [&](unsigned dim) { return type.getDimSize(dim); };
  SmallVector<int64_t> shape = {
      llvm::divideCeilSigned(extent(op.getFilterOutDim()), width),
      extent(op.getFilterHeightDim()), extent(op.getFilterWidthDim()),
      extent(op.getFilterInDim()), width};
  rewriter.setInsertionPoint(op);
  Value packed = tensor::EmptyOp::create(rewriter, op.getLoc(), shape,
                                         type.getElementType());

  KernelBuilder kb(rewriter, op, filter, packed);
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  // The element of the filter at (panel, r, s, c, number in the panel).
  auto place = [&](AffineExpr out, AffineExpr r, AffineExpr s, AffineExpr c) {
    SmallVector<AffineExpr> exprs(4);
    exprs[op.getFilterOutDim()] = out;
    exprs[op.getFilterHeightDim()] = r;
    exprs[op.getFilterWidthDim()] = s;
    exprs[op.getFilterInDim()] = c;
    return exprs;
  };
  Definition definition(kb, shape.size(), 0);
  definition.add(filter, place(kb.dim(0) * width + kb.dim(4), kb.dim(1),
                               kb.dim(2), kb.dim(3)));
  definition.set(/*factors=*/1);

  Block::BlockArgListType grid = kb.beginTiles(
      {ix.constant(shape[0]), ix.constant(shape[1]), ix.constant(shape[2]),
       ix.constant(llvm::divideCeilSigned(shape[3], kChannels))});
  Value first = ix.mul(grid[0], width), c = ix.mul(grid[3], kChannels);
  SmallVector<Value> from(4);
  from[op.getFilterOutDim()] = first;
  from[op.getFilterHeightDim()] = grid[1];
  from[op.getFilterWidthDim()] = grid[2];
  from[op.getFilterInDim()] = c;
  Type element = type.getElementType();
  RankedTensorType tile = kb.getTileType({kChannels, width}, element);
  Value zero =
      arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(element)));
  Value channels = ix.sub(kb.getDim(packed, 3), c);
  Value filters = ix.sub(kb.getDim(filter, op.getFilterOutDim()), first);
  Value elements = LoadOp::create(
      b, tile, kb.getMemRef(filter), from, ValueRange{channels, filters}, zero,
      kb.map(2, place(kb.dim(1), kb.zero(), kb.zero(), kb.dim(0))));
  StoreOp::create(b, elements, kb.getDest(packed),
                  ValueRange{grid[0], grid[1], grid[2], c, ix.constant(0)},
                  ValueRange{channels, ix.constant(width)}, kb.matrixMap(3));
  return kb.launch().front();
}
