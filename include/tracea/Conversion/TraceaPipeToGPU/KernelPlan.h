//===- KernelPlan.h - Who does what in a workgroup, and where ---*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is decided of a kernel before its code changes, for every GPU: teams of
// warps, who uses which ring, and the layout of shared memory. A target adds
// what it needs besides, barriers of its own for instance.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_CONVERSION_TRACEAPIPETOGPU_KERNELPLAN_H
#define TRACEA_CONVERSION_TRACEAPIPETOGPU_KERNELPLAN_H

#include "tracea/Conversion/TraceaPipeToGPU/Target.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea_pipe {

/// The warps that run one copy of some code: a team of a role, or the whole
/// workgroup. The values are those of the thread that runs it.
struct Team {
  /// Null for the workgroup.
  RoleOp role;
  int64_t firstWarp = 0, numWarps = 1, copies = 1, registers = 0;
  /// Lanes of a warp.
  int64_t subgroupSize = 0;
  /// One lane of the first warp runs all of the role.
  bool singleLane = false;
  /// Some unit reads what lanes write to shared memory.
  bool feedsUnits = false;
  /// The named barrier of team 0; the next teams have the next ones. 0 for the
  /// workgroup, -1 when the team needs none.
  int64_t barrier = -1;
  /// The rounds of turns that this role takes part in.
  SmallVector<OrderBarrierOp> turns;

  /// i32: the team's number, the thread, warp and lane inside of the team.
  Value index, thread, warp, lane;
  /// i1: the one lane that acts for the team; null where there is one alone.
  Value leader;

  int64_t getNumThreads() const { return numWarps * subgroupSize; }
};

/// Shared memory of a channel, and who fills and reads it. Offsets are bytes
/// from the beginning of the workgroup's memory.
struct ChannelPlan {
  int64_t slots = 1;
  /// Of each buffer: where slot 0 begins, and the distance of slots.
  SmallVector<int64_t> offsets, strides;
  /// Barriers of slot 0, where the target has some for slots.
  int64_t full = 0, empty = 0;
  /// Arrivals that complete a phase.
  int64_t fullCount = 0, emptyCount = 0;
  /// A channel inside of a role exists once for each of its teams.
  Team *owner = nullptr;
  int64_t copies = 1;
  /// Lanes write to its slots, besides the unit.
  bool writtenByLanes = false;
  /// The unit alone fills each slot, with as many bytes every time: what fills
  /// it arrives when it has the slot. Otherwise at the commit.
  bool arrivesEarly = true;
  /// Lanes read its slots, besides the units.
  bool readByLanes = false;
  /// A loop that may be empty, or a branch, holds all reads of what was waited
  /// for.
  bool mayBeUnread = false;
  /// Whether lanes have to meet before one of them gives a slot back: a unit's
  /// wait is the team's, and what is not read by a unit they wait for one by
  /// one.
  bool meetsBeforeRelease() const { return readByLanes || mayBeUnread; }
  /// The lanes that read its slots fill them, and no unit does: there are no
  /// barriers.
  bool isLocal = false;
};

struct ScratchPlan {
  int64_t offset = 0, stride = 0;
  Team *owner = nullptr;
};

struct KernelPlan {
  KernelOp kernel;
  int64_t numWarps = 1;
  std::vector<std::unique_ptr<Team>> teams;
  /// The team that runs each operation below the grid.
  DenseMap<Operation *, Team *> teamOf;
  DenseMap<Operation *, ChannelPlan> channels;
  DenseMap<Operation *, ScratchPlan> scratches;
  /// Copies in either direction that a unit of the target does, or a part of.
  DenseSet<Operation *> unitCopies;
  /// What lanes copy to local rings passes through registers.
  bool holdsCopies = false;
  /// Of local rings: the groups of copies that may be pending after each wait,
  /// and the acquires before which the team must meet.
  DenseMap<Operation *, int64_t> pendingGroups;
  DenseSet<Operation *> meetingAcquires;
  /// Walks whose numbers are known to fit 32 bits.
  DenseSet<Operation *> narrowWalks;
  int64_t sharedBytes = 0;

  int64_t getNumThreads() const { return teams.front()->getNumThreads(); }
  Team &getTeam(Operation *op) const;
  const ChannelPlan &getChannel(Value channel) const;
};

/// The teams of a kernel, and who runs what.
LogicalResult planTeams(KernelOp kernel, const GPUTarget &target,
                        KernelPlan &plan);

/// Channels, their owners and the arrivals of a phase.
LogicalResult planChannels(KernelPlan &plan);

/// Decides which rings are local, and where their team meets.
void planLocalRings(KernelPlan &plan);

/// Looks where walks go, as long as the loops that count them are there.
void planWalks(KernelPlan &plan);

/// Lays out buffers of channels and scratch tiles. The bytes that they take are
/// left in `plan.sharedBytes`.
LogicalResult planBuffers(const GPUTarget &target, KernelPlan &plan);

/// What defines the memory that views and reshapes lead to.
Operation *getStagedRoot(Value memory);

/// Whether `op` looks at memory without reading it.
bool isWindow(Operation *op);

} // namespace mlir::tracea_pipe

#endif // TRACEA_CONVERSION_TRACEAPIPETOGPU_KERNELPLAN_H
