//===- Rows.cpp - softmax and norms, a row at a time ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Variants "row" and "row.lanes" of softmax, layer_norm and rms_norm. Lanes lie
// along the last dimension. If that one is reduced, a grid tile is one row, or
// a few, and the lanes meet in a tile reduction; if not, a grid tile is a strip
// of neighbouring rows, one a lane, and nothing crosses lanes. A row that fits
// the tile is read once and kept in registers. A longer one is read again in
// each pass (maximum, sum, result): the cache keeps it.

#include "KernelMemory.h"
#include "Variants.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

namespace {
/// The kernel of one operation that reduces the dimensions [firstDim, endDim).
class RowKernel {
public:
  /// `isAligned`: rows begin at multiples of 16 bytes.
  RowKernel(KernelBuilder &kb, RowOpInterface row, int64_t firstDim,
            int64_t endDim, bool isAligned)
      : op(cast<EpilogueOpInterface>(row.getOperation())), row(row),
        input(row.getInput()), kb(kb), b(kb.builder()), ix(kb.index()),
        type(cast<RankedTensorType>(input.getType())), firstDim(firstDim),
        endDim(endDim), isAligned(isAligned) {}

  /// Opens the grid of tiles that the operation's schedule says.
  void begin();

  /// Folds `body(x, valid, carried)` over the tiles of the row, starting from
  /// the splat `init`; then over the lanes by `kind` if they belong to the row.
  /// Elements past the end of the row are `padding`.
  Value reduce(ReduceKind kind, double init, std::optional<double> padding,
               function_ref<Value(Value x, Value carried)> body);

  /// Stores `epilogue(body(x, row))` for every element; `normalized` gives the
  /// tile of a tensor over the reduced dimensions.
  void map(function_ref<Value(Value x)> body);

  /// Reads tensors whose dimensions are the operation's reduced ones, null ones
  /// excepted, before the row is reduced, where lanes can hold them meanwhile.
  void fetchNormalized(ArrayRef<Value> tensors);

  /// The elements at the current place of such a tensor, converted to the
  /// accumulator's type.
  Value loadNormalized(Value tensor);

  /// `value` where the row has an element, `padding` past its end.
  Value dropPadding(Value value, double padding = 0);

  /// A row's value (one per row) as a tile like the elements'.
  Value spread(Value rowValue);

  /// Number of elements in a row, as a tile like a row's value.
  Value getCount();

  Value splatLike(Value tile, double value) {
    return kb.splat(cast<RankedTensorType>(tile.getType()), value);
  }
  Type getAccumulatorType() { return op.getAccumulatorType(); }
  ImplicitLocOpBuilder &builder() { return b; }

private:
  bool lanesReduced() const { return endDim == type.getRank(); }
  /// The dimension whose neighbours are the rows of a tile.
  int64_t getRowDim() const { return lanesReduced() ? firstDim - 1 : -1; }
  RankedTensorType getTile();
  /// A tile's element to the input's and the result's.
  AffineMap getMap();
  RankedTensorType getRowValueType();
  /// Runs `body` at each tile of the row, carrying one value if given.
  Value overRow(Value carried, function_ref<Value(Value)> body);
  Value overDims(int64_t dim, Value carried, function_ref<Value(Value)> body);
  /// The elements at the current place. What is kept of them is stored with the
  /// first read of a row that registers hold, else with the last.
  Value loadInput(std::optional<double> padding, bool isLast = false);
  /// Reads the elements and applies the prologue. `kept` gets what it keeps.
  Value readInput(std::optional<double> padding, SmallVectorImpl<Value> &kept);
  void storeKept(ArrayRef<Value> kept);
  Value readNormalized(Value tensor);

  EpilogueOpInterface op;
  RowOpInterface row;
  Value input;
  KernelBuilder &kb;
  ImplicitLocOpBuilder &b;
  IndexMath &ix;
  RankedTensorType type;
  int64_t firstDim, endDim;
  bool isAligned;
  /// Rows and columns of a tile.
  int64_t height = 1, width = 0;
  RankedTensorType accTile;
  /// Where the tile is the whole row: its elements, and what is past its end.
  bool isResident = false;
  Value held;
  double heldPadding = 0;
  /// What has been read of tensors over the reduced dimensions, in their types.
  llvm::SmallDenseMap<Value, Value> fetched;
  /// The place in the input: one index per dimension, and what is left of the
  /// last one.
  SmallVector<Value> indices, limits;
};
} // namespace

/// Lanes side by side along rows, each with a vector, or with one element where
/// no vector can be read at a time: neighbours are read together. Lanes of a
/// subgroup, and subgroups, that are left over take other rows.
static LanesAttr getRowLanes(MLIRContext *context, ArrayRef<int64_t> tile,
                             int64_t lanes, int64_t vector, int64_t subgroup) {
  ::tracea::algebra::LaneBases bases;
  for (int64_t step = 1; step < vector; step *= 2)
    bases.reg.push_back({0, step});
  int64_t threads = 1;
  auto add = [&](::tracea::algebra::TileCoord step) {
    (threads < subgroup ? bases.lane : bases.warp).push_back(std::move(step));
    threads *= 2;
  };
  for (int64_t step = 1; step < lanes; step *= 2)
    add({0, step * vector});
  for (int64_t step = 1; step < tile[0]; step *= 2)
    add({step, 0});
  return getLanesAttr(context, bases, {1, tile[1] / (lanes * vector)});
}

RankedTensorType RowKernel::getTile() {
  ScheduleAttr schedule =
      cast<ScheduledOpInterface>(op.getOperation()).getScheduleAttr();
  Type element = op.getAccumulatorType();
  const auto *lanes = schedule.getFieldsIf<schedule::LaneRows>();
  if (!lanes)
    return kb.getTileType(schedule.getTile(), element);
  int64_t subgroup =
      op->getParentOfType<ModuleOp>()
          ->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName)
          .getSubgroup();
  KernelOp kernel = kb.getKernel();
  kernel.setWarps(
      llvm::divideCeil(lanes->lanes * schedule.getTile()[0], subgroup));
  if (lanes->residents > 1)
    kernel->setAttr(kResidentsAttrName, b.getI64IntegerAttr(lanes->residents));
  return RankedTensorType::get(
      schedule.getTile(), element,
      getRowLanes(b.getContext(), schedule.getTile(), lanes->lanes,
                  isAligned ? lanes->vector : 1, subgroup));
}

RankedTensorType RowKernel::getRowValueType() {
  if (!lanesReduced())
    return accTile;
  return RankedTensorType::get({height, 1}, accTile.getElementType(),
                               getLanes(accTile).getReduced(1));
}

AffineMap RowKernel::getMap() {
  SmallVector<AffineExpr> exprs(type.getRank(), kb.zero());
  if (getRowDim() >= 0)
    exprs[getRowDim()] = kb.dim(0);
  exprs.back() = kb.dim(1);
  return kb.map(2, exprs);
}

void RowKernel::begin() {
  int64_t rank = type.getRank();
  accTile = getTile();
  height = accTile.getDimSize(0);
  width = accTile.getDimSize(1);
  isResident = lanesReduced() && endDim - firstDim == 1 &&
               !type.isDynamicDim(firstDim) &&
               type.getDimSize(firstDim) <= width;
  auto stepOf = [&](int64_t dim) {
    return dim == rank - 1 ? width : dim == getRowDim() ? height : 1;
  };
  SmallVector<Value> bounds;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim < firstDim || dim >= endDim)
      bounds.push_back(ix.ceilDiv(kb.getDim(input, dim), stepOf(dim)));
  if (bounds.empty())
    bounds.push_back(ix.constant(1));
  Block::BlockArgListType grid = kb.beginTiles(bounds);
  indices.assign(rank, Value());
  limits = {ix.constant(1), Value()};
  unsigned next = 0;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim >= firstDim && dim < endDim)
      continue;
    indices[dim] = ix.mul(grid[next++], stepOf(dim));
    bool isColumn = dim == rank - 1;
    if (isColumn || (dim == getRowDim() && height > 1))
      limits[isColumn] = ix.sub(kb.getDim(input, dim), indices[dim]);
  }
}

Value RowKernel::overDims(int64_t dim, Value carried,
                          function_ref<Value(Value)> body) {
  if (dim == endDim)
    return body(carried);
  bool isLanes = dim == type.getRank() - 1;
  auto at = [&](Value position) {
    indices[dim] = position;
    if (isLanes)
      limits[1] = ix.sub(kb.getDim(input, dim), position);
  };
  Value bound = kb.getDim(input, dim);
  int64_t step = isLanes ? width : 1;
  if (!carried) {
    kb.loop(bound, step, [&](Value position) {
      at(position);
      overDims(dim + 1, Value(), body);
    });
    return Value();
  }
  return kb.loop(bound, step, carried, [&](Value position, Value inner) {
    at(position);
    return overDims(dim + 1, inner, body);
  });
}

Value RowKernel::overRow(Value carried, function_ref<Value(Value)> body) {
  return overDims(firstDim, carried, body);
}

Value RowKernel::readInput(std::optional<double> padding,
                           SmallVectorImpl<Value> &kept) {
  bool isComputed = hasPrologue(row);
  Type elementType = type.getElementType();
  Value pad;
  if (padding && !isComputed)
    pad = arith::ConstantOp::create(
        b, b.getFloatAttr(cast<FloatType>(elementType), *padding));
  Value x = LoadOp::create(b, accTile.clone(elementType), kb.getMemRef(input),
                           indices, limits, pad, getMap());
  if (!isComputed)
    return convertTile(b, x, op.getAccumulatorType());
  SmallVector<Value> computed = kb.emitScalars(
      row.getPrologue().front(), x, row.getPrologueOperands(),
      row.getPrologueMaps(), {kb.getMemRef(input), indices, getMap()}, limits);
  kept.assign(computed.begin() + 1, computed.end());
  x = convertTile(b, computed.front(), op.getAccumulatorType());
  return padding ? dropPadding(x, *padding) : x;
}

void RowKernel::storeKept(ArrayRef<Value> kept) {
  // The first destination is the result's.
  for (auto [index, tile] : llvm::enumerate(kept))
    StoreOp::create(b, tile, kb.getDest(static_cast<unsigned>(index + 1)),
                    indices, limits, getMap());
}

Value RowKernel::loadInput(std::optional<double> padding, bool isLast) {
  SmallVector<Value> kept;
  if (!isResident) {
    Value x = readInput(padding, kept);
    if (isLast)
      storeKept(kept);
    return x;
  }
  if (!held) {
    heldPadding = padding.value_or(0);
    held = readInput(padding, kept);
    storeKept(kept);
  }
  return padding && *padding != heldPadding ? dropPadding(held, *padding)
                                            : held;
}

Value RowKernel::reduce(ReduceKind kind, double init,
                        std::optional<double> padding,
                        function_ref<Value(Value, Value)> body) {
  Value result = overRow(kb.splat(accTile, init), [&](Value carried) {
    return body(loadInput(padding), carried);
  });
  if (!lanesReduced())
    return result;
  return ReduceOp::create(b, getRowValueType(), kind, result, 1);
}

Value RowKernel::spread(Value rowValue) {
  if (rowValue.getType() == accTile)
    return rowValue;
  return BroadcastOp::create(b, accTile, rowValue);
}

Value RowKernel::dropPadding(Value value, double padding) {
  std::optional<int64_t> end = getStatic(limits[1]);
  if (!lanesReduced() || (end && *end >= width))
    return value;
  RankedTensorType indexTile = accTile.clone(b.getIndexType());
  Value position = CoordinateOp::create(b, indexTile, 1);
  Value ends = tensor::SplatOp::create(b, limits[1], indexTile);
  Value valid =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, position, ends);
  return arith::SelectOp::create(b, valid, value, splatLike(value, padding));
}

Value RowKernel::getCount() {
  Value count = ix.constant(1);
  for (int64_t dim = firstDim; dim < endDim; ++dim)
    count = ix.mul(count, kb.getDim(input, dim));
  Value integer = arith::IndexCastOp::create(b, b.getI64Type(), count);
  Value number = arith::SIToFPOp::create(b, op.getAccumulatorType(), integer);
  return tensor::SplatOp::create(b, number, getRowValueType());
}

Value RowKernel::readNormalized(Value tensor) {
  auto tensorType = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> at(indices.begin() + firstDim, indices.begin() + endDim);
  SmallVector<AffineExpr> exprs(tensorType.getRank(), kb.zero());
  exprs.back() = kb.dim(1);
  // All rows read the same ones, those past the last one too.
  SmallVector<Value> ends = {ix.constant(height), limits[1]};
  return LoadOp::create(b, accTile.clone(tensorType.getElementType()),
                        kb.getMemRef(tensor), at, ends, Value(),
                        kb.map(2, exprs));
}

void RowKernel::fetchNormalized(ArrayRef<Value> tensors) {
  // No read passes the barriers of a reduction: where the row is one wait, this
  // one passes beside it. Rows of several tensors leave no registers.
  constexpr int64_t kMostVectors = 4;
  const auto *lanes = cast<ScheduledOpInterface>(op.getOperation())
                          .getScheduleAttr()
                          .getFieldsIf<schedule::LaneRows>();
  if (!lanes || !isResident || !isAligned || hasPrologue(row) ||
      width > lanes->lanes * lanes->vector * kMostVectors)
    return;
  overRow(Value(), [&](Value) {
    for (Value tensor : tensors)
      if (tensor && !fetched.contains(tensor))
        fetched[tensor] = readNormalized(tensor);
    return Value();
  });
}

Value RowKernel::loadNormalized(Value tensor) {
  Value x = fetched.lookup(tensor);
  return convertTile(b, x ? x : readNormalized(tensor),
                     op.getAccumulatorType());
}

void RowKernel::map(function_ref<Value(Value)> body) {
  AffineMap resultMap = getMap();
  overRow(Value(), [&](Value) {
    Value value = body(loadInput(std::nullopt, /*isLast=*/true));
    Value dest = kb.getDest(op.getEpilogueInit().get());
    Value out = kb.emitEpilogue(op, value, {dest, indices, resultMap}, limits);
    StoreOp::create(b, out, dest, indices, limits, resultMap);
    return Value();
  });
}

/// A grid tile is one row of registers, or what lanes hold.
static LogicalResult verifyRowSchedule(Operation *op, ScheduleAttr schedule) {
  constexpr int64_t kMostThreads = 1024, kMostElements = 256;
  ArrayRef<int64_t> tile = schedule.getTile();
  if (const auto *fields = schedule.getFieldsIf<schedule::LaneRows>()) {
    int64_t subgroup =
        op->getParentOfType<ModuleOp>()
            ->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName)
            .getSubgroup();
    int64_t run = fields->lanes * fields->vector;
    if (!llvm::isPowerOf2_64(tile[0]) || tile[0] > kMostThreads ||
        fields->lanes * tile[0] < subgroup ||
        fields->lanes * tile[0] > kMostThreads)
      return op->emitOpError()
             << "expects a schedule whose 'lanes', times a power of two of "
                "rows of the tile, are "
             << subgroup << " to " << kMostThreads << ", found " << schedule;
    if (tile[1] % run || tile[1] / fields->lanes > kMostElements)
      return op->emitOpError()
             << "expects a schedule whose tile has a multiple of 'lanes' times "
                "'vector' columns, at most "
             << kMostElements << " of a lane, found " << schedule;
    return success();
  }
  if (tile == ArrayRef<int64_t>(
                  schedule.getFields<schedule::CPURows>().registers) &&
      tile.front() == 1)
    return success();
  return op->emitOpError() << "expects a schedule whose tile and register tile "
                              "are one row of equal length, found "
                           << schedule;
}

/// Replaces the operation by a launch of the kernel that `fill` makes of rows
/// over [firstDim, endDim) of the input.
static void lowerRows(KernelRewriter &rewriter, RowOpInterface op,
                      int64_t firstDim, int64_t endDim,
                      function_ref<void(RowKernel &)> fill) {
  auto build = [&](KernelBuilder &kb, bool isAligned) {
    RowKernel row(kb, op, firstDim, endDim, isAligned);
    row.begin();
    fill(row);
  };
  auto scheduled = cast<ScheduledOpInterface>(op.getOperation());
  if (!scheduled.getScheduleAttr().getFieldsIf<schedule::LaneRows>()) {
    KernelBuilder kb(rewriter, op);
    build(kb, /*isAligned=*/false);
    return kb.finish();
  }
  auto operation = cast<DestinationStyleOpInterface>(op.getOperation());
  SmallVector<Value> inits =
      llvm::map_to_vector(operation.getDpsInitsMutable(),
                          [](OpOperand &operand) { return operand.get(); });
  rewriter.replaceOp(op, launchForMemory(rewriter, op, operation.getDpsInputs(),
                                         inits,
                                         /*numOperands=*/1, build));
}

static void emitShapeChecks(RewriterBase &rewriter, RowOpInterface op,
                            Value result) {
  Value input = op.getInput();
  for (int64_t i = 0, e = cast<RankedTensorType>(input.getType()).getRank();
       i < e; ++i) {
    emitExtentCheck(rewriter, op, input, i, result, i,
                    "input and result to have one shape");
    for (OpOperand &init : op.getKeptInitsMutable())
      emitExtentCheck(rewriter, op, init.get(), i, input, i,
                      "input and kept results to have one shape");
  }
}

LogicalResult mlir::tracea::lowerSoftmaxRows(KernelRewriter &rewriter,
                                             SoftmaxOp op) {
  if (failed(verifyRowSchedule(op, op.getScheduleAttr())))
    return failure();
  int64_t dim = op.getDim();
  emitShapeChecks(rewriter, op, op.getInit());
  lowerRows(rewriter, op, dim, dim + 1, [](RowKernel &row) {
    ImplicitLocOpBuilder &b = row.builder();
    double lowest = -std::numeric_limits<double>::infinity();
    Value maximum = row.spread(row.reduce(
        ReduceKind::Max, lowest, lowest, [&](Value x, Value carried) -> Value {
          return arith::MaximumFOp::create(b, x, carried);
        }));
    auto exponential = [&](Value x) -> Value {
      return math::ExpOp::create(b, arith::SubFOp::create(b, x, maximum));
    };
    Value sum = row.reduce(ReduceKind::Add, 0, lowest,
                           [&](Value x, Value carried) -> Value {
                             return arith::AddFOp::create(
                                 b, carried, row.dropPadding(exponential(x)));
                           });
    // The sum is at least 1, which the greatest element contributes.
    Value one = row.splatLike(sum, 1);
    Value inverse = row.spread(arith::DivFOp::create(b, one, sum));
    row.map([&](Value x) -> Value {
      return arith::MulFOp::create(b, exponential(x), inverse);
    });
  });
  return success();
}

/// 1 / sqrt(sum / count + epsilon), a value a row.
static Value getInverseDeviation(RowKernel &row, Value sum, double epsilon) {
  ImplicitLocOpBuilder &b = row.builder();
  Value mean = arith::DivFOp::create(b, sum, row.getCount());
  Value shifted = arith::AddFOp::create(b, mean, row.splatLike(mean, epsilon));
  Value root = math::SqrtOp::create(b, shifted);
  return arith::DivFOp::create(b, row.splatLike(root, 1), root);
}

LogicalResult mlir::tracea::lowerLayerNormRows(KernelRewriter &rewriter,
                                               LayerNormOp op) {
  if (failed(verifyRowSchedule(op, op.getScheduleAttr())))
    return failure();
  auto type = cast<RankedTensorType>(op.getInput().getType());
  emitShapeChecks(rewriter, op, op.getInit());
  for (Value parameter : {op.getScale(), op.getBias()})
    for (int64_t i = op.getAxis(); parameter && i < type.getRank(); ++i)
      emitExtentCheck(rewriter, op, parameter, i - op.getAxis(), op.getInput(),
                      i, "scale and bias to have the normalized shape");
  lowerRows(rewriter, op, op.getAxis(), type.getRank(), [&](RowKernel &row) {
    ImplicitLocOpBuilder &b = row.builder();
    row.fetchNormalized({op.getScale(), op.getBias()});
    Value sum =
        row.reduce(ReduceKind::Add, 0, 0, [&](Value x, Value carried) -> Value {
          return arith::AddFOp::create(b, carried, x);
        });
    Value mean = row.spread(arith::DivFOp::create(b, sum, row.getCount()));
    // The second pass squares differences, not values: no cancellation.
    Value squares =
        row.reduce(ReduceKind::Add, 0, 0, [&](Value x, Value carried) -> Value {
          Value difference = row.dropPadding(arith::SubFOp::create(b, x, mean));
          return arith::AddFOp::create(
              b, carried, arith::MulFOp::create(b, difference, difference));
        });
    Value inverse = row.spread(
        getInverseDeviation(row, squares, op.getEpsilon().convertToDouble()));
    row.map([&](Value x) -> Value {
      Value y =
          arith::MulFOp::create(b, arith::SubFOp::create(b, x, mean), inverse);
      if (op.getScale())
        y = arith::MulFOp::create(b, y, row.loadNormalized(op.getScale()));
      if (op.getBias())
        y = arith::AddFOp::create(b, y, row.loadNormalized(op.getBias()));
      return y;
    });
  });
  return success();
}

LogicalResult mlir::tracea::lowerRMSNormRows(KernelRewriter &rewriter,
                                             RMSNormOp op) {
  if (failed(verifyRowSchedule(op, op.getScheduleAttr())))
    return failure();
  auto type = cast<RankedTensorType>(op.getInput().getType());
  emitShapeChecks(rewriter, op, op.getInit());
  for (int64_t i = op.getAxis(); op.getScale() && i < type.getRank(); ++i)
    emitExtentCheck(rewriter, op, op.getScale(), i - op.getAxis(),
                    op.getInput(), i, "scale to have the normalized shape");
  lowerRows(rewriter, op, op.getAxis(), type.getRank(), [&](RowKernel &row) {
    ImplicitLocOpBuilder &b = row.builder();
    row.fetchNormalized({op.getScale()});
    Value squares =
        row.reduce(ReduceKind::Add, 0, 0, [&](Value x, Value carried) -> Value {
          return arith::AddFOp::create(b, carried,
                                       arith::MulFOp::create(b, x, x));
        });
    Value inverse = row.spread(
        getInverseDeviation(row, squares, op.getEpsilon().convertToDouble()));
    row.map([&](Value x) -> Value {
      Value y = arith::MulFOp::create(b, x, inverse);
      if (op.getScale())
        y = arith::MulFOp::create(b, y, row.loadNormalized(op.getScale()));
      return y;
    });
  });
  return success();
}
