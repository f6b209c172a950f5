//===- Conv2D.cpp - tracea.conv2d as an implicit matrix product -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Variants "conv2d.patch" and "conv2d.dot": no im2col buffer. One grid tile
// stages the patch of the image that its output pixels see, bordered with
// zeros, once for a block of input channels; every filter tap then multiplies
// through a view into the same patch. Strides, dilation and groups are
// coefficients of the views' maps. Where no tap leaves the image, as that of a
// filter of one never does, the views may be into the image itself. Of an image
// of one channel the taps of a row take the place of channels: what they see is
// a run of the patch.
//
// The lanes of a register tile lie along the result's contiguous dimension:
// output channels for NHWC (rows are pixels), pixels for NCHW (rows are output
// channels). In the second form the patch is staged with its columns split by
// their remainder modulo the stride, so that neighbouring pixels of one tap are
// contiguous for every stride. "conv2d.dot", with channels last, packs
// neighbouring channels in words, for the target's dot products.

#include "../Contraction/WordOperands.h"
#include "../Definitions.h"
#include "../Variants.h"
#include "BorderTaps.h"
#include "ImagePatch.h"
#include "PackedFilters.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/TraceaPipe/IR/UnrollAndJam.h"
#include "tracea/Dialect/TraceaPipe/Utils/Requests.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Whether the taps of a row are multiplied like channels, of which there is
/// one. Behind the last tap a word meets pixels, against zeros in the filter:
/// of infinite ones not even the product with zero is one.
static bool areTapsJoined(Conv2DOp op, const WordOperands &words) {
  auto image = cast<RankedTensorType>(op.getImage().getType());
  auto filter = cast<RankedTensorType>(op.getFilter().getType());
  return op.getLayout() == ImageLayout::NHWC && op.getGroups() == 1 &&
         (words.length == 1 || image.getElementType().isInteger()) &&
         image.getDimSize(op.getChannelDim()) == 1 &&
         filter.getDimSize(op.getFilterInDim()) == 1 &&
         filter.getDimSize(op.getFilterWidthDim()) > 1;
}

namespace {
/// Builds the kernel of one convolution.
struct PatchConvolution {
  /// `source` is the operation's filter, or one in `panels` that are read where
  /// they lie.
  PatchConvolution(KernelRewriter &rewriter, Conv2DOp op,
                   const WordOperands &words, Value source,
                   const PanelForm *panels, const BorderTaps &border)
      : op(op), words(words), source(source), border(border), isPacked(panels),
        schedule(op.getScheduleAttr()),
        kb(rewriter, op, getInputs(op, source, border.getOperand()),
           op.getDpsInits()),
        b(kb.builder()), ix(kb.index()), tiles(kb, op),
        accType(op.getAccumulatorType()), tileC(schedule.getTile()[3]),
        joinsTaps(areTapsJoined(op, words)),
        depth(joinsTaps ? words.getWhole(tiles.filterWidth) : tileC),
        isStaged(schedule.getFields<schedule::CPUConv>().staged),
        patch(tiles, tileC, words.lhs, words.length,
              words.dot ? words.dot->tile.words : 1, joinsTaps),
        sums(words.getSumsType(
            kb, tiles.inOrder(tiles.registerPixels, tiles.registerChannels),
            accType)) {
    defineConvolution(kb, op, source, panels);
  }

  void build();

private:
  /// Goes through the rows of the tile, those of a register tile together.
  void loopOverRows(function_ref<void(Value)> body);
  /// Emits the register tile at row `p`, columns from `q`, channels from `k`
  /// (all relative to the grid tile).
  void emitTile(Value p, Value q, Value k);
  Value stageFilter(Value k);
  /// The number of the panel with the filters from `k` of the tile.
  Value getPanel(Value k) {
    return ix.floorDiv(ix.add(k0, k), tiles.registerChannels);
  }
  /// Whether the loop over panels is the innermost one, so that all results of
  /// a pixel are written together. It goes through the filters for each
  /// register tile of pixels, and the others through the patch for each panel:
  /// what is smaller stays near. The filters of a tile do where the image is
  /// read in place, for which their schedule is to see.
  bool areFiltersInside();
  /// Steps that a multiply takes.
  Value getSteps() {
    return words.getSteps(kb,
                          joinsTaps ? ix.constant(tiles.filterWidth) : lengthC);
  }
  /// Tap (r, s) of the filters that were staged last, or of the panel.
  Value viewFilter(Value r, Value s);
  /// What the pixels from (p, q) see under tap (r, s).
  Value viewPixels(Value p, Value q, Value r, Value s);
  Value viewImage(Value p, Value q, Value r, Value s);
  /// Whether the pixels of an image in place, one after another, are one run of
  /// what a filter of one tap sees: the next ones lie behind these.
  bool isOneRun();
  /// The share of channels from `k` in what is asked for of the image while the
  /// pixels from (p, q) are multiplied: what those below see first, or those of
  /// the next patch. Nothing where there is none.
  std::optional<Request> getNextPixels(Value p, Value q, Value k);
  /// Whether panels that lie ready are asked for ahead.
  bool asksForPanels() {
    return isPacked && !areFiltersInside() &&
           schedule.getFields<schedule::CPUConv>().prefetch;
  }
  /// The share of the pixels from (p, q) in what is asked for of the panel
  /// behind that of the filters from `k`.
  Request getNextPanel(Value p, Value q, Value k);
  /// The sums of all taps for the pixels from (p, q), added to `start`. Each
  /// tap makes its share of the requests.
  Value emitTaps(Value p, Value q, Value start, ArrayRef<Request> requests);
  Value emitTap(Value p, Value q, Value r, Value s, Value sum,
                ArrayRef<Request> requests);

  Conv2DOp op;
  WordOperands words;
  Value source;
  BorderTaps border;
  bool isPacked;
  ScheduleAttr schedule;
  KernelBuilder kb;
  ImplicitLocOpBuilder &b;
  IndexMath &ix;

  ConvolutionTiles tiles;
  Type accType;
  int64_t tileC;
  /// Whether a multiply goes through the taps of a row, in place of channels.
  bool joinsTaps;
  /// The most elements that a multiply goes through.
  int64_t depth;
  bool isStaged;
  ImagePatch patch;
  /// Of a register tile while it is summed.
  RankedTensorType sums;
  /// Whether a sum is in one block of input channels.
  bool hasOneBlock = false;
  Value scratch;

  Value channels, filters;
  // Of the current grid tile and block of input channels.
  Value n, group, p0, q0, k0, c0;
  Value lengthP, lengthQ, lengthK, lengthC;
  Value first, last;
  /// The filters of the current register tile, staged or the number of a panel.
  Value filter, panel;
  /// The view of the only tap, the same for all pixels: so are the sums of its
  /// columns, where the lowering needs them.
  Value onlyTap;
};
} // namespace

bool PatchConvolution::areFiltersInside() {
  if (!isPacked || !isStaged)
    return isPacked;
  int64_t filterElements = tiles.filterHeight *
                           (joinsTaps ? 1 : tiles.filterWidth) * depth *
                           tiles.channels;
  return filterElements <=
         cast<RankedTensorType>(patch.get().getType()).getNumElements();
}

Value PatchConvolution::stageFilter(Value k) {
  // filter[r, s, c, k]: the channels of one register tile, side by side.
  SmallVector<Value> indices(4);
  Value zero = ix.constant(0);
  indices[op.getFilterHeightDim()] = zero;
  indices[op.getFilterWidthDim()] = zero;
  indices[op.getFilterInDim()] = c0;
  indices[op.getFilterOutDim()] = ix.add(ix.mul(group, filters), ix.add(k0, k));
  SmallVector<AffineExpr> map(4);
  map[op.getFilterHeightDim()] = kb.dim(0);
  map[op.getFilterWidthDim()] = kb.dim(1);
  map[op.getFilterInDim()] = kb.dim(2);
  map[op.getFilterOutDim()] = kb.dim(3);
  // Joined taps are at the channels' place.
  int64_t columns = joinsTaps ? 1 : tiles.filterWidth;
  unsigned along = joinsTaps ? op.getFilterWidthDim() : op.getFilterInDim();
  if (joinsTaps)
    std::swap(map[op.getFilterWidthDim()], map[op.getFilterInDim()]);
  SmallVector<Value> limits = {ix.constant(tiles.filterHeight),
                               ix.constant(columns), getSteps(),
                               ix.constant(tiles.registerChannels)};
  SmallVector<int64_t> padded = {op.getFilterOutDim()};
  if (words.length > 1) {
    map[along] = kb.dim(2) * words.length + kb.dim(4);
    limits.push_back(ix.constant(words.length));
    padded.push_back(along);
    llvm::sort(padded);
  }
  RankedTensorType type = kb.getStagedType(
      words.getShape({tiles.filterHeight, columns, depth / words.length,
                      tiles.registerChannels}),
      words.rhs);
  return StageOp::create(b, type, kb.getMemRef(op.getFilter()), indices, limits,
                         kb.map(type.getRank(), map), padded,
                         schedule.getFields<schedule::CPUConv>().slots);
}

Value PatchConvolution::viewFilter(Value r, Value s) {
  Value zero = ix.constant(0);
  if (isPacked && words.length > 1)
    return viewWords(
        kb, kb.getMemRef(source),
        {panel, r, s, ix.floorDiv(c0, words.length), zero, zero},
        {depth / words.length, tiles.registerChannels, words.length});
  if (isPacked) {
    // The lanes' side, or with pixels along the lanes the rows.
    SmallVector<int64_t> shape = {depth, tiles.registerChannels};
    SmallVector<int64_t> dims = {joinsTaps ? 2 : 3, 4};
    if (tiles.pixelLanes) {
      std::swap(shape[0], shape[1]);
      std::swap(dims[0], dims[1]);
    }
    return kb.window(kb.getMemRef(source), ValueRange{panel, r, s, c0, zero},
                     shape, dims[0], dims[1]);
  }
  SmallVector<int64_t> shape =
      words.getShape({depth / words.length, tiles.registerChannels});
  if (tiles.pixelLanes)
    std::swap(shape[0], shape[1]);
  AffineMap map = kb.matrixMap(2, tiles.pixelLanes);
  SmallVector<Value> tap = {r, s, zero, zero};
  if (words.length > 1) {
    map = kb.map(3, {kb.zero(), kb.zero(), kb.dim(0), kb.dim(1), kb.dim(2)});
    tap.push_back(zero);
  }
  return ViewOp::create(b, kb.getStagedType(shape, words.rhs), filter, tap,
                        map);
}

Value PatchConvolution::viewPixels(Value p, Value q, Value r, Value s) {
  if (!isStaged)
    return viewImage(p, q, r, s);
  int64_t steps = depth / words.length;
  SmallVector<int64_t> shape = words.getShape({tiles.registerPixels, steps});
  if (tiles.pixelLanes)
    std::swap(shape[0], shape[1]);
  return ViewOp::create(b, kb.getStagedType(shape, words.lhs), patch.get(),
                        patch.at(p, q, r, s, ix.constant(0)),
                        patch.getTileMap());
}

Value PatchConvolution::viewImage(Value p, Value q, Value r, Value s) {
  int64_t strideH = op.getStrides()[0], strideW = op.getStrides()[1];
  int64_t dilationH = op.getDilations()[0], dilationW = op.getDilations()[1];
  SmallVector<Value> indices(4);
  indices[op.getBatchDim()] = n;
  indices[op.getHeightDim()] =
      ix.add(ix.mul(ix.add(p0, p), strideH), ix.mul(r, dilationH));
  indices[op.getWidthDim()] =
      ix.add(ix.mul(ix.add(q0, q), strideW), ix.mul(s, dilationW));
  indices[op.getChannelDim()] = ix.add(ix.mul(group, channels), c0);
  SmallVector<AffineExpr> map(4, kb.zero());
  map[op.getWidthDim()] = kb.dim(0) * strideW;
  if (joinsTaps)
    map[op.getWidthDim()] = map[op.getWidthDim()] + kb.dim(1) * dilationW;
  else if (words.length > 1)
    map[op.getChannelDim()] = kb.dim(1) * words.length + kb.dim(2);
  else
    map[op.getChannelDim()] = kb.dim(1);
  Value image = kb.getMemRef(op.getImage());
  auto type = cast<MemRefType>(image.getType());
  int64_t row = type.getDimSize(op.getChannelDim());
  SmallVector<int64_t> strides = {ShapedType::isDynamic(row) ? row
                                                             : row * strideW,
                                  joinsTaps ? dilationW : words.length};
  if (words.length > 1)
    strides.push_back(1);
  auto layout =
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, strides);
  SmallVector<int64_t> shape =
      words.getShape({tiles.registerPixels, depth / words.length});
  return ViewOp::create(b,
                        MemRefType::get(shape, type.getElementType(), layout,
                                        type.getMemorySpace()),
                        image, indices, kb.map(shape.size(), map));
}

bool PatchConvolution::isOneRun() {
  int64_t row = cast<RankedTensorType>(op.getImage().getType())
                    .getDimSize(op.getChannelDim());
  return isPacked && row == tileC && op.getStrides()[0] == 1 &&
         op.getStrides()[1] == 1 && tiles.filterHeight == 1 &&
         tiles.filterWidth == 1;
}

/// Bytes of all channels of a pixel; 0 where their number is not known.
static int64_t getPixelBytes(RankedTensorType image, unsigned channelDim) {
  return image.isDynamicDim(channelDim)
             ? 0
             : image.getDimSize(channelDim) * image.getElementTypeBitWidth() /
                   8;
}

std::optional<Request> PatchConvolution::getNextPixels(Value p, Value q,
                                                       Value k) {
  auto type = cast<RankedTensorType>(op.getImage().getType());
  auto result = cast<RankedTensorType>(op.getInit().getType());
  int64_t sizeP = result.getDimSize(op.getHeightDim());
  int64_t sizeQ = result.getDimSize(op.getWidthDim());
  int64_t blockC = tileC;
  if (!type.isDynamicDim(op.getChannelDim()))
    blockC = std::min(blockC, type.getDimSize(op.getChannelDim()));
  Value image = n, row = ix.add(p0, p), column = ix.add(q0, q);
  // Where more is read than written, and multiplied faster than it comes, the
  // processor follows the run by itself: requests only take its places.
  if (!isStaged && isOneRun() && words.hasUnit() &&
      getPixelBytes(type, op.getChannelDim()) >
          getPixelBytes(result, op.getChannelDim()))
    return std::nullopt;
  if (!isStaged && isOneRun()) {
    column = ix.add(column, tiles.registerPixels);
  } else if (!isStaged) {
    row = ix.add(row, 1);
  } else if (ShapedType::isDynamic(sizeP) || sizeP > tiles.rows) {
    row = ix.add(row, tiles.rows);
  } else if (!words.hasUnit() &&
             (ShapedType::isDynamic(sizeQ) || sizeQ > tiles.columns)) {
    column = ix.add(column, tiles.columns);
  } else if (result.getDimSize(op.getBatchDim()) != 1) {
    image = ix.min(ix.add(image, 1),
                   ix.sub(kb.getDim(op.getImage(), op.getBatchDim()), 1));
  } else {
    return std::nullopt;
  }
  // A filter of one tap passes over what a stride leaves out.
  int64_t strideH = op.getStrides()[0], strideW = op.getStrides()[1];
  int64_t rows = tiles.filterHeight == 1 ? 1 : strideH;
  int64_t step = tiles.filterWidth == 1 ? strideW : 1;
  int64_t pixels = tiles.registerPixels * strideW / step;
  SmallVector<Value> indices(4);
  indices[op.getBatchDim()] = image;
  indices[op.getHeightDim()] = ix.mul(row, strideH);
  indices[op.getWidthDim()] = ix.mul(column, strideW);
  indices[op.getChannelDim()] = ix.add(ix.mul(group, channels), c0);
  auto getRest = [&](unsigned dim) {
    return ix.sub(kb.getDim(op.getImage(), dim), indices[dim]);
  };
  // What is contiguous goes by last: of one channel pixels.
  SmallVector<unsigned> dims = {op.getHeightDim(), op.getWidthDim(),
                                op.getChannelDim()};
  SmallVector<int64_t> shape = {rows, pixels, blockC};
  SmallVector<Value> limits = {getRest(op.getHeightDim()),
                               ix.ceilDiv(getRest(op.getWidthDim()), step),
                               lengthC};
  if (tiles.pixelLanes || blockC == 1) {
    std::swap(dims[1], dims[2]);
    std::swap(shape[1], shape[2]);
    std::swap(limits[1], limits[2]);
  }
  SmallVector<AffineExpr> map(4, kb.zero());
  for (auto [number, dim] : llvm::enumerate(dims))
    map[dim] = kb.dim(number) * (dim == op.getWidthDim() ? step : 1);
  Request request{kb.getMemRef(op.getImage()), indices, limits, kb.map(3, map),
                  shape};
  if (isStaged)
    request.level = 2;
  int64_t filters = tiles.channels;
  if (std::optional<int64_t> known = getStatic(this->filters))
    filters = std::min(filters, *known);
  request = request.getShare(b, ix.floorDiv(k, tiles.registerChannels),
                             llvm::divideCeil(filters, tiles.registerChannels));
  // Of so much a part is asked for: the rest streams by itself.
  constexpr int64_t kMost = 1024;
  while (request.countLines() > kMost)
    *llvm::max_element(request.shape) /= 2;
  return request;
}

Request PatchConvolution::getNextPanel(Value p, Value q, Value k) {
  Value memory = kb.getMemRef(source);
  auto type = cast<MemRefType>(memory.getType());
  auto rank = static_cast<unsigned>(type.getRank());
  SmallVector<Value> indices(rank, ix.constant(0)), limits;
  SmallVector<int64_t> shape(type.getShape());
  indices[0] = ix.add(getPanel(k), 1);
  shape[0] = 1;
  if (!joinsTaps) {
    indices[3] = ix.floorDiv(c0, words.length);
    shape[3] = std::min(shape[3], depth / words.length);
  }
  for (auto [index, extent] : llvm::zip(indices, type.getShape()))
    limits.push_back(ix.sub(ix.constant(extent), index));
  Request request{memory,
                  indices,
                  limits,
                  AffineMap::getMultiDimIdentityMap(rank, b.getContext()),
                  shape,
                  /*isWrite=*/false,
                  /*level=*/2};
  int64_t columns = llvm::divideCeil(tiles.columns, tiles.registerPixels);
  Value place =
      ix.add(ix.mul(p, columns), ix.floorDiv(q, tiles.registerPixels));
  return request.getShare(b, place, tiles.rows * columns);
}

Value PatchConvolution::emitTap(Value p, Value q, Value r, Value s, Value sum,
                                ArrayRef<Request> requests) {
  // Of an image in place there is nothing behind the last pixel; filters are
  // whole panels. Tiles of a unit are whole pixels as well.
  SmallVector<Value> limits;
  if (!isStaged && !words.hasUnit())
    limits = {ix.sub(lengthQ, q), ix.constant(tiles.registerChannels)};
  Value image = viewPixels(p, q, r, s);
  Value weights = onlyTap ? onlyTap : viewFilter(r, s);
  if (tiles.pixelLanes)
    std::swap(image, weights);
  Value steps = getSteps();
  SmallVector<Value> pixels;
  if (limits.empty())
    pixels = border.getPixels(kb, ix.add(q0, q), s, tiles.registerPixels,
                              ix.sub(lengthQ, q));
  int64_t columns = joinsTaps ? 1 : tiles.filterWidth;
  for (const Request &request : requests)
    request
        .getShare(b, ix.add(ix.mul(r, columns), s),
                  tiles.filterHeight * columns)
        .emit(b);
  SmallVector<int64_t> spans = border.getSpans(tiles.registerPixels);
  return MmaOp::create(b, image, weights, sum, steps, limits, pixels,
                       spans.empty() ? DenseI64ArrayAttr()
                                     : b.getDenseI64ArrayAttr(spans),
                       Precision::Full);
}

Value PatchConvolution::emitTaps(Value p, Value q, Value start,
                                 ArrayRef<Request> requests) {
  auto emitRow = [&](Value r, Value sumR) {
    if (joinsTaps)
      return emitTap(p, q, r, ix.constant(0), sumR, requests);
    return kb.loop(
        ix.constant(tiles.filterWidth), 1, sumR,
        [&](Value s, Value sum) { return emitTap(p, q, r, s, sum, requests); });
  };
  auto [first, end] = border.getRows(kb, ix.add(p0, p));
  return kb.loop(first, end, start, emitRow);
}

void PatchConvolution::loopOverRows(function_ref<void(Value)> body) {
  kb.loop(lengthP, 1, [&](Value p) {
    // A single row has no loop.
    if (scf::ForOp loop = scf::getForInductionVarOwner(p);
        loop && tiles.registerRows > 1)
      loop->setAttr(kUnrollAndJamAttrName,
                    b.getI64IntegerAttr(tiles.registerRows));
    body(p);
  });
}

void PatchConvolution::emitTile(Value p, Value q, Value k) {
  Value limitQ = ix.sub(lengthQ, q), limitK = ix.sub(lengthK, k);
  SmallVector<Value> limits = tiles.inOrder(limitQ, limitK);
  TileAddress address =
      tiles.getAddress(n, ix.add(p0, p), ix.add(q0, q),
                       ix.add(ix.mul(group, filters), ix.add(k0, k)));
  TileAddress rest = address;
  if (scratch) {
    rest = {scratch, {p}, kb.matrixMap(1)};
    llvm::append_range(rest.indices, tiles.inOrder(q, k));
  }
  SmallVector<Request> requests = {
      {rest.memory, rest.indices, limits, rest.map,
       SmallVector<int64_t>(tiles.accumulator.getShape()),
       /*isWrite=*/true}};
  // What the epilogue adds to each element, such as a residual, comes from
  // memory as the result's lines do: nothing but the sum is between.
  if (hasOneBlock)
    for (auto [extra, map] :
         llvm::zip(op.getExtras(),
                   op.getEpilogueMaps().getAsValueRange<AffineMapAttr>()))
      if (map.isIdentity())
        requests.push_back(
            {kb.getMemRef(extra), address.indices, limits, address.map,
             SmallVector<int64_t>(tiles.accumulator.getShape())});
  if (std::optional<Request> next = getNextPixels(p, q, k))
    requests.push_back(std::move(*next));
  if (asksForPanels())
    requests.push_back(getNextPanel(p, q, k));
  // A block's sum starts from zero and is added to the others at its end: that
  // keeps rounding errors to those of a block, and the loads off the way.
  Value block = emitTaps(p, q, kb.splat(sums, 0), requests);
  words.addAndStore(
      kb, first, last, /*isApart=*/static_cast<bool>(scratch), block,
      [&](RankedTensorType tile) -> Value {
        return LoadOp::create(b, tile, rest.memory, rest.indices, limits,
                              Value(), rest.map);
      },
      [&](Value sum) {
        Value out = kb.emitEpilogue(op, sum, address, limits);
        StoreOp::create(b, out, address.memory, address.indices, limits,
                        address.map);
      },
      [&](Value sum) {
        StoreOp::create(b, sum, rest.memory, rest.indices, limits, rest.map);
      });
}

void PatchConvolution::build() {
  auto resultType = cast<RankedTensorType>(op.getResult().getType());
  auto filterType = cast<RankedTensorType>(op.getFilter().getType());
  Value sizeP = kb.getDim(op.getInit(), op.getHeightDim());
  Value sizeQ = kb.getDim(op.getInit(), op.getWidthDim());
  if (isPacked) {
    channels = ix.constant(filterType.getDimSize(op.getFilterInDim()));
    filters = ix.constant(filterType.getDimSize(op.getFilterOutDim()));
  } else {
    channels = kb.getDim(op.getFilter(), op.getFilterInDim());
    filters = ix.floorDiv(kb.getDim(op.getFilter(), op.getFilterOutDim()),
                          op.getGroups());
  }
  border.begin(kb);
  Block::BlockArgListType grid = kb.beginTiles(
      {kb.getDim(op.getInit(), op.getBatchDim()), ix.constant(op.getGroups()),
       ix.ceilDiv(filters, tiles.channels), ix.ceilDiv(sizeP, tiles.rows),
       ix.ceilDiv(sizeQ, tiles.columns)});
  n = grid[0];
  group = grid[1];
  k0 = ix.mul(grid[2], tiles.channels);
  p0 = ix.mul(grid[3], tiles.rows);
  q0 = ix.mul(grid[4], tiles.columns);
  lengthK = ix.min(ix.sub(filters, k0), tiles.channels);
  lengthP = ix.min(ix.sub(sizeP, p0), tiles.rows);
  lengthQ = ix.min(ix.sub(sizeQ, q0), tiles.columns);

  // Where sums rest between blocks of input channels.
  std::optional<int64_t> knownC = getStatic(channels);
  hasOneBlock = knownC && *knownC <= tileC;
  if (!hasOneBlock && resultType.getElementType() != accType) {
    SmallVector<int64_t> shape = {tiles.rows};
    llvm::append_range(shape, tiles.inOrder(tiles.columns, tiles.channels));
    scratch = ScratchOp::create(
        b,
        MemRefType::get(shape, accType, AffineMap(),
                        StagedAttr::get(b.getContext(), ArrayRef<int64_t>())));
  }

  kb.loop(ix.max(channels, 1), tileC, [&](Value c) {
    c0 = c;
    lengthC = ix.min(ix.sub(channels, c0), tileC);
    first = ix.equal(c0, ix.constant(0));
    last = ix.lessOrEqual(channels, ix.add(c0, tileC));
    if (isStaged)
      patch.stage({n, p0, q0, lengthP, lengthQ,
                   ix.add(ix.mul(group, channels), c0), lengthC});
    if (areFiltersInside()) {
      loopOverRows([&](Value p) {
        kb.loop(lengthQ, tiles.registerPixels, [&](Value q) {
          kb.loop(lengthK, tiles.registerChannels, [&](Value k) {
            panel = getPanel(k);
            emitTile(p, q, k);
          });
        });
      });
      return;
    }
    kb.loop(lengthK, tiles.registerChannels, [&](Value k) {
      if (isPacked)
        panel = getPanel(k);
      else
        filter = stageFilter(k);
      if (words.length > 1 &&
          tiles.filterHeight * (joinsTaps ? 1 : tiles.filterWidth) == 1)
        onlyTap = viewFilter(ix.constant(0), ix.constant(0));
      loopOverRows([&](Value p) {
        kb.loop(lengthQ, tiles.registerPixels,
                [&](Value q) { emitTile(p, q, k); });
      });
    });
  });
  words.markRoundings(kb);
  kb.finish();
}

/// What the image lacks to be multiplied where it lies; "" if nothing.
static StringRef whyNotInPlace(Conv2DOp op, const WordOperands &words) {
  if (op.getLayout() != ImageLayout::NHWC)
    return "channels last";
  auto type = cast<RankedTensorType>(op.getImage().getType());
  auto result = cast<RankedTensorType>(op.getInit().getType());
  auto filter = cast<RankedTensorType>(op.getFilter().getType());
  unsigned dims[] = {op.getHeightDim(), op.getWidthDim()};
  unsigned taps[] = {op.getFilterHeightDim(), op.getFilterWidthDim()};
  for (unsigned i = 0; i < 2; ++i) {
    int64_t extent = type.getDimSize(dims[i]);
    int64_t pixels = result.getDimSize(dims[i]);
    // Without zeros behind the image no result looks there.
    bool isInside = op.getPads()[i + 2] == 0;
    if (!ShapedType::isDynamic(extent) && !ShapedType::isDynamic(pixels))
      isInside = (pixels - 1) * op.getStrides()[i] +
                     (filter.getDimSize(taps[i]) - 1) * op.getDilations()[i] <
                 extent;
    if (op.getPads()[i] != 0 || !isInside)
      return "no border that taps meet";
  }
  if (words.length > 1) {
    // A tile is loaded as a whole, and of the image's own elements.
    int64_t channels = type.getDimSize(op.getChannelDim());
    int64_t pixels = result.getDimSize(op.getWidthDim());
    ArrayRef<int64_t> registers =
        op.getScheduleAttr().getFields<schedule::CPUConv>().registers;
    bool isWhole = !ShapedType::isDynamic(channels) &&
                   words.getWhole(channels) == channels &&
                   !ShapedType::isDynamic(pixels) && pixels % registers[0] == 0;
    if (!words.hasUnit() || words.lhs != type.getElementType() || !isWhole ||
        op.getGroups() != 1)
      return "the accumulator's element type, or pixels and channels that fill "
             "the tiles of a unit";
    return "";
  }
  if (type.getElementType() != op.getAccumulatorType())
    return "the accumulator's element type";
  return "";
}

LogicalResult mlir::tracea::lowerConv2DPatch(KernelRewriter &rewriter,
                                             Conv2DOp op) {
  auto filterType = cast<RankedTensorType>(op.getFilter().getType());
  if (filterType.isDynamicDim(op.getFilterHeightDim()) ||
      filterType.isDynamicDim(op.getFilterWidthDim()))
    return op.emitOpError() << "expects a filter of static height and width "
                               "for the variant 'conv2d.patch', found "
                            << filterType;
  // Rows of the image in a register tile are multiplied on their own.
  int64_t rows = getRegisterRows(op.getScheduleAttr());
  schedule::Extents registers =
      op.getScheduleAttr().getFields<schedule::CPUConv>().registers;
  registers[0] = registers[0] % rows == 0 ? registers[0] / rows : 1;
  FailureOr<WordOperands> words = getWordOperands(
      op, "conv2d.dot", op.getImage(), op.getFilter(), op.getAccumulatorType(),
      op.getScheduleAttr().getTile()[3], registers);
  if (failed(words))
    return failure();
  if (words->length > 1) {
    if (op.getLayout() != ImageLayout::NHWC)
      return op.emitOpError()
             << "expects channels last for the variant 'conv2d.dot', found "
             << stringifyImageLayout(op.getLayout());
    int64_t channels = filterType.getDimSize(op.getFilterInDim());
    int64_t whole = words->length * words->dot->tile.words;
    if (op.getGroups() != 1 &&
        (ShapedType::isDynamic(channels) || channels % whole))
      return op.emitOpError()
             << "expects groups of whole "
             << (words->hasUnit() ? "tiles" : "words") << " of " << whole
             << " channels for the variant 'conv2d.dot', "
                "found "
             << filterType;
  }
  if (!op.getScheduleAttr().getFields<schedule::CPUConv>().staged)
    if (StringRef reason = whyNotInPlace(op, *words); !reason.empty())
      return op.emitOpError() << "reads its image where it lies (staged = 0), "
                                 "which has to have "
                              << reason;
  emitExtentChecks(rewriter, cast<ConvolutionOpInterface>(op.getOperation()));
  // Groups are staged, which seldom are whole panels, and words of taps.
  bool joinsTaps = areTapsJoined(op, *words);
  bool isPacked = op.getGroups() == 1 && words->readsPanels() &&
                  (words->length == 1 || !joinsTaps) &&
                  hasConstantPanels(op.getFilter(), words->packed);
  bool hasPixelLanes = op.getLayout() == ImageLayout::NCHW;
  PanelForm panels = getFilterPanels(op, registers[hasPixelLanes ? 0 : 1]);
  if (isPacked)
    panels.setWords(words->length, words->getWhole(panels.getSteps()),
                    words->rhs);
  Value source = op.getFilter();
  if (isPacked)
    source = packPanels(rewriter, op, source, panels);
  // Lanes are multiplied together, and words; and joined taps see the image
  // and the border.
  bool byPixels =
      op.getLayout() == ImageLayout::NHWC && words->length == 1 && !joinsTaps;
  // Rows of the image that are multiplied together have the same taps.
  BorderTaps border(rewriter, op, byPixels, /*byRows=*/rows == 1);
  PatchConvolution(rewriter, op, *words, source, isPacked ? &panels : nullptr,
                   border)
      .build();
  return success();
}
