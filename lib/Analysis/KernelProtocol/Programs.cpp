//===- Programs.cpp - The program of one role -----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Extractor.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
using namespace mlir::tracea;
namespace ta = ::tracea::analysis;

int Extractor::phaseOf(Value phase) {
  auto [it, inserted] = phases.try_emplace(phase, 0);
  if (inserted) {
    it->second =
        builder->newPosition(cast<PhaseType>(phase.getType()).getSlots());
    // Blocks are emitted in order of dominance: what has no register yet was
    // made by something that the method does not know.
    Operation *def = phase.getDefiningOp();
    if (!def)
      def = phase.getParentBlock()->getParentOp();
    if (!isa<StartOp, AdvanceOp, scf::ForOp, scf::IfOp>(def))
      undecided(def,
                "a phase comes from '" + def->getName().getStringRef() + "'");
  }
  return it->second;
}

SlotBuffer Extractor::getSlotBuffer(Value value) const {
  Value root = getViewRoot(value);
  if (!isa_and_nonnull<AcquireOp, WaitOp>(root.getDefiningOp()))
    return {};
  return {root.getDefiningOp(), cast<OpResult>(root).getResultNumber()};
}

void Extractor::emitBlock(Block &block) {
  for (Operation &op : block)
    emitOp(&op);
}

void Extractor::emitOp(Operation *op) {
  if (getRing(op))
    return emitRing(op);
  if (auto start = dyn_cast<StartOp>(op)) {
    int into = phaseOf(start.getResult());
    add(ta::Step::Start, op).position = into;
    return;
  }
  if (auto advance = dyn_cast<AdvanceOp>(op)) {
    int from = phaseOf(advance.getPhase());
    int into = phaseOf(advance.getResult());
    ta::Instruction &instruction = add(ta::Step::Advance, op);
    instruction.position = into;
    instruction.source = from;
    return;
  }
  if (auto split = dyn_cast<RolesOp>(op)) {
    if (team->role)
      emitBlock(team->role.getBody().front());
    return;
  }
  if (op->getNumRegions() && hasRingOps(op)) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return emitFor(loop);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return emitIf(branch);
    return undecided(op, "'" + op->getName().getStringRef() +
                             "' holds channel operations");
  }
  if (isa<ClusterArriveOp, ClusterWaitOp>(op))
    return emitClusterPhase(op);
  if (emitAsync(op))
    return;
  for (OpResult result : op->getResults())
    if (isPhase(result) || isInFlight(result))
      return undecided(
          op, Twine(isPhase(result) ? "a phase" : "a tile in flight") +
                  " comes from '" + op->getName().getStringRef() + "'");
  emitAccesses(op);
  // Without synchronisation inside, it does not matter how often.
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        emitOp(&inner);
}

void Extractor::emitRing(Operation *op) {
  Value ring = getRing(op);
  if (!channelNumbers.count(ring))
    return undecided(op, "a channel is passed on as a value");
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](AcquireOp acquire) {
        addSlot(ta::Step::Acquire, op, ring, acquire.getPhase());
      })
      .Case([&](CommitOp commit) {
        int number = channelNumbers.lookup(ring);
        ArrayRef<BufferParts> parts = bufferParts[number];
        // Handing over makes what lanes wrote visible.
        if (llvm::any_of(parts, [](BufferParts p) { return p.fromRegisters; }))
          add(ta::Step::Fence, op);
        ta::Instruction &instruction =
            addSlot(ta::Step::Commit, op, ring, commit.getPhase());
        // One of the producers expects the bytes of all copies.
        const ta::Channel &channel = protocol.channels[number];
        if (llvm::countr_zero(channel.producers) != teamNumber)
          return;
        ArrayRef<Type> types = cast<ChannelType>(ring.getType()).getBuffers();
        for (auto [type, buffer] : llvm::zip_equal(types, parts))
          if (!buffer.fromRegisters)
            instruction.bytes += getBytes(type);
      })
      .Case([&](WaitOp wait) {
        addSlot(ta::Step::Wait, op, ring, wait.getPhase());
        // To wait is to look: what nobody uses needs no reader.
        ta::Instruction &read =
            addSlot(ta::Step::Read, op, ring, wait.getPhase());
        int parts = protocol.channels[read.channel].parts;
        read.parts = parts >= 32 ? ~0u : (1u << parts) - 1;
      })
      .Case([&](ReleaseOp release) {
        addSlot(ta::Step::Release, op, ring, release.getPhase());
      });
}
