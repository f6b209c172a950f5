//===- TilePressure.cpp - Register tiles that are live together -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Liveness of tiles in structured code: one walk from the end of each block to
// its begin. mlir::Liveness knows blocks, but not what stays alive around a
// region that an operation of the block holds, nor what a loop carries.

#include "KernelResources.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"
#include "tracea/Dialect/TraceaPipe/IR/UnrollAndJam.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <set>

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

namespace {
class Pressure {
public:
  Pressure(int64_t vectorBits, IsUnitTile isUnitTile)
      : vectorBits(vectorBits), isUnitTile(isUnitTile) {}

  TilePressure run(Region &region) {
    visitRegion(region, {});
    return worst;
  }

private:
  using Values = llvm::SetVector<Value>;

  int64_t weigh(Value value);
  int64_t measure(Value value);
  bool isInUnit(Type type) {
    auto tile = dyn_cast<RankedTensorType>(type);
    return tile && isUnitTile && isRegisterTile(tile) && isUnitTile(tile);
  }
  /// Whether tiles of a unit become vectors, by loads.
  bool isTrip(Operation *op) {
    return isa<RelayoutOp>(op) && isInUnit(op->getOperand(0).getType());
  }
  void recordUnit(const Values &live, Operation *op);
  bool isStreamed(Value value);
  int64_t stretchOf(Operation *op);
  void record(const Values &live, Operation *op);
  void visitRegion(Region &region, const Values &outer);
  void visitBlock(Block &block, const Values &outer);

  int64_t vectorBits;
  IsUnitTile isUnitTile;
  TilePressure worst;
  DenseMap<Value, int64_t> weights;
  DenseMap<Operation *, int64_t> stretches;
};
} // namespace

static bool isElementwise(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op);
}

/// Operations that need a tile as a whole, and after which another stretch of
/// elementwise code begins.
static bool endsStretch(Operation *op) {
  return !isElementwise(op) &&
         !isa<LoadOp, StoreOp, BroadcastOp, CoordinateOp, arith::ConstantOp,
              tensor::SplatOp, PrefetchOp, ViewOp>(op) &&
         (op->getNumRegions() ||
          llvm::any_of(op->getOperandTypes(), isRegisterTile) ||
          llvm::any_of(op->getResultTypes(), isRegisterTile));
}

/// The stretch of its block in which an operation lies; what ends a stretch
/// still belongs to it.
int64_t Pressure::stretchOf(Operation *op) {
  if (auto it = stretches.find(op); it != stretches.end())
    return it->second;
  int64_t stretch = 0;
  for (Operation &other : *op->getBlock()) {
    stretches[&other] = stretch;
    stretch += endsStretch(&other) && !isTrip(&other);
  }
  return stretches[op];
}

/// Whether a tile is used up while it is made.
bool Pressure::isStreamed(Value value) {
  Operation *def = value.getDefiningOp();
  if (!def || !(isElementwise(def) || isa<LoadOp>(def) || isTrip(def)))
    return false;
  for (Operation *user : value.getUsers())
    if (user->getBlock() != def->getBlock() ||
        stretchOf(user) != stretchOf(def) ||
        !(isElementwise(user) || isa<StoreOp, ReduceOp>(user)))
      return false;
  return true;
}

/// Registers of a loaded tile: elements that several of them would hold are
/// loaded once.
static int64_t countDistinct(LoadOp load) {
  LanesAttr lanes = getLanes(load.getResult().getType());
  AffineMap map = load.getMap();
  SmallVector<MapInput> inputs = getMapInputs(*getTileTransfer(load));
  SmallVector<bool> matters(lanes.getRank());
  for (AffineExpr expr : map.getResults())
    for (auto [input, factor] : llvm::zip_equal(
             inputs, getLinearForm(expr, map.getNumDims()).coefficients))
      matters[input.dim] = matters[input.dim] || factor != 0;
  std::set<SmallVector<int64_t>> places;
  for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg) {
    SmallVector<int64_t> place = lanes.getCoordinate(reg, 0);
    for (auto [coordinate, kept] : llvm::zip_equal(place, matters))
      coordinate = kept ? coordinate : 0;
    places.insert(place);
  }
  return places.size();
}

/// The tile whose registers `value` is.
static Value stripSlices(Value value) {
  while (auto slice = value.getDefiningOp<SliceOp>())
    value = slice.getValue();
  return value;
}

int64_t Pressure::measure(Value value) {
  Type type = value.getType();
  if (auto inFlight = dyn_cast<InFlightType>(type))
    type = inFlight.getTile();
  if (!isRegisterTile(type))
    return 0;
  Operation *def = value.getDefiningOp();
  if (isInUnit(type) && !isa_and_nonnull<arith::ConstantOp>(def))
    return getLanes(type).getNumRegisters();
  // Made again wherever they are needed, or the same registers.
  if (isa_and_nonnull<CoordinateOp, BroadcastOp>(def))
    return 0;
  if (isa_and_nonnull<tensor::SplatOp>(def))
    return 1;
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(def))
    if (auto dense = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return 0;
  if (isStreamed(value))
    return 0;
  LanesAttr lanes = getLanes(type);
  Type element = cast<RankedTensorType>(type).getElementType();
  int64_t bits = element.isIndex() ? (vectorBits ? 64 : 32)
                                   : element.getIntOrFloatBitWidth();
  int64_t registers = lanes.getNumRegisters();
  if (auto load = dyn_cast_or_null<LoadOp>(def); load && !vectorBits)
    registers = countDistinct(load);
  if (!vectorBits)
    return llvm::divideCeil(registers * bits, 32);
  return registers *
         llvm::divideCeil(lanes.getNumLanes() * std::max<int64_t>(bits, 8),
                          vectorBits);
}

int64_t Pressure::weigh(Value value) {
  auto it = weights.find(value);
  if (it == weights.end())
    it = weights.insert({value, measure(value)}).first;
  return it->second;
}

/// A multiply loads the tiles of its shorter side, and those of the longer one
/// one at a time.
void Pressure::recordUnit(const Values &live, Operation *op) {
  int64_t sum = 0;
  for (Value value : live)
    if (isInUnit(value.getType()))
      sum += weigh(value);
  if (auto mma = dyn_cast<MmaOp>(op); mma && isInUnit(mma.getAcc().getType())) {
    LanesAttr lanes = getLanes(mma.getAcc().getType());
    llvm::SmallSetVector<int64_t, 4> rows, columns;
    for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg) {
      SmallVector<int64_t> at = lanes.getCoordinate(reg, 0);
      rows.insert(at[0]);
      columns.insert(at[1]);
    }
    // Iterations side by side have sums of their own.
    int64_t together = 1;
    for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
         loop = loop->getParentOfType<scf::ForOp>())
      if (auto count = loop->getAttrOfType<IntegerAttr>(kUnrollAndJamAttrName))
        together *= count.getInt();
    // Each of them goes through the columns, which stay for the next ones.
    size_t held = std::min(rows.size(), columns.size()) + 1;
    if (together > 1)
      held = columns.size() + (rows.size() <= columns.size() ? rows.size() : 1);
    sum = together * sum + static_cast<int64_t>(held);
  }
  if (sum > worst.unitTiles) {
    worst.unitTiles = sum;
    worst.unitOp = op;
  }
}

void Pressure::record(const Values &live, Operation *op) {
  if (isUnitTile)
    recordUnit(live, op);
  int64_t sum = 0;
  for (Value value : live)
    if (!isInUnit(value.getType()))
      sum += weigh(value);
  // On a CPU an operand of a product passes through vectors of its own: a row
  // of the right one, and an element of the left one in all lanes.
  if (auto mma = dyn_cast<MmaOp>(op);
      mma && vectorBits && !isInUnit(mma.getAcc().getType())) {
    auto tile = cast<RankedTensorType>(mma.getAcc().getType());
    int64_t lanes = getLanes(tile).getNumLanes();
    if (lanes > 0 && tile.getRank() == 2)
      sum += llvm::divideCeil(tile.getDimSize(1), lanes) + 1;
  }
  if (sum > worst.registers) {
    worst.registers = sum;
    worst.op = op;
  }
}

void Pressure::visitRegion(Region &region, const Values &outer) {
  for (Block &block : region)
    visitBlock(block, outer);
}

void Pressure::visitBlock(Block &block, const Values &outer) {
  Values live = outer;
  for (Operation &op : llvm::reverse(block)) {
    // After the operation its results are there, and before it its operands;
    // an elementwise one may write over what it reads last.
    for (Value result : op.getResults())
      if (!isa<SliceOp>(op) && weigh(result))
        live.insert(result);
    record(live, &op);
    for (Value result : op.getResults())
      live.remove(result);
    if (op.getNumRegions()) {
      Values around = live;
      if (isa<LoopLikeOpInterface>(op) || isa<RolesOp, TilesOp>(op)) {
        // The next iteration reads again what this one reads from outside.
        llvm::SetVector<Value> above;
        getUsedValuesDefinedAbove(op.getRegions(), above);
        for (Value value : above)
          if (Value tile = stripSlices(value); weigh(tile))
            around.insert(tile);
      }
      for (Region &region : op.getRegions())
        visitRegion(region, around);
      llvm::SetVector<Value> above;
      getUsedValuesDefinedAbove(op.getRegions(), above);
      for (Value value : above)
        if (Value tile = stripSlices(value); weigh(tile))
          live.insert(tile);
    }
    for (Value operand : op.getOperands())
      if (Value tile = stripSlices(operand); weigh(tile))
        live.insert(tile);
    record(live, &op);
  }
}

TilePressure mlir::tracea::getTilePressure(Region &region, int64_t vectorBits,
                                           IsUnitTile isUnitTile) {
  return Pressure(vectorBits, isUnitTile).run(region);
}
