//===- StageStores.cpp - Results leave through staged memory --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile leaves in parts, each a block of rows that a copy can swizzle. Parts
// take turns in a few buffers: while the copies read one, lanes write the next.
// Every part is one group of copies, so that who writes a buffer again waits
// until no more groups are pending than have begun since its last copy, counted
// around the loop that the stores stand in.
//
// What is computed from the tile element by element, loads from the caller's
// memory included, is computed for each part when its turn comes: few registers
// are taken at a time.
//
//===----------------------------------------------------------------------===//

#include "TileParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::tracea_pipe {
#define GEN_PASS_DEF_STAGESTORES
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h.inc"
} // namespace mlir::tracea_pipe

using namespace mlir;
using namespace mlir::tracea_pipe;

/// The rows that copies can swizzle, in bytes, and the bits of the address that
/// they move: 16-byte chunks by the bits of the row.
static constexpr std::pair<int64_t, int64_t> kSwizzledRows[] = {
    {128, 3}, {64, 2}, {32, 1}};
/// A store that writes whole sectors of memory needs no detour.
static constexpr int64_t kSectorBytes = 32;

/// The dimension of the tile whose neighbours are neighbours in memory.
static std::optional<int64_t> getColumnDim(StoreOp store) {
  AffineMap map = store.getMap();
  if (map.getNumDims() != 2 || map.getNumResults() == 0)
    return std::nullopt;
  LinearForm last = getLinearForm(map.getResults().back(), 2);
  for (int64_t dim : {1, 0}) {
    if (last.coefficients[dim] != 1 || last.coefficients[1 - dim] != 0)
      continue;
    for (AffineExpr expr : map.getResults().drop_back())
      if (getLinearForm(expr, 2).coefficients[dim] != 0)
        return std::nullopt;
    return dim;
  }
  return std::nullopt;
}

/// Bytes that the lanes of a warp write side by side, one register each or two.
static int64_t getRunBytes(StagedStore &staged) {
  LanesAttr lanes = getLanes(staged.getTile());
  int64_t run = 1;
  auto extend = [&](ArrayRef<DenseI64ArrayAttr> basis) {
    for (DenseI64ArrayAttr vector : basis)
      if (vector[staged.columnDim] == run && vector[staged.rowDim] == 0)
        run *= 2;
  };
  extend(lanes.getReg().take_front(1));
  extend(lanes.getLane());
  return run * staged.getTile().getElementTypeBitWidth() / 8;
}

/// How a store leaves in parts of at most `most` columns; nothing where it had
/// better stay as it is.
static std::optional<StagedStore> planStore(StoreOp store, int64_t most) {
  StagedStore staged;
  staged.store = store;
  RankedTensorType tile = staged.getTile();
  int64_t bits = tile.getElementTypeBitWidth();
  std::optional<int64_t> dim = getColumnDim(store);
  if (!dim || bits % 8 || tile.getRank() != 2)
    return std::nullopt;
  staged.columnDim = *dim;
  staged.rowDim = 1 - *dim;
  int64_t bytes = bits / 8, columns = staged.getColumns();
  staged.isDirect = getRunBytes(staged) >= kSectorBytes;
  if (staged.getRows() % 8)
    return std::nullopt;
  for (int64_t at = 0; at < columns;) {
    int64_t width = 0;
    int64_t left = std::min(columns - at, most);
    int64_t row = kSwizzledRows[0].first / bytes;
    if (left >= row)
      width = left - left % row;
    else
      for (auto [rowBytes, bitsMoved] : kSwizzledRows)
        if (!width && left * bytes >= rowBytes)
          width = rowBytes / bytes;
    while (width > row && !getPartType(staged, width))
      width -= row;
    if (!width || at % width || !getPartType(staged, width))
      return std::nullopt;
    staged.parts.push_back({at, width});
    at += width;
  }
  return staged;
}

namespace {
/// The buffers of a role.
struct Buffer {
  MemRefType type;
  Value memory;
};
} // namespace

static MemRefType getBufferType(StagedStore &staged, int64_t width) {
  Type element = staged.getTile().getElementType();
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  int64_t panel = std::min(width, kSwizzledRows[0].first / bytes);
  SmallVector<int64_t> moves;
  for (auto [rowBytes, count] : kSwizzledRows)
    if (panel * bytes == rowBytes)
      for (int64_t bit = 0; bit < count; ++bit)
        moves.append({4 + bit, 7 + bit});
  return MemRefType::get({staged.getRows(), width}, element, AffineMap(),
                         StagedAttr::get(staged.store.getContext(), moves,
                                         panel == width ? 0 : panel));
}

/// Gives each part a buffer, and says how many groups may be pending when it is
/// written.
static SmallVector<Buffer> planBuffers(MutableArrayRef<StagedStore> stores,
                                       unsigned most) {
  SmallVector<Buffer> buffers;
  SmallVector<Part *> sequence;
  DenseMap<Type, SmallVector<unsigned>> ofType;
  DenseMap<Type, unsigned> next;
  for (StagedStore &staged : stores) {
    if (staged.isDirect)
      continue;
    for (Part &part : staged.parts) {
      MemRefType type = getBufferType(staged, part.width);
      SmallVector<unsigned> &list = ofType[type];
      unsigned number = next[type]++;
      if (list.size() < most) {
        list.push_back(buffers.size());
        buffers.push_back({type, Value()});
      }
      part.buffer = list[number % list.size()];
      sequence.push_back(&part);
    }
  }
  // Stores of one block follow each other, once a round.
  bool inOrder = llvm::all_of(stores, [&](StagedStore &staged) {
    return staged.store->getBlock() == stores.front().store->getBlock();
  });
  int64_t count = sequence.size();
  for (auto [number, part] : llvm::enumerate(sequence)) {
    int64_t since = 0;
    while (since + 1 < count &&
           sequence[(number + count - since - 1) % count]->buffer !=
               part->buffer)
      ++since;
    part->pending = inOrder ? since : 0;
  }
  return buffers;
}

/// Puts what computes `value` before `op`, in whose block it stands.
static bool hoist(Value value, Operation *op) {
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != op->getBlock() || def->isBeforeInBlock(op))
    return true;
  if (!isMemoryEffectFree(def) || def->getNumRegions() || def == op)
    return false;
  for (Value operand : def->getOperands())
    if (!hoist(operand, op))
      return false;
  def->moveBefore(op);
  return true;
}

/// What the tile comes from: the sum, which takes its time.
static Operation *getSum(StagedStore &staged) {
  Operation *sum = nullptr;
  SmallVector<Value> list{staged.store.getValue()};
  SmallPtrSet<Operation *, 16> seen;
  while (!list.empty()) {
    Operation *op = list.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second ||
        op->getBlock() != staged.store->getBlock())
      continue;
    if (op->getNumRegions()) {
      if (sum)
        return nullptr;
      sum = op;
      continue;
    }
    for (Value operand : op->getOperands())
      if (isRegisterTile(operand.getType()))
        list.push_back(operand);
  }
  return sum;
}

/// What the first part loads arrives while the sum is computed.
static void prefetchFirst(ImplicitLocOpBuilder &b, StagedStore &staged,
                          PartBuilder &builder) {
  Operation *sum = getSum(staged);
  if (!sum)
    return;
  OpBuilder::InsertionGuard guard(b);
  SmallVector<LoadOp> loads = builder.getLoads(staged.store.getValue());
  for (LoadOp load : loads)
    for (Value operand : load->getOperands())
      if (!hoist(operand, sum))
        return;
  // A tile that leaves whole is computed where it stands.
  if (staged.parts.size() == 1) {
    for (LoadOp load : loads)
      if (load->getBlock() == sum->getBlock() && sum->isBeforeInBlock(load))
        load->moveBefore(sum);
    return;
  }
  b.setInsertionPoint(sum);
  builder.prefetch(staged.store.getValue());
}

static void emit(StagedStore &staged, ArrayRef<Buffer> buffers) {
  StoreOp store = staged.store;
  MLIRContext *context = store.getContext();
  ImplicitLocOpBuilder b(store.getLoc(), store);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  bool transposed = staged.columnDim == 0;
  // From the tile to the buffer, and from the buffer to memory.
  AffineExpr i = b.getAffineDimExpr(0), j = b.getAffineDimExpr(1);
  AffineMap swap = AffineMap::get(2, 0, {j, i}, context);
  AffineMap inner =
      transposed ? swap : AffineMap::getMultiDimIdentityMap(2, context);
  AffineMap outer = transposed ? store.getMap().compose(swap) : store.getMap();
  std::vector<std::unique_ptr<PartBuilder>> builders;
  for (const Part &part : staged.parts)
    builders.push_back(std::make_unique<PartBuilder>(b, staged, part));
  prefetchFirst(b, staged, *builders.front());
  for (auto [number, part] : llvm::enumerate(staged.parts)) {
    Value value = builders[number]->get(store.getValue());
    // What the next part loads arrives while this one leaves.
    if (number + 1 < builders.size())
      builders[number + 1]->prefetch(store.getValue());
    SmallVector<Value> indices(store.getIndices());
    Value offset = arith::ConstantIndexOp::create(b, part.offset);
    indices.back() = b.createOrFold<arith::AddIOp>(indices.back(), offset);
    SmallVector<Value> limits(store.getLimits());
    if (!limits.empty())
      limits[staged.columnDim] =
          b.createOrFold<arith::SubIOp>(limits[staged.columnDim], offset);
    if (staged.isDirect) {
      StoreOp::create(b, value, store.getDest(), indices, limits,
                      store.getMap());
      continue;
    }
    if (!limits.empty() && transposed)
      std::swap(limits[0], limits[1]);
    Value memory = buffers[part.buffer].memory;
    WaitGroupOp::create(b, TypeRange(), Unit::Copy, part.pending, ValueRange());
    StoreOp::create(b, value, memory, ValueRange{zero, zero}, ValueRange(),
                    inner);
    SyncOp::create(b);
    CopyOutOp::create(b, memory, store.getDest(), indices, limits, outer);
    CommitGroupOp::create(b, Unit::Copy);
  }
  store.erase();
}

/// Stages the stores of one role.
static void stage(RoleOp role, MutableArrayRef<StagedStore> stores,
                  unsigned most) {
  SmallVector<Buffer> buffers = planBuffers(stores, most);
  auto b = ImplicitLocOpBuilder::atBlockBegin(role.getLoc(),
                                              &role.getBody().front());
  for (Buffer &buffer : buffers)
    buffer.memory = ScratchOp::create(b, buffer.type);
  for (StagedStore &staged : stores)
    emit(staged, buffers);
  if (buffers.empty())
    return;
  b.setInsertionPoint(role.getBody().front().getTerminator());
  WaitGroupOp::create(b, TypeRange(), Unit::Copy, 0, ValueRange());
}

namespace {
struct StageStores : mlir::tracea_pipe::impl::StageStoresBase<StageStores> {
  using StageStoresBase::StageStoresBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!kernel.getPipeline() || !kernel.getRoles() || columns < 1 ||
        buffers < 1)
      return markAllAnalysesPreserved();
    kernel.walk([&](RoleOp role) {
      SmallVector<StagedStore> stores;
      role.walk([&](StoreOp store) {
        auto dest = cast<MemRefType>(store.getDest().getType());
        if (isa_and_nonnull<StagedAttr>(dest.getMemorySpace()))
          return;
        if (std::optional<StagedStore> staged = planStore(store, columns))
          stores.push_back(std::move(*staged));
      });
      if (stores.empty())
        return;
      stage(role, stores, buffers);
      numStores += stores.size();
    });
  }
};
} // namespace
