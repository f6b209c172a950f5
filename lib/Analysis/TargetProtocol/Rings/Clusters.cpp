//===- Clusters.cpp - Barriers and shared memory of a cluster -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blocks of a cluster run one kernel. Of the others a block's own protocol
// sees that they arrive at the cluster's barrier, wait for it, and read the
// block's shared memory: roles that do this and nothing else stand for them.
// Each phase of the barrier, which a role comes to once, is a barrier of its
// own; threads that have ended count as arrived (PTX ISA, "barrier.cluster").

#include "../ProgramBuilder.h"
#include "Assembler.h"

#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::tracea;
namespace ta = ::tracea::analysis;
using ta::Property;
using ta::Step;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Whether an address is loaded from and nothing else.
static bool isOnlyLoaded(Value address) {
  return llvm::all_of(address.getUsers(), [](Operation *user) {
    if (isa<LLVM::GEPOp, LLVM::AddrSpaceCastOp>(user))
      return isOnlyLoaded(user->getResult(0));
    return isa<LLVM::LoadOp>(user);
  });
}

void mlir::tracea::checkPeers(KernelContext &context) {
  context.kernel.walk([&](Operation *op) {
    if (context.target.read(op).kind == TargetEvent::PeerAddress &&
        !isOnlyLoaded(op->getResult(0)))
      context.undecided(op, "memory of another block is used for more than "
                            "loads");
  });
}

//===----------------------------------------------------------------------===//
// Peers
//===----------------------------------------------------------------------===//

static bool isClusterEvent(const Event &event) {
  return event.kind == Event::ClusterArrive ||
         event.kind == Event::ClusterWait ||
         (event.kind == Event::Read && event.remote);
}

/// Whether the program comes to event `number` once, whatever it decides.
static bool isUnconditional(const RoleProgram &program, int number) {
  for (auto [at, event] : llvm::enumerate(program.events)) {
    int from = static_cast<int>(at);
    bool skips = from < number && event.target > number;
    bool repeats =
        from >= number && event.target >= 0 && event.target <= number;
    if (skips || repeats)
      return false;
  }
  return true;
}

void Assembler::addPeers() {
  std::vector<RoleProgram> peers;
  for (const RoleProgram &program : programs) {
    RoleProgram peer;
    peer.threads = program.threads;
    peer.isPeer = true;
    int arrivals = 0, waits = 0;
    for (auto [number, event] : llvm::enumerate(program.events)) {
      if (!isClusterEvent(event))
        continue;
      if (!isUnconditional(program, static_cast<int>(number)))
        context.undecided(event.op, "a loop or a branch decides how often it "
                                    "takes part in its cluster");
      if (event.kind == Event::ClusterArrive && arrivals++ != waits)
        fault(Property::ArrivalCount,
              "arrives at the cluster's barrier before it has waited for the "
              "phase that it arrived in",
              event.op);
      if (event.kind == Event::ClusterWait && ++waits != arrivals)
        fault(Property::ArrivalCount,
              "waits at the cluster's barrier without having arrived",
              event.op);
      peer.events.push_back(event);
    }
    clusterPhases = std::max(clusterPhases, arrivals);
    if (!peer.events.empty())
      peers.push_back(std::move(peer));
  }
  if (peers.empty())
    return;
  allPrograms.assign(programs.begin(), programs.end());
  llvm::append_range(allPrograms, peers);
  programs = allPrograms;
}

void Assembler::declareCluster() {
  firstClusterChannel = static_cast<int>(result.protocol.channels.size());
  for (int phase = 0; phase < clusterPhases; ++phase) {
    ta::Channel channel;
    channel.name = "phase " + std::to_string(phase) + " of the cluster";
    channel.initialized = true;
    Operation *place = nullptr;
    for (auto [number, program] : llvm::enumerate(programs)) {
      channel.producers |= 1u << number;
      int waits = 0;
      for (const Event &event : program.events)
        if (event.kind == Event::ClusterWait && waits++ == phase) {
          channel.consumers |= 1u << number;
          place = event.op;
        }
    }
    channel.fullCount = llvm::popcount(channel.producers);
    channel.emptyCount = llvm::popcount(channel.consumers);
    channel.readers.assign(1, channel.consumers);
    result.protocol.channels.push_back(channel);
    result.channels.push_back(place);
  }
  // Memory that others read has to last until they have.
  for (const RoleProgram &program : programs)
    for (const Event &event : program.events) {
      if (!program.isPeer || event.kind != Event::Read)
        continue;
      for (BufferRegion &region : regions) {
        int64_t begin = event.address.constant, end = begin + event.length;
        if (region.base >= end || begin >= region.base + region.length)
          continue;
        result.protocol.channels[region.channel].drain = true;
        if (region.copied)
          context.undecided(event.op, "it reads what copies fill in another "
                                      "block");
      }
    }
}

void Assembler::assembleCluster(const Event &event) {
  bool arrives = event.kind == Event::ClusterArrive;
  // Loads from other blocks may be under way until an arrival orders them.
  if (event.publishes) {
    add(Step::CloseGroup, event).queue = kPeers;
    add(Step::WaitGroup, event).queue = kPeers;
  }
  int zero = expressionOf(context.symbols.constant(0), event.op);
  ta::Instruction &step = add(arrives ? Step::Commit : Step::Wait, event);
  step.channel =
      firstClusterChannel + (arrives ? clusterArrivals++ : clusterWaits++);
  step.slot = zero;
  step.parity = arrives ? -1 : zero;
  step.count = arrives ? 1 : 0;
}

/// Who ends has arrived in all phases to come.
void Assembler::assembleClusterEnd(Operation *op) {
  Event arrive;
  arrive.kind = Event::ClusterArrive;
  arrive.op = op;
  while (clusterArrivals < clusterPhases)
    assembleCluster(arrive);
}
