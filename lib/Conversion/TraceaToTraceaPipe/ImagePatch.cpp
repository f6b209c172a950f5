//===- ImagePatch.cpp - The staged part of an image a tile sees -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ImagePatch.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

ImagePatch::ImagePatch(KernelBuilder &kb, Conv2DOp op, ArrayRef<int64_t> tile,
                       int64_t registerColumns)
    : kb(kb), ix(kb.index()), op(op),
      pixelLanes(op.getLayout() == ImageLayout::NCHW), tileRows(tile[0]),
      tileColumns(llvm::alignTo(tile[1], registerColumns)),
      tileChannels(tile[2]), registerColumns(registerColumns),
      strideH(op.getStrides()[0]), strideW(op.getStrides()[1]),
      dilationH(op.getDilations()[0]), dilationW(op.getDilations()[1]) {
  auto filter = cast<RankedTensorType>(op.getFilter().getType());
  filterHeight = filter.getDimSize(op.getFilterHeightDim());
  filterWidth = filter.getDimSize(op.getFilterWidthDim());
}

void ImagePatch::stage(const PixelBlock &block, bool wholeChannels) {
  SmallVector<Value> indices(4);
  indices[op.getBatchDim()] = block.image;
  indices[op.getHeightDim()] =
      ix.sub(ix.mul(block.row, strideH), op.getPads()[0]);
  indices[op.getWidthDim()] =
      ix.sub(ix.mul(block.column, strideW), op.getPads()[1]);
  indices[op.getChannelDim()] = block.channel;

  SmallVector<int64_t> padded = {op.getHeightDim(), op.getWidthDim()};
  if (wholeChannels)
    padded.push_back(op.getChannelDim());
  llvm::sort(padded);

  int64_t reachH = (filterHeight - 1) * dilationH;
  int64_t reachW = (filterWidth - 1) * dilationW;
  Value rows = ix.add(ix.mul(ix.sub(block.rows, 1), strideH), reachH + 1);
  Value whole = ix.roundUp(block.columns, registerColumns);
  int64_t height = (tileRows - 1) * strideH + reachH + 1;

  SmallVector<AffineExpr> map(4, kb.zero());
  map[op.getHeightDim()] = kb.dim(0);
  SmallVector<int64_t> shape;
  SmallVector<Value> limits;
  if (pixelLanes) {
    map[op.getChannelDim()] = kb.dim(1);
    map[op.getWidthDim()] = kb.dim(3) * strideW + kb.dim(2);
    shape = {height, tileChannels, strideW, tileColumns + reachW / strideW};
    limits = {rows, block.channels, ix.constant(strideW),
              ix.add(whole, reachW / strideW)};
  } else {
    map[op.getWidthDim()] = kb.dim(1);
    map[op.getChannelDim()] = kb.dim(2);
    shape = {height, (tileColumns - 1) * strideW + reachW + 1, tileChannels};
    limits = {rows, ix.add(ix.mul(ix.sub(whole, 1), strideW), reachW + 1),
              block.channels};
  }
  patch = StageOp::create(
      kb.builder(), kb.getStagedType(shape, op.getAccumulatorType()),
      kb.getMemRef(op.getImage()), indices, limits, kb.map(shape.size(), map),
      padded, op.getScheduleAttr().getFields<schedule::CPUConv>().slots);
}

SmallVector<Value> ImagePatch::at(Value p, Value q, Value r, Value s, Value c) {
  Value h = ix.add(ix.mul(p, strideH), ix.mul(r, dilationH));
  Value tap = ix.mul(s, dilationW);
  if (pixelLanes)
    return {h, c, ix.rem(tap, strideW), ix.add(q, ix.floorDiv(tap, strideW))};
  return {h, ix.add(ix.mul(q, strideW), tap), c};
}

AffineMap ImagePatch::getTileMap() {
  if (pixelLanes)
    return kb.map(2, {kb.zero(), kb.dim(0), kb.zero(), kb.dim(1)});
  return kb.map(2, {kb.zero(), kb.dim(0) * strideW, kb.dim(1)});
}
