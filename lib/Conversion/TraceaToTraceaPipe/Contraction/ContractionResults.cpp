//===- ContractionResults.cpp - The results of a kernel that sums ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An auxiliary result with all dimensions is one more store of the tile. One
// that is reduced leaves as partial values: registers and lanes of a warp
// reduce groups of neighbours, which no other warp has a part in, each to one
// element of a tensor of partial values. A kernel of its own reduces that.

#include "ContractionResults.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "tracea/Dialect/TraceaPipe/IR/Parts.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Columns of a tile that are reduced at a time, so that few registers are
/// taken at a time; what is staged leaves in as many.
static constexpr int64_t kPassColumns = 64;

ContractionResults::ContractionResults(KernelRewriter &rewriter,
                                       EpilogueOpInterface op,
                                       ArrayRef<int64_t> tile,
                                       ArrayRef<int64_t> reach)
    : rewriter(rewriter), op(op),
      rank(cast<RankedTensorType>(op.getEpilogueInit().get().getType())
               .getRank()),
      reducesTiles(!reach.empty()), tile(tile), reach(reach) {
  inits.push_back(op.getEpilogueInit().get());
  for (auto [index, init] : llvm::enumerate(op.getAuxInitsMutable())) {
    kinds.push_back(getAuxKind(op, index));
    if (kinds.back() == ReductionKind::None)
      inits.push_back(init.get());
    else
      inits.push_back(isReduced(index) ? createPartials(index)
                                       : createWhole(index));
  }
}

ContractionResults::ContractionResults(KernelRewriter &rewriter,
                                       EpilogueOpInterface op)
    : ContractionResults(rewriter, op, {}, {}) {}

AffineMap ContractionResults::getStoredMap(unsigned index) const {
  if (kinds[index] == ReductionKind::None)
    return getAuxMap(op, index);
  return AffineMap::getMultiDimIdentityMap(rank, op->getContext());
}

bool ContractionResults::reduces(unsigned index, unsigned dim) const {
  return llvm::none_of(getAuxMap(op, index).getResults(), [&](AffineExpr expr) {
    return cast<AffineDimExpr>(expr).getPosition() == dim;
  });
}

SmallVector<unsigned> ContractionResults::getPartialDims(unsigned index) const {
  auto dims = llvm::to_vector(llvm::seq<unsigned>(0, rank - 2));
  for (bool reduced : {true, false})
    for (unsigned dim : {rank - 2, rank - 1})
      if (reduces(index, dim) == reduced)
        dims.push_back(dim);
  return dims;
}

/// The element type of an auxiliary result.
static Type getAuxType(EpilogueOpInterface op, unsigned index) {
  return getElementTypeOrSelf(op.getAuxInitsMutable()[index].get().getType());
}

Value ContractionResults::createWhole(unsigned index) const {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  return tensor::EmptyOp::create(
      rewriter, op.getLoc(),
      tensor::getMixedSizes(rewriter, op.getLoc(), inits.front()),
      getAuxType(op, index));
}

Value ContractionResults::createPartials(unsigned index) const {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  b.setInsertionPoint(op);
  IndexMath ix(b);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, op.getLoc(), inits.front());
  SmallVector<OpFoldResult> extents;
  for (unsigned dim : getPartialDims(index)) {
    OpFoldResult extent = sizes[dim];
    if (dim + 2 >= rank && reduces(index, dim)) {
      unsigned side = dim + 2 - rank;
      Value tiles = ix.ceilDiv(
          getValueOrCreateConstantIndexOp(b, op.getLoc(), extent), tile[side]);
      extent = getAsOpFoldResult(ix.mul(tiles, tile[side] / reach[side]));
    }
    extents.push_back(extent);
  }
  return tensor::EmptyOp::create(b, extents, getAuxType(op, index));
}

void ContractionResults::store(KernelBuilder &kb, Value accumulator,
                               const TileAddress &address, ValueRange limits,
                               function_ref<Value(Value)> arrange) const {
  SmallVector<Value> values =
      kb.emitEpilogueResults(op, accumulator, address, limits);
  auto storeTile = [&](Value value, const TileAddress &to) {
    kb.store(arrange ? arrange(value) : value, to, limits);
  };
  storeTile(values.front(), address);
  for (auto [index, kind] : llvm::enumerate(kinds)) {
    if (isReduced(index))
      continue;
    storeTile(values[index + 1],
              address.getIn(kb.index(),
                            kb.getDest(static_cast<unsigned>(index + 1)),
                            getStoredMap(index)));
  }
  for (auto [index, kind] : llvm::enumerate(kinds))
    if (isReduced(index))
      storePartials(kb, index, values[index + 1], address, limits);
}

ReduceKind mlir::tracea::getReduceKind(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::None:
  case ReductionKind::Add:
    return ReduceKind::Add;
  case ReductionKind::Max:
    return ReduceKind::Max;
  case ReductionKind::Min:
    return ReduceKind::Min;
  }
  llvm_unreachable("all kinds are handled");
}

/// The dimension of the tile that runs along a dimension of the result.
static unsigned getTileDim(AffineMap map, unsigned dim) {
  return cast<AffineDimExpr>(map.getResult(dim)).getPosition();
}

Value ContractionResults::mask(KernelBuilder &kb, unsigned index, Value value,
                               AffineMap map, ValueRange limits) const {
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  auto type = cast<RankedTensorType>(value.getType());
  auto result = cast<RankedTensorType>(inits.front().getType());
  Type i32 = b.getI32Type();
  Value neutral;
  for (unsigned dim : {rank - 2, rank - 1}) {
    // Tiles that are known to be whole need no mask.
    if (!reduces(index, dim) ||
        (!result.isDynamicDim(dim) &&
         result.getDimSize(dim) % tile[dim + 2 - rank] == 0))
      continue;
    unsigned tileDim = getTileDim(map, dim);
    auto coordinates = type.clone(i32);
    Value at = CoordinateOp::create(b, coordinates, tileDim);
    Value end = arith::IndexCastOp::create(
        b, i32, ix.min(limits[tileDim], type.getDimSize(tileDim)));
    Value inside =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, at,
                              tensor::SplatOp::create(b, end, coordinates));
    if (!neutral)
      neutral = arith::ConstantOp::create(
          b, DenseElementsAttr::get(
                 type, getNeutralElement(kinds[index], type.getElementType())));
    value = arith::SelectOp::create(b, inside, value, neutral);
  }
  return value;
}

/// The map of a reduced tile in which lanes that would hold the same elements
/// share them. Neighbours stay in one lane.
static LanesAttr shareAmongLanes(LanesAttr lanes) {
  SmallVector<DenseI64ArrayAttr> reg(lanes.getReg()), lane(lanes.getLane());
  auto isZero = [](DenseI64ArrayAttr vector) {
    return llvm::all_of(vector.asArrayRef(), [](int64_t x) { return x == 0; });
  };
  auto isNeighbour = [](DenseI64ArrayAttr vector) {
    return llvm::is_contained(vector.asArrayRef(), 1);
  };
  for (DenseI64ArrayAttr &vector : lane) {
    auto *shared = llvm::find_if_not(reg, isNeighbour);
    if (!isZero(vector) || shared == reg.end())
      continue;
    vector = *shared;
    reg.erase(shared);
  }
  return LanesAttr::get(lanes.getContext(), reg, lane, lanes.getWarp(),
                        lanes.getOuter());
}

/// Offsets and widths of the parts that a tile is reduced in, as what is staged
/// leaves; multiples of `across` columns.
static SmallVector<std::pair<int64_t, int64_t>> getParts(RankedTensorType tile,
                                                         int64_t across) {
  SmallVector<std::pair<int64_t, int64_t>> parts;
  int64_t columns = tile.getDimSize(1), width = kPassColumns;
  for (int64_t at = 0; at < columns; at += width) {
    while (width > columns - at)
      width /= 2;
    if (width % across || at % width || !getPartLanes(getLanes(tile), 1, width))
      return {{0, columns}};
    parts.push_back({at, width});
  }
  return parts;
}

void ContractionResults::storePartials(KernelBuilder &kb, unsigned index,
                                       Value value, const TileAddress &address,
                                       ValueRange limits) const {
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  AffineMap map = address.map;
  value = mask(kb, index, value, map, limits);
  auto type = cast<RankedTensorType>(value.getType());
  Value memory = kb.getDest(static_cast<unsigned>(index + 1));
  ReduceKind kind = getReduceKind(kinds[index]);
  // Whole groups of columns where those are what is reduced.
  int64_t across = 1;
  for (unsigned dim : {rank - 2, rank - 1})
    if (reduces(index, dim) && getTileDim(map, dim) == 1)
      across = reach[dim + 2 - rank];
  for (auto [offset, width] : getParts(type, across)) {
    auto partType = RankedTensorType::get(
        {type.getDimSize(0), width}, type.getElementType(),
        getPartLanes(getLanes(type), 1, width));
    Value part = value;
    if (partType != type)
      part = SliceOp::create(b, partType, value, ArrayRef<int64_t>{0, offset});
    SmallVector<Value> ends(limits);
    SmallVector<int64_t> scale = {1, 1};
    ends[1] = ix.sub(ends[1], offset);
    for (unsigned dim : {rank - 2, rank - 1}) {
      if (!reduces(index, dim))
        continue;
      unsigned tileDim = getTileDim(map, dim);
      scale[tileDim] = reach[dim + 2 - rank];
      auto whole = cast<RankedTensorType>(part.getType());
      SmallVector<int64_t> shape(whole.getShape());
      shape[tileDim] /= scale[tileDim];
      auto reduced = RankedTensorType::get(
          shape, whole.getElementType(),
          shareAmongLanes(getLanes(whole).getReduced(tileDim, shape[tileDim])));
      part = ReduceOp::create(b, reduced, kind, part,
                              static_cast<int64_t>(tileDim));
      // All groups of a tile are stored, also those past the ends.
      ends[tileDim] = ix.constant(shape[tileDim]);
    }
    SmallVector<Value> at;
    SmallVector<AffineExpr> exprs;
    for (unsigned dim : getPartialDims(index)) {
      Value from = address.indices[dim];
      AffineExpr expr = map.getResult(dim);
      if (dim + 2 >= rank && getTileDim(map, dim) == 1 && offset)
        from = ix.add(from, offset);
      if (dim + 2 >= rank && reduces(index, dim))
        from = ix.exactDiv(from, reach[dim + 2 - rank]);
      at.push_back(from);
      exprs.push_back(expr);
    }
    StoreOp::create(b, part, memory, at, ends, kb.map(2, exprs));
  }
}

/// Rows of partial values may begin anywhere, and lanes write them one by one:
/// a program need not refuse extents for their sake.
static void allowAnyRows(LaunchOp launch, unsigned index) {
  auto module = launch->getParentOfType<ModuleOp>();
  for (FlatSymbolRefAttr name : launch.getKernels()) {
    auto kernel = module.lookupSymbol<KernelOp>(name.getAttr());
    unsigned argument = launch.getInputs().size() + index;
    auto type = cast<MemRefType>(kernel.getArgumentTypes()[argument]);
    if (type.isDynamicDim(type.getRank() - 1))
      kernel.removeArgAttr(argument, kAlignedAttrName);
  }
}

void ContractionResults::finish(ValueRange launched) const {
  SmallVector<Value> results(launched);
  auto launch = launched.front().getDefiningOp<LaunchOp>();
  for (auto [index, kind] : llvm::enumerate(kinds)) {
    if (kind == ReductionKind::None)
      continue;
    Value &result = results[index + 1];
    if (!isReduced(index)) {
      result = reduceBehind(rewriter, op, index, result);
      continue;
    }
    allowAnyRows(launch, index + 1);
    SmallVector<bool> isReducedDim;
    for (unsigned dim : getPartialDims(index))
      isReducedDim.push_back(reduces(index, dim));
    result = lowerReduction(rewriter, op, kind, result, isReducedDim,
                            op.getAuxInitsMutable()[index].get());
  }
  rewriter.replaceOp(op, results);
}
