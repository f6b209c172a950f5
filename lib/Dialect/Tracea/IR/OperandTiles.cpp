//===- OperandTiles.cpp - What a tile of each operation reads -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a tile of an operation's iteration domain to the tiles of its operands,
// for each operation; what cannot be cut is said where it is refused.
//
//===----------------------------------------------------------------------===//

#include "TileRequest.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

using namespace mlir;
using namespace mlir::tracea;
using utils::IteratorType;

static constexpr StringLiteral kReduced =
    "the result needs the whole reduction";

static LogicalResult expectWholeReductions(const TileRequest &request) {
  for (auto [index, loop] : llvm::enumerate(request.loops))
    if (loop.kind == IteratorType::reduction &&
        failed(request.expectWhole(index, kReduced)))
      return failure();
  return success();
}

LogicalResult mlir::tracea::setOperandTiles(GemmOp op, TileRequest &request) {
  if (failed(expectWholeReductions(request)))
    return failure();
  unsigned batch = op.getBatchRank();
  unsigned m = batch, n = batch + 1, k = batch + 2;
  auto getMatrix = [&](Value operand, unsigned row, unsigned column) {
    SmallVector<unsigned> dims;
    if (cast<RankedTensorType>(operand.getType()).getRank() > 2)
      dims = llvm::to_vector(llvm::seq<unsigned>(0, batch));
    dims.append({row, column});
    return request.getSpan(dims);
  };
  request.setOperand(op.getLhsMutable(), op.getTransposeLhs()
                                             ? getMatrix(op.getLhs(), k, m)
                                             : getMatrix(op.getLhs(), m, k));
  request.setOperand(op.getRhsMutable(), op.getTransposeRhs()
                                             ? getMatrix(op.getRhs(), n, k)
                                             : getMatrix(op.getRhs(), k, n));
  return request.setEpilogueOperands();
}

LogicalResult mlir::tracea::setOperandTiles(GroupedGemmOp op,
                                            TileRequest &request) {
  enum { M, N, K };
  if (failed(expectWholeReductions(request)) ||
      failed(request.expectWhole(M, "ends count rows from the first one")))
    return failure();
  request.setOperand(op.getLhsMutable(), request.getSpan({M, K}));
  Tile rhs = request.getWhole(op.getRhs());
  rhs.set(op.getRhsN(), request.offsets[N], request.sizes[N]);
  request.setOperand(op.getRhsMutable(), std::move(rhs));
  if (failed(request.setEpilogueOperands()))
    return failure();
  return success();
}

/// The rows (axis 0) or columns (axis 1) of the image that a tile of the result
/// reads, halo included. The pads of a tile are attributes: a tile that cuts a
/// padded dimension has to lie at a known place.
static LogicalResult setHalo(Conv2DOp op, TileRequest &request, unsigned dim,
                             unsigned filterDim, unsigned axis, Tile &image,
                             MutableArrayRef<int64_t> pads) {
  if (request.isWhole(dim))
    return success();
  OpBuilder &builder = request.builder;
  int64_t stride = op.getStrides()[axis], dilation = op.getDilations()[axis];
  int64_t &padLow = pads[axis], &padHigh = pads[axis + 2];
  OpFoldResult taps =
      tensor::getMixedSize(builder, op.getLoc(), op.getFilter(), filterDim);
  AffineExpr d0 = builder.getAffineDimExpr(0), d1 = builder.getAffineDimExpr(1);

  if (isZeroInteger(request.sizes[dim])) {
    padLow = padHigh = 0;
    image.set(dim, builder.getIndexAttr(0), builder.getIndexAttr(0));
    return success();
  }
  if (padLow == 0 && padHigh == 0) {
    OpFoldResult offset = affine::makeComposedFoldedAffineApply(
        builder, op.getLoc(), d0 * stride, {request.offsets[dim]});
    OpFoldResult size = affine::makeComposedFoldedAffineApply(
        builder, op.getLoc(), (d0 - 1) * stride + (d1 - 1) * dilation + 1,
        {request.sizes[dim], taps});
    image.set(dim, offset, size);
    return success();
  }

  std::optional<int64_t> offset = getConstantIntValue(request.offsets[dim]);
  std::optional<int64_t> size = getConstantIntValue(request.sizes[dim]);
  std::optional<int64_t> extent = getConstantIntValue(image.sizes[dim]);
  std::optional<int64_t> numTaps = getConstantIntValue(taps);
  if (!offset || !size || !extent || !numTaps)
    return op.emitOpError("expected a tile at a static place of dimension ")
           << request.loops[dim].name
           << ": its padding depends on where it lies";
  int64_t begin = *offset * stride - padLow;
  int64_t length = (*size - 1) * stride + (*numTaps - 1) * dilation + 1;
  int64_t low = std::clamp<int64_t>(begin, 0, *extent);
  int64_t high = std::clamp<int64_t>(begin + length, low, *extent);
  padLow = std::clamp<int64_t>(-begin, 0, length);
  padHigh = length - padLow - (high - low);
  image.set(dim, builder.getIndexAttr(low), builder.getIndexAttr(high - low));
  return success();
}

/// The channels of the image and the groups of a tile of output channels.
static LogicalResult setGroups(Conv2DOp op, TileRequest &request, Tile &image,
                               int64_t &groups) {
  unsigned dim = op.getChannelDim();
  if (groups == 1 || request.isWhole(dim))
    return success();
  // Tiles of whole groups. A tile is known to begin with a group if its offset
  // is static or each group writes one channel.
  int64_t out = cast<RankedTensorType>(op.getFilter().getType())
                    .getDimSize(op.getFilterOutDim());
  if (ShapedType::isDynamic(out))
    out = cast<RankedTensorType>(op.getInit().getType()).getDimSize(dim);
  int64_t outOfGroup = ShapedType::isDynamic(out) ? 0 : out / groups;
  std::optional<int64_t> offset = getConstantIntValue(request.offsets[dim]);
  std::optional<int64_t> size = getConstantIntValue(request.sizes[dim]);
  if (outOfGroup == 0 || !size || *size == 0 || *size % outOfGroup != 0 ||
      (outOfGroup != 1 && (!offset || *offset % outOfGroup != 0)))
    return op.emitOpError("expected a tile of whole groups in dimension k: the "
                          "operation has ")
           << groups << " groups";
  groups = *size / outOfGroup;
  OpBuilder &builder = request.builder;
  AffineExpr d0 = builder.getAffineDimExpr(0);
  OpFoldResult inOfGroup = tensor::getMixedSize(
      builder, op.getLoc(), op.getFilter(), op.getFilterInDim());
  AffineExpr inBegin = d0.floorDiv(outOfGroup);
  if (std::optional<int64_t> in = getConstantIntValue(inOfGroup)) {
    image.set(dim,
              affine::makeComposedFoldedAffineApply(
                  builder, op.getLoc(), inBegin * *in, {request.offsets[dim]}),
              builder.getIndexAttr(groups * *in));
    return success();
  }
  AffineExpr in = builder.getAffineSymbolExpr(0);
  image.set(dim,
            affine::makeComposedFoldedAffineApply(
                builder, op.getLoc(), AffineMap::get(1, 1, inBegin * in),
                {request.offsets[dim], inOfGroup}),
            affine::makeComposedFoldedAffineApply(builder, op.getLoc(),
                                                  d0 * groups, {inOfGroup}));
  return success();
}

LogicalResult mlir::tracea::setOperandTiles(Conv2DOp op, TileRequest &request) {
  if (failed(expectWholeReductions(request)))
    return failure();
  Tile image = request.getWhole(op.getImage());
  unsigned n = op.getBatchDim(), k = op.getChannelDim();
  image.set(n, request.offsets[n], request.sizes[n]);
  SmallVector<int64_t> pads(op.getPads());
  int64_t groups = op.getGroups();
  if (failed(setHalo(op, request, op.getHeightDim(), op.getFilterHeightDim(), 0,
                     image, pads)) ||
      failed(setHalo(op, request, op.getWidthDim(), op.getFilterWidthDim(), 1,
                     image, pads)) ||
      failed(setGroups(op, request, image, groups)))
    return failure();
  request.setOperand(op.getImageMutable(), std::move(image));

  Tile filter = request.getWhole(op.getFilter());
  filter.set(op.getFilterOutDim(), request.offsets[k], request.sizes[k]);
  request.setOperand(op.getFilterMutable(), std::move(filter));
  if (failed(request.setEpilogueOperands()))
    return failure();
  request.update = [pads, groups](Operation *tiled) {
    Conv2DOp conv = cast<Conv2DOp>(tiled);
    conv.setPads(pads);
    conv.setGroups(groups);
  };
  return success();
}

LogicalResult mlir::tracea::setOperandTiles(Conv2DDGradOp op,
                                            TileRequest &request) {
  static constexpr StringLiteral kMeets =
      "which pixels of the gradient meet a pixel depends on where it lies";
  unsigned n = op.getBatchDim(), c = op.getChannelDim();
  if (failed(expectWholeReductions(request)) ||
      failed(request.expectWhole(op.getHeightDim(), kMeets)) ||
      failed(request.expectWhole(op.getWidthDim(), kMeets)) ||
      (op.getGroups() > 1 &&
       failed(request.expectWhole(c, "its channels are those of groups"))))
    return failure();
  Tile gradient = request.getWhole(op.getGradient());
  gradient.set(n, request.offsets[n], request.sizes[n]);
  request.setOperand(op.getGradientMutable(), std::move(gradient));
  Tile filter = request.getWhole(op.getFilter());
  if (op.getGroups() == 1)
    filter.set(op.getFilterInDim(), request.offsets[c], request.sizes[c]);
  request.setOperand(op.getFilterMutable(), std::move(filter));
  return request.setEpilogueOperands();
}

LogicalResult mlir::tracea::setOperandTiles(Conv2DWGradOp op,
                                            TileRequest &request) {
  static constexpr StringLiteral kTaps = "a tap depends on where it lies";
  unsigned k = op.getFilterOutDim(), c = op.getFilterInDim();
  if (failed(expectWholeReductions(request)) ||
      failed(request.expectWhole(op.getFilterHeightDim(), kTaps)) ||
      failed(request.expectWhole(op.getFilterWidthDim(), kTaps)) ||
      (op.getGroups() > 1 &&
       (failed(request.expectWhole(k, "its channels are those of groups")) ||
        failed(request.expectWhole(c, "its channels are those of groups")))))
    return failure();
  Tile image = request.getWhole(op.getImage());
  Tile gradient = request.getWhole(op.getGradient());
  if (op.getGroups() == 1) {
    image.set(op.getChannelDim(), request.offsets[c], request.sizes[c]);
    gradient.set(op.getChannelDim(), request.offsets[k], request.sizes[k]);
  }
  request.setOperand(op.getImageMutable(), std::move(image));
  request.setOperand(op.getGradientMutable(), std::move(gradient));
  return request.setEpilogueOperands();
}

/// The input of a row operation has the tile of the result.
template <typename OpTy>
static LogicalResult setRowTiles(OpTy op, TileRequest &request) {
  if (failed(expectWholeReductions(request)))
    return failure();
  Tile tile;
  tile.offsets.assign(request.offsets.begin(), request.offsets.end());
  tile.sizes.assign(request.sizes.begin(), request.sizes.end());
  if (auto row = dyn_cast<RowOpInterface>(op.getOperation())) {
    for (auto [index, operand] :
         llvm::enumerate(row.getPrologueOperandsMutable()))
      request.setOperand(operand,
                         request.getMapped(tile, getPrologueMap(row, index)));
    for (OpOperand &init : row.getKeptInitsMutable())
      request.setOperand(init, tile);
    for (OpOperand &init : row.getRowInitsMutable())
      request.setOperand(init, request.getMapped(tile, getRowMap(row)));
  }
  request.setOperand(op.getInputMutable(), std::move(tile));
  return request.setEpilogueOperands();
}

LogicalResult mlir::tracea::setOperandTiles(SoftmaxOp op,
                                            TileRequest &request) {
  return setRowTiles(op, request);
}
LogicalResult mlir::tracea::setOperandTiles(LayerNormOp op,
                                            TileRequest &request) {
  return setRowTiles(op, request);
}
LogicalResult mlir::tracea::setOperandTiles(RMSNormOp op,
                                            TileRequest &request) {
  return setRowTiles(op, request);
}
LogicalResult mlir::tracea::setOperandTiles(BatchNormOp op,
                                            TileRequest &request) {
  unsigned axis = op.getAxis();
  for (OpOperand *parameter : {&op.getScaleMutable(), &op.getBiasMutable(),
                               &op.getMeanMutable(), &op.getVarianceMutable()})
    request.setOperand(*parameter, request.getSpan({axis}));
  return setRowTiles(op, request);
}

/// The heads of key and value that a tile of the query's heads reads.
static LogicalResult setHeads(AttentionOpInterface op, TileRequest &request,
                              Tile &key) {
  int64_t heads = cast<RankedTensorType>(op.getQuery().getType()).getDimSize(1);
  int64_t groups = cast<RankedTensorType>(op.getKey().getType()).getDimSize(1);
  if (request.isWhole(1) || groups == 1)
    return success();
  OpFoldResult offset = request.offsets[1], size = request.sizes[1];
  bool known = ShapedType::isStatic(heads) && ShapedType::isStatic(groups) &&
               groups != 0;
  int64_t ratio = known ? heads / groups : 0;
  if (ratio == 1) {
    key.set(1, offset, size);
    return success();
  }
  std::optional<int64_t> first = getConstantIntValue(offset);
  std::optional<int64_t> count = getConstantIntValue(size);
  OpBuilder &builder = request.builder;
  if (ratio > 1 && count == 1) {
    key.set(1,
            affine::makeComposedFoldedAffineApply(
                builder, op.getLoc(),
                builder.getAffineDimExpr(0).floorDiv(ratio), {offset}),
            builder.getIndexAttr(1));
    return success();
  }
  if (ratio > 1 && first && count && *first % ratio == 0 &&
      *count % ratio == 0) {
    key.set(1, builder.getIndexAttr(*first / ratio),
            builder.getIndexAttr(*count / ratio));
    return success();
  }
  return op->emitOpError("expected a tile of one head or of whole groups of "
                         "heads in dimension h");
}

/// Refuses to cut loop `number`, of queries or keys, where masks count them.
static LogicalResult expectPlaces(AttentionOpInterface op,
                                  const TileRequest &request, unsigned number) {
  if (!op.getCausal() && !op.getWindow() && !op.getBlockMask())
    return success();
  return request.expectWhole(number, "a mask depends on the row's number");
}

/// The tile of the block mask for one of batches and of the query's heads.
static LogicalResult setBlockMask(TileRequest &request, OpOperand &mask,
                                  const Tile &query) {
  RankedTensorType type = cast<RankedTensorType>(mask.get().getType());
  Tile tile = request.getWhole(mask.get());
  for (unsigned dim : {0, 1}) {
    if (type.getDimSize(dim) == 1 || request.isWhole(dim))
      continue;
    // A dynamic extent may be 1, which is broadcast.
    if (type.isDynamicDim(dim))
      return request.expectWhole(dim,
                                 "the block mask may be broadcast along it");
    tile.set(dim, query.offsets[dim], query.sizes[dim]);
  }
  request.setOperand(mask, std::move(tile));
  return success();
}

/// The tile of some dimensions of `tile`.
static Tile getPart(const Tile &tile, ArrayRef<unsigned> dims) {
  Tile part;
  for (unsigned dim : dims)
    part.append(tile.offsets[dim], tile.sizes[dim]);
  return part;
}

/// Operands of an attention, or of a gradient of it, for a tile of the query
/// and one of the key. The value's columns are `columns` of loops, or whole.
template <typename OpTy>
static LogicalResult setOperands(OpTy op, TileRequest &request, Tile query,
                                 Tile key, std::optional<unsigned> columns) {
  Tile value = request.getWhole(op.getValue());
  for (unsigned dim : {0, 1, 2})
    value.set(dim, key.offsets[dim], key.sizes[dim]);
  if (columns)
    value.set(3, request.offsets[*columns], request.sizes[*columns]);
  if (op.getBlockMask() &&
      failed(setBlockMask(request, op.getBlockMaskMutable()[0], query)))
    return failure();
  if (op.getLengths())
    request.setOperand(op.getLengthsMutable()[0], getPart(query, {0}));
  request.setOperand(op.getQueryMutable(), std::move(query));
  request.setOperand(op.getKeyMutable(), std::move(key));
  request.setOperand(op.getValueMutable(), std::move(value));
  return success();
}

LogicalResult mlir::tracea::setOperandTiles(AttentionOp op,
                                            TileRequest &request) {
  enum { B, H, I, E, J, D };
  if (failed(expectWholeReductions(request)) ||
      failed(expectPlaces(op, request, I)))
    return failure();
  if (op.getLseInit() &&
      failed(request.expectWhole(E, "log-sum-exp must be written once")))
    return failure();

  Tile key = request.getWhole(op.getKey());
  key.set(0, request.offsets[B], request.sizes[B]);
  if (failed(setHeads(op, request, key)) ||
      failed(setOperands(op, request, request.getSpan({B, H, I, D}),
                         std::move(key), E)))
    return failure();
  request.setOperand(op.getInitMutable(), request.getSpan({B, H, I, E}));
  if (op.getLseInit())
    request.setOperand(op.getLseInitMutable()[0], request.getSpan({B, H, I}));
  return success();
}

/// What a gradient of attention reads of the rows of a tile of the query.
template <typename OpTy>
static void setRows(OpTy op, TileRequest &request, const Tile &query) {
  Tile gradient = request.getWhole(op.getGradient());
  for (unsigned dim : {0, 1, 2})
    gradient.set(dim, query.offsets[dim], query.sizes[dim]);
  request.setOperand(op.getGradientMutable(), std::move(gradient));
  for (OpOperand *rows : {&op.getLseMutable(), &op.getDeltaMutable()})
    request.setOperand(*rows, getPart(query, {0, 1, 2}));
}

LogicalResult mlir::tracea::setOperandTiles(AttentionQGradOp op,
                                            TileRequest &request) {
  enum { B, H, I, D, J, E };
  if (failed(expectWholeReductions(request)) ||
      failed(expectPlaces(op, request, I)) ||
      failed(request.expectWhole(D, "scores are made of all of a query")))
    return failure();
  Tile query = request.getSpan({B, H, I, D});
  Tile key = request.getWhole(op.getKey());
  key.set(0, request.offsets[B], request.sizes[B]);
  if (failed(setHeads(op, request, key)))
    return failure();
  setRows(op, request, query);
  if (failed(setOperands(op, request, query, std::move(key), std::nullopt)))
    return failure();
  request.setOperand(op.getInitMutable(), std::move(query));
  return success();
}

LogicalResult mlir::tracea::setOperandTiles(AttentionKVGradOp op,
                                            TileRequest &request) {
  enum { B, G, J, D, E, I };
  if (failed(expectWholeReductions(request)) ||
      failed(expectPlaces(op, request, J)))
    return failure();
  int64_t heads = cast<RankedTensorType>(op.getQuery().getType()).getDimSize(1);
  int64_t groups = cast<RankedTensorType>(op.getKey().getType()).getDimSize(1);
  bool isKnown = ShapedType::isStatic(heads) && ShapedType::isStatic(groups) &&
                 groups != 0;
  if (!isKnown &&
      failed(request.expectWhole(G, "how many heads share it is not known")))
    return failure();
  // Lengths count keys from the first one on.
  if (op.getLengths() &&
      failed(request.expectWhole(J, "a length depends on the key's number")))
    return failure();
  Tile query = request.getWhole(op.getQuery());
  query.set(0, request.offsets[B], request.sizes[B]);
  if (!request.isWhole(G)) {
    auto scale = [&](OpFoldResult number) {
      return affine::makeComposedFoldedAffineApply(
          request.builder, op.getLoc(),
          request.builder.getAffineDimExpr(0) * (heads / groups), {number});
    };
    query.set(1, scale(request.offsets[G]), scale(request.sizes[G]));
  }
  setRows(op, request, query);
  if (failed(setOperands(op, request, std::move(query),
                         request.getSpan({B, G, J, D}), std::nullopt)))
    return failure();
  request.setOperand(op.getKeyInitMutable(), request.getSpan({B, G, J, D}));
  request.setOperand(op.getValueInitMutable(), request.getSpan({B, G, J, E}));
  return success();
}
