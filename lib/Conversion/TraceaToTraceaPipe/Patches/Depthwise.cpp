//===- Depthwise.cpp - Depthwise convolution on channel vectors -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Variant "conv2d.depthwise": every channel has its own filter, so there is no
// product of matrices; a register tile of pixels x channels is multiplied
// elementwise by a tap's weights, broadcast along the pixels. For NCHW, where
// channels are not contiguous, the tile is channels x pixels and the weights
// are broadcast along the lanes.
//
// The image comes through the same staged patch as in "conv2d.patch", or is
// read where it lies: a pixel is used for the taps of one filter alone, so that
// a copy is much of the time. Then register tiles come in two forms. Of most
// all taps lie in the image; those at its border read zeros outside of it,
// which are multiplied as all pixels are.

#include "../Definitions.h"
#include "../Variants.h"
#include "ImagePatch.h"
#include "PackedFilters.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tracea/Dialect/Tracea/IR/TargetFeatures.h"
#include "tracea/Dialect/TraceaPipe/Utils/Requests.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

namespace {
/// What a register tile may be cut by.
enum class Cut {
  None,
  /// The border of the image.
  Border,
  /// That, or the last channel.
  BorderAndChannels
};

/// Pixels side by side, in rows one below the other.
struct Place {
  Value row, column;
  int64_t rows, columns;
};

/// Builds the kernel of one convolution.
struct DepthwiseConvolution {
  /// `source` is the operation's filter, or one in `panels` that are read where
  /// they lie.
  DepthwiseConvolution(KernelRewriter &rewriter, Conv2DOp op, Value source,
                       const PanelForm *panels)
      : op(op), source(source), isPacked(panels),
        fields(op.getScheduleAttr().getFields<schedule::CPUConv>()),
        kb(rewriter, op, getInputs(op, source), op.getDpsInits()),
        b(kb.builder()), ix(kb.index()), tiles(kb, op),
        accType(op.getAccumulatorType()), patch(tiles, tiles.channels, accType),
        strideH(op.getStrides()[0]), strideW(op.getStrides()[1]),
        dilationH(op.getDilations()[0]), dilationW(op.getDilations()[1]) {
    defineConvolution(kb, op, source, panels);
  }

  void build();

private:
  Value stageWeights();
  /// Those of tap (r, s) for channels from `c` of the tile.
  Value loadWeights(Value r, Value s, Value c);
  Value multiplyAdd(Value x, Value y, Value sum);
  /// What the pixels from (p, q) see under tap (r, s).
  Value loadPixels(Value p, Value q, Value r, Value s, Value c, Cut cut);
  Value addRow(Value p, Value q, Value c, Value r, Value sum, Cut cut);
  /// Whether the taps of all pixels from (p, q) lie in the image.
  Value isInImage(Value p, Value q);
  /// Whether a register tile has all its channels.
  Value hasChannels(Value c);
  /// The sums over all taps.
  Value addTaps(Value p, Value q, Value c, Value inImage);
  void emitTile(Value p, Value q, Value c, Value inImage);
  /// Rows of the image that a row of pixels is the first to see.
  int64_t getNewRows() const {
    return std::min(strideH, (tiles.filterHeight - 1) * dilationH + 1);
  }
  /// Whether what the pixels below see of an image in place is asked for.
  bool requestsRows() const { return !fields.staged && fields.prefetch; }
  /// Asks for what the pixels below those from (p, q) are the first to see, and
  /// for their results: the share of the channels from `c`.
  void requestNextRow(Value p, Value q, Value c);
  void request(const Place &place, bool isWrite, Value c);

  Conv2DOp op;
  Value source;
  bool isPacked;
  const schedule::CPUConv &fields;
  KernelBuilder kb;
  ImplicitLocOpBuilder &b;
  IndexMath &ix;
  ConvolutionTiles tiles;
  Type accType;
  ImagePatch patch;
  int64_t strideH, strideW, dilationH, dilationW;

  Value weights;
  // Of the current grid tile.
  Value n, c0, p0, q0;
  Value lengthC, lengthP, lengthQ;
  /// Channels to the end of the last register tile.
  Value wholeC;
};
} // namespace

Value DepthwiseConvolution::stageWeights() {
  // weights[r, s, c]
  SmallVector<Value> indices(4, ix.constant(0));
  indices[op.getFilterOutDim()] = c0;
  SmallVector<AffineExpr> map(4, kb.zero());
  map[op.getFilterHeightDim()] = kb.dim(0);
  map[op.getFilterWidthDim()] = kb.dim(1);
  map[op.getFilterOutDim()] = kb.dim(2);
  return StageOp::create(
      b,
      kb.getStagedType({tiles.filterHeight, tiles.filterWidth, tiles.channels},
                       accType),
      kb.getMemRef(op.getFilter()), indices,
      ValueRange{ix.constant(tiles.filterHeight),
                 ix.constant(tiles.filterWidth), wholeC},
      kb.map(3, map), ArrayRef<int64_t>{op.getFilterOutDim()}, fields.slots);
}

Value DepthwiseConvolution::loadWeights(Value r, Value s, Value c) {
  Value zero = ix.constant(0);
  SmallVector<Value> indices = {r, s, c};
  SmallVector<AffineExpr> map(2, kb.zero());
  if (isPacked) {
    Value panel = ix.floorDiv(ix.add(c0, c), tiles.registerChannels);
    indices = {panel, r, s, zero, zero};
    map.resize(4, kb.zero());
  }
  map.push_back(kb.dim(tiles.pixelLanes ? 0 : 1));
  return LoadOp::create(b, tiles.accumulator, weights, indices, ValueRange(),
                        Value(), kb.map(2, map));
}

Value DepthwiseConvolution::multiplyAdd(Value x, Value y, Value sum) {
  if (!isa<FloatType>(accType))
    return arith::AddIOp::create(b, sum, arith::MulIOp::create(b, x, y));
  auto target = op->getParentOfType<ModuleOp>()->getAttrOfType<TargetAttr>(
      TraceaDialect::kTargetAttrName);
  if (hasFusedMultiplyAdd(target))
    return math::FmaOp::create(b, x, y, sum);
  return arith::AddFOp::create(b, sum, arith::MulFOp::create(b, x, y));
}

Value DepthwiseConvolution::loadPixels(Value p, Value q, Value r, Value s,
                                       Value c, Cut cut) {
  if (fields.staged)
    return LoadOp::create(b, tiles.accumulator, patch.get(),
                          patch.at(p, q, r, s, c), ValueRange(), Value(),
                          patch.getTileMap());
  SmallVector<Value> indices(4);
  indices[op.getBatchDim()] = n;
  indices[op.getHeightDim()] =
      ix.add(ix.sub(ix.mul(ix.add(p0, p), strideH), op.getPads()[0]),
             ix.mul(r, dilationH));
  indices[op.getWidthDim()] =
      ix.add(ix.sub(ix.mul(ix.add(q0, q), strideW), op.getPads()[1]),
             ix.mul(s, dilationW));
  indices[op.getChannelDim()] = ix.add(c0, c);
  SmallVector<AffineExpr> map(4, kb.zero());
  map[op.getWidthDim()] = kb.dim(0) * strideW;
  map[op.getChannelDim()] = kb.dim(1);
  SmallVector<int64_t> padded;
  if (cut != Cut::None)
    padded = {op.getHeightDim(), op.getWidthDim()};
  SmallVector<Value> limits;
  if (cut == Cut::BorderAndChannels)
    limits = {ix.constant(tiles.registerPixels), ix.sub(lengthC, c)};
  return LoadOp::create(b, tiles.accumulator, kb.getMemRef(op.getImage()),
                        indices, limits, Value(), kb.map(2, map),
                        Reuse::Unknown, padded);
}

Value DepthwiseConvolution::addRow(Value p, Value q, Value c, Value r,
                                   Value sum, Cut cut) {
  // Taps of a row stand one behind the other, and share what they load.
  for (int64_t column = 0; column < tiles.filterWidth; ++column) {
    Value s = ix.constant(column);
    sum =
        multiplyAdd(loadPixels(p, q, r, s, c, cut), loadWeights(r, s, c), sum);
  }
  return sum;
}

Value DepthwiseConvolution::isInImage(Value p, Value q) {
  auto isInside = [&](Value first, int64_t reach, unsigned dim) {
    Value end = ix.add(first, reach);
    Value extent = kb.getDim(op.getImage(), dim);
    return ix.both(ix.lessOrEqual(ix.constant(0), first),
                   ix.lessOrEqual(ix.add(end, 1), extent));
  };
  Value row = ix.sub(ix.mul(ix.add(p0, p), strideH), op.getPads()[0]);
  Value column = ix.sub(ix.mul(ix.add(q0, q), strideW), op.getPads()[1]);
  return ix.both(
      isInside(row, (tiles.filterHeight - 1) * dilationH, op.getHeightDim()),
      isInside(column,
               (tiles.registerPixels - 1) * strideW +
                   (tiles.filterWidth - 1) * dilationW,
               op.getWidthDim()));
}

Value DepthwiseConvolution::hasChannels(Value c) {
  auto type = cast<RankedTensorType>(op.getInit().getType());
  int64_t channels = type.getDimSize(op.getChannelDim());
  if (!ShapedType::isDynamic(channels) &&
      channels % tiles.registerChannels == 0)
    return arith::ConstantIntOp::create(b, 1, 1);
  return ix.lessOrEqual(ix.add(c, tiles.registerChannels), lengthC);
}

Value DepthwiseConvolution::addTaps(Value p, Value q, Value c, Value inImage) {
  Value isWhole = fields.staged ? Value() : hasChannels(c);
  return kb.loop(
      ix.constant(tiles.filterHeight), 1, kb.splat(tiles.accumulator, 0),
      [&](Value r, Value sum) {
        auto add = [&](Cut cut) { return addRow(p, q, c, r, sum, cut); };
        if (fields.staged)
          return add(Cut::None);
        auto addWhole = [&] {
          return kb.select(
              inImage, [&] { return add(Cut::None); },
              [&] { return add(Cut::Border); });
        };
        return kb.select(isWhole, addWhole,
                         [&] { return add(Cut::BorderAndChannels); });
      });
}

void DepthwiseConvolution::emitTile(Value p, Value q, Value c, Value inImage) {
  if (requestsRows())
    requestNextRow(p, q, c);
  Value sum = addTaps(p, q, c, inImage);
  SmallVector<Value> limits =
      tiles.inOrder(ix.sub(lengthQ, q), ix.sub(lengthC, c));
  TileAddress address =
      tiles.getAddress(n, ix.add(p0, p), ix.add(q0, q), ix.add(c0, c));
  Value out = kb.emitEpilogue(op, sum, address, limits);
  StoreOp::create(b, out, address.memory, address.indices, limits, address.map);
}

void DepthwiseConvolution::request(const Place &place, bool isWrite, Value c) {
  SmallVector<Value> indices(4);
  indices[op.getBatchDim()] = n;
  indices[op.getHeightDim()] = place.row;
  indices[op.getWidthDim()] = place.column;
  indices[op.getChannelDim()] = c0;
  SmallVector<AffineExpr> map(4, kb.zero());
  map[op.getHeightDim()] = kb.dim(0);
  map[op.getWidthDim()] = kb.dim(1);
  map[op.getChannelDim()] = kb.dim(2);
  Value tensor = isWrite ? op.getInit() : op.getImage();
  SmallVector<Value> limits = {
      ix.sub(kb.getDim(tensor, op.getHeightDim()), place.row),
      ix.sub(kb.getDim(tensor, op.getWidthDim()), place.column), lengthC};
  Request whole{isWrite ? kb.getDest(op.getEpilogueInit().get())
                        : kb.getMemRef(tensor),
                indices,
                limits,
                kb.map(3, map),
                {place.rows, place.columns, tiles.channels},
                isWrite,
                /*level=*/2};
  // Each register tile of a pixel's channels asks for pixels of its own, one
  // after the other, as they lie.
  whole
      .getShare(b, ix.floorDiv(c, tiles.registerChannels),
                llvm::divideCeil(tiles.channels, tiles.registerChannels))
      .emit(b);
}

void DepthwiseConvolution::requestNextRow(Value p, Value q, Value c) {
  Value row = ix.add(ix.add(p0, p), 1), column = ix.add(q0, q);
  // The last rows under the taps are those that no pixel has seen before.
  int64_t reach = (tiles.filterHeight - 1) * dilationH + 1;
  int64_t seen = reach - getNewRows() - op.getPads()[0];
  request({ix.add(ix.mul(row, strideH), seen), ix.mul(column, strideW),
           getNewRows(), tiles.registerPixels * strideW},
          /*isWrite=*/false, c);
  request({row, column, 1, tiles.registerPixels}, /*isWrite=*/true, c);
}

void DepthwiseConvolution::build() {
  Value sizeP = kb.getDim(op.getInit(), op.getHeightDim());
  Value sizeQ = kb.getDim(op.getInit(), op.getWidthDim());
  Value sizeC = kb.getDim(op.getInit(), op.getChannelDim());
  Block::BlockArgListType grid = kb.beginTiles(
      {kb.getDim(op.getInit(), op.getBatchDim()),
       ix.ceilDiv(sizeC, tiles.channels), ix.ceilDiv(sizeP, tiles.rows),
       ix.ceilDiv(sizeQ, tiles.columns)});
  n = grid[0];
  c0 = ix.mul(grid[1], tiles.channels);
  p0 = ix.mul(grid[2], tiles.rows);
  q0 = ix.mul(grid[3], tiles.columns);
  lengthC = ix.min(ix.sub(sizeC, c0), tiles.channels);
  lengthP = ix.min(ix.sub(sizeP, p0), tiles.rows);
  lengthQ = ix.min(ix.sub(sizeQ, q0), tiles.columns);

  // Register tiles reach past the last channel: there patch and weights are
  // zero.
  wholeC = ix.roundUp(lengthC, tiles.registerChannels);
  if (fields.staged)
    patch.stage({n, p0, q0, lengthP, lengthQ, c0, wholeC},
                /*wholeChannels=*/true);
  weights = isPacked ? kb.getMemRef(source) : stageWeights();

  // What is contiguous goes by innermost: channels of a few pixels, or pixels
  // of a row.
  kb.loop(lengthP, 1, [&](Value p) {
    if (tiles.pixelLanes) {
      kb.loop(lengthC, tiles.registerChannels, [&](Value c) {
        kb.loop(lengthQ, tiles.registerPixels,
                [&](Value q) { emitTile(p, q, c, Value()); });
      });
      return;
    }
    kb.loop(lengthQ, tiles.registerPixels, [&](Value q) {
      Value inImage = fields.staged ? Value() : isInImage(p, q);
      kb.loop(lengthC, tiles.registerChannels,
              [&](Value c) { emitTile(p, q, c, inImage); });
    });
  });
  kb.finish();
}

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
  const auto &fields = op.getScheduleAttr().getFields<schedule::CPUConv>();
  auto imageType = cast<RankedTensorType>(op.getImage().getType());
  if (!fields.staged && (op.getLayout() != ImageLayout::NHWC ||
                         imageType.getElementType() != op.getAccumulatorType()))
    return op.emitOpError()
           << "reads its image where it lies (staged = 0), which has to have "
              "channels last and the accumulator's element type, found "
           << stringifyImageLayout(op.getLayout()) << " and " << imageType;
  emitExtentChecks(rewriter, cast<ConvolutionOpInterface>(op.getOperation()));

  Value source = op.getFilter();
  PanelForm panels = getFilterPanels(op, fields.registers[1]);
  bool isPacked = op.getLayout() == ImageLayout::NHWC &&
                  hasConstantPanels(op.getFilter(), op.getAccumulatorType());
  if (isPacked)
    source = packPanels(rewriter, op, source, panels);
  DepthwiseConvolution(rewriter, op, source, isPacked ? &panels : nullptr)
      .build();
  return success();
}
