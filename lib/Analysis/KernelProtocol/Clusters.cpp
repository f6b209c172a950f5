//===- Clusters.cpp - Barriers and shared memory of a cluster -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All workgroups of a cluster run one program, so that one of them is enough to
// look at: the others are a role that arrives, waits and reads as its roles do,
// but reads this workgroup's memory. Each phase of the cluster's barrier, which
// a role comes to once, is a barrier of its own; a role that comes to none
// arrives when it ends. The memory must outlast the last read of it.

#include "Extractor.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
using namespace mlir::tracea;
namespace ta = ::tracea::analysis;

/// The memory of a peer that `value` looks into; null for others.
static PeerOp getPeer(Value value) {
  return getViewRoot(value).getDefiningOp<PeerOp>();
}

LogicalResult Extractor::collectClusters() {
  WalkResult result = kernel.walk([&](Operation *op) {
    if (!isa<PeerOp, ClusterArriveOp, ClusterWaitOp>(op))
      return WalkResult::advance();
    if (kernel.getTiles().getCluster() == 1) {
      InFlightDiagnostic diag = op->emitOpError()
                                << "expects a grid with clusters";
      diag.attachNote(kernel.getTiles().getLoc()) << "the grid is here";
      return WalkResult::interrupt();
    }
    if (auto peer = dyn_cast<PeerOp>(op)) {
      Value memory = getViewRoot(peer.getMemory());
      auto scratch = memory.getDefiningOp<ScratchOp>();
      if (scratch && isa<TilesOp>(scratch->getParentOp()))
        sharedScratch.insert(memory);
      else
        undecided(op, "it looks into memory that is no scratch memory of the "
                      "workgroup");
      return WalkResult::advance();
    }
    bool isUnconditional = isa<RoleOp, TilesOp>(op->getParentOp());
    if (!isUnconditional)
      undecided(op, "a loop or a branch decides how often it comes to the "
                    "barrier of the cluster");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Numbers the phases that the teams come to.
LogicalResult Extractor::collectPhases() {
  for (Team &who : teams) {
    int arrivals = 0, waits = 0;
    WalkResult result = kernel.walk([&](Operation *op) {
      if (who.role && !who.role->isAncestor(op))
        return WalkResult::advance();
      bool arrives = isa<ClusterArriveOp>(op);
      if (!arrives && !isa<ClusterWaitOp>(op))
        return WalkResult::advance();
      if (arrives ? arrivals != waits : arrivals != waits + 1) {
        op->emitOpError() << (arrives ? "arrives at the barrier of the cluster "
                                        "before it has waited for the phase "
                                        "that it arrived in"
                                      : "waits at the barrier of the cluster "
                                        "without having arrived");
        return WalkResult::interrupt();
      }
      clusterPhases[op] = arrives ? arrivals++ : waits++;
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    numClusterPhases = std::max(numClusterPhases, arrivals);
  }
  if (roles)
    for (auto [op, phase] : clusterPhases)
      if (!roles->isAncestor(op))
        undecided(op, "all roles come to the barrier of the cluster");
  return success();
}

LogicalResult Extractor::declareClusters() {
  if (failed(collectClusters()) || failed(collectPhases()))
    return failure();
  // One peer for each role that comes to the barrier.
  llvm::SmallSetVector<Operation *, 4> peers;
  uint32_t waiters = 0;
  for (auto [number, who] : llvm::enumerate(teams)) {
    bool waits = false;
    for (auto [op, phase] : clusterPhases)
      waits |= !who.role || who.role->isAncestor(op);
    if (!waits)
      continue;
    waiters |= 1u << number;
    if (peers.insert(who.role))
      peerTeams.push_back(number);
  }
  uint32_t own = (1u << teams.size()) - 1, others = 0;
  if (teams.size() + peerTeams.size() >= 32)
    return undecided(kernel, "the kernel has too many teams"), success();
  for (size_t i = 0; i < peerTeams.size(); ++i)
    others |= 1u << (teams.size() + i);
  for (int phase = 0; phase < numClusterPhases; ++phase) {
    ta::Channel barrier;
    barrier.name = "phase " + std::to_string(phase) + " of the cluster";
    barrier.producers = own | others;
    barrier.consumers = 0;
    for (auto [op, number] : clusterPhases)
      if (number == phase && isa<ClusterWaitOp>(op))
        for (auto [index, who] : llvm::enumerate(teams))
          if (!who.role || who.role->isAncestor(op))
            barrier.consumers |= 1u << index;
    barrier.consumers |= others;
    addClusterChannel(barrier);
  }
  for (Value scratch : sharedScratch) {
    ta::Channel memory;
    memory.name = "memory of the cluster";
    for (auto [index, team] : llvm::enumerate(teams))
      kernel.walk([&, &who = team, number = index](Operation *op) {
        auto store = dyn_cast<StoreOp>(op);
        if (store && (!who.role || who.role->isAncestor(op)) &&
            getViewRoot(store.getDest()) == scratch)
          memory.producers |= 1u << number;
      });
    if (!memory.producers) {
      scratch.getDefiningOp()->emitOpError()
          << "is read by other workgroups, but nobody writes it";
      return failure();
    }
    memory.parts = llvm::popcount(memory.producers);
    memory.consumers = waiters | others;
    memory.drain = true;
    clusterMemory[scratch] = protocol.channels.size();
    addClusterChannel(memory);
  }
  return success();
}

void Extractor::addClusterChannel(ta::Channel channel) {
  channel.initialized = true;
  channel.fullCount = llvm::popcount(channel.producers);
  channel.emptyCount = llvm::popcount(channel.consumers);
  channel.readers.assign(channel.parts, channel.consumers);
  if (firstClusterChannel < 0)
    firstClusterChannel = protocol.channels.size();
  protocol.channels.push_back(channel);
}

ta::Instruction &Extractor::addCluster(ta::Step step, Operation *op,
                                       int channel) {
  auto [it, inserted] = clusterPositions.try_emplace(channel, 0);
  if (inserted) {
    it->second = builder->newPosition(1);
    add(ta::Step::Start, op).position = it->second;
  }
  ta::Instruction &instruction = add(step, op);
  instruction.channel = channel;
  instruction.position = it->second;
  instruction.count = step == ta::Step::Commit ? 1 : 0;
  return instruction;
}

/// What is written before an arrival may be read after it.
void Extractor::emitClusterPhase(Operation *op) {
  int channel = firstClusterChannel + clusterPhases.lookup(op);
  if (isa<ClusterWaitOp>(op)) {
    addCluster(ta::Step::Wait, op, channel);
    return;
  }
  for (auto [scratch, memory] : clusterMemory)
    add(ta::Step::Fence, op).channel = memory;
  addCluster(ta::Step::Commit, op, channel);
  ++clusterArrivals;
}

/// Those who end count as arrived in all phases to come.
void Extractor::emitClusterEnd(Operation *op) {
  for (int phase = clusterArrivals; phase < numClusterPhases; ++phase)
    addCluster(ta::Step::Commit, op, firstClusterChannel + phase);
}

bool Extractor::emitClusterAccess(Operation *op, OpOperand &operand) {
  Value root = getViewRoot(operand.get());
  PeerOp peer = getPeer(root);
  if (peer)
    root = getViewRoot(peer.getMemory());
  auto it = clusterMemory.find(root);
  if (it == clusterMemory.end())
    return static_cast<bool>(peer);
  const ta::Channel &memory = protocol.channels[it->second];
  uint32_t all = (1u << memory.parts) - 1;
  if (auto store = dyn_cast<StoreOp>(op); store && !peer) {
    uint32_t before = memory.producers & ((1u << teamNumber) - 1);
    addCluster(ta::Step::Write, op, it->second).parts =
        1u << llvm::popcount(before);
  } else if (isa<LoadOp>(op)) {
    addCluster(ta::Step::Read, op, it->second).parts = all;
  } else {
    undecided(op, "it uses memory that a cluster shares, as neither a load nor "
                  "a store of its own");
  }
  return true;
}

/// The workgroups around this one, as far as it matters to this one.
void Extractor::emitPeers() {
  for (int number : peerTeams) {
    Team &who = teams[number];
    ta::RoleBuilder program(protocol, "peers of " + who.name);
    builder = &program;
    beginCluster();
    Operation *scope =
        who.role ? who.role.getOperation() : kernel.getTiles().getOperation();
    scope->walk([&](Operation *op) {
      if (isa<ClusterArriveOp, ClusterWaitOp>(op))
        emitClusterPhase(op);
      else if (auto load = dyn_cast<LoadOp>(op))
        if (getPeer(load.getSource()))
          emitClusterAccess(op, load.getSourceMutable());
    });
    emitClusterEnd(scope);
    program.at(siteOf(scope));
    program.finish();
  }
}
