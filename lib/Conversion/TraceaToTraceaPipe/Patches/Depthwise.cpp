//===- Depthwise.cpp - Depthwise convolution on channel vectors -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Variant "conv2d.depthwise": every channel has its own filter, so there is no
// product of matrices; a register tile of pixels x channels is multiplied
// elementwise by a tap's weights, broadcast along the pixels. For NCHW, where
// channels are not contiguous, the tile is channels x pixels and the weights
// are broadcast along the lanes. The image comes through the same staged patch
// as in "conv2d.patch".

#include "../Definitions.h"
#include "../Variants.h"
#include "ImagePatch.h"
#include "PackedFilters.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tracea/Dialect/Tracea/IR/TargetFeatures.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

LogicalResult mlir::tracea::lowerConv2DDepthwise(KernelRewriter &rewriter,
                                                 Conv2DOp op) {
  auto filterType = cast<RankedTensorType>(op.getFilter().getType());
  if (!op.isDepthwise() || filterType.isDynamicDim(op.getFilterHeightDim()) ||
      filterType.isDynamicDim(op.getFilterWidthDim()))
    return op.emitOpError()
           << "expects one filter of static height and width "
              "a channel for the variant 'conv2d.depthwise', "
              "found "
           << filterType << " in " << op.getGroups() << " groups";
  emitExtentChecks(rewriter, cast<ConvolutionOpInterface>(op.getOperation()));

  ScheduleAttr schedule = op.getScheduleAttr();
  const auto &fields = schedule.getFields<schedule::CPUConv>();
  Value source = op.getFilter();
  bool isPacked = hasConstantPanels(op, op.getAccumulatorType());
  if (isPacked)
    source = packFilter(rewriter, op, fields.registers[1]);
  KernelBuilder kb(rewriter, op, getInputs(op, source), op.getDpsInits());
  defineConvolution(kb, op, source);
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  Type accType = op.getAccumulatorType();
  ConvolutionTiles tiles(kb, op);
  Value sizeP = kb.getDim(op.getInit(), op.getHeightDim());
  Value sizeQ = kb.getDim(op.getInit(), op.getWidthDim());
  Value sizeC = kb.getDim(op.getInit(), op.getChannelDim());
  Block::BlockArgListType grid = kb.beginTiles(
      {kb.getDim(op.getInit(), op.getBatchDim()),
       ix.ceilDiv(sizeC, tiles.channels), ix.ceilDiv(sizeP, tiles.rows),
       ix.ceilDiv(sizeQ, tiles.columns)});
  Value n = grid[0], c0 = ix.mul(grid[1], tiles.channels),
        p0 = ix.mul(grid[2], tiles.rows), q0 = ix.mul(grid[3], tiles.columns);
  Value lengthC = ix.min(ix.sub(sizeC, c0), tiles.channels);
  Value lengthP = ix.min(ix.sub(sizeP, p0), tiles.rows);
  Value lengthQ = ix.min(ix.sub(sizeQ, q0), tiles.columns);
  Value zero = ix.constant(0);

  // Register tiles reach past the last channel: there the patch is zero.
  Value channels = ix.roundUp(lengthC, tiles.registerChannels);
  ImagePatch patch(tiles, tiles.channels, op.getAccumulatorType());
  patch.stage({n, p0, q0, lengthP, lengthQ, c0, channels},
              /*wholeChannels=*/true);

  // weights[r, s, c]
  auto stageWeights = [&]() -> Value {
    SmallVector<Value> indices(4, zero);
    indices[op.getFilterOutDim()] = c0;
    SmallVector<AffineExpr> map(4, kb.zero());
    map[op.getFilterHeightDim()] = kb.dim(0);
    map[op.getFilterWidthDim()] = kb.dim(1);
    map[op.getFilterOutDim()] = kb.dim(2);
    return StageOp::create(
        b,
        kb.getStagedType(
            {tiles.filterHeight, tiles.filterWidth, tiles.channels}, accType),
        kb.getMemRef(op.getFilter()), indices,
        ValueRange{ix.constant(tiles.filterHeight),
                   ix.constant(tiles.filterWidth), channels},
        kb.map(3, map), ArrayRef<int64_t>{op.getFilterOutDim()}, fields.slots);
  };
  Value weights = isPacked ? kb.getMemRef(source) : stageWeights();

  RankedTensorType accTile = tiles.accumulator;
  AffineExpr channel = kb.dim(tiles.pixelLanes ? 0 : 1);
  // Those of tap (r, s) for channels from `c` of the tile.
  auto loadWeights = [&](Value r, Value s, Value c) -> Value {
    SmallVector<Value> indices = {r, s, c};
    SmallVector<AffineExpr> map(2, kb.zero());
    if (isPacked) {
      Value panel = ix.floorDiv(ix.add(c0, c), tiles.registerChannels);
      indices = {panel, r, s, zero, zero};
      map.resize(4, kb.zero());
    }
    map.push_back(channel);
    return LoadOp::create(b, accTile, weights, indices, ValueRange(), Value(),
                          kb.map(2, map));
  };
  auto target = op->getParentOfType<ModuleOp>()->getAttrOfType<TargetAttr>(
      TraceaDialect::kTargetAttrName);
  auto multiplyAdd = [&](Value x, Value y, Value sum) -> Value {
    if (!isa<FloatType>(accType))
      return arith::AddIOp::create(b, sum, arith::MulIOp::create(b, x, y));
    if (hasFusedMultiplyAdd(target))
      return math::FmaOp::create(b, x, y, sum);
    return arith::AddFOp::create(b, sum, arith::MulFOp::create(b, x, y));
  };
  // Taps of a row stand one behind the other, and share what they load.
  auto addRow = [&](Value p, Value q, Value c, Value r, Value sum) {
    for (int64_t column = 0; column < tiles.filterWidth; ++column) {
      Value s = ix.constant(column);
      Value pixels =
          LoadOp::create(b, accTile, patch.get(), patch.at(p, q, r, s, c),
                         ValueRange(), Value(), patch.getTileMap());
      sum = multiplyAdd(pixels, loadWeights(r, s, c), sum);
    }
    return sum;
  };
  auto emitTile = [&](Value p, Value q, Value c) {
    Value sum = kb.loop(
        ix.constant(tiles.filterHeight), 1, kb.splat(accTile, 0),
        [&](Value r, Value others) { return addRow(p, q, c, r, others); });
    SmallVector<Value> limits =
        tiles.inOrder(ix.sub(lengthQ, q), ix.sub(lengthC, c));
    TileAddress address =
        tiles.getAddress(n, ix.add(p0, p), ix.add(q0, q), ix.add(c0, c));
    Value out = kb.emitEpilogue(op, sum, address, limits);
    StoreOp::create(b, out, address.memory, address.indices, limits,
                    address.map);
  };
  // What is contiguous goes by innermost: channels of a few pixels, or pixels
  // of a row.
  kb.loop(lengthP, 1, [&](Value p) {
    if (tiles.pixelLanes) {
      kb.loop(lengthC, tiles.registerChannels, [&](Value c) {
        kb.loop(lengthQ, tiles.registerPixels,
                [&](Value q) { emitTile(p, q, c); });
      });
      return;
    }
    kb.loop(lengthQ, tiles.registerPixels, [&](Value q) {
      kb.loop(lengthC, tiles.registerChannels,
              [&](Value c) { emitTile(p, q, c); });
    });
  });
  kb.finish();
  return success();
}
