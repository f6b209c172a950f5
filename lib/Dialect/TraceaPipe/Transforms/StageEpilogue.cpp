//===- StageEpilogue.cpp - Results leave through staged memory ------------===//
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
// are taken at a time. Several tiles of one sum leave part by part together,
// and with each part what reads the same columns of them.
//
//===----------------------------------------------------------------------===//

#include "PlanStores.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tracea/Dialect/TraceaPipe/IR/Parts.h"
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "tracea-stage-epilogue"

namespace mlir::tracea_pipe {
#define GEN_PASS_DEF_STAGEEPILOGUE
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h.inc"
} // namespace mlir::tracea_pipe

using namespace mlir;
using namespace mlir::tracea_pipe;

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

namespace {
/// What leaves with some columns of a group's tiles: parts of stores, and
/// slices with what is computed and stored of them, in their order.
struct Step {
  int64_t offset = 0, width = 0;
  SmallVector<std::pair<StagedStore *, Part *>> parts;
  SmallVector<SliceOp> slices;
  SmallVector<Operation *> tail;
};

/// Stores of one block whose tiles have one shape and the same lanes.
struct Group {
  SmallVector<StagedStore *> stores;
  std::vector<Step> steps;
  /// The last operation of the group in its block.
  Operation *last = nullptr;

  Step &getStep(int64_t offset, int64_t width) {
    for (Step &step : steps)
      if (step.offset == offset && step.width == width)
        return step;
    steps.push_back({offset, width, {}, {}, {}});
    return steps.back();
  }
};
} // namespace

/// Gives each part a buffer, in the order in which they leave, and says how
/// many groups of copies may be pending when it is written.
static SmallVector<Buffer> planBuffers(std::vector<Group> &groups,
                                       unsigned most) {
  SmallVector<Buffer> buffers;
  SmallVector<Part *> sequence;
  DenseMap<Type, SmallVector<unsigned>> ofType;
  DenseMap<Type, unsigned> next;
  for (Group &group : groups)
    for (Step &step : group.steps)
      for (auto [staged, part] : step.parts) {
        if (staged->isDirect)
          continue;
        MemRefType type = getBufferType(*staged, part->width);
        SmallVector<unsigned> &list = ofType[type];
        unsigned number = next[type]++;
        if (list.size() < most) {
          list.push_back(buffers.size());
          buffers.push_back({type, Value()});
        }
        part->buffer = list[number % list.size()];
        sequence.push_back(part);
      }
  // Stores of one block follow each other, once a round.
  bool inOrder = llvm::all_of(groups, [&](Group &group) {
    return group.last->getBlock() == groups.front().last->getBlock();
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

/// What the tiles of a group come from: the sum, which takes its time.
static Operation *getSum(Group &group) {
  Operation *sum = nullptr;
  SmallVector<Value> list;
  for (StagedStore *staged : group.stores)
    list.push_back(staged->store.getValue());
  SmallPtrSet<Operation *, 16> seen;
  while (!list.empty()) {
    Operation *op = list.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second ||
        op->getBlock() != group.last->getBlock())
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

/// The tiles of which a step takes columns.
static SmallVector<Value> getTiles(Step &step) {
  SmallVector<Value> tiles;
  for (auto [staged, part] : step.parts)
    tiles.push_back(staged->store.getValue());
  for (SliceOp slice : step.slices)
    tiles.push_back(slice.getValue());
  return tiles;
}

/// Threads of each team of a role.
static int64_t getTeamThreads(RoleOp role) {
  constexpr int64_t subgroup = 32;
  ArrayRef<int64_t> warps = role.getWarps();
  return (warps[1] - warps[0]) / static_cast<int64_t>(role.getCopies()) *
         subgroup;
}

/// Whether a thread has registers beside the sum and the values of a step to
/// load 16 bytes of a row at a time, which lanes then exchange.
static bool hasRoomForExchange(RoleOp role, Group &group,
                               PartBuilder &builder) {
  constexpr int64_t most = 255, exchanged = 16;
  Step &step = group.steps.front();
  StagedStore &store = *group.stores.front();
  int64_t threads = getTeamThreads(role);
  int64_t sums = store.getTile().getNumElements() / threads;
  int64_t values = sums * step.width / store.getColumns();
  // Loads that repeat rows or columns are few.
  int64_t loaded = 0;
  for (Value tile : getTiles(step))
    for (LoadOp load : builder.getLoads(tile))
      if (load.getMap().getNumResults() >= load.getMap().getNumDims())
        loaded += values *
                  getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth() /
                  32;
  auto budget = static_cast<int64_t>(role.getRegisters());
  return sums + values + loaded + exchanged <= (budget ? budget : most);
}

/// What the first step loads arrives while the sum is computed.
static void prefetchFirst(ImplicitLocOpBuilder &b, Group &group,
                          PartBuilder &builder) {
  Operation *sum = getSum(group);
  if (!sum)
    return;
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> tiles = getTiles(group.steps.front());
  SmallVector<LoadOp> loads;
  for (Value tile : tiles)
    llvm::append_range(loads, builder.getLoads(tile));
  for (LoadOp load : loads)
    for (Value operand : load->getOperands())
      if (!hoist(operand, sum))
        return;
  // A tile that leaves whole is computed where it stands.
  if (group.steps.size() == 1) {
    for (LoadOp load : loads)
      if (load->getBlock() == sum->getBlock() && sum->isBeforeInBlock(load))
        load->moveBefore(sum);
    return;
  }
  b.setInsertionPoint(sum);
  for (Value tile : tiles)
    builder.prefetch(tile);
}

/// Writes one part of a tile: directly, or to its buffer, which a copy reads.
static void emitPart(ImplicitLocOpBuilder &b, StagedStore &staged,
                     const Part &part, Value value, ArrayRef<Buffer> buffers) {
  StoreOp store = staged.store;
  MLIRContext *context = store.getContext();
  bool transposed = staged.columnDim == 0;
  SmallVector<Value> indices(store.getIndices());
  Value offset = arith::ConstantIndexOp::create(b, part.offset);
  indices.back() = b.createOrFold<arith::AddIOp>(indices.back(), offset);
  SmallVector<Value> limits(store.getLimits());
  if (!limits.empty())
    limits[staged.columnDim] =
        b.createOrFold<arith::SubIOp>(limits[staged.columnDim], offset);
  if (staged.isDirect) {
    StoreOp::create(b, value, store.getDest(), indices, limits, store.getMap());
    return;
  }
  // From the tile to the buffer, and from the buffer to memory.
  AffineExpr i = b.getAffineDimExpr(0), j = b.getAffineDimExpr(1);
  AffineMap swap = AffineMap::get(2, 0, {j, i}, context);
  AffineMap inner =
      transposed ? swap : AffineMap::getMultiDimIdentityMap(2, context);
  AffineMap outer = transposed ? store.getMap().compose(swap) : store.getMap();
  if (!limits.empty() && transposed)
    std::swap(limits[0], limits[1]);
  Value memory = buffers[part.buffer].memory;
  Value zero = arith::ConstantIndexOp::create(b, 0);
  WaitGroupOp::create(b, TypeRange(), Unit::Copy, part.pending, ValueRange());
  StoreOp::create(b, value, memory, ValueRange{zero, zero}, ValueRange(),
                  inner);
  SyncOp::create(b);
  CopyOutOp::create(b, memory, store.getDest(), indices, limits, outer);
  CommitGroupOp::create(b, Unit::Copy);
}

static void emit(RoleOp role, Group &group, ArrayRef<Buffer> buffers) {
  StagedStore &first = *group.stores.front();
  ImplicitLocOpBuilder b(first.store.getLoc(), first.store);
  b.setInsertionPointAfter(group.last);
  std::vector<std::unique_ptr<PartBuilder>> builders;
  for (Step &step : group.steps)
    builders.push_back(std::make_unique<PartBuilder>(
        b, first.getTile(), first.columnDim, step.offset, step.width));
  bool isWide = hasRoomForExchange(role, group, *builders.front());
  for (auto &builder : builders)
    builder->setWide(isWide);
  prefetchFirst(b, group, *builders.front());
  for (auto [number, step] : llvm::enumerate(group.steps)) {
    PartBuilder &builder = *builders[number];
    SmallVector<Value> values;
    for (Value tile : getTiles(step))
      values.push_back(builder.get(tile));
    // What the next part loads arrives while this one leaves.
    if (number + 1 < builders.size())
      for (Value tile : getTiles(group.steps[number + 1]))
        builders[number + 1]->prefetch(tile);
    ArrayRef<Value> left = values;
    for (auto [staged, part] : step.parts) {
      emitPart(b, *staged, *part, left.front(), buffers);
      left = left.drop_front();
    }
    for (auto [slice, value] : llvm::zip_equal(step.slices, left))
      slice.getResult().replaceAllUsesWith(value);
    for (Operation *op : step.tail)
      op->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
  }
  for (Step &step : group.steps)
    for (SliceOp slice : step.slices)
      slice.erase();
  for (StagedStore *staged : group.stores)
    staged->store.erase();
}

/// Everything that is computed of `slice` in its block, in order; nothing where
/// it is used in another way than to be stored.
static std::optional<SmallVector<Operation *>> getTail(SliceOp slice) {
  Block *block = slice->getBlock();
  SmallPtrSet<Operation *, 8> seen;
  SmallVector<Operation *> list{slice}, tail;
  while (!list.empty())
    for (Operation *user : list.pop_back_val()->getUsers()) {
      if (!seen.insert(user).second)
        continue;
      if (user->getBlock() != block || user->getNumRegions() ||
          !(isa<StoreOp>(user) || isMemoryEffectFree(user)))
        return std::nullopt;
      list.push_back(user);
      tail.push_back(user);
    }
  llvm::sort(tail,
             [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  return tail;
}

/// Adds the slices of tiles like those of the group that one step can take.
static void addSlices(Group &group, RoleOp role) {
  StagedStore &first = *group.stores.front();
  RankedTensorType tile = first.getTile();
  SmallPtrSet<Operation *, 8> taken;
  role.walk([&](SliceOp slice) {
    auto whole = cast<RankedTensorType>(slice.getValue().getType());
    auto part = cast<RankedTensorType>(slice.getResult().getType());
    if (slice->getBlock() != group.last->getBlock() ||
        whole.getShape() != tile.getShape() ||
        getLanes(whole) != getLanes(tile) ||
        slice.getOffsets()[first.rowDim] != 0 ||
        part.getDimSize(first.rowDim) != tile.getDimSize(first.rowDim))
      return;
    int64_t width = part.getDimSize(first.columnDim);
    if (getPartLanes(getLanes(tile), first.columnDim, width) != getLanes(part))
      return;
    std::optional<SmallVector<Operation *>> tail = getTail(slice);
    if (!tail || tail->empty() ||
        llvm::any_of(*tail, [&](Operation *op) { return taken.contains(op); }))
      return;
    taken.insert(tail->begin(), tail->end());
    Step &step = group.getStep(slice.getOffsets()[first.columnDim], width);
    step.slices.push_back(slice);
    llvm::append_range(step.tail, *tail);
    if (group.last->isBeforeInBlock(tail->back()))
      group.last = tail->back();
  });
}

/// The groups of a role's stores, each with its steps in their order.
static std::vector<Group> makeGroups(RoleOp role,
                                     std::vector<StagedStore> &stores) {
  std::vector<Group> groups;
  for (StagedStore &staged : stores) {
    auto group = llvm::find_if(groups, [&](Group &candidate) {
      StagedStore &first = *candidate.stores.front();
      return first.store->getBlock() == staged.store->getBlock() &&
             first.columnDim == staged.columnDim &&
             first.getTile().getShape() == staged.getTile().getShape() &&
             getLanes(first.getTile()) == getLanes(staged.getTile());
    });
    if (group == groups.end())
      group = groups.insert(groups.end(), Group());
    group->stores.push_back(&staged);
    group->last = staged.store;
    for (Part &part : staged.parts)
      group->getStep(part.offset, part.width).parts.push_back({&staged, &part});
  }
  for (Group &group : groups) {
    addSlices(group, role);
    llvm::sort(group.steps, [](const Step &x, const Step &y) {
      return std::pair(x.offset, x.width) < std::pair(y.offset, y.width);
    });
  }
  return groups;
}

/// Stages the stores of one role.
static void stage(RoleOp role, std::vector<StagedStore> &stores,
                  unsigned most) {
  std::vector<Group> groups = makeGroups(role, stores);
  SmallVector<Buffer> buffers = planBuffers(groups, most);
  auto b = ImplicitLocOpBuilder::atBlockBegin(role.getLoc(),
                                              &role.getBody().front());
  for (Buffer &buffer : buffers)
    buffer.memory = ScratchOp::create(b, buffer.type);
  for (Group &group : groups)
    emit(role, group, buffers);
  if (buffers.empty())
    return;
  b.setInsertionPoint(role.getBody().front().getTerminator());
  WaitGroupOp::create(b, TypeRange(), Unit::Copy, 0, ValueRange());
}

/// Whether a thread has more than half a row of a part of a tile.
static bool hasManyRows(RoleOp role, StoreOp store) {
  auto tile = cast<RankedTensorType>(store.getValue().getType());
  return tile.getRank() == 2 && 2 * tile.getDimSize(0) > getTeamThreads(role);
}

namespace {
struct StageEpilogue
    : mlir::tracea_pipe::impl::StageEpilogueBase<StageEpilogue> {
  using StageEpilogueBase::StageEpilogueBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!kernel.getPipeline() || !kernel.getRoles() || columns < 1 ||
        buffers < 1)
      return markAllAnalysesPreserved();
    kernel.walk([&](RoleOp role) {
      SmallVector<StoreOp> results;
      role.walk([&](StoreOp store) {
        auto dest = cast<MemRefType>(store.getDest().getType());
        if (!isa_and_nonnull<StagedAttr>(dest.getMemorySpace()))
          results.push_back(store);
      });
      std::vector<StagedStore> stores;
      for (StoreOp store : results) {
        bool isHalved =
            isLong(store) || (results.size() > 1 && hasManyRows(role, store));
        std::optional<StagedStore> staged =
            planStore(store, isHalved ? columns / 2 : columns.getValue());
        LDBG() << (!staged            ? "as it is stays "
                   : staged->isDirect ? "lanes write "
                                      : "through shared memory goes ")
               << store;
        if (staged)
          stores.push_back(std::move(*staged));
      }
      if (stores.empty())
        return;
      stage(role, stores, buffers);
      numStores += stores.size();
    });
  }
};
} // namespace
