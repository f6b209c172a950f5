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
//===----------------------------------------------------------------------===//

#include "LaneTiles.h"
#include "SizeBuilder.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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

bool mlir::tracea::canBeLaneTiles(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumReductionLoops() ||
      op.getNumLoops() == 0 || op.getNumDpsInits() == 0 ||
      !isArithmetic(*op.getBlock()))
    return false;
  std::optional<unsigned> column =
      getColumnLoop(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    if (!map.isPermutation() || getColumnLoop(map) != column ||
        op.payloadUsesValueFromOperand(&init))
      return false;
  }
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      return isComputed(operand.get().getType());
    return isStored(type.getElementType()) &&
           op.getMatchingIndexingMap(&operand).isProjectedPermutation(
               /*allowZeroInResults=*/true);
  });
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
             int64_t subgroup)
      : b(b), op(op), size(b, op.getLoc()), isAligned(isAligned),
        subgroup(subgroup) {}

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
  LanesAttr makeLanes(unsigned fast, int64_t vector) const;
  void openGrid();
  /// Where a tile is in memory: indices, and the map from the tile.
  AffineMap place(AffineMap map, SmallVectorImpl<Value> &indices);
  SmallVector<Value> getLimits(AffineMap map);
  Value load(OpOperand &operand);
  Value spread(Value scalar);
  Value getIndex(unsigned loop);
  void compute();

  ImplicitLocOpBuilder &b;
  linalg::LinalgOp op;
  SizeBuilder size;
  bool isAligned;
  int64_t subgroup;
  SmallVector<OpFoldResult> extents;
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
  int64_t least = kVectorBytes, most = 1;
  for (Value operand : op->getOperands())
    if (isa<MemRefType>(operand.getType())) {
      least = std::min(least, getBytes(operand));
      most = std::max(most, getBytes(operand));
    }
  vector = getVector(least);
  while (vector > 1 && vector * most > kMostBytes)
    vector /= 2;
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
  alongColumns = makeLanes(/*fast=*/1, vector);
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
  alongColumns = makeLanes(/*fast=*/1, vector);
  alongRows = makeLanes(/*fast=*/0, transposedVector);
}

/// Lanes along one dimension of the tile, then along the other one; what they
/// do not reach each of them holds.
LanesAttr TileKernel::makeLanes(unsigned fast, int64_t vector) const {
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
  // A tile of one lane's singles apart: the lanes come first.
  int64_t reach = isTransposed ? shape[fast] : vector * (threads / rows);
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
  auto stepOf = [&](unsigned loop) {
    return loop == columnLoop ? columns : rowLoop == loop ? rows : 1;
  };
  SmallVector<Value> bounds;
  for (unsigned i = 0; i < result.getNumResults(); ++i) {
    unsigned loop = result.getDimPosition(i);
    bounds.push_back(
        size.value(size.ceilDiv(extents[loop], size.constant(stepOf(loop)))));
  }
  auto tiles = TilesOp::create(b, bounds);
  op->moveBefore(&tiles.getBody().front(), tiles.getBody().front().begin());
  b.setInsertionPoint(op);
  starts.resize(extents.size());
  for (unsigned i = 0; i < result.getNumResults(); ++i) {
    unsigned loop = result.getDimPosition(i);
    starts[loop] = size.value(size.mul(OpFoldResult(tiles.getIndices()[i]),
                                       size.constant(stepOf(loop))));
  }
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
SmallVector<Value> TileKernel::getLimits(AffineMap map) {
  SmallVector<Value> limits;
  std::optional<unsigned> loops[2] = {rowLoop, columnLoop};
  int64_t shape[2] = {rows, columns};
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
  Value tile = LoadOp::create(b, type, operand.get(), indices, getLimits(map),
                              Value(), places);
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

void TileKernel::compute() {
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
  for (Operation &scalar : body.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(scalar)) {
      mapping.map(index.getResult(), getIndex(index.getDim()));
      continue;
    }
    if (scalar.hasTrait<OpTrait::ConstantLike>())
      continue;
    SmallVector<Value> operands =
        llvm::map_to_vector(scalar.getOperands(), lookup);
    auto type = RankedTensorType::get(
        {rows, columns}, scalar.getResult(0).getType(), alongColumns);
    Operation *tiled = static_cast<OpBuilder &>(b).create(
        scalar.getLoc(), scalar.getName().getIdentifier(), operands, {type},
        scalar.getAttrs());
    mapping.map(scalar.getResult(0), tiled->getResult(0));
  }
  for (auto [init, value] : llvm::zip_equal(
           op.getDpsInitsMutable(), body.getTerminator()->getOperands())) {
    AffineMap map = getMap(init);
    SmallVector<Value> indices;
    AffineMap places = place(map, indices);
    StoreOp::create(b, lookup(value), init.get(), indices, getLimits(map),
                    places);
  }
}

int64_t TileKernel::build() {
  auto tileable = cast<TilingInterface>(op.getOperation());
  for (const Range &range : tileable.getIterationDomain(b))
    extents.push_back(range.size);
  chooseLoops();
  if (isTransposed)
    chooseSquare();
  else
    chooseTile();
  openGrid();
  compute();
  op->erase();
  return threads;
}

int64_t mlir::tracea::buildLaneTiles(OpBuilder &builder, linalg::LinalgOp op,
                                     bool isAligned, int64_t subgroup) {
  ImplicitLocOpBuilder b(op.getLoc(), builder);
  b.setInsertionPoint(op);
  return TileKernel(b, op, isAligned, subgroup).build();
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
  if (!isa<linalg::GenericOp>(op.getOperation())) {
    FailureOr<linalg::GenericOp> generic =
        linalg::generalizeNamedOp(rewriter, op);
    if (failed(generic))
      return op;
    op = *generic;
  }
  SmallVector<ReassociationIndices> joined;
  bool isAny = false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (int64_t loop = 0; loop < op.getNumLoops(); ++loop) {
    if (!joined.empty()) {
      ReassociationIndices longer = joined.back();
      longer.push_back(loop);
      if (linalg::areDimSequencesPreserved(maps, {longer})) {
        joined.back() = longer;
        isAny = true;
        continue;
      }
    }
    joined.push_back({loop});
  }
  if (!isAny)
    return op;
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::CollapseResult> result =
      linalg::collapseOpIterationDims(op, joined, rewriter);
  if (failed(result))
    return op;
  op->erase();
  return result->collapsedOp;
}
