//===- Depthwise.cpp - Depthwise convolution on channel vectors -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Variant "conv2d.depthwise": every channel has its own filter, so there is no
// product of matrices; a register tile of pixels x channels is multiplied
// elementwise by a tap's weights, broadcast along the pixels. For NCHW, where
// channels are not contiguous, the tile is channels x pixels and the weights
// are broadcast along the lanes. The image comes through the same staged patch
// as in "conv2d.patch".

#include "Definitions.h"
#include "ImagePatch.h"

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
  emitConvolutionChecks(rewriter, op);

  ScheduleAttr schedule = op.getScheduleAttr();
  KernelBuilder kb(rewriter, op);
  defineConvolution(kb, op);
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  Type accType = op.getAccumulatorType();
  bool pixelLanes = op.getLayout() == ImageLayout::NCHW;
  const auto &fields = schedule.getFields<schedule::CPUConv>();
  int64_t regQ = fields.registers[pixelLanes ? 1 : 0];
  int64_t regC = fields.registers[pixelLanes ? 0 : 1];
  int64_t tileP = schedule.getTile()[0];
  int64_t tileQ = llvm::alignTo(schedule.getTile()[1], regQ);
  int64_t tileC = llvm::alignTo(schedule.getTile()[2], regC);
  int64_t filterR = filterType.getDimSize(op.getFilterHeightDim());
  int64_t filterS = filterType.getDimSize(op.getFilterWidthDim());
  Value sizeP = kb.getDim(op.getInit(), op.getHeightDim());
  Value sizeQ = kb.getDim(op.getInit(), op.getWidthDim());
  Value sizeC = kb.getDim(op.getInit(), op.getChannelDim());
  Block::BlockArgListType grid = kb.beginTiles(
      {kb.getDim(op.getInit(), op.getBatchDim()), ix.ceilDiv(sizeC, tileC),
       ix.ceilDiv(sizeP, tileP), ix.ceilDiv(sizeQ, tileQ)});
  Value n = grid[0], c0 = ix.mul(grid[1], tileC), p0 = ix.mul(grid[2], tileP),
        q0 = ix.mul(grid[3], tileQ);
  Value lengthC = ix.min(ix.sub(sizeC, c0), tileC);
  Value lengthP = ix.min(ix.sub(sizeP, p0), tileP);
  Value lengthQ = ix.min(ix.sub(sizeQ, q0), tileQ);
  Value zero = ix.constant(0);

  // Register tiles reach past the last channel: there the patch is zero.
  Value channels = ix.roundUp(lengthC, regC);
  ImagePatch patch(kb, op, {tileP, tileQ, tileC}, regQ);
  patch.stage({n, p0, q0, lengthP, lengthQ, c0, channels},
              /*wholeChannels=*/true);

  // weights[r, s, c]
  SmallVector<Value> filterIndices(4, zero);
  filterIndices[op.getFilterOutDim()] = c0;
  SmallVector<AffineExpr> filterMap(4, kb.zero());
  filterMap[op.getFilterHeightDim()] = kb.dim(0);
  filterMap[op.getFilterWidthDim()] = kb.dim(1);
  filterMap[op.getFilterOutDim()] = kb.dim(2);
  Value weights = StageOp::create(
      b, kb.getStagedType({filterR, filterS, tileC}, accType),
      kb.getMemRef(op.getFilter()), filterIndices,
      ValueRange{ix.constant(filterR), ix.constant(filterS), channels},
      kb.map(3, filterMap), ArrayRef<int64_t>{op.getFilterOutDim()},
      fields.slots);

  RankedTensorType accTile = pixelLanes ? kb.getTileType({regC, regQ}, accType)
                                        : kb.getTileType({regQ, regC}, accType);
  unsigned pixelDim = pixelLanes ? 1 : 0, channelDim = pixelLanes ? 0 : 1;
  SmallVector<AffineExpr> resultExprs(4, kb.zero());
  resultExprs[op.getWidthDim()] = kb.dim(pixelDim);
  resultExprs[op.getChannelDim()] = kb.dim(channelDim);
  AffineMap resultMap = kb.map(2, resultExprs);

  kb.loop(lengthC, regC, [&](Value c) {
    kb.loop(lengthP, 1, [&](Value p) {
      kb.loop(lengthQ, regQ, [&](Value q) {
        auto multiplyTap = [&](Value r, Value s, Value sum) -> Value {
          Value pixels =
              LoadOp::create(b, accTile, patch.get(), patch.at(p, q, r, s, c),
                             ValueRange(), Value(), patch.getTileMap());
          Value weight = LoadOp::create(
              b, accTile, weights, ValueRange{r, s, c}, ValueRange(), Value(),
              kb.map(2, {kb.zero(), kb.zero(), kb.dim(channelDim)}));
          if (isa<FloatType>(accType))
            return arith::AddFOp::create(
                b, sum, arith::MulFOp::create(b, pixels, weight));
          return arith::AddIOp::create(
              b, sum, arith::MulIOp::create(b, pixels, weight));
        };
        Value sum = kb.loop(ix.constant(filterR), 1, kb.splat(accTile, 0),
                            [&](Value r, Value sumR) {
                              return kb.loop(ix.constant(filterS), 1, sumR,
                                             [&](Value s, Value sumS) {
                                               return multiplyTap(r, s, sumS);
                                             });
                            });
        SmallVector<Value> limits(2), indices(4);
        limits[pixelDim] = ix.sub(lengthQ, q);
        limits[channelDim] = ix.sub(lengthC, c);
        indices[op.getBatchDim()] = n;
        indices[op.getHeightDim()] = ix.add(p0, p);
        indices[op.getWidthDim()] = ix.add(q0, q);
        indices[op.getChannelDim()] = ix.add(c0, c);
        TileAddress address{kb.getDest(op.getInit()), indices, resultMap};
        Value out = kb.emitEpilogue(op, sum, address, limits);
        StoreOp::create(b, out, address.memory, indices, limits, resultMap);
      });
    });
  });
  kb.finish();
  return success();
}
