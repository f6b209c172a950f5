//===- WGradContraction.cpp - Filter gradients as contractions ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An implicit matrix product: rows are output channels, columns the input
// channels of a tap, and the sum goes over pixels. A step finds the coordinates
// of its pixels; the image's are a tap away from the gradient's.

#include "WGradContraction.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

static RankedTensorType getTensorType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

namespace {
/// Group, row and column of the filter that a tile is of.
struct Tap {
  Value group, r, s;
};
} // namespace

/// Where a dimension of the filter is in the result: behind the groups, which
/// have a dimension of their own where there are several.
static unsigned getResultDim(Conv2DWGradOp op, unsigned dim) {
  return dim + (getTensorType(op.getInit()).getRank() > 4 &&
                dim >= op.getFilterOutDim());
}

static Tap getTap(KernelBuilder &kb, Conv2DWGradOp op, const ResultTile &tile) {
  ArrayRef<Value> batch = tile.batch;
  bool hasGroups = op.getGroups() > 1;
  return {hasGroups ? batch.front() : kb.index().constant(0), batch[hasGroups],
          batch[hasGroups + 1]};
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

int64_t PixelOperand::getRowExtent() const {
  if (isAlongK() || op.getGroups() == 1)
    return getTensorType(tensor).getShape().back();
  RankedTensorType result = getTensorType(op.getInit());
  auto extent = [&](unsigned dim) {
    return result.getDimSize(getResultDim(op, dim));
  };
  if (isImage)
    return extent(op.getFilterInDim());
  int64_t out = extent(op.getFilterOutDim());
  if (result.getRank() > 4)
    return out;
  return ShapedType::isDynamic(out)
             ? out
             : out / static_cast<int64_t>(op.getGroups());
}

Value PixelOperand::getSteps(KernelBuilder &kb, int64_t depth) const {
  IndexMath &ix = kb.index();
  auto extent = [&](unsigned dim) { return kb.getDim(pixels.tensor, dim); };
  Value pixels =
      ix.mul(ix.mul(extent(op.getBatchDim()), extent(op.getHeightDim())),
             extent(op.getWidthDim()));
  return ix.ceilDiv(pixels, depth);
}

SmallVector<Value> PixelOperand::getCoordinates(KernelBuilder &kb,
                                                const ResultTile &tile,
                                                Value step,
                                                int64_t depth) const {
  IndexMath &ix = kb.index();
  Tap tap = getTap(kb, op, tile);
  SmallVector<Value> indices(4, ix.constant(0));
  if (isImage) {
    indices[op.getHeightDim()] =
        ix.sub(ix.mul(tap.r, op.getDilations()[0]), op.getPads()[0]);
    indices[op.getWidthDim()] =
        ix.sub(ix.mul(tap.s, op.getDilations()[1]), op.getPads()[1]);
  }
  Value channel = isImage ? tile.n : tile.m;
  if (op.getGroups() > 1)
    channel =
        ix.add(ix.mul(tap.group, isImage ? tile.sizeN : tile.sizeM), channel);
  indices[op.getChannelDim()] = channel;
  auto basis = [&](unsigned dim) {
    // Of a gradient without pixels nothing is walked.
    return getTensorType(op.getGradient()).getDimSize(dim) == 0
               ? ix.constant(1)
               : kb.getDim(pixels.tensor, dim);
  };
  indices.push_back(DelinearizeOp::create(
      kb.builder(), WalkType::get(kb.builder().getContext(), 3),
      ix.mul(step, depth),
      ValueRange{basis(op.getHeightDim()), basis(op.getWidthDim())}));
  return indices;
}

/// Whether a tap may see past the image along a dimension, as far as types
/// tell.
bool PixelOperand::mayPassBorder(unsigned axis) const {
  unsigned dim = axis == 0 ? op.getHeightDim() : op.getWidthDim();
  unsigned tapDim =
      axis == 0 ? op.getFilterHeightDim() : op.getFilterWidthDim();
  int64_t extent = getTensorType(op.getImage()).getDimSize(dim);
  int64_t pixels = getTensorType(op.getGradient()).getDimSize(dim);
  int64_t taps =
      getTensorType(op.getInit()).getDimSize(getResultDim(op, tapDim));
  return op.getPads()[axis] || ShapedType::isDynamic(extent) ||
         ShapedType::isDynamic(pixels) || ShapedType::isDynamic(taps) ||
         (pixels - 1) * op.getStrides()[axis] +
                 (taps - 1) * op.getDilations()[axis] >=
             extent;
}

Value PixelOperand::stage(KernelBuilder &kb, const BlockForm &form,
                          const ResultTile &, ValueRange coordinates) const {
  unsigned batch = op.getBatchDim(), height = op.getHeightDim(),
           width = op.getWidthDim(), channel = op.getChannelDim();
  // The pixels of the last step go on behind the last image, the channels of
  // the last tile behind the last one.
  SmallVector<int64_t> padded{batch, channel};
  if (isImage && mayPassBorder(0))
    padded.push_back(height);
  if (isImage && mayPassBorder(1))
    padded.push_back(width);
  llvm::sort(padded);
  // The block's pixel is three inputs of the map.
  unsigned pixel = form.isAlongK ? 1 : 0;
  SmallVector<AffineExpr> place(4, kb.zero());
  place[batch] = kb.dim(pixel);
  place[height] = kb.dim(pixel + 1) * (isImage ? op.getStrides()[0] : 1);
  place[width] = kb.dim(pixel + 2) * (isImage ? op.getStrides()[1] : 1);
  place[channel] = kb.dim(form.isAlongK ? 0 : 3);
  return StageOp::create(
      kb.builder(), form.type, kb.getMemRef(tensor), coordinates.drop_back(),
      ValueRange(), coordinates.take_back(), kb.map(4, place), padded,
      form.slots, form.reuse, ArrayRef<int64_t>{form.isAlongK ? 1 : 0});
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

/// A tensor with `parts` of dimension `dim`, whose extent is known elsewhere,
/// as a dimension of their own.
static Value splitDim(RewriterBase &rewriter, Location loc, Value tensor,
                      unsigned dim, int64_t extent, int64_t parts) {
  RankedTensorType type = getTensorType(tensor);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = extent;
  if (type.isDynamicDim(dim))
    tensor = tensor::CastOp::create(rewriter, loc, type.clone(shape), tensor);
  SmallVector<ReassociationIndices> dims;
  for (unsigned position = 0; position < shape.size(); ++position)
    dims.push_back({position + (position > dim)});
  dims[dim].push_back(dim + 1);
  shape[dim] /= parts;
  shape.insert(shape.begin() + dim, parts);
  return tensor::ExpandShapeOp::create(rewriter, loc, type.clone(shape), tensor,
                                       dims);
}

void WGradContraction::splitGroups(RewriterBase &rewriter) {
  int64_t groups = grad.getGroups();
  unsigned out = grad.getFilterOutDim();
  RankedTensorType type = getResultType();
  if (groups == 1 || !type.hasStaticShape())
    return;
  Location loc = grad.getLoc();
  rewriter.setInsertionPoint(grad);
  SmallVector<Value> extras;
  SmallVector<Attribute> maps;
  for (auto [extra, attr] :
       llvm::zip(grad.getExtras(), grad.getEpilogueMaps())) {
    AffineMap map = cast<AffineMapAttr>(attr).getValue();
    SmallVector<AffineExpr> place;
    std::optional<unsigned> split;
    for (auto [position, expr] : llvm::enumerate(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim) {
        place.push_back(expr);
        continue;
      }
      if (dim.getPosition() == out) {
        split = position;
        place.push_back(rewriter.getAffineDimExpr(out));
      }
      place.push_back(rewriter.getAffineDimExpr(dim.getPosition() +
                                                (dim.getPosition() >= out)));
    }
    extras.push_back(split ? splitDim(rewriter, loc, extra, *split,
                                      type.getDimSize(out), groups)
                           : extra);
    maps.push_back(AffineMapAttr::get(
        AffineMap::get(type.getRank() + 1, 0, place, rewriter.getContext())));
  }
  Value init = splitDim(rewriter, loc, grad.getInit(), out,
                        type.getDimSize(out), groups);
  auto other = cast<Conv2DWGradOp>(rewriter.clone(*grad));
  other.getExtrasMutable().assign(extras);
  other.setEpilogueMapsAttr(rewriter.getArrayAttr(maps));
  other.getInitMutable().assign(init);
  other.getResult().setType(getTensorType(init));
  SmallVector<ReassociationIndices> dims;
  for (unsigned position = 0; position < type.getRank(); ++position)
    dims.push_back({position + (position > out)});
  dims[out].push_back(out + 1);
  rewriter.replaceOp(grad, tensor::CollapseShapeOp::create(
                               rewriter, loc, type, other.getResult(), dims));
  grad = other;
  op = cast<EpilogueOpInterface>(other.getOperation());
  gradient.setOp(grad);
  image.setOp(grad);
}

void WGradContraction::emitChecks(RewriterBase &rewriter) {
  emitExtentChecks(rewriter, cast<ConvolutionOpInterface>(grad.getOperation()));
  splitGroups(rewriter);
}

std::optional<Definition> WGradContraction::getTerms(KernelBuilder &kb,
                                                     unsigned leading) {
  constexpr unsigned kRank = 4;
  unsigned rank = getResultType().getRank();
  Definition definition(kb, leading + rank, 3);
  auto dim = [&](unsigned filterDim) {
    return definition.dim(leading + getResultDim(grad, filterDim));
  };
  auto sum = [&](unsigned number) {
    return definition.dim(leading + rank + number);
  };
  AffineExpr n = sum(0), p = sum(1), q = sum(2);
  AffineExpr out = dim(grad.getFilterOutDim()), in = dim(grad.getFilterInDim());
  SmallVector<AffineExpr> pixel(kRank), seen(kRank);
  pixel[grad.getBatchDim()] = seen[grad.getBatchDim()] = n;
  pixel[grad.getHeightDim()] = p;
  pixel[grad.getWidthDim()] = q;
  auto window = [&](AffineExpr at, unsigned tapDim, unsigned axis) {
    return at * grad.getStrides()[axis] +
           dim(tapDim) * grad.getDilations()[axis] - grad.getPads()[axis];
  };
  seen[grad.getHeightDim()] = window(p, grad.getFilterHeightDim(), 0);
  seen[grad.getWidthDim()] = window(q, grad.getFilterWidthDim(), 1);
  if (grad.getGroups() > 1) {
    if (rank == kRank)
      return std::nullopt;
    auto extent = [&](unsigned filterDim) {
      return getResultType().getDimSize(getResultDim(grad, filterDim));
    };
    AffineExpr group = definition.dim(leading + grad.getFilterOutDim());
    out = group * extent(grad.getFilterOutDim()) + out;
    in = group * extent(grad.getFilterInDim()) + in;
  }
  pixel[grad.getChannelDim()] = out;
  seen[grad.getChannelDim()] = in;
  definition.add(gradient.getTensor(), pixel);
  definition.add(image.getTensor(), seen);
  return definition;
}

SmallVector<Value> WGradContraction::getExtents(KernelBuilder &kb) {
  IndexMath &ix = kb.index();
  Value memory = kb.getDest(0u);
  int64_t parts =
      cast<MemRefType>(memory.getType()).getRank() - getResultType().getRank();
  auto extent = [&](unsigned filterDim) {
    return kb.getExtent(memory, parts + getResultDim(grad, filterDim));
  };
  SmallVector<Value> extents;
  Value outs = extent(grad.getFilterOutDim());
  if (grad.getGroups() > 1) {
    extents.push_back(ix.constant(grad.getGroups()));
    if (getResultType().getRank() == 4)
      outs = ix.floorDiv(outs, grad.getGroups());
  }
  extents.append({extent(grad.getFilterHeightDim()),
                  extent(grad.getFilterWidthDim()), outs,
                  extent(grad.getFilterInDim())});
  return extents;
}

TileAddress WGradContraction::getAddress(KernelBuilder &kb,
                                         const ResultTile &tile,
                                         bool isTransposed) {
  IndexMath &ix = kb.index();
  Tap tap = getTap(kb, grad, tile);
  unsigned rank = getResultType().getRank();
  TileAddress address;
  address.memory = kb.getDest(0u);
  unsigned parts = cast<MemRefType>(address.memory.getType()).getRank() - rank;
  if (parts)
    address.indices.push_back(tile.part);
  address.indices.resize(parts + rank);
  SmallVector<AffineExpr> place(parts + rank, kb.zero());
  auto set = [&](unsigned filterDim, Value index) {
    address.indices[parts + getResultDim(grad, filterDim)] = index;
  };
  set(grad.getFilterOutDim(), tile.m);
  set(grad.getFilterHeightDim(), tap.r);
  set(grad.getFilterWidthDim(), tap.s);
  set(grad.getFilterInDim(), tile.n);
  Value &group = address.indices[parts + grad.getFilterOutDim()];
  if (rank > 4)
    group = tap.group;
  else if (grad.getGroups() > 1)
    group = ix.add(ix.mul(tap.group, tile.sizeM), tile.m);
  place[parts + getResultDim(grad, grad.getFilterOutDim())] =
      kb.dim(isTransposed ? 1 : 0);
  place[parts + getResultDim(grad, grad.getFilterInDim())] =
      kb.dim(isTransposed ? 0 : 1);
  address.map = kb.map(2, place);
  return address;
}
