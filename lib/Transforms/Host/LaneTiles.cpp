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

#include "LaneTiles.h"
#include "SizeBuilder.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

/// Lanes of a workgroup: more than enough loads are in flight with several
/// workgroups on a multiprocessor.
constexpr int64_t kLanes = 256;
/// Those along a loop of open extent where there is another loop beside it.
constexpr int64_t kOpenLanes = 64;
constexpr int64_t kVectorBytes = 16;
/// What the vectors of the widest operand may take of a lane.
constexpr int64_t kMostBytes = 64;
/// Elements that a lane reads one by one where it reads no vectors.
constexpr int64_t kSingles = 4;
/// Rows and columns of a tile that is transposed, in elements of up to 4 bytes.
constexpr int64_t kSquare = 64;

//===----------------------------------------------------------------------===//
// What can be tiles
//===----------------------------------------------------------------------===//

static bool isStored(Type type) {
  constexpr unsigned kWidest = 64;
  if (!type.isIntOrFloat())
    return false;
  unsigned bits = type.getIntOrFloatBitWidth();
  return bits >= 8 && bits <= kWidest && llvm::isPowerOf2_32(bits);
}

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

/// The loop along which neighbours of an operand are neighbours in memory.
static std::optional<unsigned> getColumnLoop(AffineMap map) {
  if (map.getNumResults() == 0)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(map.getResults().back());
  return dim ? std::optional<unsigned>(dim.getPosition()) : std::nullopt;
}

Operation *mlir::tracea::getTileCombiner(linalg::LinalgOp op) {
  SmallVector<Operation *> combiners;
  if (op.getNumDpsInits() != 1 ||
      !matchReduction(op.getRegionOutputArgs(), 0, combiners) ||
      combiners.size() != 1 || !getReduceKind(combiners.front()) ||
      !arith::getNeutralElement(combiners.front()))
    return nullptr;
  return combiners.front();
}

bool mlir::tracea::canBeLaneTiles(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumLoops() == 0 ||
      op.getNumDpsInits() == 0 || !isArithmetic(*op.getBlock()))
    return false;
  bool isReduction = op.getNumReductionLoops() != 0;
  if (isReduction && !getTileCombiner(op))
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
    if (!isStored(type.getElementType()) ||
        !map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return false;
    isAnyWhole |= map.isPermutation();
  }
  return isAnyWhole;
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
      : b(b), op(op), size(b, op.getLoc()), isAligned(isAligned),
        subgroup(subgroup), startsNeutral(startsNeutral) {}

  /// Returns the threads of a workgroup.
  int64_t build();

private:
  AffineMap getMap(OpOperand &operand) {
    return op.getMatchingIndexingMap(&operand);
  }
  static int64_t getBytes(Value memory) {
    return getElementTypeOrSelf(memory.getType()).getIntOrFloatBitWidth() / 8;
  }
  int64_t getVector(int64_t bytes) const {
    return isAligned ? std::max<int64_t>(kVectorBytes / bytes, 1) : 1;
  }
  /// An extent that is known, or `open`.
  int64_t getExtent(std::optional<unsigned> loop, int64_t open) const {
    if (!loop)
      return 1;
    return getConstantIntValue(extents[*loop]).value_or(open);
  }
  void chooseLoops();
  void chooseTile();
  void chooseSquare();
  void chooseReduction();
  LanesAttr makeLanes(unsigned fast, int64_t vector, int64_t lanes) const;
  int64_t stepOf(unsigned loop) const {
    return loop == columnLoop ? columns : rowLoop == loop ? rows : 1;
  }
  void openGrid();
  /// Where a tile is in memory: indices, and the map from the tile.
  AffineMap place(AffineMap map, SmallVectorImpl<Value> &indices);
  SmallVector<Value> getLimits(AffineMap map, ArrayRef<int64_t> shape);
  Value load(OpOperand &operand);
  Value spread(Value scalar);
  Value getIndex(unsigned loop);
  SmallVector<Value> compute(Value carried);
  Value dropOutside(Value tile, TypedAttr neutral);
  Value overLoops(ArrayRef<unsigned> loops, Value carried);
  void store(OpOperand &init, Value tile);
  void reduce();
  bool isReduced(std::optional<unsigned> loop) const {
    return loop && iterators[*loop] == utils::IteratorType::reduction;
  }

  ImplicitLocOpBuilder &b;
  linalg::LinalgOp op;
  SizeBuilder size;
  bool isAligned;
  int64_t subgroup;
  bool startsNeutral;
  SmallVector<OpFoldResult> extents;
  SmallVector<utils::IteratorType> iterators;
  Operation *combiner = nullptr;
  /// The loops that are the tile's dimensions, and whether an operand's
  /// neighbours lie along the rows.
  std::optional<unsigned> rowLoop;
  unsigned columnLoop = 0;
  bool isTransposed = false;
  /// The tile, and its lanes where they lie along columns, and along rows.
  int64_t rows = 1, columns = 1, threads = 1, vector = 1, transposedVector = 1;
  LanesAttr alongColumns, alongRows;
  /// Where the tile begins along each loop.
  SmallVector<Value> starts;
};
} // namespace

void TileKernel::chooseLoops() {
  AffineMap result = getMap(*op.getDpsInitOperand(0));
  int64_t least = kVectorBytes, most = 1;
  for (Value operand : op->getOperands())
    if (isa<MemRefType>(operand.getType())) {
      least = std::min(least, getBytes(operand));
      most = std::max(most, getBytes(operand));
    }
  vector = getVector(least);
  while (vector > 1 && vector * most > kMostBytes)
    vector /= 2;
  if (combiner)
    return;
  columnLoop = *getColumnLoop(result);
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!isa<MemRefType>(input->get().getType()))
      continue;
    AffineMap map = getMap(*input);
    std::optional<unsigned> column = getColumnLoop(map);
    if (!column || *column == columnLoop || !map.isFunctionOfDim(columnLoop) ||
        getConstantIntValue(extents[*column]) == 1)
      continue;
    rowLoop = column;
    isTransposed = true;
    int64_t found = getVector(getBytes(input->get()));
    transposedVector = std::max(transposedVector, found);
  }
  if (!rowLoop && result.getNumResults() > 1)
    rowLoop = result.getDimPosition(result.getNumResults() - 2);
}

/// Lanes along the loop whose neighbours are neighbours in the operand. If it
/// is reduced, rows are those of the result; if not, they are reduced, by warps
/// that lie below each other.
void TileKernel::chooseReduction() {
  AffineMap whole;
  for (OpOperand *input : op.getDpsInputOperands())
    if (isa<MemRefType>(input->get().getType()) &&
        getMap(*input).isPermutation() && !whole)
      whole = getMap(*input);
  columnLoop = *getColumnLoop(whole);
  for (unsigned i = whole.getNumResults() - 1; i-- > 0;) {
    unsigned loop = whole.getDimPosition(i);
    if (isReduced(loop) != isReduced(columnLoop) && !rowLoop)
      rowLoop = loop;
  }
  // A lane adds up several vectors, of rows that are reduced or of its own.
  constexpr int64_t kVectors = 4;
  auto round = [](int64_t count) {
    return static_cast<int64_t>(
        llvm::PowerOf2Ceil(std::clamp<int64_t>(count, 1, kLanes)));
  };
  int64_t most = isReduced(columnLoop) ? kLanes : subgroup;
  int64_t open = most * vector * kVectors;
  int64_t along = std::min(
      most,
      round(llvm::divideCeil(getExtent(columnLoop, open),
                             vector * (isReduced(columnLoop) ? kVectors : 1))));
  int64_t down =
      std::min(round(getExtent(rowLoop, kLanes / along)), kLanes / along);
  along = std::max(along, subgroup / down);
  threads = along * down;
  int64_t held = 1;
  if (isReduced(columnLoop))
    held = std::min<int64_t>(kVectors,
                             llvm::PowerOf2Ceil(llvm::divideCeil(
                                 getExtent(columnLoop, open), along * vector)));
  columns = along * vector * held;
  rows = down;
  if (!isReduced(columnLoop) && rowLoop)
    rows = std::min<int64_t>(down * kVectors, llvm::PowerOf2Ceil(getExtent(
                                                  rowLoop, down * kVectors)));
  alongColumns = makeLanes(/*fast=*/1, vector, along);
}

/// A row of lanes, or several short ones, each lane with a vector.
void TileKernel::chooseTile() {
  auto round = [](int64_t count) {
    return static_cast<int64_t>(
        llvm::PowerOf2Ceil(std::clamp<int64_t>(count, 1, kLanes)));
  };
  int64_t singles = isAligned ? 1 : kSingles, run = vector * singles;
  int64_t open = (rowLoop ? kOpenLanes : kLanes) * run;
  int64_t along = round(llvm::divideCeil(getExtent(columnLoop, open), run));
  int64_t down =
      std::min(round(getExtent(rowLoop, kLanes / along)), kLanes / along);
  along = std::max(along, subgroup / down);
  rows = down;
  columns = along * run;
  threads = along * down;
  alongColumns = makeLanes(/*fast=*/1, vector, along);
}

/// As many rows as columns, as far as there are such.
void TileKernel::chooseSquare() {
  int64_t widest = 1;
  for (Value operand : op->getOperands())
    if (isa<MemRefType>(operand.getType()))
      widest = std::max(widest, getBytes(operand));
  int64_t most = widest > 4 ? kSquare / 2 : kSquare;
  auto round = [&](int64_t extent) {
    return static_cast<int64_t>(
        llvm::PowerOf2Ceil(std::clamp<int64_t>(extent, 1, most)));
  };
  rows = round(getExtent(rowLoop, most));
  columns = round(getExtent(columnLoop, most));
  columns = std::max(columns, subgroup / rows);
  vector = std::min(vector, columns);
  transposedVector = std::min(transposedVector, rows);
  auto left = [&]() {
    return rows * columns / std::max(vector, transposedVector);
  };
  while (left() < subgroup) {
    vector = std::max<int64_t>(vector / 2, 1);
    transposedVector = std::max<int64_t>(transposedVector / 2, 1);
  }
  threads = std::min(kLanes, left());
  alongColumns = makeLanes(/*fast=*/1, vector, columns / vector);
  alongRows = makeLanes(/*fast=*/0, transposedVector, rows / transposedVector);
}

/// So many lanes with vectors along one dimension of the tile, then along the
/// other one; what they do not reach each of them holds.
LanesAttr TileKernel::makeLanes(unsigned fast, int64_t vector,
                                int64_t lanes) const {
  alg::LaneBases bases;
  int64_t shape[2] = {rows, columns}, placed = 1;
  auto add = [&](unsigned dim, int64_t step) {
    alg::TileCoord vector = {0, 0};
    vector[dim] = step;
    if (placed == threads) {
      bases.reg.push_back(vector);
      return;
    }
    (placed < subgroup ? bases.lane : bases.warp).push_back(vector);
    placed *= 2;
  };
  for (int64_t step = 1; step < vector; step *= 2) {
    alg::TileCoord vector = {0, 0};
    vector[fast] = step;
    bases.reg.push_back(vector);
  }
  int64_t reach = vector * lanes;
  for (int64_t step = vector; step < reach; step *= 2)
    add(fast, step);
  for (int64_t step = 1; step < shape[1 - fast]; step *= 2)
    add(1 - fast, step);
  for (int64_t step = reach; step < shape[fast]; step *= 2)
    add(fast, step);
  return getLanesAttr(b.getContext(), bases, {1, 1});
}

void TileKernel::openGrid() {
  AffineMap result = getMap(*op.getDpsInitOperand(0));
  SmallVector<Value> bounds;
  SmallVector<unsigned> loops;
  starts.resize(extents.size());
  for (unsigned i = 0; i < result.getNumResults(); ++i) {
    unsigned loop = result.getDimPosition(i);
    OpFoldResult bound =
        size.ceilDiv(extents[loop], size.constant(stepOf(loop)));
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
    starts[loop] =
        size.value(size.mul(OpFoldResult(index), size.constant(stepOf(loop))));
}

AffineMap TileKernel::place(AffineMap map, SmallVectorImpl<Value> &indices) {
  SmallVector<AffineExpr> exprs;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    bool isColumn = dim && dim.getPosition() == columnLoop;
    bool isRow = dim && rowLoop == dim.getPosition();
    exprs.push_back(isRow || isColumn
                        ? getAffineDimExpr(isColumn, b.getContext())
                        : getAffineConstantExpr(0, b.getContext()));
    indices.push_back(dim ? starts[dim.getPosition()]
                          : size.value(size.constant(0)));
  }
  return AffineMap::get(2, 0, exprs, b.getContext());
}

/// What is left of the loops from the tile on, where it matters and is not
/// always all of the tile.
SmallVector<Value> TileKernel::getLimits(AffineMap map,
                                         ArrayRef<int64_t> shape) {
  SmallVector<Value> limits;
  std::optional<unsigned> loops[2] = {rowLoop, columnLoop};
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
  bool isAcross = isTransposed && getColumnLoop(map) == rowLoop &&
                  map.isFunctionOfDim(columnLoop);
  Type element = getElementTypeOrSelf(operand.get().getType());
  auto type = RankedTensorType::get({rows, columns}, element,
                                    isAcross ? alongRows : alongColumns);
  SmallVector<Value> indices;
  AffineMap places = place(map, indices);
  Value tile = LoadOp::create(b, type, operand.get(), indices,
                              getLimits(map, {rows, columns}), Value(), places);
  if (!isAcross)
    return tile;
  return RelayoutOp::create(
      b, RankedTensorType::get({rows, columns}, element, alongColumns), tile);
}

Value TileKernel::spread(Value scalar) {
  auto type =
      RankedTensorType::get({rows, columns}, scalar.getType(), alongColumns);
  Attribute constant;
  if (matchPattern(scalar, m_Constant(&constant)))
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, constant));
  return tensor::SplatOp::create(b, scalar, type);
}

/// The number of an iteration along a loop.
Value TileKernel::getIndex(unsigned loop) {
  Value start = spread(starts[loop]);
  bool isColumn = loop == columnLoop;
  if (!isColumn && rowLoop != loop)
    return start;
  return arith::AddIOp::create(
      b, start, CoordinateOp::create(b, start.getType(), isColumn));
}

/// The body on tiles, with `carried` as what was there before; what it yields.
SmallVector<Value> TileKernel::compute(Value carried) {
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
  if (carried)
    mapping.map(op.getRegionOutputArgs().front(), carried);
  for (Operation &scalar : body.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(scalar)) {
      mapping.map(index.getResult(), getIndex(index.getDim()));
      continue;
    }
    if (scalar.hasTrait<OpTrait::ConstantLike>())
      continue;
    SmallVector<Value> operands =
        llvm::map_to_vector(scalar.getOperands(), lookup);
    if (&scalar == combiner)
      for (Value &operand : operands)
        if (operand != carried)
          operand = dropOutside(operand, *arith::getNeutralElement(combiner));
    auto type = RankedTensorType::get(
        {rows, columns}, scalar.getResult(0).getType(), alongColumns);
    Operation *tiled = static_cast<OpBuilder &>(b).create(
        scalar.getLoc(), scalar.getName().getIdentifier(), operands, {type},
        scalar.getAttrs());
    mapping.map(scalar.getResult(0), tiled->getResult(0));
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(), lookup);
}

/// `tile` with `neutral` beyond the ends of reduced loops.
Value TileKernel::dropOutside(Value tile, TypedAttr neutral) {
  std::optional<unsigned> loops[2] = {rowLoop, columnLoop};
  int64_t shape[2] = {rows, columns};
  auto type = cast<RankedTensorType>(tile.getType());
  Value outside;
  for (unsigned dim : {0, 1}) {
    if (!isReduced(loops[dim]))
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
Value TileKernel::overLoops(ArrayRef<unsigned> loops, Value carried) {
  if (loops.empty())
    return compute(carried).front();
  unsigned loop = loops.front();
  int64_t step = stepOf(loop);
  Value zero = size.value(size.constant(0));
  std::optional<int64_t> known = getConstantIntValue(extents[loop]);
  if (known && *known <= step) {
    starts[loop] = zero;
    return overLoops(loops.drop_front(), carried);
  }
  auto forOp =
      scf::ForOp::create(b, zero, size.value(extents[loop]),
                         size.value(size.constant(step)), ValueRange(carried));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  starts[loop] = forOp.getInductionVar();
  Value next = overLoops(loops.drop_front(), forOp.getRegionIterArg(0));
  scf::YieldOp::create(b, next);
  return forOp.getResult(0);
}

void TileKernel::reduce() {
  OpOperand &init = *op.getDpsInitOperand(0);
  TypedAttr neutral = *arith::getNeutralElement(combiner);
  auto type =
      RankedTensorType::get({rows, columns}, neutral.getType(), alongColumns);
  unsigned dim = isReduced(columnLoop);
  SmallVector<int64_t> shape = {rows, columns};
  shape[dim] = 1;
  auto reduced = RankedTensorType::get(shape, type.getElementType(),
                                       alongColumns.getReduced(dim));
  AffineMap map = getMap(init);
  SmallVector<Value> indices;
  AffineMap places = place(map, indices);
  // Lanes that share a result read what was there before any of them is done:
  // they meet in between.
  Value before;
  if (!startsNeutral)
    before = LoadOp::create(b, reduced, init.get(), indices,
                            getLimits(map, shape), Value(), places);
  SmallVector<unsigned> loops;
  for (auto [loop, iterator] : llvm::enumerate(iterators))
    if (isReduced(loop))
      loops.push_back(loop);
  Value sum = overLoops(loops, arith::ConstantOp::create(
                                   b, DenseElementsAttr::get(type, neutral)));
  sum = ReduceOp::create(b, reduced, *getReduceKind(combiner), sum, dim);
  if (before)
    sum = static_cast<OpBuilder &>(b)
              .create(combiner->getLoc(), combiner->getName().getIdentifier(),
                      {before, sum}, {reduced}, combiner->getAttrs())
              ->getResult(0);
  StoreOp::create(b, sum, init.get(), indices, getLimits(map, shape), places);
}

void TileKernel::store(OpOperand &init, Value tile) {
  AffineMap map = getMap(init);
  SmallVector<Value> indices;
  AffineMap places = place(map, indices);
  StoreOp::create(b, tile, init.get(), indices, getLimits(map, {rows, columns}),
                  places);
}

int64_t TileKernel::build() {
  auto tileable = cast<TilingInterface>(op.getOperation());
  for (const Range &range : tileable.getIterationDomain(b))
    extents.push_back(range.size);
  iterators = op.getIteratorTypesArray();
  if (op.getNumReductionLoops())
    combiner = getTileCombiner(op);
  chooseLoops();
  if (combiner)
    chooseReduction();
  else if (isTransposed)
    chooseSquare();
  else
    chooseTile();
  openGrid();
  if (combiner)
    reduce();
  else
    for (auto [init, value] :
         llvm::zip_equal(op.getDpsInitsMutable(), compute(Value())))
      store(init, value);
  op->erase();
  return threads;
}

int64_t mlir::tracea::buildLaneTiles(OpBuilder &builder, linalg::LinalgOp op,
                                     bool isAligned, int64_t subgroup,
                                     bool startsNeutral) {
  ImplicitLocOpBuilder b(op.getLoc(), builder);
  b.setInsertionPoint(op);
  return TileKernel(b, op, isAligned, subgroup, startsNeutral).build();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

linalg::LinalgOp mlir::tracea::joinLoops(linalg::LinalgOp op) {
  IRRewriter rewriter(op->getContext());
  rewriter.setInsertionPoint(op);
  if (!canBeLaneTiles(op) || op.hasIndexSemantics() ||
      !llvm::all_of(op->getOperandTypes(), [](Type type) {
        auto memref = dyn_cast<MemRefType>(type);
        return !memref || memref.getLayout().isIdentity();
      }))
    return op;
  SmallVector<ReassociationIndices> joined;
  bool isAny = false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (int64_t loop = 0; loop < op.getNumLoops(); ++loop) {
    if (!joined.empty()) {
      ReassociationIndices longer = joined.back();
      longer.push_back(loop);
      if (iterators[loop] == iterators[loop - 1] &&
          linalg::areDimSequencesPreserved(maps, {longer})) {
        joined.back() = longer;
        isAny = true;
        continue;
      }
    }
    joined.push_back({loop});
  }
  if (!isAny)
    return op;
  if (!isa<linalg::GenericOp>(op.getOperation())) {
    FailureOr<linalg::GenericOp> generic =
        linalg::generalizeNamedOp(rewriter, op);
    if (failed(generic))
      return op;
    op = *generic;
  }
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::CollapseResult> result =
      linalg::collapseOpIterationDims(op, joined, rewriter);
  if (failed(result))
    return op;
  op->erase();
  return result->collapsedOp;
}
