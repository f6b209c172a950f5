//===- KernelPlan.cpp - Who does what in a workgroup, and where -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a plan that only need the kernel and the target's table: teams
// from roles, arrivals from who commits and releases, and a layout of shared
// memory in the order of the declarations.
//
//===----------------------------------------------------------------------===//

#include "tracea/Conversion/TraceaPipeToGPU/KernelPlan.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "tracea/Conversion/TraceaPipeToGPU/Windows.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "convert-tracea-pipe-to-gpu"

using namespace mlir;
using namespace mlir::tracea_pipe;

Team &KernelPlan::getTeam(Operation *op) const {
  auto it = teamOf.find(op);
  return it == teamOf.end() ? *teams.front() : *it->second;
}

const ChannelPlan &KernelPlan::getChannel(Value channel) const {
  return channels.find(channel.getDefiningOp())->second;
}

Operation *mlir::tracea_pipe::getStagedRoot(Value memory) {
  for (;;) {
    memory = stripReshapes(memory);
    auto view = memory.getDefiningOp<ViewOp>();
    if (!view)
      return memory.getDefiningOp();
    memory = view.getSource();
  }
}

bool mlir::tracea_pipe::isWindow(Operation *op) {
  return isa<ViewOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(op);
}

LogicalResult mlir::tracea_pipe::planTeams(KernelOp kernel,
                                           const GPUTarget &target,
                                           KernelPlan &plan) {
  int64_t mostWarps =
      target.facts.occupancy.maxThreadsPerWorkgroup / target.getSubgroupSize();
  plan.kernel = kernel;
  plan.holdsCopies = kernel->hasAttr(kHeldCopiesAttrName);
  plan.numWarps = kernel.getNumWarps();
  if (plan.numWarps < 1 || plan.numWarps > mostWarps)
    return kernel.emitOpError()
           << "expects 1 to " << mostWarps << " warps for this target, found "
           << plan.numWarps;
  auto &workgroup = plan.teams.emplace_back(std::make_unique<Team>());
  workgroup->numWarps = plan.numWarps;
  workgroup->subgroupSize = target.getSubgroupSize();
  workgroup->barrier = 0;
  kernel.walk([&](RoleOp role) {
    auto &team = plan.teams.emplace_back(std::make_unique<Team>());
    team->role = role;
    team->firstWarp = role.getWarps()[0];
    team->copies = role.getCopies();
    team->numWarps = (role.getWarps()[1] - team->firstWarp) / team->copies;
    team->registers = role.getRegisters();
    team->subgroupSize = target.getSubgroupSize();
    role.walk([&](Operation *op) { plan.teamOf[op] = team.get(); });
  });
  return success();
}

LogicalResult mlir::tracea_pipe::planChannels(KernelPlan &plan) {
  KernelOp kernel = plan.kernel;
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

LogicalResult mlir::tracea_pipe::planBuffers(const GPUTarget &target,
                                             KernelPlan &plan) {
  KernelOp kernel = plan.kernel;
  int64_t mostBytes = target.facts.shared.perWorkgroup;
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
        llvm::AddOverflow(offset, bytes, end) || end > mostBytes) {
      op->emitOpError() << "needs " << count << " times " << stride
                        << " bytes of shared memory, after " << offset
                        << " bytes of others; a workgroup has " << mostBytes;
      return failure();
    }
    LDBG() << *op << ": " << count << " times " << stride
           << " bytes of shared memory from byte " << offset;
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
  plan.sharedBytes = end;
  return success();
}
