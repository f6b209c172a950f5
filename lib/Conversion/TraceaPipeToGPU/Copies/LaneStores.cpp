//===- LaneStores.cpp - Staged rows that lanes carry out ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Memory whose rows begin anywhere is not written by the copy unit. A warp
// takes a row of the staged tile, or several short ones, and neighbouring lanes
// have neighbouring elements. A tile that no limit cuts leaves without
// conditions, many elements of a lane under way; of one that is cut, each lane
// goes down its columns as far as there are rows.

#include "Lanes/LaneCoordinates.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"
#include "tracea/Conversion/TraceaPipeToGPU/ThreadOffsets.h"
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
        memory(b.context.getBuffer(dest)), lanes(b.target.getSubgroupSize()),
        type(cast<MemRefType>(op.getSource().getType())) {}

  /// Whether this is a copy of rows that the lanes share evenly.
  bool matches();
  void emit();

private:
  void placeLanes();
  Value getRowStride();
  void copyWhole();
  void copyPart();

  Emitter &b;
  const StagedWindow &source;
  const GlobalWindow &dest;
  Value buffer;
  ValueRange limits;
  const GlobalBuffer &memory;
  /// Lanes of a warp.
  int64_t lanes;
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
      !llvm::isPowerOf2_64(b.team.numWarps) || !runsAlongLast(source.dims) ||
      !runsAlongLast(dest))
    return false;
  int64_t extent = type.getDimSize(1);
  columns = std::min(extent & -extent, lanes);
  rows = b.team.getNumThreads() / columns;
  return type.getDimSize(0) % rows == 0;
}

void LaneStore::placeLanes() {
  Value lane = b.team.lane, place = b.team.warp;
  column = lane;
  if (columns < lanes) {
    column = arith::AndIOp::create(b, lane, b.i32(columns - 1));
    Value below =
        arith::ShRUIOp::create(b, lane, b.i32(llvm::Log2_64(columns)));
    place = b.add(b.mul(place, lanes / columns), below);
  }
  row = b.toIndex(place);
  column = b.toIndex(column);
}

/// Elements of the memory from one row of a round to that of the next.
Value LaneStore::getRowStride() {
  Value stride = b.index(0), inner = b.index(1);
  for (size_t number = dest.dims.size(); number-- > 0;) {
    if (!memory.strides.empty())
      inner = b.index(memory.strides[number]);
    if (int64_t factor = dest.dims[number].form.coefficients[0])
      stride = b.add(stride, b.mul(inner, factor * rows));
    inner = b.createOrFold<arith::MulIOp>(inner, memory.sizes[number]);
  }
  return b.createOrFold<arith::IndexCastOp>(b.getI64Type(), stride);
}

void LaneStore::copyWhole() {
  SmallVector<int64_t> laneSteps, warpSteps, rounds;
  auto offset = [&](int64_t row, int64_t column) {
    return source.getOffset({row, column}) - source.getOffset({0, 0});
  };
  for (int64_t at = 1; at < columns; at *= 2)
    laneSteps.push_back(offset(0, at));
  for (int64_t at = 1; at < lanes / columns; at *= 2)
    laneSteps.push_back(offset(at, 0));
  for (int64_t at = lanes / columns; at < rows; at *= 2)
    warpSteps.push_back(offset(at, 0));
  for (int64_t i = 0; i < type.getDimSize(0); i += rows)
    for (int64_t j = 0; j < type.getDimSize(1); j += columns)
      rounds.push_back(source.getOffset({i, j}));
  SmallVector<Address> from =
      ThreadOffsets(b, source, buffer).get(laneSteps, warpSteps, rounds);

  int64_t bytes = source.layout.elementBytes;
  // Nothing but their bits matters.
  Type element = b.getIntegerType(8 * bytes);
  Value stride = getRowStride();
  Address down = b.global(dest, {row, column});
  SmallVector<std::pair<Value, Address>> batch;
  auto flush = [&]() {
    for (const auto &[value, to] : batch)
      b.store(value, to, bytes);
    batch.clear();
  };
  size_t round = 0;
  for (int64_t i = 0; i < type.getDimSize(0); i += rows) {
    for (int64_t j = 0; j < type.getDimSize(1); j += columns) {
      Value value = b.load(element, from[round++], bytes);
      batch.push_back({value, b.advance(down, element, j)});
      if (static_cast<int64_t>(batch.size()) == kBatch)
        flush();
    }
    if (i + rows < type.getDimSize(0))
      down = b.advance(down, element, stride);
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
  b.target.keepLoop(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value down = b.add(loop.getInductionVar(), row);
  Value isRow =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, down, limits[0]);
  for (auto [j, some] : llvm::zip_equal(at, isColumn)) {
    b.onlyIf(b.conjoin(isRow, some), [&, &j = j]() {
      Address to = b.global(dest, {down, j});
      Value value =
          b.load(element, b.staged(source, buffer, {b.toI32(down), b.toI32(j)}),
                 bytes);
      b.store(value, to, bytes);
    });
  }
}

void LaneStore::emit() {
  placeLanes();
  b.either(
      isWhole(b, limits, type.getShape()), [&]() { copyWhole(); },
      [&]() { copyPart(); });
}

namespace {
struct LowerLaneStore : KernelPattern<CopyOutOp> {
  LowerLaneStore(const TypeConverter &converter, MLIRContext *mlirContext,
                 KernelContext &context)
      : KernelPattern(converter, mlirContext, context, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(CopyOutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (context.plan.unitCopies.contains(op))
      return failure();
    Emitter b(op, rewriter, context);
    LaneStore store(b, op, context.getWindow(op.getSourceMutable()),
                    context.getGlobalWindow(op.getDestMutable()),
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
    KernelContext &context) {
  patterns.add<LowerLaneStore>(converter, patterns.getContext(), context);
}
