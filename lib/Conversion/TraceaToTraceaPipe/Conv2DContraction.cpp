//===- Conv2DContraction.cpp - Convolutions as contractions ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An implicit matrix product: rows are pixels of the result, columns the
// filters of a group, and the sum goes over taps and channels. A tile finds the
// coordinates of its pixels once; in a step each of them is one tap away.

#include "Conv2DContraction.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

static RankedTensorType getTensorType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

static int64_t getNumTaps(Conv2DOp op) {
  RankedTensorType type = getTensorType(op.getFilter());
  return type.getDimSize(op.getFilterHeightDim()) *
         type.getDimSize(op.getFilterWidthDim());
}

/// Channels of a group, where the filter's type tells.
static int64_t getGroupChannels(Conv2DOp op) {
  return getTensorType(op.getFilter()).getDimSize(op.getFilterInDim());
}

/// Dimensions of the kernel's result before those of the operation's: parts of
/// a sum.
static int64_t getNumLeading(KernelBuilder &kb) {
  return cast<MemRefType>(kb.getDest(0u).getType()).getRank() - 4;
}

/// An extent of the operation's result, which a kernel of parts knows by the
/// tensor of its parts.
static Value getResultExtent(KernelBuilder &kb, unsigned dim) {
  return kb.getExtent(kb.getDest(0u), getNumLeading(kb) + dim);
}

/// Filters of a group.
static Value getFilters(KernelBuilder &kb, Conv2DOp op) {
  int64_t known =
      getTensorType(op.getFilter()).getDimSize(op.getFilterOutDim());
  Value filters = ShapedType::isDynamic(known)
                      ? getResultExtent(kb, op.getChannelDim())
                      : kb.index().constant(known);
  return kb.index().floorDiv(filters, op.getGroups());
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

int64_t Conv2DOperand::getKnownChannels() const {
  int64_t own = getType().getDimSize(channelDim);
  return ShapedType::isDynamic(own) ? getGroupChannels(op) : own;
}

Value Conv2DOperand::getSteps(KernelBuilder &kb, int64_t depth) const {
  IndexMath &ix = kb.index();
  int64_t known = getKnownChannels();
  Value channels = ShapedType::isDynamic(known) ? kb.getDim(tensor, channelDim)
                                                : ix.constant(known);
  return ix.mul(ix.ceilDiv(channels, depth), getNumTaps(op));
}

Conv2DOperand::Tap Conv2DOperand::getTap(KernelBuilder &kb, Value step,
                                         int64_t depth) const {
  IndexMath &ix = kb.index();
  // Of a filter without taps there are no steps, and nothing to divide by.
  int64_t taps = std::max<int64_t>(getNumTaps(op), 1);
  int64_t width = std::max<int64_t>(
      getTensorType(op.getFilter()).getDimSize(op.getFilterWidthDim()), 1);
  Value tap = ix.rem(step, taps);
  return {ix.floorDiv(tap, width), ix.rem(tap, width),
          ix.mul(ix.floorDiv(step, taps), depth)};
}

Value Conv2DOperand::stageBlock(
    KernelBuilder &kb, const BlockForm &form, ValueRange coordinates,
    Value walk, unsigned outerRank,
    function_ref<void(MutableArrayRef<AffineExpr>, ArrayRef<AffineExpr>,
                      AffineExpr)>
        fill,
    ArrayRef<int64_t> padded) const {
  // Channels are the block's second dimension, or its first.
  SmallVector<AffineExpr> outer;
  for (unsigned number = 0; number < outerRank; ++number)
    outer.push_back(kb.dim(number + !form.isAlongK));
  AffineExpr channel = kb.dim(form.isAlongK ? outerRank : 0);
  SmallVector<AffineExpr> place(getType().getRank(), kb.zero());
  fill(place, outer, channel);
  SmallVector<int64_t> along;
  if (walk)
    along.push_back(!form.isAlongK);
  return StageOp::create(
      kb.builder(), form.type, kb.getMemRef(tensor), coordinates, ValueRange(),
      walk ? ValueRange(walk) : ValueRange(), kb.map(outerRank + 1, place),
      padded, form.slots, form.reuse, along);
}

ImageOperand::ImageOperand(Conv2DOp op)
    : Conv2DOperand(op.getImage(), op,
                    op.getChannelDim() + (op.getGroups() > 1)),
      resultHeight(getTensorType(op.getInit()).getDimSize(op.getHeightDim())),
      resultWidth(getTensorType(op.getInit()).getDimSize(op.getWidthDim())) {}

void ImageOperand::splitChannels(OpBuilder &b) {
  int64_t groups = op.getGroups();
  if (groups == 1)
    return;
  RankedTensorType type = getType();
  int64_t channels = getGroupChannels(op);
  SmallVector<int64_t> known(type.getShape()), split(type.getShape());
  known[op.getChannelDim()] = groups * channels;
  split[op.getChannelDim()] = groups;
  split.insert(split.begin() + channelDim, channels);
  SmallVector<ReassociationIndices> dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    dims.push_back({at(dim)});
  dims[op.getChannelDim()] = {op.getChannelDim(), channelDim};
  if (type.getShape() != ArrayRef(known))
    tensor = tensor::CastOp::create(b, op.getLoc(), type.clone(known), tensor);
  tensor = tensor::ExpandShapeOp::create(b, op.getLoc(), type.clone(split),
                                         tensor, dims);
}

int64_t ImageOperand::getRowExtent() const {
  return isAlongK() && op.getGroups() > 1 ? getGroupChannels(op)
                                          : getType().getShape().back();
}

SmallVector<Value> ImageOperand::getCoordinates(KernelBuilder &kb,
                                                const ResultTile &tile,
                                                Value step,
                                                int64_t depth) const {
  IndexMath &ix = kb.index();
  Tap tap = getTap(kb, step, depth);
  SmallVector<Value> indices(getType().getRank());
  indices[at(op.getBatchDim())] = ix.constant(0);
  indices[at(op.getHeightDim())] =
      ix.sub(ix.mul(tap.r, op.getDilations()[0]), op.getPads()[0]);
  indices[at(op.getWidthDim())] =
      ix.sub(ix.mul(tap.s, op.getDilations()[1]), op.getPads()[1]);
  if (op.getGroups() > 1)
    indices[op.getChannelDim()] = tile.batch.front();
  indices[channelDim] = tap.c;
  return indices;
}

/// Whether a step may see past the image along a dimension: because a tap does,
/// as far as types tell, or because it is copied ahead, behind the last step.
bool ImageOperand::mayPassBorder(unsigned axis, unsigned dim,
                                 unsigned tapDim) const {
  int64_t extent = getType().getDimSize(at(dim));
  int64_t pixels = axis == 0 ? resultHeight : resultWidth;
  int64_t taps = getTensorType(op.getFilter()).getDimSize(tapDim);
  return taps != 1 || op.getPads()[axis] || ShapedType::isDynamic(extent) ||
         ShapedType::isDynamic(pixels) ||
         (pixels - 1) * op.getStrides()[axis] >= extent;
}

Value ImageOperand::stage(KernelBuilder &kb, const BlockForm &form,
                          const ResultTile &tile,
                          ValueRange coordinates) const {
  unsigned batch = at(op.getBatchDim()), height = at(op.getHeightDim()),
           width = at(op.getWidthDim());
  // The pixels of the last tile go on behind the last image.
  SmallVector<int64_t> padded{batch};
  if (mayPassBorder(0, op.getHeightDim(), op.getFilterHeightDim()))
    padded.push_back(height);
  if (mayPassBorder(1, op.getWidthDim(), op.getFilterWidthDim()))
    padded.push_back(width);
  padded.push_back(channelDim);
  llvm::sort(padded);
  return stageBlock(
      kb, form, coordinates, tile.walk, /*outerRank=*/3,
      [&](MutableArrayRef<AffineExpr> place, ArrayRef<AffineExpr> pixel,
          AffineExpr channel) {
        place[batch] = pixel[0];
        place[height] = pixel[1] * op.getStrides()[0];
        place[width] = pixel[2] * op.getStrides()[1];
        place[channelDim] = channel;
      },
      padded);
}

SmallVector<Value> FilterOperand::getCoordinates(KernelBuilder &kb,
                                                 const ResultTile &tile,
                                                 Value step,
                                                 int64_t depth) const {
  IndexMath &ix = kb.index();
  Tap tap = getTap(kb, step, depth);
  Value first = tile.n;
  if (op.getGroups() > 1)
    first = ix.add(ix.mul(tile.batch.front(), getFilters(kb, op)), tile.n);
  SmallVector<Value> indices(4);
  indices[op.getFilterOutDim()] = first;
  indices[op.getFilterHeightDim()] = tap.r;
  indices[op.getFilterWidthDim()] = tap.s;
  indices[channelDim] = tap.c;
  return indices;
}

Value FilterOperand::stage(KernelBuilder &kb, const BlockForm &form,
                           const ResultTile &, ValueRange coordinates) const {
  unsigned out = op.getFilterOutDim();
  int64_t filters = getType().getDimSize(out);
  int64_t block = form.type.getDimSize(form.isAlongK ? 0 : 1);
  // What is copied ahead, behind the last step, is no tap of a channel.
  SmallVector<int64_t> padded = {op.getFilterHeightDim(),
                                 op.getFilterWidthDim(), channelDim};
  if (ShapedType::isDynamic(filters) || filters % op.getGroups() ||
      filters / op.getGroups() % block)
    padded.push_back(out);
  llvm::sort(padded);
  return stageBlock(
      kb, form, coordinates, Value(), /*outerRank=*/1,
      [&](MutableArrayRef<AffineExpr> place, ArrayRef<AffineExpr> filter,
          AffineExpr channel) {
        place[out] = filter.front();
        place[channelDim] = channel;
      },
      padded);
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

void Conv2DContraction::emitChecks(RewriterBase &rewriter) {
  emitExtentChecks(rewriter, cast<ConvolutionOpInterface>(conv.getOperation()));
  rewriter.setInsertionPoint(conv);
  image.splitChannels(rewriter);
}

void Conv2DContraction::joinRows(RewriterBase &rewriter) {
  constexpr unsigned kPixelDims = 3;
  RankedTensorType type = getResultType();
  int64_t height = type.getDimSize(1), width = type.getDimSize(2);
  if (conv.getLayout() != ImageLayout::NHWC || ShapedType::isDynamic(height) ||
      ShapedType::isDynamic(width) || height * width == 0 ||
      !getResultMemory(conv, conv.getInit()).getLayout().isIdentity())
    return;
  EpilogueOpInterface row = joinResultDims(rewriter, op, kPixelDims);
  if (!row)
    return;
  joined = {height, width};
  op = row;
  conv = cast<Conv2DOp>(row.getOperation());
  image.setOp(conv);
  filter.setOp(conv);
}

std::optional<Definition> Conv2DContraction::getTerms(KernelBuilder &kb,
                                                      unsigned leading) {
  std::optional<Definition> terms = getConvolutionTerms(
      kb, conv, image.getTensor(), filter.getTensor(), leading);
  if (!terms || !joined)
    return terms;
  auto [height, width] = *joined;
  AffineExpr pixel = kb.dim(leading + 2);
  // Of a single image, or a single row, pixels are known to be of the first.
  int64_t pixels = getResultType().getDimSize(2);
  auto divide = [&](int64_t extent) {
    return pixels == extent ? kb.zero() : pixel.floorDiv(extent);
  };
  AffineExpr row = divide(width), image = divide(height * width);
  terms->replace(leading + 2, pixel - row * width);
  terms->replace(leading + 1, row - image * height);
  terms->replace(leading, image);
  return terms;
}

SmallVector<Value> Conv2DContraction::getExtents(KernelBuilder &kb) {
  IndexMath &ix = kb.index();
  auto extent = [&](unsigned dim) { return getResultExtent(kb, dim); };
  Value pixels =
      ix.mul(ix.mul(extent(conv.getBatchDim()), extent(conv.getHeightDim())),
             extent(conv.getWidthDim()));
  SmallVector<Value> extents;
  if (conv.getGroups() > 1)
    extents.push_back(ix.constant(conv.getGroups()));
  extents.append({pixels, getFilters(kb, conv)});
  return extents;
}

Value Conv2DContraction::getWalk(KernelBuilder &kb, Value m) {
  auto extent = [&](unsigned dim) {
    if (joined)
      return kb.index().constant(dim == 1 ? joined->first : joined->second);
    // Of a result without pixels nothing is walked.
    return getTensorType(conv.getInit()).getDimSize(dim) == 0
               ? kb.index().constant(1)
               : getResultExtent(kb, dim);
  };
  return DelinearizeOp::create(
      kb.builder(), WalkType::get(kb.builder().getContext(), 3), m,
      ValueRange{extent(conv.getHeightDim()), extent(conv.getWidthDim())});
}

TileAddress Conv2DContraction::getAddress(KernelBuilder &kb,
                                          const ResultTile &tile,
                                          bool isTransposed) {
  IndexMath &ix = kb.index();
  Value filter = tile.n;
  if (conv.getGroups() > 1)
    filter = ix.add(ix.mul(tile.batch.front(), getFilters(kb, conv)), tile.n);
  TileAddress address;
  if (joined) {
    ResultTile row = tile;
    row.batch.assign(2, ix.constant(0));
    row.n = filter;
    return Contraction::getAddress(kb, row, isTransposed);
  }
  assert(!isTransposed && "rows of a tile are pixels");
  address.memory = kb.getDest(0u);
  address.walk = getWalk(kb, tile.m);
  int64_t parts = getNumLeading(kb);
  if (parts)
    address.indices.push_back(tile.part);
  address.indices.resize(parts + 4, ix.constant(0));
  address.indices[parts + conv.getChannelDim()] = filter;
  SmallVector<AffineExpr> place(parts + 4, kb.zero());
  place[parts + conv.getBatchDim()] = kb.dim(0);
  place[parts + conv.getHeightDim()] = kb.dim(1);
  place[parts + conv.getWidthDim()] = kb.dim(2);
  place[parts + conv.getChannelDim()] = kb.dim(3);
  address.map = kb.map(4, place);
  return address;
}
