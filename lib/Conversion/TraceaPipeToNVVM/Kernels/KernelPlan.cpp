//===- KernelPlan.cpp - Barriers and bulk copies of a kernel --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Kernels/KernelPlan.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Remarks.h"
#include "tracea/Conversion/TraceaPipeToGPU/Windows.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "convert-tracea-pipe-to-nvvm"

using namespace mlir;
using namespace mlir::tracea_pipe;

constexpr int64_t kBarrierBytes = 8;

namespace {
class KernelPlanner {
public:
  KernelPlanner(KernelOp kernel, const PlanOptions &options,
                const GPUTarget &target, NVVMPlan &plan)
      : kernel(kernel), options(options), target(target), plan(plan) {}

  LogicalResult run();

private:
  LogicalResult checkBudgets();
  void planCopies();
  template <typename OpTy>
  void planCopy(OpTy op);
  bool feedsTF32(Operation *root);
  void classifyRoles();
  LogicalResult planUses();
  LogicalResult planBarriers();
  LogicalResult planMemory();

  KernelOp kernel;
  const PlanOptions &options;
  const GPUTarget &target;
  NVVMPlan &plan;
};
} // namespace

/// Registers move between warpgroups, so that a budget is one of all four.
LogicalResult KernelPlanner::checkBudgets() {
  SmallVector<int64_t> budgets(llvm::alignTo(plan.numWarps, kWarpsOfGroup), -1);
  for (auto &team : llvm::drop_begin(plan.teams))
    for (int64_t warp = team->firstWarp; warp < team->role.getWarps()[1];
         ++warp)
      budgets[warp] = team->registers;
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
bool KernelPlanner::feedsTF32(Operation *root) {
  auto acquire = dyn_cast_or_null<AcquireOp>(root);
  if (!acquire)
    return false;
  bool multiplied = false, read = false;
  kernel.walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      if (!isa<MemRefType>(operand.getType()) || isWindow(op))
        continue;
      auto wait = dyn_cast_or_null<WaitOp>(getStagedRoot(operand));
      if (!wait || wait.getChannel() != acquire.getChannel())
        continue;
      bool isSingle = getElementTypeOrSelf(operand.getType()).isF32();
      (isa<MmaAsyncOp>(op) && isSingle ? multiplied : read) = true;
    }
  });
  return multiplied && !read;
}

template <typename OpTy>
void KernelPlanner::planCopy(OpTy op) {
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
    recipe.roundToTF32 = feedsTF32(getStagedRoot(load.getDest()));
  auto *it = llvm::find(plan.tensorMaps, recipe);
  copy->tensorMap = it - plan.tensorMaps.begin();
  if (it == plan.tensorMaps.end())
    plan.tensorMaps.push_back(recipe);
  else
    it->isWritten |= recipe.isWritten;
  LDBG() << *op.getOperation() << ": " << copy->boxes.size()
         << " boxes of tensor map " << copy->tensorMap;
  plan.bulkCopies[op] = std::move(*copy);
  plan.unitCopies.insert(op);
}

void KernelPlanner::planCopies() {
  kernel.walk([&](Operation *op) {
    if (auto copy = dyn_cast<CopyOp>(op))
      planCopy(copy);
    else if (auto copyOut = dyn_cast<CopyOutOp>(op))
      planCopy(copyOut);
  });
}

/// A role without lanes of its own: scalars, rings and the copy unit.
static bool isScalar(Operation *op, const NVVMPlan &plan) {
  if (isa<CopyOp, CopyOutOp>(op)) {
    auto it = plan.bulkCopies.find(op);
    return it != plan.bulkCopies.end() && it->second.wholeLimits.empty();
  }
  if (auto group = dyn_cast<CommitGroupOp>(op))
    return group.getUnit() == Unit::Copy;
  if (auto group = dyn_cast<WaitGroupOp>(op))
    return group.getUnit() == Unit::Copy;
  // All lanes fill a walk's table.
  if (auto walk = dyn_cast<DelinearizeOp>(op); walk && walk.getTable())
    return false;
  if (isa<TraceaPipeDialect>(op->getDialect()))
    return isa<AcquireOp, WaitOp, CommitOp, ReleaseOp, StartOp, AdvanceOp,
               DelinearizeOp, GatherOp, RasterOp, RaggedTileOp, RaggedCountOp,
               ReadOp, ViewOp, ScratchOp, ChannelOp, EndOp, SyncOp>(op);
  auto hasTiles = [](TypeRange types) {
    return llvm::any_of(types, [](Type type) {
      return isRegisterTile(type) || isa<InFlightType>(type);
    });
  };
  return !hasTiles(op->getOperandTypes()) && !hasTiles(op->getResultTypes());
}

void KernelPlanner::classifyRoles() {
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

LogicalResult KernelPlanner::planUses() {
  llvm::DenseSet<Operation *> readAtOnce, copiedAtTimes;
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
      Operation *root = getStagedRoot(operand.get());
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
        if (op->getBlock() != root->getBlock()) {
          channel->arrivesEarly = false;
          copiedAtTimes.insert(root);
        }
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
  kernel.walk([&](CommitOp op) {
    if (plan.getChannel(op.getChannel()).arrivesEarly)
      return;
    for (Operation *user : op.getPhase().getUsers()) {
      auto acquire = dyn_cast<AcquireOp>(user);
      if (!acquire || acquire.getChannel() != op.getChannel() ||
          acquire->getBlock() != op->getBlock() ||
          copiedAtTimes.contains(acquire))
        continue;
      if (int64_t bytes = plan.acquiredBytes.lookup(acquire)) {
        plan.committedBytes[op] = bytes;
        plan.expectedByCommit.insert(acquire);
      }
    }
  });
  return success();
}

LogicalResult KernelPlanner::planBarriers() {
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
      if (auto take = dyn_cast<OrderWaitOp>(op))
        if (auto turns = take.getBarrier().getDefiningOp<OrderBarrierOp>())
          if (!llvm::is_contained(team->turns, turns))
            team->turns.push_back(turns);
    });
    // A single warp meets without a barrier.
    if (!needed || team->singleLane || team->numWarps == 1)
      continue;
    team->barrier = next;
    next += team->copies;
  }
  WalkResult result = kernel.walk([&](OrderBarrierOp turns) {
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
      warps == plan.numWarps &&
      next < target.facts.occupancy.barriersPerWorkgroup)
    plan.startBarrier = next++;
  int64_t most = target.facts.occupancy.barriersPerWorkgroup;
  if (next > most)
    return kernel.emitOpError()
           << "needs " << next << " named barriers, the workgroup's own "
           << "included; there are " << most;
  return success();
}

LogicalResult KernelPlanner::planMemory() {
  if (failed(planBuffers(target, plan)))
    return failure();
  int64_t end = llvm::alignTo(plan.sharedBytes, kBarrierBytes);
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
  int64_t most = target.facts.shared.perWorkgroup;
  if (end > most)
    return kernel.emitOpError()
           << "needs " << end << " bytes of shared memory; a workgroup has "
           << most;
  return success();
}

LogicalResult KernelPlanner::run() {
  if (failed(planTeams(kernel, target, plan)) || failed(checkBudgets()) ||
      failed(planChannels(plan)))
    return failure();
  planCopies();
  planWalks(plan);
  planLocalRings(plan);
  classifyRoles();
  return failure(failed(planUses()) || failed(planBarriers()) ||
                 failed(planMemory()));
}

LogicalResult mlir::tracea_pipe::planKernel(KernelOp kernel,
                                            const PlanOptions &options,
                                            const GPUTarget &target,
                                            NVVMPlan &plan) {
  return KernelPlanner(kernel, options, target, plan).run();
}
