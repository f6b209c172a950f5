//===- Accesses.cpp - Reads and writes of slots and of scratch memory -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Extractor.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
using namespace mlir::tracea;
namespace ta = ::tracea::analysis;

/// The queue of what an operation starts; `SyncQueue` for what it does itself.
static GroupQueue getQueue(Operation *op) {
  if (isa<MmaAsyncOp>(op))
    return MmaQueue;
  return isa<CopyOutOp>(op) ? CopyQueue : SyncQueue;
}

static bool isWrite(Operation *op, OpOperand &operand) {
  if (auto copy = dyn_cast<CopyOp>(op))
    return copy.getDest() == operand.get();
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getDest() == operand.get();
  return false;
}

void Extractor::emitAccesses(Operation *op) {
  if (isa<ViewOp, ViewLikeOpInterface, PeerOp>(op))
    return;
  for (OpOperand &operand : op->getOpOperands()) {
    SlotBuffer buffer = getSlotBuffer(operand.get());
    if (buffer.source) {
      emitSlotAccess(op, operand, buffer);
      continue;
    }
    if (isa<MemRefType>(operand.get().getType()) &&
        emitClusterAccess(op, operand))
      continue;
    Value root = getViewRoot(operand.get());
    auto type = dyn_cast<MemRefType>(root.getType());
    if (!type || !isa_and_nonnull<StagedAttr>(type.getMemorySpace()))
      continue;
    if (root.getDefiningOp<ScratchOp>())
      emitScratchAccess(op, operand, root);
    else
      undecided(op, "a slot's buffer is passed on as a value");
  }
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

uint32_t Extractor::partsOf(int channel, unsigned buffer, bool own) {
  const BufferParts &parts = bufferParts[channel][buffer];
  if (!parts.fromRegisters)
    return 1u << parts.first;
  uint32_t all = ((1u << llvm::popcount(parts.fillers)) - 1) << parts.first;
  if (!own)
    return all;
  uint32_t before = parts.fillers & ((1u << teamNumber) - 1);
  return 1u << (parts.first + llvm::popcount(before));
}

void Extractor::emitSlotAccess(Operation *op, OpOperand &operand,
                               SlotBuffer buffer) {
  Value ring = getRing(buffer.source);
  int channel = channelNumbers.lookup(ring);
  if (!channelNumbers.count(ring))
    return undecided(op, "a channel is passed on as a value");
  Value phase = isa<AcquireOp>(buffer.source)
                    ? cast<AcquireOp>(buffer.source).getPhase()
                    : cast<WaitOp>(buffer.source).getPhase();
  if (!isWrite(op, operand)) {
    ta::Instruction &read = addSlot(ta::Step::Read, op, ring, phase);
    read.parts = partsOf(channel, buffer.part, /*own=*/false);
    read.async = getQueue(op) != SyncQueue;
    read.queue = read.async ? getQueue(op) : 0;
    return;
  }
  if (isa<StoreOp>(op)) {
    uint32_t parts = partsOf(channel, buffer.part, /*own=*/true);
    addSlot(ta::Step::Write, op, ring, phase).parts = parts;
    return;
  }
  ta::Instruction &copy = addSlot(ta::Step::Copy, op, ring, phase);
  copy.parts = partsOf(channel, buffer.part, /*own=*/true);
  copy.bytes = getBytes(operand.get().getType());
  if (!copy.bytes)
    undecided(op, "the bytes of a copy are not static");
  if (bufferParts[channel][buffer.part].fromRegisters)
    undecided(op, "a buffer is filled by copies and from registers");
}

//===----------------------------------------------------------------------===//
// Scratch memory
//===----------------------------------------------------------------------===//

int Extractor::scratchOf(Value scratch, GroupQueue queue) {
  auto [it, inserted] = scratchNumbers.try_emplace({scratch, queue}, 0);
  if (inserted)
    it->second = builder->newValue(queue == SyncQueue  ? "scratch, by lanes"
                                   : queue == MmaQueue ? "scratch, by 'mma'"
                                                       : "scratch, by 'copy'");
  return it->second;
}

/// Whether lanes read and write the buffer alike, each its own elements.
static bool isPrivateToLanes(Value scratch) {
  Operation *first = nullptr;
  auto describe = [](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    auto store = dyn_cast<StoreOp>(op);
    Type tile = load ? load.getResult().getType() : store.getValue().getType();
    ValueRange indices = load ? load.getIndices() : store.getIndices();
    return std::tuple(
        tile, load ? load.getMap() : store.getMap(),
        SmallVector<Value>(indices),
        SmallVector<Value>(load ? load.getWalks() : store.getWalks()),
        load ? load.getAlong() : store.getAlong());
  };
  for (Operation *user : scratch.getUsers()) {
    if (isa<CopyOutOp, MmaAsyncOp>(user))
      continue;
    if (!isa<LoadOp, StoreOp>(user))
      return false;
    if (first && describe(first) != describe(user))
      return false;
    first = user;
  }
  return true;
}

/// Lanes of a thread block see what others wrote only after they have met; a
/// unit reads some time before its group was waited for. A CPU's thread is
/// alone.
void Extractor::emitScratchAccess(Operation *op, OpOperand &operand,
                                  Value scratch) {
  if (!roles && !kernel.getWarps())
    return;
  auto step = [&](ta::Step what, GroupQueue queue) {
    int value = scratchOf(scratch, queue);
    ta::Instruction &instruction = add(what, op);
    instruction.value = value;
    instruction.queue = queue;
  };
  GroupQueue queue = getQueue(op);
  if (queue != SyncQueue) {
    step(ta::Step::Use, SyncQueue);
    step(ta::Step::Issue, queue);
    return;
  }
  bool meet = !isPrivateToLanes(scratch);
  if (isWrite(op, operand)) {
    step(ta::Step::Use, MmaQueue);
    step(ta::Step::Use, CopyQueue);
    step(ta::Step::Issue, SyncQueue);
    return;
  }
  if (meet)
    step(ta::Step::Use, SyncQueue);
}
