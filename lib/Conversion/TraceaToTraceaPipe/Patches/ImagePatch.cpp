//===- ImagePatch.cpp - The staged part of an image a tile sees -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ImagePatch.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

int64_t mlir::tracea::getRegisterRows(ScheduleAttr schedule) {
  int64_t pixels = schedule.getFields<schedule::CPUConv>().registers[0];
  int64_t width = schedule.getTile()[1];
  bool hasSeveral = schedule.getUnit() != MatrixUnit::Vector && width < pixels;
  return hasSeveral ? llvm::divideCeil(pixels, width) : 1;
}

ConvolutionTiles::ConvolutionTiles(KernelBuilder &kb, Conv2DOp op)
    : kb(kb), op(op), pixelLanes(op.getLayout() == ImageLayout::NCHW) {
  ScheduleAttr schedule = op.getScheduleAttr();
  ArrayRef<int64_t> registers =
      schedule.getFields<schedule::CPUConv>().registers;
  registerRows = getRegisterRows(schedule);
  registerPixels = registers[pixelLanes ? 1 : 0] / registerRows;
  registerChannels = registers[pixelLanes ? 0 : 1];
  rows = schedule.getTile()[0];
  columns = llvm::alignTo(schedule.getTile()[1], registerPixels);
  channels = llvm::alignTo(schedule.getTile()[2], registerChannels);
  auto filter = cast<RankedTensorType>(op.getFilter().getType());
  filterHeight = filter.getDimSize(op.getFilterHeightDim());
  filterWidth = filter.getDimSize(op.getFilterWidthDim());
  accumulator = kb.getTileType(inOrder(registerPixels, registerChannels),
                               op.getAccumulatorType());
}

TileAddress ConvolutionTiles::getAddress(Value n, Value p, Value q,
                                         Value c) const {
  SmallVector<Value> indices(4);
  indices[op.getBatchDim()] = n;
  indices[op.getHeightDim()] = p;
  indices[op.getWidthDim()] = q;
  indices[op.getChannelDim()] = c;
  SmallVector<AffineExpr> exprs(4, kb.zero());
  exprs[op.getWidthDim()] = kb.dim(pixelLanes ? 1 : 0);
  exprs[op.getChannelDim()] = kb.dim(pixelLanes ? 0 : 1);
  return {kb.getDest(op.getInit()), indices, kb.map(2, exprs)};
}

ImagePatch::ImagePatch(const ConvolutionTiles &tiles, int64_t channels,
                       Type element, int64_t word, int64_t joined,
                       bool joinsTaps)
    : kb(tiles.kb), ix(kb.index()), op(tiles.op), tiles(tiles),
      tileChannels(channels), element(element), word(word), joined(joined),
      joinsTaps(joinsTaps), strideH(op.getStrides()[0]),
      strideW(op.getStrides()[1]), dilationH(op.getDilations()[0]),
      dilationW(op.getDilations()[1]),
      copiedH(tiles.filterHeight == 1 ? strideH : 1),
      copiedW(tiles.filterWidth == 1 && !tiles.pixelLanes ? strideW : 1) {}

void ImagePatch::stage(const PixelBlock &block, bool wholeChannels) {
  SmallVector<Value> indices(4);
  indices[op.getBatchDim()] = block.image;
  indices[op.getHeightDim()] =
      ix.sub(ix.mul(block.row, strideH), op.getPads()[0]);
  indices[op.getWidthDim()] =
      ix.sub(ix.mul(block.column, strideW), op.getPads()[1]);
  indices[op.getChannelDim()] = block.channel;

  SmallVector<int64_t> padded = {op.getHeightDim(), op.getWidthDim()};
  if (wholeChannels || (word > 1 && !joinsTaps))
    padded.push_back(op.getChannelDim());
  llvm::sort(padded);

  int64_t reachH = (tiles.filterHeight - 1) * dilationH;
  // Words of taps reach past the last one, where filters are zero.
  int64_t taps = joinsTaps ? llvm::alignTo(tiles.filterWidth, word * joined)
                           : tiles.filterWidth;
  int64_t reachW = (taps - 1) * dilationW;
  int64_t stepH = strideH / copiedH, stepW = strideW / copiedW;
  Value rows = ix.add(ix.mul(ix.sub(block.rows, 1), stepH), reachH + 1);
  Value whole = ix.roundUp(block.columns, tiles.registerPixels);
  int64_t height = (tiles.rows - 1) * stepH + reachH + 1;

  SmallVector<AffineExpr> map(4, kb.zero());
  map[op.getHeightDim()] = kb.dim(0) * copiedH;
  SmallVector<int64_t> shape;
  SmallVector<Value> limits;
  if (tiles.pixelLanes) {
    map[op.getChannelDim()] = kb.dim(1);
    map[op.getWidthDim()] = kb.dim(3) * strideW + kb.dim(2);
    shape = {height, tileChannels, strideW, tiles.columns + reachW / strideW};
    limits = {rows, block.channels, ix.constant(strideW),
              ix.add(whole, reachW / strideW)};
  } else {
    map[op.getWidthDim()] = kb.dim(1) * copiedW;
    shape = {height, (tiles.columns - 1) * stepW + reachW + 1};
    limits = {rows, ix.add(ix.mul(ix.sub(whole, 1), stepW), reachW + 1)};
    if (!joinsTaps) {
      map[op.getChannelDim()] = kb.dim(2);
      shape.push_back(tileChannels / word);
      limits.push_back(
          ix.mul(ix.ceilDiv(block.channels, word * joined), joined));
    }
    if (word > 1 && !joinsTaps) {
      map[op.getChannelDim()] = kb.dim(2) * word + kb.dim(3);
      shape.push_back(word);
      limits.push_back(ix.constant(word));
    }
  }
  patch = StageOp::create(
      kb.builder(), kb.getStagedType(shape, element),
      kb.getMemRef(op.getImage()), indices, limits, kb.map(shape.size(), map),
      padded, op.getScheduleAttr().getFields<schedule::CPUConv>().slots);
}

SmallVector<Value> ImagePatch::at(Value p, Value q, Value r, Value s, Value c) {
  Value h = ix.add(ix.mul(p, strideH / copiedH), ix.mul(r, dilationH));
  Value tap = ix.mul(s, dilationW);
  if (tiles.pixelLanes)
    return {h, c, ix.rem(tap, strideW), ix.add(q, ix.floorDiv(tap, strideW))};
  SmallVector<Value> place = {h, ix.add(ix.mul(q, strideW / copiedW), tap)};
  if (joinsTaps)
    return place;
  place.push_back(c);
  if (word > 1)
    place.push_back(ix.constant(0));
  return place;
}

AffineMap ImagePatch::getTileMap() {
  if (tiles.pixelLanes)
    return kb.map(2, {kb.zero(), kb.dim(0), kb.zero(), kb.dim(1)});
  AffineExpr pixel = kb.dim(0) * (strideW / copiedW);
  if (joinsTaps)
    return word > 1
               ? kb.map(3, {kb.zero(), pixel + kb.dim(1) * word + kb.dim(2)})
               : kb.map(2, {kb.zero(), pixel + kb.dim(1) * dilationW});
  if (word > 1)
    return kb.map(3, {kb.zero(), pixel, kb.dim(1), kb.dim(2)});
  return kb.map(2, {kb.zero(), pixel, kb.dim(1)});
}
