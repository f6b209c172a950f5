//===- LaneStores.cpp - Staged rows that lanes carry out ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Memory whose rows begin anywhere is not written by the copy unit. A warp
// takes a row of the staged tile, or several short ones, and neighbouring lanes
// have neighbouring elements. A tile that no limit cuts leaves without
// conditions, many elements of a lane under way; of one that is cut, each lane
// goes down its columns as far as there are rows.

#include "LaneCoordinates.h"
#include "Lowering.h"
#include "ThreadOffsets.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Elements of a lane that are read before the first of them is written.
constexpr int64_t kBatch = 16;

namespace {
/// One copy from staged memory by all lanes of a team.
class LaneStore {
public:
  LaneStore(Emitter &b, CopyOutOp op, const StagedWindow &source,
            const GlobalWindow &dest, Value buffer, ValueRange limits)
      : b(b), source(source), dest(dest), buffer(buffer), limits(limits),
        memory(b.context.arguments.find(dest.buffer)->second),
        type(cast<MemRefType>(op.getSource().getType())) {}

  /// Whether this is a copy of rows that the lanes share evenly.
  bool matches();
  void emit();

private:
  void placeLanes();
  Value getRowStride();
  Value step(Value pointer, Value elements);
  void copyWhole();
  void copyPart();

  Emitter &b;
  const StagedWindow &source;
  const GlobalWindow &dest;
  Value buffer;
  ValueRange limits;
  const GlobalBuffer &memory;
  MemRefType type;
  /// Lanes side by side, and rows of a round of the team.
  int64_t columns = 1, rows = 1;
  /// The lane's first element, indices.
  Value row, column;
};
} // namespace

bool LaneStore::matches() {
  if (type.getRank() != 2 || !b.team.thread ||
      memory.type.getElementType() != type.getElementType() ||
      type.getElementTypeBitWidth() % 8 ||
      !llvm::isPowerOf2_64(b.team.numWarps) || !runsAlongLast(source.dims) ||
      !runsAlongLast(dest.dims))
    return false;
  int64_t extent = type.getDimSize(1);
  columns = std::min(extent & -extent, kWarpSize);
  rows = b.team.getNumThreads() / columns;
  return type.getDimSize(0) % rows == 0;
}

void LaneStore::placeLanes() {
  Value lane = b.team.lane, place = b.team.warp;
  auto toIndex = [&](Value x) -> Value {
    return arith::IndexCastOp::create(b, b.getIndexType(), x);
  };
  column = lane;
  if (columns < kWarpSize) {
    column = arith::AndIOp::create(b, lane, b.i32(columns - 1));
    Value below =
        arith::ShRUIOp::create(b, lane, b.i32(llvm::Log2_64(columns)));
    place = b.add(b.mul(place, kWarpSize / columns), below);
  }
  row = toIndex(place);
  column = toIndex(column);
}

/// Elements of the memory from one row of a round to that of the next.
Value LaneStore::getRowStride() {
  Value stride = b.index(0), inner = b.index(1);
  for (auto [dim, size] :
       llvm::reverse(llvm::zip_equal(dest.dims, memory.sizes))) {
    if (int64_t factor = dim.form.coefficients[0])
      stride = b.add(stride, b.mul(inner, factor * rows));
    inner = b.createOrFold<arith::MulIOp>(inner, size);
  }
  return b.createOrFold<arith::IndexCastOp>(b.getI64Type(), stride);
}

/// The pointer so many elements further on.
Value LaneStore::step(Value pointer, Value elements) {
  Type element = b.getIntegerType(type.getElementTypeBitWidth());
  return LLVM::GEPOp::create(b, pointer.getType(), element, pointer,
                             LLVM::GEPArg(elements));
}

void LaneStore::copyWhole() {
  SmallVector<int64_t> laneSteps, warpSteps, rounds;
  auto offset = [&](int64_t row, int64_t column) {
    return source.getOffset({row, column}) - source.getOffset({0, 0});
  };
  for (int64_t at = 1; at < columns; at *= 2)
    laneSteps.push_back(offset(0, at));
  for (int64_t at = 1; at < kWarpSize / columns; at *= 2)
    laneSteps.push_back(offset(at, 0));
  for (int64_t at = kWarpSize / columns; at < rows; at *= 2)
    warpSteps.push_back(offset(at, 0));
  for (int64_t i = 0; i < type.getDimSize(0); i += rows)
    for (int64_t j = 0; j < type.getDimSize(1); j += columns)
      rounds.push_back(source.getOffset({i, j}));
  SmallVector<Value> from =
      ThreadOffsets(b, source, buffer).get(laneSteps, warpSteps, rounds);

  int64_t bytes = source.layout.elementBytes;
  // Nothing but their bits matters.
  Type element = b.getIntegerType(8 * bytes);
  Value inside, stride = getRowStride();
  Value pointer = b.globalPointer(dest, {row, column}, /*checked=*/{}, inside);
  SmallVector<Value> values, pointers;
  auto flush = [&]() {
    for (auto [value, to] : llvm::zip_equal(values, pointers))
      LLVM::StoreOp::create(b, value, to, bytes);
    values.clear();
    pointers.clear();
  };
  size_t round = 0;
  for (int64_t i = 0; i < type.getDimSize(0); i += rows) {
    for (int64_t j = 0; j < type.getDimSize(1); j += columns) {
      values.push_back(LLVM::LoadOp::create(b, element, from[round++], bytes));
      pointers.push_back(
          LLVM::GEPOp::create(b, pointer.getType(), element, pointer,
                              LLVM::GEPArg(static_cast<int32_t>(j))));
      if (static_cast<int64_t>(values.size()) == kBatch)
        flush();
    }
    if (i + rows < type.getDimSize(0))
      pointer = step(pointer, stride);
  }
  flush();
}

void LaneStore::copyPart() {
  int64_t bytes = source.layout.elementBytes;
  Type element = b.getIntegerType(8 * bytes);
  SmallVector<Value> at, isColumn;
  for (int64_t j = 0; j < type.getDimSize(1); j += columns) {
    at.push_back(b.add(column, j));
    isColumn.push_back(arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                             at.back(), limits[1]));
  }
  // As many rounds for every lane, of rows that there are.
  auto loop = scf::ForOp::create(b, b.index(0), b.index(type.getDimSize(0)),
                                 b.index(rows));
  auto unroll = LLVM::LoopUnrollAttr::get(b.getContext(), b.getBoolAttr(true),
                                          {}, {}, {}, {}, {}, {});
  loop->setAttr("loop_annotation", LLVM::LoopAnnotationAttr::get(
                                       b.getContext(), {}, {}, {}, unroll, {},
                                       {}, {}, {}, {}, {}, {}, {}, {}, {}, {}));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value down = b.add(loop.getInductionVar(), row);
  Value isRow =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, down, limits[0]);
  for (auto [j, some] : llvm::zip_equal(at, isColumn)) {
    Value isInside = arith::AndIOp::create(b, isRow, some);
    auto ifOp = scf::IfOp::create(b, isInside, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    Value inside;
    Value to = b.globalPointer(dest, {down, j}, /*checked=*/{}, inside);
    Value offset = b.stagedOffset(source, {b.toI32(down), b.toI32(j)});
    Value value = LLVM::LoadOp::create(
        b, element, b.sharedPointer(b.add(buffer, offset)), bytes);
    LLVM::StoreOp::create(b, value, to, bytes);
  }
}

void LaneStore::emit() {
  placeLanes();
  Value whole = isWhole(b, limits, type.getShape());
  if (!whole)
    return copyWhole();
  auto ifOp = scf::IfOp::create(b, whole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  copyWhole();
  b.setInsertionPointToStart(ifOp.elseBlock());
  copyPart();
}

namespace {
struct LowerLaneStore : KernelPattern<CopyOutOp> {
  LowerLaneStore(const TypeConverter &converter, MLIRContext *mlirContext,
                 NVVMLoweringContext &context)
      : KernelPattern(converter, mlirContext, context, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(CopyOutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (context.plan.bulkCopies.contains(op))
      return failure();
    Emitter b(op, rewriter, context);
    LaneStore store(b, op, context.getWindow(op.getSourceMutable()),
                    context.globalWindows.find(&op.getDestMutable())->second,
                    adaptor.getSource(), adaptor.getLimits());
    if (!store.matches())
      return failure();
    store.emit();
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateLaneStorePatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    NVVMLoweringContext &context) {
  patterns.add<LowerLaneStore>(converter, patterns.getContext(), context);
}
