//===- Channels.cpp - Who fills and who reads each ring -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Extractor.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
using namespace mlir::tracea;
namespace ta = ::tracea::analysis;

LogicalResult Extractor::collect() {
  WalkResult result = kernel.walk([&](Operation *op) {
    if (auto channel = dyn_cast<ChannelOp>(op)) {
      if (!isa<TilesOp>(op->getParentOp())) {
        op->emitOpError() << "is initialised more than once: it is declared "
                             "inside '"
                          << op->getParentOp()->getName()
                          << "', not at the top of the grid tile (Rule A)";
        return WalkResult::interrupt();
      }
      channelNumbers[channel.getResult()] = channels.size();
      channels.push_back(channel);
    }
    if (auto split = dyn_cast<RolesOp>(op)) {
      if (!isa<TilesOp>(op->getParentOp())) {
        op->emitOpError() << "splits roles inside '"
                          << op->getParentOp()->getName()
                          << "'; a warp keeps its role (Rule B)";
        return WalkResult::interrupt();
      }
      if (roles) {
        InFlightDiagnostic diag =
            op->emitOpError() << "splits roles a second time; a warp keeps its "
                                 "role (Rule B)";
        diag.attachNote(roles.getLoc()) << "the first split is here";
        return WalkResult::interrupt();
      }
      roles = split;
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  numberInFlight();
  if (!roles) {
    teams.push_back({RoleOp(), 0, "workgroup"});
    return success();
  }
  for (RoleOp role : roles.getBody().getOps<RoleOp>())
    for (int64_t copy = 0; copy < static_cast<int64_t>(role.getCopies());
         ++copy) {
      std::string name = role.getName().str();
      if (role.getCopies() > 1)
        name += "." + std::to_string(copy);
      teams.push_back({role, copy, name});
    }
  return success();
}

/// A buffer that teams fill from registers has a part for each of them; what
/// copies fill is one part.
static SmallVector<BufferParts> splitBuffers(ChannelOp channel,
                                             ta::Channel &ring) {
  SmallVector<BufferParts> buffers(channel.getType().getBuffers().size());
  for (Operation *user : channel.getResult().getUsers()) {
    if (!isa<AcquireOp>(user))
      continue;
    SmallVector<std::pair<Value, unsigned>> views;
    for (OpResult result : user->getResults())
      views.push_back({result, result.getResultNumber()});
    while (!views.empty()) {
      auto [value, number] = views.pop_back_val();
      for (Operation *use : value.getUsers()) {
        if (auto store = dyn_cast<StoreOp>(use))
          buffers[number].fromRegisters |= store.getDest() == value;
        else if (isa<ViewOp, ViewLikeOpInterface>(use))
          views.push_back({use->getResult(0), number});
      }
    }
  }
  unsigned parts = 0;
  for (BufferParts &buffer : buffers) {
    buffer.first = parts;
    buffer.fillers = ring.producers;
    parts += buffer.fromRegisters ? llvm::popcount(ring.producers) : 1;
  }
  ring.parts = parts;
  return buffers;
}

/// Who fills and who reads each ring.
LogicalResult Extractor::declare() {
  for (auto [number, channel] : llvm::enumerate(channels)) {
    ta::Channel ring;
    ring.name = "channel " + std::to_string(number);
    ring.slots = channel.getType().getSlots();
    ring.parts = channel.getType().getBuffers().size();
    ring.initialized = true;
    ring.commitLast = true;
    Operation *filler = nullptr, *reader = nullptr;
    for (auto [index, who] : llvm::enumerate(teams)) {
      Operation *acquire = nullptr, *commit = nullptr, *wait = nullptr,
                *release = nullptr;
      for (Operation *user : channel.getResult().getUsers()) {
        if (who.role && !who.role->isAncestor(user))
          continue;
        if (isa<AcquireOp>(user))
          acquire = user;
        else if (isa<CommitOp>(user))
          commit = user;
        else if (isa<WaitOp>(user))
          wait = user;
        else if (isa<ReleaseOp>(user))
          release = user;
      }
      if (commit && !acquire)
        return commit->emitOpError()
               << "hands over a slot of a channel that role '" << who.name
               << "' never acquires (Rule B)";
      if (release && !wait)
        return release->emitOpError()
               << "gives back a slot of a channel that role '" << who.name
               << "' never waits for (Rule B)";
      if (acquire)
        filler = acquire, ring.producers |= 1u << index;
      if (wait)
        reader = wait, ring.consumers |= 1u << index;
    }
    if (filler && !reader)
      return filler->emitOpError() << "fills a channel that nobody waits for";
    if (reader && !filler)
      return reader->emitOpError() << "waits for a channel that nobody fills";
    ring.fullCount = llvm::popcount(ring.producers);
    ring.inTurns = channel.getInTurns();
    ring.emptyCount = ring.inTurns ? 1 : llvm::popcount(ring.consumers);
    bufferParts.push_back(splitBuffers(channel, ring));
    ring.readers.assign(ring.parts, ring.consumers);
    protocol.channels.push_back(ring);
  }
  return success();
}

LogicalResult Extractor::extract() {
  protocol.name = kernel.getSymName().str();
  if (failed(collect()))
    return failure();
  if (!hasRingOps(kernel))
    return success();
  isNeeded = true;
  if (teams.size() > 32) {
    undecided(roles, "the kernel has more than 32 teams");
    return success();
  }
  if (failed(declare()))
    return failure();
  if (failed(declareTurns()) || failed(declareClusters()))
    return failure();
  if (roles) {
    // Budgets are checked against the whole file.
    protocol.registerFile = registerFile;
    for (ChannelOp channel : channels)
      for (Operation *user : channel.getResult().getUsers())
        if (!roles->isAncestor(user))
          undecided(user, "a channel is used outside of the roles");
  }
  for (auto [number, who] : llvm::enumerate(teams)) {
    teamNumber = number;
    emitTeam(who);
  }
  emitPeers();
  return success();
}

void Extractor::emitTeam(Team &who) {
  ta::RoleBuilder program(protocol, who.name);
  builder = &program;
  team = &who;
  phases.clear();
  turnVariables.clear();
  continued.clear();
  branchesSeen.clear();
  varying.clear();
  if (who.role) {
    int64_t warps = who.role.getWarps()[1] - who.role.getWarps()[0];
    program.role.threads = warps / who.role.getCopies() * threadsPerWarp;
    program.role.registers = who.role.getRegisters();
  }
  inFlightNumbers.clear();
  scratchNumbers.clear();
  beginCluster();
  emitTurnEnds(/*first=*/true);
  emitBlock(kernel.getTiles().getBody().front());
  emitTurnEnds(/*first=*/false);
  emitClusterEnd(kernel.getTiles());
  program.at(siteOf(who.role ? who.role.getOperation()
                             : kernel.getTiles().getOperation()));
  program.finish();
}
