//===- Tiling.cpp - Tiles of semantic operations --------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile of an operation is the same operation on slices of its operands. The
// iteration domain has the result's dimensions first and then the reductions.
// An epilogue cannot be applied to a partial sum, so that a tile must cover the
// reductions; what else cannot be cut is said where it is refused.

#include "Clone.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::tracea;
using utils::IteratorType;

namespace {

/// A loop of the iteration domain runs over dimension `dim` of `source`.
struct Loop {
  IteratorType kind;
  Value source;
  int64_t dim;
  StringRef name;
};

/// A box: one offset and one size per dimension of an operand.
struct Tile {
  SmallVector<OpFoldResult> offsets;
  SmallVector<OpFoldResult> sizes;

  void set(unsigned dim, OpFoldResult offset, OpFoldResult size) {
    offsets[dim] = offset;
    sizes[dim] = size;
  }
  void append(OpFoldResult offset, OpFoldResult size) {
    offsets.push_back(offset);
    sizes.push_back(size);
  }
};

/// The tile asked for and, per operand, the tile that it needs. An operand that
/// was not given one is used whole. `update` changes the attributes of the
/// tiled operation.
class TileRequest {
public:
  TileRequest(OpBuilder &builder, Operation *op, ArrayRef<Loop> loops,
              ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes)
      : builder(builder), op(op), loops(loops), offsets(offsets), sizes(sizes),
        operands(op->getNumOperands()) {}

  OpBuilder &builder;
  Operation *op;
  ArrayRef<Loop> loops;
  ArrayRef<OpFoldResult> offsets;
  ArrayRef<OpFoldResult> sizes;
  SmallVector<std::optional<Tile>> operands;
  std::function<void(Operation *)> update;

  Location getLoc() const { return op->getLoc(); }

  /// Whether the tile covers the whole of a loop.
  bool isWhole(unsigned loop) const;

  /// The tile of all of `value`.
  Tile getWhole(Value value) {
    Tile tile;
    tile.sizes = tensor::getMixedSizes(builder, getLoc(), value);
    tile.offsets.assign(tile.sizes.size(), builder.getIndexAttr(0));
    return tile;
  }

  /// The tile spanned by the given loops.
  Tile getSpan(ArrayRef<unsigned> dims) const {
    Tile tile;
    for (unsigned dim : dims)
      tile.append(offsets[dim], sizes[dim]);
    return tile;
  }

  void setOperand(OpOperand &operand, Tile tile) {
    operands[operand.getOperandNumber()] = std::move(tile);
  }

  /// Tiles of the extra operands and of the destinations, for an operation with
  /// a loop per dimension of its result, these loops being the first. Fails
  /// where the tile cuts what an auxiliary result reduces.
  LogicalResult setEpilogueOperands();

  /// Refuses a tile that cuts loop number `loop`.
  LogicalResult expectWhole(unsigned loop, StringRef reason) const {
    if (isWhole(loop))
      return success();
    return op->emitOpError("expected a tile that covers dimension ")
           << loops[loop].name << ": " << reason;
  }
};

} // namespace

static OpFoldResult getExtent(OpBuilder &builder, Location loc,
                              const Loop &loop) {
  return tensor::getMixedSize(builder, loc, loop.source, loop.dim);
}

/// The tensor that a loop-carried destination had before the loops.
static Value lookThroughLoops(Value value) {
  while (BlockArgument argument = dyn_cast<BlockArgument>(value)) {
    LoopLikeOpInterface loop =
        dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    if (!init)
      break;
    value = init->get();
  }
  return value;
}

bool TileRequest::isWhole(unsigned loop) const {
  const Loop &range = loops[loop];
  int64_t extent =
      cast<RankedTensorType>(range.source.getType()).getDimSize(range.dim);
  OpFoldResult size = sizes[loop];
  // A tile lies within the domain: one of full size starts at zero.
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return *constant == extent;
  Value source = lookThroughLoops(range.source);
  if (tensor::DimOp dim = cast<Value>(size).getDefiningOp<tensor::DimOp>())
    return lookThroughLoops(dim.getSource()) == source &&
           dim.getConstantIndex() == range.dim;
  // The extent may have folded to the operand of whatever made the tensor.
  return isEqualConstantIntOrValue(
      tensor::getMixedSize(builder, getLoc(), source, range.dim), size);
}

LogicalResult TileRequest::setEpilogueOperands() {
  EpilogueOpInterface epilogue = cast<EpilogueOpInterface>(op);
  unsigned rank =
      cast<RankedTensorType>(epilogue.getEpilogueResult().getType()).getRank();
  Tile result;
  for (unsigned dim = 0; dim < rank; ++dim)
    result.append(offsets[dim], sizes[dim]);
  for (unsigned index = 0, e = epilogue.getExtras().size(); index < e;
       ++index) {
    Tile tile;
    for (AffineExpr expr : getEpilogueMap(epilogue, index).getResults()) {
      if (AffineDimExpr dim = dyn_cast<AffineDimExpr>(expr))
        tile.append(result.offsets[dim.getPosition()],
                    result.sizes[dim.getPosition()]);
      else
        tile.append(builder.getIndexAttr(0), builder.getIndexAttr(1));
    }
    setOperand(epilogue.getExtrasMutable()[index], std::move(tile));
  }
  for (auto [index, init] : llvm::enumerate(epilogue.getAuxInitsMutable())) {
    Tile tile;
    llvm::SmallBitVector reduced(rank, true);
    for (AffineExpr expr : getAuxMap(epilogue, index).getResults()) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      tile.append(result.offsets[dim], result.sizes[dim]);
      reduced.reset(dim);
    }
    for (unsigned dim : reduced.set_bits())
      if (failed(expectWhole(dim, "an auxiliary result reduces it")))
        return failure();
    setOperand(init, std::move(tile));
  }
  setOperand(epilogue.getEpilogueInit(), std::move(result));
  return success();
}

/// Whether a tile is visibly all of the operand, so that no slice is needed.
static bool coversOperand(const Tile &tile, Value operand) {
  RankedTensorType type = cast<RankedTensorType>(operand.getType());
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    if (!isZeroInteger(tile.offsets[dim]) ||
        getConstantIntValue(tile.sizes[dim]) != extent)
      return false;
  return true;
}

/// Slices the operands and clones the operation onto the slices.
static TilingResult buildTile(const TileRequest &request) {
  OpBuilder &builder = request.builder;
  DestinationStyleOpInterface op =
      cast<DestinationStyleOpInterface>(request.op);
  TilingResult result;
  SmallVector<Value> operands;
  for (OpOperand &operand : request.op->getOpOperands()) {
    const std::optional<Tile> &tile =
        request.operands[operand.getOperandNumber()];
    if (!tile || coversOperand(*tile, operand.get())) {
      operands.push_back(operand.get());
      continue;
    }
    SmallVector<OpFoldResult> strides(tile->sizes.size(),
                                      builder.getIndexAttr(1));
    tensor::ExtractSliceOp slice =
        tensor::ExtractSliceOp::create(builder, op.getLoc(), operand.get(),
                                       tile->offsets, tile->sizes, strides);
    result.generatedSlices.push_back(slice);
    operands.push_back(slice);
  }
  SmallVector<Type> types;
  for (OpOperand &init : op.getDpsInitsMutable())
    types.push_back(operands[init.getOperandNumber()].getType());
  Operation *tiled = cloneOnto(builder, op, types, operands);
  if (request.update)
    request.update(tiled);
  result.tiledOps.push_back(tiled);
  result.tiledValues.assign(tiled->result_begin(), tiled->result_end());
  return result;
}

//===----------------------------------------------------------------------===//
// The loops of each operation
//===----------------------------------------------------------------------===//

static void addResultLoops(Value init, ArrayRef<StringRef> names,
                           SmallVectorImpl<Loop> &loops) {
  for (auto [dim, name] : llvm::enumerate(names))
    loops.push_back(
        {IteratorType::parallel, init, static_cast<int64_t>(dim), name});
}

static SmallVector<Loop> getLoops(GemmOp op) {
  SmallVector<Loop> loops;
  SmallVector<StringRef> names(op.getBatchRank(), "batch");
  names.append({"m", "n"});
  addResultLoops(op.getInit(), names, loops);
  int64_t lhsRank = cast<RankedTensorType>(op.getLhs().getType()).getRank();
  loops.push_back({IteratorType::reduction, op.getLhs(),
                   op.getTransposeLhs() ? lhsRank - 2 : lhsRank - 1, "k"});
  return loops;
}

static SmallVector<Loop> getLoops(GroupedGemmOp op) {
  SmallVector<Loop> loops;
  addResultLoops(op.getInit(), {"m", "n"}, loops);
  loops.push_back({IteratorType::reduction, op.getLhs(), 1, "k"});
  return loops;
}

static SmallVector<Loop> getLoops(Conv2DOp op) {
  SmallVector<Loop> loops;
  if (op.getLayout() == ImageLayout::NHWC)
    addResultLoops(op.getInit(), {"n", "p", "q", "k"}, loops);
  else
    addResultLoops(op.getInit(), {"n", "k", "p", "q"}, loops);
  loops.push_back(
      {IteratorType::reduction, op.getFilter(), op.getFilterInDim(), "c"});
  loops.push_back(
      {IteratorType::reduction, op.getFilter(), op.getFilterHeightDim(), "r"});
  loops.push_back(
      {IteratorType::reduction, op.getFilter(), op.getFilterWidthDim(), "s"});
  return loops;
}

/// A loop per dimension of the input; dimensions [firstReduced, lastReduced)
/// are reduced.
template <typename OpTy>
static SmallVector<Loop> getRowLoops(OpTy op, int64_t firstReduced,
                                     int64_t lastReduced) {
  SmallVector<Loop> loops;
  int64_t rank = cast<RankedTensorType>(op.getInput().getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool reduced = firstReduced <= dim && dim < lastReduced;
    loops.push_back({reduced ? IteratorType::reduction : IteratorType::parallel,
                     op.getInput(), dim, reduced ? "normalized" : "row"});
  }
  return loops;
}

static SmallVector<Loop> getLoops(SoftmaxOp op) {
  int64_t dim = op.getDim();
  return getRowLoops(op, dim, dim + 1);
}
static SmallVector<Loop> getLoops(BatchNormOp op) {
  return getRowLoops(op, 0, 0);
}
static SmallVector<Loop> getLoops(LayerNormOp op) {
  return getRowLoops(op, op.getAxis(),
                     cast<RankedTensorType>(op.getInput().getType()).getRank());
}
static SmallVector<Loop> getLoops(RMSNormOp op) {
  return getRowLoops(op, op.getAxis(),
                     cast<RankedTensorType>(op.getInput().getType()).getRank());
}

static SmallVector<Loop> getLoops(AttentionOp op) {
  SmallVector<Loop> loops;
  addResultLoops(op.getInit(), {"b", "h", "i", "e"}, loops);
  loops.push_back({IteratorType::reduction, op.getKey(), 2, "j"});
  loops.push_back({IteratorType::reduction, op.getQuery(), 3, "d"});
  return loops;
}

//===----------------------------------------------------------------------===//
// The tiles of each operation's operands
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kReduced =
    "the result needs the whole reduction";

static LogicalResult expectWholeReductions(const TileRequest &request) {
  for (auto [index, loop] : llvm::enumerate(request.loops))
    if (loop.kind == IteratorType::reduction &&
        failed(request.expectWhole(index, kReduced)))
      return failure();
  return success();
}

static LogicalResult setOperandTiles(GemmOp op, TileRequest &request) {
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

static LogicalResult setOperandTiles(GroupedGemmOp op, TileRequest &request) {
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

static LogicalResult setOperandTiles(Conv2DOp op, TileRequest &request) {
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

/// The input of a row operation has the tile of the result.
template <typename OpTy>
static LogicalResult setRowTiles(OpTy op, TileRequest &request) {
  if (failed(expectWholeReductions(request)))
    return failure();
  Tile tile;
  tile.offsets.assign(request.offsets.begin(), request.offsets.end());
  tile.sizes.assign(request.sizes.begin(), request.sizes.end());
  request.setOperand(op.getInputMutable(), std::move(tile));
  return request.setEpilogueOperands();
}

static LogicalResult setOperandTiles(SoftmaxOp op, TileRequest &request) {
  return setRowTiles(op, request);
}
static LogicalResult setOperandTiles(LayerNormOp op, TileRequest &request) {
  return setRowTiles(op, request);
}
static LogicalResult setOperandTiles(RMSNormOp op, TileRequest &request) {
  return setRowTiles(op, request);
}
static LogicalResult setOperandTiles(BatchNormOp op, TileRequest &request) {
  unsigned axis = op.getAxis();
  for (OpOperand *parameter : {&op.getScaleMutable(), &op.getBiasMutable(),
                               &op.getMeanMutable(), &op.getVarianceMutable()})
    request.setOperand(*parameter, request.getSpan({axis}));
  return setRowTiles(op, request);
}

/// The heads of key and value that a tile of the query's heads reads.
static LogicalResult setHeads(AttentionOp op, TileRequest &request, Tile &key) {
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
  return op.emitOpError("expected a tile of one head or of whole groups of "
                        "heads in dimension h");
}

static LogicalResult setOperandTiles(AttentionOp op, TileRequest &request) {
  enum { B, H, I, E, J, D };
  if (failed(expectWholeReductions(request)))
    return failure();
  // The masks speak of absolute rows.
  if ((op.getCausal() || op.getWindow() || op.getBlockMask()) &&
      failed(request.expectWhole(I, "a mask depends on the row's number")))
    return failure();
  if (op.getLseInit() &&
      failed(request.expectWhole(E, "log-sum-exp must be written once")))
    return failure();

  request.setOperand(op.getQueryMutable(), request.getSpan({B, H, I, D}));
  Tile key = request.getWhole(op.getKey());
  key.set(0, request.offsets[B], request.sizes[B]);
  if (failed(setHeads(op, request, key)))
    return failure();
  Tile value = request.getWhole(op.getValue());
  value.set(0, key.offsets[0], key.sizes[0]);
  value.set(1, key.offsets[1], key.sizes[1]);
  value.set(3, request.offsets[E], request.sizes[E]);
  request.setOperand(op.getKeyMutable(), std::move(key));
  request.setOperand(op.getValueMutable(), std::move(value));

  if (Value mask = op.getBlockMask()) {
    RankedTensorType type = cast<RankedTensorType>(mask.getType());
    Tile tile = request.getWhole(mask);
    for (unsigned dim : {B, H}) {
      if (type.getDimSize(dim) == 1 || request.isWhole(dim))
        continue;
      // A dynamic extent may be 1, which is broadcast.
      if (type.isDynamicDim(dim))
        return request.expectWhole(dim,
                                   "the block mask may be broadcast along it");
      tile.set(dim, request.offsets[dim], request.sizes[dim]);
    }
    request.setOperand(op.getBlockMaskMutable()[0], std::move(tile));
  }
  request.setOperand(op.getInitMutable(), request.getSpan({B, H, I, E}));
  if (op.getLseInit())
    request.setOperand(op.getLseInitMutable()[0], request.getSpan({B, H, I}));
  return success();
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

template <typename OpTy>
static SmallVector<IteratorType> getIteratorTypes(OpTy op) {
  return llvm::map_to_vector(getLoops(op),
                             [](const Loop &loop) { return loop.kind; });
}

template <typename OpTy>
static SmallVector<Range> getDomain(OpTy op, OpBuilder &builder) {
  SmallVector<Range> ranges;
  for (const Loop &loop : getLoops(op))
    ranges.push_back(Range{builder.getIndexAttr(0),
                           getExtent(builder, op.getLoc(), loop),
                           builder.getIndexAttr(1)});
  return ranges;
}

template <typename OpTy>
static FailureOr<TilingResult> getTile(OpTy op, OpBuilder &builder,
                                       ArrayRef<OpFoldResult> offsets,
                                       ArrayRef<OpFoldResult> sizes) {
  SmallVector<Loop> loops = getLoops(op);
  TileRequest request(builder, op, loops, offsets, sizes);
  if (failed(setOperandTiles(op, request)))
    return failure();
  return buildTile(request);
}

/// Result dimension i belongs to loop i in every operation.
template <typename OpTy>
static LogicalResult getPosition(OpTy op, unsigned result,
                                 ArrayRef<OpFoldResult> offsets,
                                 ArrayRef<OpFoldResult> sizes,
                                 SmallVectorImpl<OpFoldResult> &resultOffsets,
                                 SmallVectorImpl<OpFoldResult> &resultSizes) {
  int64_t rank =
      cast<RankedTensorType>(op->getResult(result).getType()).getRank();
  resultOffsets.assign(offsets.begin(), offsets.begin() + rank);
  resultSizes.assign(sizes.begin(), sizes.begin() + rank);
  return success();
}

template <typename OpTy>
static FailureOr<TilingResult>
getTileOfResult(OpTy op, OpBuilder &builder, unsigned result,
                ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes) {
  Tile domain;
  domain.offsets.assign(offsets.begin(), offsets.end());
  domain.sizes.assign(sizes.begin(), sizes.end());
  SmallVector<Loop> loops = getLoops(op);
  for (const Loop &loop : ArrayRef<Loop>(loops).drop_front(offsets.size()))
    domain.append(builder.getIndexAttr(0),
                  getExtent(builder, op.getLoc(), loop));
  FailureOr<TilingResult> tile =
      getTile(op, builder, domain.offsets, domain.sizes);
  if (failed(tile))
    return failure();
  tile->tiledValues = {tile->tiledValues[result]};
  return tile;
}

#define TRACEA_TILING_METHODS(OpTy)                                            \
  SmallVector<IteratorType> OpTy::getLoopIteratorTypes() {                     \
    return getIteratorTypes(*this);                                            \
  }                                                                            \
  SmallVector<Range> OpTy::getIterationDomain(OpBuilder &builder) {            \
    return getDomain(*this, builder);                                          \
  }                                                                            \
  FailureOr<TilingResult> OpTy::getTiledImplementation(                        \
      OpBuilder &builder, ArrayRef<OpFoldResult> offsets,                      \
      ArrayRef<OpFoldResult> sizes) {                                          \
    return getTile(*this, builder, offsets, sizes);                            \
  }                                                                            \
  LogicalResult OpTy::getResultTilePosition(                                   \
      OpBuilder &builder, unsigned result, ArrayRef<OpFoldResult> offsets,     \
      ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,  \
      SmallVector<OpFoldResult> &resultSizes) {                                \
    return getPosition(*this, result, offsets, sizes, resultOffsets,           \
                       resultSizes);                                           \
  }                                                                            \
  FailureOr<TilingResult> OpTy::generateResultTileValue(                       \
      OpBuilder &builder, unsigned result, ArrayRef<OpFoldResult> offsets,     \
      ArrayRef<OpFoldResult> sizes) {                                          \
    return getTileOfResult(*this, builder, result, offsets, sizes);            \
  }

/// The tile of each dimension of an auxiliary result is that of the loop which
/// its map names.
template <>
LogicalResult getPosition(GemmOp op, unsigned result,
                          ArrayRef<OpFoldResult> offsets,
                          ArrayRef<OpFoldResult> sizes,
                          SmallVectorImpl<OpFoldResult> &resultOffsets,
                          SmallVectorImpl<OpFoldResult> &resultSizes) {
  unsigned rank = op.getBatchRank() + 2;
  AffineMap map = AffineMap::getMultiDimIdentityMap(rank, op.getContext());
  if (result > 0)
    map = getAuxMap(cast<EpilogueOpInterface>(op.getOperation()), result - 1);
  resultOffsets.clear();
  resultSizes.clear();
  for (AffineExpr expr : map.getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    resultOffsets.push_back(offsets[dim]);
    resultSizes.push_back(sizes[dim]);
  }
  return success();
}

/// The tile of the domain that gives a tile of one result: all of what an
/// auxiliary result reduces.
template <>
FailureOr<TilingResult>
getTileOfResult(GemmOp op, OpBuilder &builder, unsigned result,
                ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes) {
  Tile domain;
  for (const Loop &loop : getLoops(op))
    domain.append(builder.getIndexAttr(0),
                  getExtent(builder, op.getLoc(), loop));
  unsigned rank = op.getBatchRank() + 2;
  AffineMap map = AffineMap::getMultiDimIdentityMap(rank, op.getContext());
  if (result > 0)
    map = getAuxMap(cast<EpilogueOpInterface>(op.getOperation()), result - 1);
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    domain.set(cast<AffineDimExpr>(expr).getPosition(), offsets[dim],
               sizes[dim]);
  FailureOr<TilingResult> tile =
      getTile(op, builder, domain.offsets, domain.sizes);
  if (failed(tile))
    return failure();
  tile->tiledValues = {tile->tiledValues[result]};
  return tile;
}

TRACEA_TILING_METHODS(GemmOp)
TRACEA_TILING_METHODS(GroupedGemmOp)
TRACEA_TILING_METHODS(Conv2DOp)
TRACEA_TILING_METHODS(SoftmaxOp)
TRACEA_TILING_METHODS(BatchNormOp)
TRACEA_TILING_METHODS(LayerNormOp)
TRACEA_TILING_METHODS(RMSNormOp)
TRACEA_TILING_METHODS(AttentionOp)

#undef TRACEA_TILING_METHODS
