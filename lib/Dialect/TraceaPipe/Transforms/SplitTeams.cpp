//===- SplitTeams.cpp - A consumer's tile divided among its teams ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Within the pipeline level. Decides which rows or columns of a tile each team
// (warpgroup) computes, from the highest bits of the lane map.

#include "SplitTeams.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
/// The part of a register tile that one team has.
struct TeamPart {
  RankedTensorType type;
  /// What lies between the parts of one team and the next, by dimension.
  SmallVector<int64_t> step;
};

class TeamSplitter {
public:
  TeamSplitter(RoleOp role, int64_t teams)
      : role(role), bits(llvm::Log2_64(teams)),
        team(role.getBody().getArgument(0)) {}

  LogicalResult run();

private:
  FailureOr<TeamPart> getPart(Operation *op, RankedTensorType type);
  LogicalResult localize(Operation *op);
  LogicalResult visit(Operation *op);
  /// team * step + value.
  /// How far this team's part of a dimension lies behind the first team's.
  Value getOffset(OpBuilder &builder, Location loc, int64_t step);
  Value shift(OpBuilder &builder, Location loc, Value value, int64_t step);
  void shiftAccess(Operation *op, MutableOperandRange indices,
                   MutableOperandRange limits, MutableOperandRange walks,
                   ArrayRef<int64_t> step);
  LogicalResult splitOperand(MmaOp mma, OpOperand &operand, unsigned dim,
                             int64_t extent, int64_t step);

  RoleOp role;
  unsigned bits;
  Value team;
  /// The part of each value before its type was changed.
  DenseMap<Value, TeamPart> parts;
};
} // namespace

FailureOr<TeamPart> TeamSplitter::getPart(Operation *op,
                                          RankedTensorType type) {
  LanesAttr lanes = getLanes(type);
  ArrayRef<DenseI64ArrayAttr> warp = lanes.getWarp();
  auto refuse = [&]() -> FailureOr<TeamPart> {
    return op->emitOpError()
           << "cannot be split among " << (1 << bits)
           << " teams: the highest warp bits of " << lanes
           << " do not number consecutive parts of one dimension";
  };
  if (warp.size() < bits)
    return refuse();
  ArrayRef<DenseI64ArrayAttr> kept = warp.drop_back(bits);
  ArrayRef<DenseI64ArrayAttr> split = warp.take_back(bits);
  TeamPart part;
  part.step.assign(lanes.getRank(), 0);
  for (auto [bit, vector] : llvm::enumerate(split))
    for (auto [dim, coordinate] : llvm::enumerate(vector.asArrayRef())) {
      if (bit == 0)
        part.step[dim] = coordinate;
      if (coordinate != part.step[dim] << bit)
        return refuse();
    }
  if (llvm::count_if(part.step, [](int64_t s) { return s != 0; }) > 1)
    return refuse();
  auto partLanes = LanesAttr::get(lanes.getContext(), lanes.getReg(),
                                  lanes.getLane(), kept, lanes.getOuter());
  SmallVector<int64_t> shape = partLanes.getTileShape();
  for (auto [extent, whole, step] :
       llvm::zip_equal(shape, type.getShape(), part.step))
    if (step ? extent != step : extent != whole)
      return refuse();
  part.type = RankedTensorType::get(shape, type.getElementType(), partLanes);
  return part;
}

Value TeamSplitter::getOffset(OpBuilder &builder, Location loc, int64_t step) {
  Value scale = arith::ConstantIndexOp::create(builder, loc, step);
  return arith::MulIOp::create(builder, loc, team, scale);
}

Value TeamSplitter::shift(OpBuilder &builder, Location loc, Value value,
                          int64_t step) {
  if (!step)
    return value;
  return arith::AddIOp::create(builder, loc, value,
                               getOffset(builder, loc, step));
}

void TeamSplitter::shiftAccess(Operation *op, MutableOperandRange indices,
                               MutableOperandRange limits,
                               MutableOperandRange walks,
                               ArrayRef<int64_t> step) {
  OpBuilder builder(op);
  TileTransfer transfer = *getTileTransfer(op);
  AffineMap map = transfer.map;
  SmallVector<MapInput> inputs = getMapInputs(transfer);
  for (auto [index, expr] : llvm::zip_equal(indices, map.getResults())) {
    LinearForm form = getLinearForm(expr, map.getNumDims());
    int64_t moved = 0;
    for (auto [coefficient, input] : llvm::zip_equal(form.coefficients, inputs))
      if (input.walk < 0)
        moved += coefficient * step[input.dim];
    index.set(shift(builder, op->getLoc(), index.get(), moved));
  }
  if (!limits.empty())
    for (auto [limit, s] : llvm::zip_equal(limits, step))
      limit.set(shift(builder, op->getLoc(), limit.get(), -s));
  // A dimension that walks begins at the team's first element of it.
  for (auto [dim, walk] : llvm::zip_equal(transfer.along, walks)) {
    if (int64_t s = step[dim])
      walk.set(
          shiftWalk(builder, walk.get(), getOffset(builder, op->getLoc(), s)));
  }
}

LogicalResult TeamSplitter::splitOperand(MmaOp mma, OpOperand &operand,
                                         unsigned dim, int64_t extent,
                                         int64_t step) {
  if (!step || isRegisterTile(operand.get().getType()))
    return success();
  auto source = dyn_cast<MemRefType>(operand.get().getType());
  if (!source)
    return mma.emitOpError() << "reads a staged tile, expected a slot";
  OpBuilder builder(mma);
  SmallVector<int64_t> shape(source.getShape());
  shape[dim] = extent;
  AffineMap map = builder.getMultiDimIdentityMap(2);
  std::optional<SmallVector<int64_t>> strides = getViewStrides(source, map);
  if (!strides)
    return mma.emitOpError()
           << "reads a slot without strides, found " << source;
  auto layout = StridedLayoutAttr::get(builder.getContext(),
                                       ShapedType::kDynamic, *strides);
  auto type = MemRefType::get(shape, source.getElementType(), layout,
                              source.getMemorySpace());
  Value zero = arith::ConstantIndexOp::create(builder, mma.getLoc(), 0);
  SmallVector<Value> offsets(2, zero);
  offsets[dim] = shift(builder, mma.getLoc(), zero, step);
  operand.set(
      ViewOp::create(builder, mma.getLoc(), type, operand.get(), offsets, map));
  return success();
}

/// Constants and the like that stand outside of the role get a copy in it.
LogicalResult TeamSplitter::localize(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (!isRegisterTile(value.getType()) ||
        role.getBody().isAncestor(value.getParentRegion()))
      continue;
    Operation *def = value.getDefiningOp();
    if (!def || !isPure(def) || def->getNumRegions())
      return op->emitOpError() << "takes a tile from outside of its role";
    OpBuilder builder = OpBuilder::atBlockBegin(&role.getBody().front());
    Operation *copy = builder.clone(*def);
    operand.set(copy->getResult(cast<OpResult>(value).getResultNumber()));
    if (failed(localize(copy)))
      return failure();
  }
  return success();
}

LogicalResult TeamSplitter::visit(Operation *op) {
  auto stepOf = [&](Value value) -> ArrayRef<int64_t> {
    return parts.find(value)->second.step;
  };
  if (auto load = dyn_cast<LoadOp>(op)) {
    shiftAccess(op, load.getIndicesMutable(), load.getLimitsMutable(),
                load.getWalksMutable(), stepOf(load.getResult()));
  } else if (auto store = dyn_cast<StoreOp>(op)) {
    shiftAccess(op, store.getIndicesMutable(), store.getLimitsMutable(),
                store.getWalksMutable(), stepOf(store.getValue()));
  } else if (auto mma = dyn_cast<MmaOp>(op)) {
    ArrayRef<int64_t> step = stepOf(mma.getResult());
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(mma.getResult().getType()).getShape();
    if (failed(splitOperand(mma, mma.getLhsMutable(), 0, shape[0], step[0])) ||
        failed(splitOperand(mma, mma.getRhsMutable(), 1, shape[1], step[1])))
      return failure();
    if (!mma.getLimits().empty()) {
      OpBuilder builder(op);
      for (auto [limit, s] : llvm::zip_equal(mma.getLimitsMutable(), step))
        limit.set(shift(builder, op->getLoc(), limit.get(), -s));
    }
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    // Groups may be shared, but not the elements of one.
    int64_t dim = reduce.getDim();
    int64_t step = stepOf(reduce.getValue())[dim];
    int64_t groups = stepOf(reduce.getResult())[dim];
    auto extentOf = [&](Value tile) {
      return cast<RankedTensorType>(tile.getType()).getDimSize(dim);
    };
    int64_t share = extentOf(reduce.getValue());
    if (step && step * extentOf(reduce.getResult()) != groups * share)
      return op->emitOpError() << "reduces the dimension that teams share";
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    for (auto [dim, step] : llvm::enumerate(stepOf(slice.getValue())))
      if (step &&
          (slice.getOffsets()[dim] || stepOf(slice.getResult())[dim] != step))
        return op->emitOpError() << "cuts the dimension that teams share";
  } else if (auto coordinate = dyn_cast<CoordinateOp>(op)) {
    int64_t step = stepOf(coordinate.getResult())[coordinate.getDim()];
    if (!step)
      return success();
    ImplicitLocOpBuilder b(op->getLoc(), op->getContext());
    b.setInsertionPointAfter(op);
    auto tile = cast<RankedTensorType>(coordinate.getResult().getType());
    Value offset =
        shift(b, op->getLoc(), arith::ConstantIndexOp::create(b, 0), step);
    if (!tile.getElementType().isIndex())
      offset = arith::IndexCastOp::create(b, tile.getElementType(), offset);
    Value splat = tensor::SplatOp::create(b, offset, tile);
    auto sum = arith::AddIOp::create(b, coordinate.getResult(), splat);
    coordinate.getResult().replaceAllUsesExcept(sum, sum);
  }
  return success();
}

LogicalResult TeamSplitter::run() {
  SmallVector<Operation *> ops;
  role.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (failed(localize(op)))
      return failure();
  ops.clear();
  role.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { ops.push_back(op); });

  auto split = [&](Operation *op, Value value) -> LogicalResult {
    if (!isRegisterTile(value.getType()))
      return success();
    FailureOr<TeamPart> part =
        getPart(op, cast<RankedTensorType>(value.getType()));
    if (failed(part))
      return failure();
    parts[value] = *part;
    value.setType(part->type);
    return success();
  };
  for (Operation *op : ops) {
    for (Value result : op->getResults())
      if (failed(split(op, result)))
        return failure();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (failed(split(op, argument)))
            return failure();
    DenseElementsAttr dense;
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if ((dense = dyn_cast<DenseElementsAttr>(constant.getValue())) &&
          isRegisterTile(op->getResult(0).getType())) {
        if (!dense.isSplat())
          return op->emitOpError() << "is not the same for all teams";
        constant.setValueAttr(
            dense.resizeSplat(cast<ShapedType>(op->getResult(0).getType())));
      }
  }
  for (Operation *op : ops)
    if (failed(visit(op)))
      return failure();
  return success();
}

LogicalResult mlir::tracea_pipe::splitTeams(RoleOp role, int64_t teams) {
  return TeamSplitter(role, teams).run();
}
