//===- KernelPlan.cpp - Who does what in a workgroup, and where -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelPlan.h"
#include "StagedWindow.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Remarks.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Shared memory that a workgroup can ask for.
constexpr int64_t kMostSharedBytes = 227 * 1024;
constexpr int64_t kMostWarps = 32;
constexpr int64_t kBarrierBytes = 8;

Team &KernelPlan::getTeam(Operation *op) const {
  auto it = teamOf.find(op);
  return it == teamOf.end() ? *teams.front() : *it->second;
}

const ChannelPlan &KernelPlan::getChannel(Value channel) const {
  return channels.find(channel.getDefiningOp())->second;
}

/// What defines the memory that views lead to.
static Operation *getRoot(Value memory) {
  for (;;) {
    memory = stripReshapes(memory);
    auto view = memory.getDefiningOp<ViewOp>();
    if (!view)
      return memory.getDefiningOp();
    memory = view.getSource();
  }
}

/// Whether `op` looks at memory without reading it.
static bool isWindow(Operation *op) {
  return isa<ViewOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(op);
}

namespace {
class Planner {
public:
  Planner(KernelOp kernel, const PlanOptions &options, KernelPlan &plan)
      : kernel(kernel), options(options), plan(plan) {}

  LogicalResult run();

private:
  LogicalResult planTeams();
  void planCopies();
  template <typename OpTy>
  void planCopy(OpTy op);
  bool feedsTF32(Operation *root);
  void classifyRoles();
  LogicalResult planChannels();
  LogicalResult planUses();
  LogicalResult planBarriers();
  LogicalResult planMemory();

  KernelOp kernel;
  const PlanOptions &options;
  KernelPlan &plan;
};
} // namespace

LogicalResult Planner::planTeams() {
  plan.kernel = kernel;
  plan.holdsCopies = kernel->hasAttr(kHeldCopiesAttrName);
  plan.numWarps = kernel.getNumWarps();
  if (plan.numWarps < 1 || plan.numWarps > kMostWarps)
    return kernel.emitOpError()
           << "expects 1 to " << kMostWarps << " warps for this target, found "
           << plan.numWarps;
  auto &workgroup = plan.teams.emplace_back(std::make_unique<Team>());
  workgroup->numWarps = plan.numWarps;
  workgroup->barrier = 0;
  SmallVector<int64_t> budgets(llvm::alignTo(plan.numWarps, kWarpsOfGroup), -1);
  WalkResult result = kernel.walk([&](RoleOp role) {
    auto &team = plan.teams.emplace_back(std::make_unique<Team>());
    team->role = role;
    team->firstWarp = role.getWarps()[0];
    team->copies = role.getCopies();
    team->numWarps = (role.getWarps()[1] - team->firstWarp) / team->copies;
    team->registers = role.getRegisters();
    role.walk([&](Operation *op) { plan.teamOf[op] = team.get(); });
    for (int64_t warp = team->firstWarp; warp < role.getWarps()[1]; ++warp)
      budgets[warp] = team->registers;
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  // Registers move between warpgroups, so that a budget is one of all four.
  for (auto &team : llvm::drop_begin(plan.teams)) {
    if (!team->registers)
      continue;
    if (team->registers % 8 || team->registers < 24)
      return team->role.emitOpError()
             << "expects a register budget that is a multiple of 8 from 24 to "
                "256, found "
             << team->registers;
    int64_t end = team->role.getWarps()[1];
    int64_t endOfGroup = llvm::alignTo(end, kWarpsOfGroup);
    if (endOfGroup > plan.numWarps)
      return team->role.emitOpError()
             << "has a register budget, but its last warpgroup ends with warp "
             << plan.numWarps << " instead of " << endOfGroup;
    for (int64_t warp = llvm::alignDown(team->firstWarp, kWarpsOfGroup);
         warp < endOfGroup; ++warp)
      if (budgets[warp] >= 0 && budgets[warp] != team->registers)
        return team->role.emitOpError()
               << "has a register budget of " << team->registers
               << ", but warp " << warp << " of the same warpgroup has "
               << budgets[warp]
               << "; the four warps of a warpgroup share one budget";
  }
  return success();
}

/// Whether what is copied to `root` is read by multiplies of single precision
/// alone, whose products are of operands in TF32.
bool Planner::feedsTF32(Operation *root) {
  auto acquire = dyn_cast_or_null<AcquireOp>(root);
  if (!acquire)
    return false;
  bool multiplied = false, read = false;
  kernel.walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      if (!isa<MemRefType>(operand.getType()) || isWindow(op))
        continue;
      auto wait = dyn_cast_or_null<WaitOp>(getRoot(operand));
      if (!wait || wait.getChannel() != acquire.getChannel())
        continue;
      bool isSingle = getElementTypeOrSelf(operand.getType()).isF32();
      (isa<MmaAsyncOp>(op) && isSingle ? multiplied : read) = true;
    }
  });
  return multiplied && !read;
}

template <typename OpTy>
void Planner::planCopy(OpTy op) {
  TensorMapRecipe recipe;
  std::string reason = "copies by lanes were asked for";
  std::optional<BulkCopy> copy;
  bool byUnit = !kernel->hasAttr(kLaneCopiesAttrName);
  if (byUnit && !options.laneCopies)
    copy = planBulkCopy(op, recipe, reason);
  if (!copy || !copy->wholeLimits.empty()) {
    ++plan.numLaneCopies;
    if (byUnit)
      remark::missed(op.getLoc(), remark::RemarkOpts::name("lane-copy")
                                      .category("convert-tracea-pipe-to-nvvm"))
          << remark::metric("Operation",
                            op.getOperation()->getName().getStringRef())
          << remark::reason("{0}",
                            reason + (copy ? ": tiles that it cuts leave by "
                                             "lanes"
                                           : ""));
    if (!copy)
      return;
  }
  if (auto load = dyn_cast<CopyOp>(op.getOperation()))
    recipe.roundToTF32 = feedsTF32(getRoot(load.getDest()));
  auto *it = llvm::find(plan.tensorMaps, recipe);
  copy->tensorMap = it - plan.tensorMaps.begin();
  if (it == plan.tensorMaps.end())
    plan.tensorMaps.push_back(recipe);
  else
    it->isWritten |= recipe.isWritten;
  plan.bulkCopies[op] = std::move(*copy);
}

void Planner::planCopies() {
  kernel.walk([&](Operation *op) {
    if (auto copy = dyn_cast<CopyOp>(op))
      planCopy(copy);
    else if (auto copyOut = dyn_cast<CopyOutOp>(op))
      planCopy(copyOut);
  });
}

/// A role without lanes of its own: scalars, rings and the copy unit.
static bool isScalar(Operation *op, const KernelPlan &plan) {
  if (isa<CopyOp, CopyOutOp>(op)) {
    auto it = plan.bulkCopies.find(op);
    return it != plan.bulkCopies.end() && it->second.wholeLimits.empty();
  }
  if (auto group = dyn_cast<CommitGroupOp>(op))
    return group.getUnit() == Unit::Copy;
  if (auto group = dyn_cast<WaitGroupOp>(op))
    return group.getUnit() == Unit::Copy;
  if (isa<TraceaPipeDialect>(op->getDialect()))
    return isa<AcquireOp, WaitOp, CommitOp, ReleaseOp, StartOp, AdvanceOp,
               DelinearizeOp, RasterOp, RaggedTileOp, RaggedCountOp, ViewOp,
               ScratchOp, ChannelOp, EndOp, SyncOp>(op);
  auto hasTiles = [](TypeRange types) {
    return llvm::any_of(types, [](Type type) {
      return isRegisterTile(type) || isa<InFlightType>(type);
    });
  };
  return !hasTiles(op->getOperandTypes()) && !hasTiles(op->getResultTypes());
}

void Planner::classifyRoles() {
  for (auto &team : plan.teams) {
    Operation *root =
        team->role ? team->role.getOperation() : kernel.getOperation();
    team->singleLane = static_cast<bool>(team->role);
    root->walk([&](Operation *op) {
      if (op != root && &plan.getTeam(op) == team.get())
        team->singleLane &= isScalar(op, plan);
      if (auto multiply = dyn_cast<MmaAsyncOp>(op))
        team->feedsUnits = true;
      if (isa<CopyOutOp>(op) && plan.bulkCopies.contains(op))
        team->feedsUnits = true;
    });
  }
}

LogicalResult Planner::planChannels() {
  WalkResult result = kernel.walk([&](Operation *op) {
    if (auto channel = dyn_cast<ChannelOp>(op)) {
      ChannelPlan &entry = plan.channels[op];
      entry.slots = channel.getResult().getType().getSlots();
      Team &team = plan.getTeam(op);
      if (team.role) {
        entry.owner = &team;
        entry.copies = team.copies;
      }
      return WalkResult::advance();
    }
    Value channel;
    if (auto acquire = dyn_cast<AcquireOp>(op))
      channel = acquire.getChannel();
    else if (auto wait = dyn_cast<WaitOp>(op))
      channel = wait.getChannel();
    else if (auto commit = dyn_cast<CommitOp>(op))
      channel = commit.getChannel();
    else if (auto release = dyn_cast<ReleaseOp>(op))
      channel = release.getChannel();
    if (channel && !channel.getDefiningOp<ChannelOp>()) {
      InFlightDiagnostic diag =
          op->emitOpError() << "expects a channel that 'tracea_pipe.channel' "
                               "declares, without a detour";
      diag.attachNote(channel.getLoc()) << "the channel comes from here";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();

  // One arrival of each team that fills, and of each that reads.
  DenseMap<Operation *, llvm::SmallSetVector<Team *, 4>> fill, read;
  kernel.walk([&](Operation *op) {
    if (auto commit = dyn_cast<CommitOp>(op))
      fill[commit.getChannel().getDefiningOp()].insert(&plan.getTeam(op));
    if (auto release = dyn_cast<ReleaseOp>(op))
      read[release.getChannel().getDefiningOp()].insert(&plan.getTeam(op));
  });
  for (auto &[op, entry] : plan.channels) {
    auto count = [&, owner = entry.owner](auto &teams) {
      int64_t arrivals = 0;
      for (Team *team : teams)
        arrivals += owner ? 1 : team->copies;
      return std::max<int64_t>(arrivals, 1);
    };
    entry.fullCount = count(fill[op]);
    entry.emptyCount = cast<ChannelOp>(op).getInTurns() ? 1 : count(read[op]);
  }
  return success();
}

/// Whether an operation runs at least once where `block` does: no branch and no
/// loop that may be empty is around it.
static bool runsWith(Operation *op, Block *block) {
  while (op->getBlock() != block) {
    op = op->getParentOp();
    auto loop = dyn_cast_or_null<scf::ForOp>(op);
    std::optional<int64_t> lower, upper;
    if (loop) {
      lower = getConstantIntValue(loop.getLowerBound());
      upper = getConstantIntValue(loop.getUpperBound());
    }
    if (!lower || !upper || *lower >= *upper)
      return false;
  }
  return true;
}

LogicalResult Planner::planUses() {
  llvm::DenseSet<Operation *> readAtOnce;
  auto channelOf = [&](Operation *root) -> ChannelPlan * {
    Value channel;
    if (auto acquire = dyn_cast_or_null<AcquireOp>(root))
      channel = acquire.getChannel();
    else if (auto wait = dyn_cast_or_null<WaitOp>(root))
      channel = wait.getChannel();
    return channel ? &plan.channels[channel.getDefiningOp()] : nullptr;
  };
  kernel.walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<MemRefType>(operand.get().getType());
      if (!type || !isa_and_nonnull<StagedAttr>(type.getMemorySpace()))
        continue;
      Operation *root = getRoot(operand.get());
      ChannelPlan *channel = channelOf(root);
      if (!channel || isWindow(op))
        continue;
      bool byUnit = isa<MmaAsyncOp>(op) || plan.bulkCopies.contains(op);
      bool writes = isa<CopyOp>(op) || (isa<StoreOp>(op));
      if (!byUnit && writes)
        channel->writtenByLanes = true;
      if (!byUnit && !writes)
        channel->readByLanes = true;
      if (byUnit && runsWith(op, root->getBlock()))
        readAtOnce.insert(root);
      if (byUnit && isa<CopyOp>(op)) {
        plan.acquiredBytes[root] += plan.bulkCopies[op].bytes;
        if (op->getBlock() != root->getBlock())
          channel->arrivesEarly = false;
      }
    }
  });
  kernel.walk([&](WaitOp op) {
    channelOf(op)->mayBeUnread |= !readAtOnce.contains(op);
  });
  kernel.walk([&](AcquireOp op) {
    ChannelPlan &channel = plan.channels[op.getChannel().getDefiningOp()];
    if (channel.writtenByLanes || !plan.acquiredBytes.lookup(op))
      channel.arrivesEarly = false;
  });
  return success();
}

LogicalResult Planner::planBarriers() {
  int64_t next = 1;
  for (auto &team : llvm::drop_begin(plan.teams)) {
    bool needed = false;
    team->role.walk([&](Operation *op) {
      if (isa<SyncOp>(op))
        needed = true;
      if (auto group = dyn_cast<WaitGroupOp>(op))
        needed |= group.getUnit() == Unit::Copy;
      if (auto commit = dyn_cast<CommitOp>(op))
        needed |= plan.getChannel(commit.getChannel()).writtenByLanes;
      if (auto release = dyn_cast<ReleaseOp>(op))
        needed |= plan.getChannel(release.getChannel()).meetsBeforeRelease();
      if (auto take = dyn_cast<TakeTurnOp>(op))
        if (auto turns = take.getTurns().getDefiningOp<TurnsOp>())
          if (!llvm::is_contained(team->turns, turns))
            team->turns.push_back(turns);
    });
    // A single warp meets without a barrier.
    if (!needed || team->singleLane || team->numWarps == 1)
      continue;
    team->barrier = next;
    next += team->copies;
  }
  WalkResult result = kernel.walk([&](TurnsOp turns) {
    int64_t count = turns.getResult().getType().getTeams();
    for (auto &team : plan.teams)
      if (llvm::is_contained(team->turns, turns) && team->copies != count) {
        turns.emitOpError()
            << "passes between " << count << " teams, but the role '"
            << team->role.getName() << "' has " << team->copies;
        return WalkResult::interrupt();
      }
    plan.turnBarriers[turns] = next;
    next += count;
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  // The lane that starts the copies must be in the warp that sets up the
  // barriers, and no other one may start copies.
  Team *first = nullptr;
  int64_t singleLanes = 0, warps = 0;
  for (auto &team : llvm::drop_begin(plan.teams)) {
    singleLanes += team->singleLane ? team->copies : 0;
    warps += team->numWarps * team->copies;
    if (team->firstWarp == 0)
      first = team.get();
  }
  if (options.earlyStart && first && first->singleLane && singleLanes == 1 &&
      warps == plan.numWarps && next < kNamedBarriers)
    plan.startBarrier = next++;
  if (next > kNamedBarriers)
    return kernel.emitOpError()
           << "needs " << next << " named barriers, the workgroup's own "
           << "included; there are " << kNamedBarriers;
  return success();
}

LogicalResult Planner::planMemory() {
  int64_t end = 0;
  auto place = [&](Operation *op, MemRefType type, int64_t count,
                   int64_t &stride) -> FailureOr<int64_t> {
    FailureOr<StagedLayout> layout =
        StagedLayout::get(type, [&]() { return op->emitOpError(); });
    if (failed(layout))
      return failure();
    int64_t alignment = layout->getAlignment();
    stride = llvm::alignTo(layout->getBytes(), alignment);
    int64_t offset = llvm::alignTo(end, alignment);
    int64_t bytes;
    if (llvm::MulOverflow(stride, count, bytes) ||
        llvm::AddOverflow(offset, bytes, end) || end > kMostSharedBytes) {
      op->emitOpError() << "needs " << count << " times " << stride
                        << " bytes of shared memory, after " << offset
                        << " bytes of others; a workgroup has "
                        << kMostSharedBytes;
      return failure();
    }
    return offset;
  };
  WalkResult result = kernel.walk([&](Operation *op) {
    if (auto channel = dyn_cast<ChannelOp>(op)) {
      ChannelPlan &entry = plan.channels[op];
      for (Type type : channel.getResult().getType().getBuffers()) {
        int64_t stride;
        FailureOr<int64_t> offset = place(op, cast<MemRefType>(type),
                                          entry.slots * entry.copies, stride);
        if (failed(offset))
          return WalkResult::interrupt();
        entry.offsets.push_back(*offset);
        entry.strides.push_back(stride);
      }
    } else if (auto scratch = dyn_cast<ScratchOp>(op)) {
      ScratchPlan &entry = plan.scratches[op];
      Team &team = plan.getTeam(op);
      entry.owner = &team;
      FailureOr<int64_t> offset =
          place(op, cast<MemRefType>(scratch.getResult().getType()),
                team.copies, entry.stride);
      if (failed(offset))
        return WalkResult::interrupt();
      entry.offset = *offset;
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  end = llvm::alignTo(end, kBarrierBytes);
  kernel.walk([&](ChannelOp op) {
    ChannelPlan &entry = plan.channels[op];
    if (entry.isLocal)
      return;
    // A gap tells one array from the next to who looks at addresses alone.
    int64_t bytes = (entry.slots * entry.copies + 1) * kBarrierBytes;
    entry.full = end;
    entry.empty = end + bytes;
    end += 2 * bytes;
  });
  plan.sharedBytes = end;
  if (end > kMostSharedBytes)
    return kernel.emitOpError()
           << "needs " << end << " bytes of shared memory; a workgroup has "
           << kMostSharedBytes;
  return success();
}

LogicalResult Planner::run() {
  if (failed(planTeams()) || failed(planChannels()))
    return failure();
  planCopies();
  planLocalRings(plan);
  classifyRoles();
  return failure(failed(planUses()) || failed(planBarriers()) ||
                 failed(planMemory()));
}

LogicalResult mlir::tracea_pipe::planKernel(KernelOp kernel,
                                            const PlanOptions &options,
                                            KernelPlan &plan) {
  return Planner(kernel, options, plan).run();
}
