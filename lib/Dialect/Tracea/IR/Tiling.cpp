//===- Tiling.cpp - Tiles of semantic operations --------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile of an operation is the same operation on slices of its operands. The
// iteration domain has the result's dimensions first and then the reductions.
// An epilogue cannot be applied to a partial sum, so that a tile must cover the
// reductions.
//
//===----------------------------------------------------------------------===//

#include "TileRequest.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

using namespace mlir;
using namespace mlir::tracea;
using utils::IteratorType;

static OpFoldResult getExtent(OpBuilder &builder, Location loc,
                              const Loop &loop) {
  return tensor::getMixedSize(builder, loc, loop.source, loop.dim);
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

static SmallVector<Loop> getLoops(Conv2DDGradOp op) {
  SmallVector<Loop> loops;
  if (op.getLayout() == ImageLayout::NHWC)
    addResultLoops(op.getInit(), {"n", "h", "w", "c"}, loops);
  else
    addResultLoops(op.getInit(), {"n", "c", "h", "w"}, loops);
  loops.push_back(
      {IteratorType::reduction, op.getGradient(), op.getChannelDim(), "k"});
  loops.push_back(
      {IteratorType::reduction, op.getFilter(), op.getFilterHeightDim(), "r"});
  loops.push_back(
      {IteratorType::reduction, op.getFilter(), op.getFilterWidthDim(), "s"});
  return loops;
}

static SmallVector<Loop> getLoops(Conv2DWGradOp op) {
  SmallVector<StringRef> names(4);
  names[op.getFilterOutDim()] = "k";
  names[op.getFilterHeightDim()] = "r";
  names[op.getFilterWidthDim()] = "s";
  names[op.getFilterInDim()] = "c";
  SmallVector<Loop> loops;
  addResultLoops(op.getInit(), names, loops);
  for (auto [dim, name] :
       {std::pair(op.getBatchDim(), "n"), std::pair(op.getHeightDim(), "p"),
        std::pair(op.getWidthDim(), "q")})
    loops.push_back({IteratorType::reduction, op.getGradient(), dim, name});
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

static SmallVector<Loop> getLoops(AttentionQGradOp op) {
  SmallVector<Loop> loops;
  addResultLoops(op.getInit(), {"b", "h", "i", "d"}, loops);
  loops.push_back({IteratorType::reduction, op.getKey(), 2, "j"});
  loops.push_back({IteratorType::reduction, op.getValue(), 3, "e"});
  return loops;
}

/// Columns of one result are reduced for the other.
static SmallVector<Loop> getLoops(AttentionKVGradOp op) {
  SmallVector<Loop> loops;
  addResultLoops(op.getKeyInit(), {"b", "g", "j"}, loops);
  loops.push_back({IteratorType::reduction, op.getKey(), 3, "d"});
  loops.push_back({IteratorType::reduction, op.getValue(), 3, "e"});
  loops.push_back({IteratorType::reduction, op.getQuery(), 2, "i"});
  return loops;
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

/// The loops that the dimensions of a result belong to: of results of rows and
/// of auxiliary ones those that a map names, of all others as many as they have
/// dimensions.
static AffineMap getResultLoops(Operation *op, unsigned result) {
  if (auto row = dyn_cast<RowOpInterface>(op);
      row && result > row.getKept().size())
    return getRowMap(row);
  auto epilogue = dyn_cast<EpilogueOpInterface>(op);
  if (epilogue && result > 0 && !epilogue.getAuxResults().empty())
    return getAuxMap(epilogue, result - 1);
  if (auto grad = dyn_cast<AttentionKVGradOp>(op)) {
    auto numLoops = static_cast<unsigned>(getLoops(grad).size());
    return AffineMap::getMultiDimMapWithTargets(numLoops, {0, 1, 2, 3 + result},
                                                op->getContext());
  }
  auto type = cast<RankedTensorType>(op->getResult(result).getType());
  return AffineMap::getMultiDimIdentityMap(type.getRank(), op->getContext());
}

template <typename OpTy>
static LogicalResult getPosition(OpTy op, unsigned result,
                                 ArrayRef<OpFoldResult> offsets,
                                 ArrayRef<OpFoldResult> sizes,
                                 SmallVectorImpl<OpFoldResult> &resultOffsets,
                                 SmallVectorImpl<OpFoldResult> &resultSizes) {
  resultOffsets.clear();
  resultSizes.clear();
  for (AffineExpr expr : getResultLoops(op, result).getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    resultOffsets.push_back(offsets[dim]);
    resultSizes.push_back(sizes[dim]);
  }
  return success();
}

/// The tile of the domain that gives a tile of one result: all of what it
/// reduces.
template <typename OpTy>
static FailureOr<TilingResult>
getTileOfResult(OpTy op, OpBuilder &builder, unsigned result,
                ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes) {
  Tile domain;
  for (const Loop &loop : getLoops(op))
    domain.append(builder.getIndexAttr(0),
                  getExtent(builder, op.getLoc(), loop));
  for (auto [dim, expr] :
       llvm::enumerate(getResultLoops(op, result).getResults()))
    domain.set(cast<AffineDimExpr>(expr).getPosition(), offsets[dim],
               sizes[dim]);
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

TRACEA_TILING_METHODS(GemmOp)
TRACEA_TILING_METHODS(GroupedGemmOp)
TRACEA_TILING_METHODS(Conv2DOp)
TRACEA_TILING_METHODS(Conv2DDGradOp)
TRACEA_TILING_METHODS(Conv2DWGradOp)
TRACEA_TILING_METHODS(SoftmaxOp)
TRACEA_TILING_METHODS(BatchNormOp)
TRACEA_TILING_METHODS(LayerNormOp)
TRACEA_TILING_METHODS(RMSNormOp)
TRACEA_TILING_METHODS(AttentionOp)
TRACEA_TILING_METHODS(AttentionQGradOp)
TRACEA_TILING_METHODS(AttentionKVGradOp)

#undef TRACEA_TILING_METHODS
