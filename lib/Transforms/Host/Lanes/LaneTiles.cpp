//===- LaneTiles.cpp - Structured operations as register tiles ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From an elementwise operation, with whatever broadcasts and transposes, to a
// kernel of a GPU on register tiles. Neighbouring lanes have neighbouring
// vectors of the result. An operand whose neighbours lie along another loop is
// read in a tile of its own, whose lanes lie along that one, and relaid: the
// exchange is the algebra's, without bank conflicts.
//
// Of a reduction each lane goes through the reduced loops with a tile of its
// own, and lanes meet at the end, in a fixed order.
//
//===----------------------------------------------------------------------===//

#include "Lanes/LaneTiles.h"
#include "Lanes/LaneVectors.h"
#include "Lanes/LoopExtents.h"
#include "Lanes/TileShape.h"
#include "Lanes/TileViews.h"
#include "SizeBuilder.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "tracea/Dialect/TraceaPipe/Utils/Launches.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

//===----------------------------------------------------------------------===//
// What can be tiles
//===----------------------------------------------------------------------===//

static bool isComputed(Type type) {
  return type.isIndex() || type.isInteger(1) || isStored(type);
}

static std::optional<ReduceKind> getReduceKind(Operation *combiner) {
  if (isa<arith::AddFOp, arith::AddIOp>(combiner))
    return ReduceKind::Add;
  if (isa<arith::MulFOp, arith::MulIOp>(combiner))
    return ReduceKind::Mul;
  if (isa<arith::MaximumFOp, arith::MaxSIOp>(combiner))
    return ReduceKind::Max;
  if (isa<arith::MinimumFOp, arith::MinSIOp>(combiner))
    return ReduceKind::Min;
  return std::nullopt;
}

/// Whether the body is arithmetic that tiles have as well.
static bool isArithmetic(Block &body) {
  return llvm::all_of(body.without_terminator(), [](Operation &op) {
    if (isa<linalg::IndexOp>(op))
      return true;
    if (op.getNumRegions() || op.getNumResults() != 1 ||
        !llvm::all_of(op.getOperandTypes(), isComputed) ||
        !isComputed(op.getResult(0).getType()))
      return false;
    return op.hasTrait<OpTrait::ConstantLike>() ||
           OpTrait::hasElementwiseMappableTraits(&op);
  });
}

SmallVector<Operation *> mlir::tracea::getTileCombiners(linalg::LinalgOp op) {
  SmallVector<Operation *> combiners;
  ArrayRef<BlockArgument> carried = op.getRegionOutputArgs();
  for (unsigned number = 0; number < carried.size(); ++number) {
    SmallVector<Operation *> found;
    if (!matchReduction(carried, number, found) || found.size() != 1 ||
        !getReduceKind(found.front()) ||
        !arith::getNeutralElement(found.front()))
      return {};
    combiners.push_back(found.front());
  }
  return combiners;
}

/// Whether each index is that of a loop of its own, or always the same.
static bool isTilePlace(AffineMap map) {
  llvm::SmallDenseSet<AffineExpr> loops;
  return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
    return isa<AffineConstantExpr>(expr) ||
           (isa<AffineDimExpr>(expr) && loops.insert(expr).second);
  });
}

bool mlir::tracea::canBeLaneTiles(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumLoops() == 0 ||
      op.getNumDpsInits() == 0 || !isArithmetic(*op.getBlock()))
    return false;
  bool isReduction = op.getNumReductionLoops() != 0;
  if (isReduction && getTileCombiners(op).empty())
    return false;
  std::optional<unsigned> column =
      getColumnLoop(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    if (!map.isProjectedPermutation() ||
        map.getNumResults() != op.getNumParallelLoops() ||
        getColumnLoop(map) != column ||
        (!isReduction && op.payloadUsesValueFromOperand(&init)))
      return false;
  }
  bool isAnyWhole = !isReduction;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type) {
      if (!isComputed(operand.get().getType()))
        return false;
      continue;
    }
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!isStored(type.getElementType()) || !isTilePlace(map))
      return false;
    isAnyWhole |= map.isPermutation();
    // A term that some of the reduced loops repeat: proofs want each once.
    unsigned reduced = llvm::count_if(
        llvm::enumerate(op.getIteratorTypesArray()), [&](auto loop) {
          return loop.value() == utils::IteratorType::reduction &&
                 map.isFunctionOfDim(loop.index());
        });
    if (reduced && reduced != op.getNumReductionLoops())
      return false;
  }
  return isAnyWhole;
}

/// Whether `memory` is all of the buffer, in whatever shape.
static bool isWholeBuffer(Value memory) {
  while (Operation *op = memory.getDefiningOp()) {
    if (!isa<memref::CollapseShapeOp, memref::ExpandShapeOp, memref::CastOp>(
            op))
      return !isa<ViewLikeOpInterface>(op);
    memory = op->getOperand(0);
  }
  return true;
}

// What came before the operation is launches, fills and copies already, which
// look into their operands alone.
linalg::FillOp mlir::tracea::findFill(linalg::LinalgOp op, OpOperand &init) {
  // All that was filled is a result.
  AffineMap map = op.getMatchingIndexingMap(&init);
  if (!map.isProjectedPermutation() ||
      map.getNumResults() != op.getNumParallelLoops())
    return nullptr;
  Value memory = init.get(), root = getViewRoot(memory);
  if (llvm::any_of(op.getDpsInputs(), [&](Value input) {
        return isa<MemRefType>(input.getType()) && getViewRoot(input) == root;
      }))
    return nullptr;
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    bool touches = llvm::any_of(before->getOperands(), [&](Value operand) {
      return isa<MemRefType>(operand.getType()) && getViewRoot(operand) == root;
    });
    if (!touches || isa<memref::DimOp>(before) ||
        isa<ViewLikeOpInterface>(before))
      continue;
    auto fill = dyn_cast<linalg::FillOp>(before);
    if (!fill || !matchPattern(fill.value(), m_Constant()))
      return nullptr;
    bool isSame = fill.output() == memory ||
                  (isWholeBuffer(fill.output()) && isWholeBuffer(memory));
    return isSame ? fill : nullptr;
  }
  return nullptr;
}

SmallVector<linalg::FillOp>
mlir::tracea::findNeutralFills(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0)
    return {};
  SmallVector<Operation *> combiners = getTileCombiners(op);
  SmallVector<linalg::FillOp> fills;
  for (auto [init, combiner] : llvm::zip(op.getDpsInitsMutable(), combiners)) {
    linalg::FillOp fill = findFill(op, init);
    Attribute value;
    if (!fill || !matchPattern(fill.value(), m_Constant(&value)))
      return {};
    // A zero's sign is nobody's in a sum.
    bool isZero = isa<arith::AddFOp>(combiner) &&
                  matchPattern(fill.value(), m_AnyZeroFloat());
    if (!isZero && value != *arith::getNeutralElement(combiner))
      return {};
    fills.push_back(fill);
  }
  return fills;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {
/// Rows and columns of the tile are two of the operation's loops; the grid is
/// over all of them.
class TileKernel {
public:
  TileKernel(ImplicitLocOpBuilder &b, linalg::LinalgOp op, bool isAligned,
             int64_t subgroup, bool startsNeutral)
      : b(b), op(op), size(b, op.getLoc()),
        extents(getLoopExtents(b, cast<TilingInterface>(op.getOperation()))),
        form(op, extents, isAligned, subgroup), startsNeutral(startsNeutral) {
    if (op.getNumReductionLoops())
      combiners = getTileCombiners(op);
  }

  TileShape build();

private:
  AffineMap getMap(OpOperand &operand) {
    return op.getMatchingIndexingMap(&operand);
  }
  void openGrid();
  /// Where the operand's tile is in memory.
  TilePlace place(OpOperand &operand);
  SmallVector<Value> getLimits(AffineMap map, ArrayRef<int64_t> shape);
  Value load(OpOperand &operand);
  Value spread(Value scalar);
  Value getIndex(unsigned loop);
  SmallVector<Value> compute(ValueRange carried);
  Value dropOutside(Value tile, TypedAttr neutral);
  SmallVector<Value> overLoops(ArrayRef<unsigned> loops, ValueRange carried);
  void store(OpOperand &init, Value tile);
  void reduce();

  ImplicitLocOpBuilder &b;
  linalg::LinalgOp op;
  SizeBuilder size;
  SmallVector<OpFoldResult> extents;
  TileShape form;
  bool startsNeutral;
  /// What combines each result of a reduction; empty where nothing is reduced.
  SmallVector<Operation *> combiners;
  /// Where the tile begins along each loop.
  SmallVector<Value> starts;
};
} // namespace

void TileKernel::openGrid() {
  AffineMap result = getMap(*op.getDpsInitOperand(0));
  SmallVector<Value> bounds;
  SmallVector<unsigned> loops;
  starts.resize(extents.size());
  for (unsigned i = 0; i < result.getNumResults(); ++i) {
    unsigned loop = result.getDimPosition(i);
    OpFoldResult bound =
        size.ceilDiv(extents[loop], size.constant(form.stepOf(loop)));
    if (getConstantIntValue(bound) == 1) {
      starts[loop] = size.value(size.constant(0));
      continue;
    }
    loops.push_back(loop);
    bounds.push_back(size.value(bound));
  }
  if (bounds.empty())
    bounds.push_back(size.value(size.constant(1)));
  auto tiles = TilesOp::create(b, bounds);
  op->moveBefore(&tiles.getBody().front(), tiles.getBody().front().begin());
  b.setInsertionPoint(op);
  for (auto [loop, index] : llvm::zip(loops, tiles.getIndices()))
    starts[loop] = size.value(
        size.mul(OpFoldResult(index), size.constant(form.stepOf(loop))));
}

TilePlace TileKernel::place(OpOperand &operand) {
  TilePlace place;
  place.memory = operand.get();
  for (AffineExpr expr : getMap(operand).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    bool isColumn = dim && dim.getPosition() == form.columnLoop;
    bool isRow = dim && form.rowLoop == dim.getPosition();
    place.steps.push_back(isRow || isColumn
                              ? getAffineDimExpr(isColumn, b.getContext())
                              : getAffineConstantExpr(0, b.getContext()));
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    place.indices.push_back(constant
                                ? size.value(size.constant(constant.getValue()))
                                : starts[dim.getPosition()]);
  }
  followTileViews(b, place);
  return place;
}

/// What is left of the loops from the tile on, where it matters and is not
/// always all of the tile.
SmallVector<Value> TileKernel::getLimits(AffineMap map,
                                         ArrayRef<int64_t> shape) {
  SmallVector<Value> limits;
  std::optional<unsigned> loops[2] = {form.rowLoop, form.columnLoop};
  for (auto [loop, extent] : llvm::zip_equal(loops, shape)) {
    OpFoldResult limit = size.constant(extent);
    if (loop && map.isFunctionOfDim(*loop)) {
      std::optional<int64_t> known = getConstantIntValue(extents[*loop]);
      if (!known || *known % extent)
        limit = size.sub(extents[*loop], OpFoldResult(starts[*loop]));
    }
    limits.push_back(size.value(limit));
  }
  return limits;
}

Value TileKernel::load(OpOperand &operand) {
  AffineMap map = getMap(operand);
  bool isAcross = form.isTransposed && getColumnLoop(map) == form.rowLoop &&
                  map.isFunctionOfDim(form.columnLoop);
  Type element = getElementTypeOrSelf(operand.get().getType());
  auto type =
      RankedTensorType::get({form.rows, form.columns}, element,
                            isAcross ? form.alongRows : form.alongColumns);
  TilePlace from = place(operand);
  Value tile = LoadOp::create(b, type, from.memory, from.indices,
                              getLimits(map, {form.rows, form.columns}),
                              Value(), from.getMap());
  if (!isAcross)
    return tile;
  return RelayoutOp::create(b,
                            RankedTensorType::get({form.rows, form.columns},
                                                  element, form.alongColumns),
                            tile);
}

Value TileKernel::spread(Value scalar) {
  auto type = RankedTensorType::get({form.rows, form.columns}, scalar.getType(),
                                    form.alongColumns);
  Attribute constant;
  if (matchPattern(scalar, m_Constant(&constant)))
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, constant));
  return tensor::SplatOp::create(b, scalar, type);
}

/// The number of an iteration along a loop.
Value TileKernel::getIndex(unsigned loop) {
  Value start = spread(starts[loop]);
  bool isColumn = loop == form.columnLoop;
  if (!isColumn && form.rowLoop != loop)
    return start;
  return arith::AddIOp::create(
      b, start, CoordinateOp::create(b, start.getType(), isColumn));
}

/// The body on tiles, with `carried` as what was there before; what it yields.
SmallVector<Value> TileKernel::compute(ValueRange carried) {
  Block &body = *op.getBlock();
  IRMapping mapping;
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (argument.use_empty())
      continue;
    bool isMemory = isa<MemRefType>(input->get().getType());
    mapping.map(argument, isMemory ? load(*input) : spread(input->get()));
  }
  auto lookup = [&](Value value) {
    if (!mapping.contains(value))
      mapping.map(value, spread(value));
    return mapping.lookup(value);
  };
  if (!carried.empty())
    mapping.map(op.getRegionOutputArgs(), carried);
  for (Operation &scalar : body.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(scalar)) {
      mapping.map(index.getResult(), getIndex(index.getDim()));
      continue;
    }
    if (scalar.hasTrait<OpTrait::ConstantLike>())
      continue;
    SmallVector<Value> operands =
        llvm::map_to_vector(scalar.getOperands(), lookup);
    if (llvm::is_contained(combiners, &scalar))
      for (Value &operand : operands)
        if (!llvm::is_contained(carried, operand))
          operand = dropOutside(operand, *arith::getNeutralElement(&scalar));
    auto type =
        RankedTensorType::get({form.rows, form.columns},
                              scalar.getResult(0).getType(), form.alongColumns);
    Operation *tiled = static_cast<OpBuilder &>(b).create(
        scalar.getLoc(), scalar.getName().getIdentifier(), operands, {type},
        scalar.getAttrs());
    mapping.map(scalar.getResult(0), tiled->getResult(0));
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(), lookup);
}

/// `tile` with `neutral` beyond the ends of reduced loops.
Value TileKernel::dropOutside(Value tile, TypedAttr neutral) {
  std::optional<unsigned> loops[2] = {form.rowLoop, form.columnLoop};
  int64_t shape[2] = {form.rows, form.columns};
  auto type = cast<RankedTensorType>(tile.getType());
  Value outside;
  for (unsigned dim : {0, 1}) {
    if (!form.isReduced(loops[dim]))
      continue;
    std::optional<int64_t> known = getConstantIntValue(extents[*loops[dim]]);
    if (known && *known % shape[dim] == 0)
      continue;
    auto numbers = type.clone(b.getIndexType());
    Value position = CoordinateOp::create(b, numbers, dim);
    Value end = spread(size.value(
        size.sub(extents[*loops[dim]], OpFoldResult(starts[*loops[dim]]))));
    Value inside =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, position, end);
    if (!outside)
      outside =
          arith::ConstantOp::create(b, DenseElementsAttr::get(type, neutral));
    tile = arith::SelectOp::create(b, inside, tile, outside);
  }
  return tile;
}

/// Goes through the reduced loops, tile by tile.
SmallVector<Value> TileKernel::overLoops(ArrayRef<unsigned> loops,
                                         ValueRange carried) {
  if (loops.empty())
    return compute(carried);
  unsigned loop = loops.front();
  int64_t step = form.stepOf(loop);
  Value zero = size.value(size.constant(0));
  std::optional<int64_t> known = getConstantIntValue(extents[loop]);
  if (known && *known <= step) {
    starts[loop] = zero;
    return overLoops(loops.drop_front(), carried);
  }
  auto forOp = scf::ForOp::create(b, zero, size.value(extents[loop]),
                                  size.value(size.constant(step)), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  starts[loop] = forOp.getInductionVar();
  SmallVector<Value> next =
      overLoops(loops.drop_front(), forOp.getRegionIterArgs());
  scf::YieldOp::create(b, next);
  return llvm::to_vector_of<Value>(forOp.getResults());
}

void TileKernel::reduce() {
  unsigned dim = form.isReduced(form.columnLoop);
  SmallVector<int64_t> shape = {form.rows, form.columns};
  shape[dim] = 1;
  LanesAttr lanes = form.alongColumns.getReduced(dim);
  // Lanes that share a result read what was there before any of them is done:
  // they meet in between.
  SmallVector<TilePlace> places;
  SmallVector<Value> before, neutral;
  for (auto [init, combiner] :
       llvm::zip_equal(op.getDpsInitsMutable(), combiners)) {
    TypedAttr element = *arith::getNeutralElement(combiner);
    auto type = RankedTensorType::get({form.rows, form.columns},
                                      element.getType(), form.alongColumns);
    neutral.push_back(
        arith::ConstantOp::create(b, DenseElementsAttr::get(type, element)));
    TilePlace &at = places.emplace_back(place(init));
    if (!startsNeutral)
      before.push_back(LoadOp::create(
          b, RankedTensorType::get(shape, element.getType(), lanes), at.memory,
          at.indices, getLimits(getMap(init), shape), Value(), at.getMap()));
  }
  SmallVector<unsigned> loops;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (form.isReduced(loop))
      loops.push_back(loop);
  SmallVector<Value> sums = overLoops(loops, neutral);
  for (auto [number, sum] : llvm::enumerate(sums)) {
    Operation *combiner = combiners[number];
    Type reduced =
        RankedTensorType::get(shape, getElementTypeOrSelf(sum), lanes);
    Value result =
        ReduceOp::create(b, reduced, *getReduceKind(combiner), sum, dim);
    if (!startsNeutral)
      result =
          static_cast<OpBuilder &>(b)
              .create(combiner->getLoc(), combiner->getName().getIdentifier(),
                      {before[number], result}, {reduced}, combiner->getAttrs())
              ->getResult(0);
    const TilePlace &at = places[number];
    StoreOp::create(b, result, at.memory, at.indices,
                    getLimits(getMap(*op.getDpsInitOperand(number)), shape),
                    at.getMap());
  }
}

void TileKernel::store(OpOperand &init, Value tile) {
  TilePlace to = place(init);
  StoreOp::create(b, tile, to.memory, to.indices,
                  getLimits(getMap(init), {form.rows, form.columns}),
                  to.getMap());
}

TileShape TileKernel::build() {
  openGrid();
  if (!combiners.empty())
    reduce();
  else
    for (auto [init, value] :
         llvm::zip_equal(op.getDpsInitsMutable(), compute(ValueRange())))
      store(init, value);
  op->erase();
  return form;
}

TileShape mlir::tracea::buildLaneTiles(OpBuilder &builder, linalg::LinalgOp op,
                                       bool isAligned, int64_t subgroup,
                                       bool startsNeutral) {
  ImplicitLocOpBuilder b(op.getLoc(), builder);
  b.setInsertionPoint(op);
  return TileKernel(b, op, isAligned, subgroup, startsNeutral).build();
}
