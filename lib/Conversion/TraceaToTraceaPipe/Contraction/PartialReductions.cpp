//===- PartialReductions.cpp - Partial values become results --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp has a few neighbours along the last dimension, as many as memory moves
// at once, and its other lanes and its registers have further terms of them. It
// adds terms to its own in their order; in the end registers and lanes combine.
// Warps share nothing: they lie side by side, or there is one where the last
// dimension is reduced, too. Many terms are reduced in blocks first, each by a
// workgroup of its own.

#include "ContractionResults.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Of a warp; the rows of a tile are at least those of its lanes.
static constexpr int64_t kColumns = 8, kLaneRows = 4, kMostRows = 64;
static constexpr int64_t kReductionWarps = 4;
/// Blocks of rows that one workgroup takes in turn.
static constexpr int64_t kFewBlocks = 2;

namespace {
/// The kernel in the making.
class Reduction {
public:
  /// With `inBlocks` each tile's rows become one element of the dimension that
  /// they run along.
  Reduction(KernelRewriter &rewriter, EpilogueOpInterface op,
            ReductionKind kind, Value partials, ArrayRef<bool> isReduced,
            Value init, bool inBlocks = false)
      : kb(rewriter, op, partials, init), kind(kind), partials(partials),
        init(init), isReduced(isReduced), rank(isReduced.size()),
        inBlocks(inBlocks) {}

  Value build();

private:
  bool reducesLast() const { return isReduced[rank - 1]; }
  int64_t getWarps() const { return reducesLast() ? 1 : kReductionWarps; }
  int64_t getColumns() const { return kColumns * getWarps(); }
  /// Reduces the dimensions from `dim` on, each a loop around the next.
  Value reduceFrom(unsigned dim, Value sum);
  RankedTensorType getTile() const;
  Value getNeutral(Type type);

  KernelBuilder kb;
  ReductionKind kind;
  Value partials, init;
  ArrayRef<bool> isReduced;
  unsigned rank;
  bool inBlocks;
  /// The dimension that rows of a tile run along.
  unsigned rowDim = 0;
  int64_t rows = kMostRows;
  SmallVector<Value> at;
};
} // namespace

RankedTensorType Reduction::getTile() const {
  ::tracea::algebra::LaneBases bases;
  for (int64_t column = 1; column < getColumns(); column *= 2)
    (column < kColumns ? bases.lane : bases.warp).push_back({0, column});
  for (int64_t row = 1; row < rows; row *= 2)
    (row < kLaneRows ? bases.lane : bases.reg).push_back({row, 0});
  return RankedTensorType::get({rows, getColumns()},
                               getElementTypeOrSelf(init.getType()),
                               getLanesAttr(init.getContext(), bases, {1, 1}));
}

Value Reduction::getNeutral(Type type) {
  TypedAttr element = getNeutralElement(kind, getElementTypeOrSelf(type));
  if (auto tile = dyn_cast<RankedTensorType>(type))
    return arith::ConstantOp::create(kb.builder(),
                                     DenseElementsAttr::get(tile, element));
  return arith::ConstantOp::create(kb.builder(), element);
}

Value Reduction::reduceFrom(unsigned dim, Value sum) {
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  if (dim == rank) {
    SmallVector<AffineExpr> exprs(rank, kb.zero());
    exprs[rowDim] = kb.dim(0);
    exprs[rank - 1] = kb.dim(1);
    SmallVector<Value> limits = {
        ix.sub(kb.getDim(partials, rowDim), at[rowDim]),
        ix.sub(kb.getDim(partials, rank - 1), at[rank - 1])};
    auto tile = cast<RankedTensorType>(sum.getType());
    Value terms =
        LoadOp::create(b, tile, kb.getMemRef(partials), at, limits,
                       getNeutral(tile.getElementType()), kb.map(2, exprs));
    return combine(b, b.getLoc(), kind, sum, terms);
  }
  if (!isReduced[dim] || inBlocks)
    return reduceFrom(dim + 1, sum);
  int64_t step = dim == rank - 1 ? getColumns() : dim == rowDim ? rows : 1;
  return kb.loop(kb.getDim(partials, dim), step, sum,
                 [&](Value position, Value others) {
                   at[dim] = position;
                   return reduceFrom(dim + 1, others);
                 });
}

Value Reduction::build() {
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  for (unsigned dim = 0; dim + 1 < rank; ++dim)
    if (isReduced[dim])
      rowDim = dim;
  // Few terms need few registers.
  if (std::optional<int64_t> known = getStatic(kb.getDim(partials, rowDim));
      known && !inBlocks)
    rows = std::clamp<int64_t>(llvm::PowerOf2Ceil(*known), kLaneRows, rows);
  kb.getKernel().setWarps(getWarps());

  // Tiles along what is kept, and along rows where they are blocks.
  SmallVector<Value> bounds;
  SmallVector<std::pair<unsigned, int64_t>> tiled;
  for (unsigned dim = 0; dim < rank; ++dim) {
    if (isReduced[dim] && !inBlocks)
      continue;
    tiled.push_back({dim, dim + 1 == rank  ? getColumns()
                          : isReduced[dim] ? rows
                                           : 1});
    // There are as many blocks as the destination has room for.
    bounds.push_back(isReduced[dim] ? kb.getDim(init, dim)
                                    : ix.ceilDiv(kb.getDim(partials, dim),
                                                 tiled.back().second));
  }
  bool isScalar = bounds.empty();
  if (isScalar)
    bounds.push_back(ix.constant(1));
  Block::BlockArgListType grid = kb.beginTiles(bounds);
  at.assign(rank, ix.constant(0));
  SmallVector<Value> to;
  for (auto [number, dimAndTile] : llvm::enumerate(tiled)) {
    auto [dim, tile] = dimAndTile;
    at[dim] = ix.mul(grid[number], tile);
    to.push_back(isReduced[dim] ? grid[number] : at[dim]);
  }
  SmallVector<AffineExpr> exprs(to.size(), kb.zero());
  SmallVector<Value> limits = {ix.constant(1), ix.constant(1)};
  if (!reducesLast()) {
    exprs.back() = kb.dim(1);
    limits[1] = ix.sub(kb.getDim(partials, rank - 1), at[rank - 1]);
  }
  Value sum = reduceFrom(0, getNeutral(getTile()));
  auto reduce = [&](unsigned dim) {
    auto tile = cast<RankedTensorType>(sum.getType());
    SmallVector<int64_t> shape(tile.getShape());
    shape[dim] = 1;
    auto type = RankedTensorType::get(shape, tile.getElementType(),
                                      getLanes(tile).getReduced(dim));
    sum = ReduceOp::create(b, type, getReduceKind(kind), sum,
                           static_cast<int64_t>(dim));
  };
  reduce(0);
  if (reducesLast())
    reduce(1);
  StoreOp::create(b, sum, kb.getDest(init), to, limits, kb.map(2, exprs));
  return kb.launch().front();
}

Value mlir::tracea::lowerReduction(KernelRewriter &rewriter,
                                   EpilogueOpInterface op, ReductionKind kind,
                                   Value partials, ArrayRef<bool> isReduced,
                                   Value init) {
  auto type = cast<RankedTensorType>(partials.getType());
  unsigned rank = isReduced.size(), rowDim = 0;
  for (unsigned dim = 0; dim + 1 < rank; ++dim)
    if (isReduced[dim])
      rowDim = dim;
  // Two launches take less time than a workgroup that has many terms.
  if (type.isDynamicDim(rowDim) ||
      type.getDimSize(rowDim) > kFewBlocks * kMostRows) {
    rewriter.setInsertionPoint(op);
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    b.setInsertionPoint(op);
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(b, op.getLoc(), partials);
    sizes[rowDim] = getAsOpFoldResult(IndexMath(b).ceilDiv(
        getValueOrCreateConstantIndexOp(b, op.getLoc(), sizes[rowDim]),
        kMostRows));
    Value blocks = tensor::EmptyOp::create(b, sizes, type.getElementType());
    SmallVector<bool> onlyRows(rank, false);
    onlyRows[rowDim] = true;
    partials = Reduction(rewriter, op, kind, partials, onlyRows, blocks,
                         /*inBlocks=*/true)
                   .build();
  }
  return Reduction(rewriter, op, kind, partials, isReduced, init).build();
}
