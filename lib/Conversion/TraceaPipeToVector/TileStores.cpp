//===- TileStores.cpp - Tiles of a unit are stored as they are ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums that become vectors only to be stored go from the unit's registers to
// their place in memory: on the way through the workspace loads would wait for
// the last products. Of a tile that the limits cut rows come out of the
// workspace one by one.

#include "Patterns.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Elements from one row of a tile to the next in memory, where its columns are
/// neighbours there.
static std::optional<int64_t> getRowStride(const TileTransfer &transfer) {
  auto memory = dyn_cast<MemRefType>(transfer.memory.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!memory || memory.getRank() == 0 || !transfer.along.empty() ||
      failed(memory.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1)
    return std::nullopt;
  int64_t rowStride = 0;
  AffineMap map = transfer.map;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    LinearForm form = getLinearForm(expr, map.getNumDims());
    bool isLast = dim + 1 == map.getNumResults();
    if (form.coefficients[1] != (isLast ? 1 : 0))
      return std::nullopt;
    if (form.coefficients[0] == 0)
      continue;
    if (ShapedType::isDynamic(strides[dim]))
      return std::nullopt;
    rowStride += form.coefficients[0] * strides[dim];
  }
  return rowStride;
}

void mlir::tracea_pipe::storeUnitTiles(KernelOp kernel,
                                       const VectorLoweringContext &context) {
  SmallVector<StoreOp> stores;
  kernel.walk([&](StoreOp store) { stores.push_back(store); });
  for (StoreOp store : stores) {
    auto relayout = store.getValue().getDefiningOp<RelayoutOp>();
    if (!relayout || !relayout.getResult().hasOneUse() ||
        !getUnitTripType(
            context, cast<RankedTensorType>(relayout.getValue().getType())) ||
        !getRowStride(*getTileTransfer(store)))
      continue;
    store.getValueMutable().assign(relayout.getValue());
    relayout.erase();
  }
}

namespace {
/// One store of a register tile that is held in tiles of a unit.
class UnitStore {
public:
  UnitStore(ImplicitLocOpBuilder &b, StoreOp op, Value dest, Value trip,
            ValueRange tiles)
      : b(b), transfer(*getTileTransfer(op)), dest(dest), trip(trip),
        tiles(tiles),
        lanes(getLanes(cast<RankedTensorType>(op.getValue().getType()))),
        shape(cast<MemRefType>(trip.getType()).getShape().take_back(2)) {}

  void emit();

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  /// Whether the limits leave all of `extents` from `at` on; null where they
  /// are known to.
  Value isWhole(ArrayRef<int64_t> at, ArrayRef<int64_t> extents);
  void storeTile(int64_t reg);
  /// Of tiles side by side, as many rows and columns as the limits leave.
  void storeRows(ArrayRef<int64_t> registers);
  /// Emits `whole` or `cut`, as `condition` says; null: `whole`.
  void branch(Value condition, function_ref<void()> whole,
              function_ref<void()> cut);

  ImplicitLocOpBuilder &b;
  TileTransfer transfer;
  Value dest, trip;
  ValueRange tiles;
  LanesAttr lanes;
  ArrayRef<int64_t> shape;
};
} // namespace

Value UnitStore::isWhole(ArrayRef<int64_t> at, ArrayRef<int64_t> extents) {
  Value whole;
  for (auto [limit, first, extent] : llvm::zip(transfer.limits, at, extents)) {
    std::optional<int64_t> known =
        getConstantIntValue(getAsOpFoldResult(limit));
    if (known && *known >= first + extent)
      continue;
    Value reaches = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, limit,
                                          constant(first + extent));
    whole = whole ? arith::AndIOp::create(b, whole, reaches) : reaches;
  }
  return whole;
}

void UnitStore::storeTile(int64_t reg) {
  amx::TileStoreOp::create(
      b, dest, getElementIndices(b, transfer, lanes.getCoordinate(reg, 0)),
      tiles[reg], constant(*getRowStride(transfer)));
}

void UnitStore::storeRows(ArrayRef<int64_t> registers) {
  Value zero = constant(0);
  auto countFrom = [&](unsigned dim, int64_t first) -> Value {
    Value rest = addIndex(b, transfer.limits[dim], -first);
    rest = arith::MinSIOp::create(b, rest, constant(shape[dim]));
    return arith::MaxSIOp::create(b, rest, zero);
  };
  auto type = VectorType::get(
      shape[1], cast<MemRefType>(trip.getType()).getElementType());
  // All tiles are on their way before the first of them is waited for.
  SmallVector<Value> masks;
  for (int64_t reg : registers) {
    amx::TileStoreOp::create(b, trip, ValueRange{constant(reg), zero, zero},
                             tiles[reg]);
    masks.push_back(vector::CreateMaskOp::create(
        b, VectorType::get(shape[1], b.getI1Type()),
        ValueRange(countFrom(1, lanes.getCoordinate(reg, 0)[1]))));
  }
  int64_t first = lanes.getCoordinate(registers.front(), 0)[0];
  auto loop = scf::ForOp::create(b, zero, countFrom(0, first), constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVar();
  AffineMap map = transfer.map;
  for (auto [reg, mask] : llvm::zip(registers, masks)) {
    SmallVector<Value> indices =
        getElementIndices(b, transfer, lanes.getCoordinate(reg, 0));
    for (auto [index, expr] : llvm::zip_equal(indices, map.getResults()))
      if (int64_t step = getLinearForm(expr, map.getNumDims()).coefficients[0])
        index = addIndex(b, index, mulIndex(b, row, step));
    Value values = vector::LoadOp::create(b, type, trip,
                                          ValueRange{constant(reg), row, zero});
    vector::MaskedStoreOp::create(b, dest, indices, mask, values);
  }
}

void UnitStore::branch(Value condition, function_ref<void()> whole,
                       function_ref<void()> cut) {
  if (!condition)
    return whole();
  auto ifOp = scf::IfOp::create(b, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  whole();
  b.setInsertionPointToStart(ifOp.elseBlock());
  cut();
}

void UnitStore::emit() {
  llvm::MapVector<int64_t, SmallVector<int64_t>> rows;
  for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg)
    rows[lanes.getCoordinate(reg, 0)[0]].push_back(reg);
  for (auto &part : rows)
    branch(
        isWhole({part.first, 0}, {shape[0], transfer.shape[1]}),
        [&] {
          for (int64_t reg : part.second)
            storeTile(reg);
        },
        [&] { storeRows(part.second); });
}

namespace {
struct LowerUnitStore : OpConversionPattern<StoreOp> {
  LowerUnitStore(const TypeConverter &converter, MLIRContext *mlirContext,
                 VectorLoweringContext &context)
      : OpConversionPattern(converter, mlirContext, /*benefit=*/2),
        context(context) {}

  LogicalResult
  matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MemRefType type = getUnitTripType(
        context, cast<RankedTensorType>(op.getValue().getType()));
    if (!type)
      return failure();
    if (!getRowStride(*getTileTransfer(op)))
      return op.emitOpError() << "expects columns of a unit's tile to be "
                                 "neighbours in memory, found the map "
                              << op.getMapAttr();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto kernel = op->getParentOfType<KernelOp>();
    Value trip = getWorkspaceBuffer(
        b, kernel, context, context.workspaceOffsets[kernel].front(), type);
    UnitStore(b, op, adaptor.getDest().front(), trip, adaptor.getValue())
        .emit();
    rewriter.eraseOp(op);
    return success();
  }
  VectorLoweringContext &context;
};
} // namespace

void mlir::tracea_pipe::populateUnitStorePatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    VectorLoweringContext &context) {
  patterns.add<LowerUnitStore>(converter, patterns.getContext(), context);
}
