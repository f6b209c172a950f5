//===- Accesses.cpp - What operations touch in shared memory ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Operands.h"
#include "ProgramBuilder.h"

#include "tracea/Dialect/TraceaPipe/IR/KernelInterface.h"

using namespace mlir;
using namespace mlir::tracea;

static constexpr const char *kNoBox =
    "how many bytes it copies is not known; the kernel's interface has no such "
    "tensor map";

Linear ProgramBuilder::addressOf(Operation *op, Value address) {
  Linear linear = context.symbols.linearize(values.get(address));
  bool known = isShared(linear);
  for (auto [symbol, coefficient] : linear.terms)
    known &= !symbol->onThread && !symbol->onOpaque;
  if (!known)
    context.undecided(op, "the address of its barrier is not understood");
  return getOffset(linear);
}

int64_t ProgramBuilder::boxBytes(Value map) {
  auto argument = dyn_cast<BlockArgument>(map);
  if (!argument || argument.getOwner() != &context.kernel.getBody().front())
    return -1;
  auto interface = tracea_pipe::getKernelInterface(context.kernel);
  auto known = interface ? interface.getMapOf(argument.getArgNumber())
                         : tracea_pipe::TensorMapAttr();
  return known ? known.getBoxBytes() : -1;
}

std::optional<int64_t> mlir::tracea::constantOf(const Symbol *symbol) {
  if (!symbol->isConstant() || symbol->value > (uint64_t(1) << 31))
    return std::nullopt;
  return static_cast<int64_t>(symbol->value);
}

void ProgramBuilder::emitMultiply(Operation *op, const TargetEvent &event) {
  if (threads.size() != event.number)
    context.undecided(op, "a multiply of a warpgroup is run by other threads");
  FailureOr<SmallVector<Footprint>> reads = context.target.getReads(op, values);
  if (failed(reads)) {
    context.undecided(op, "this multiply is not understood");
    return;
  }
  for (const Footprint &footprint : *reads) {
    if (!footprint.reason.empty()) {
      context.undecided(op, footprint.reason);
      continue;
    }
    for (auto [symbol, coefficient] : footprint.address.terms)
      if (symbol->onThread || symbol->onOpaque)
        context.undecided(op, "a matrix descriptor depends on data");
    Event &read = add(Event::Read, op);
    read.address = getOffset(footprint.address);
    read.length = footprint.length;
    read.async = true;
    read.queue = kMultiplies;
  }
  auto feed = [&](Value value) {
    if (int number = context.accumulators.getRegisters(value); number >= 0)
      add(Event::FeedRegisters, op).number = number;
  };
  feed(op->getResult(0));
  llvm::for_each(context.target.getFragments(op), feed);
  if (int number = context.accumulators.get(op->getResult(0)); number >= 0) {
    Event &issue = add(Event::Issue, op);
    issue.number = number;
    issue.queue = kMultiplies;
  }
}

void ProgramBuilder::emitAccess(Event::Kind kind, Operation *op, Value address,
                                int64_t length, int queue) {
  Linear linear = context.symbols.linearize(values.get(address));
  if (!isShared(linear)) {
    if (context.target.isShared(address.getType()))
      context.undecided(op, "the address of shared memory is not understood");
    return;
  }
  Footprint footprint =
      getLaneFootprint(address, std::max<int64_t>(length, 1), values, active);
  if (!footprint.reason.empty())
    context.undecided(op, footprint.reason);
  if (length < 0)
    context.undecided(op, kNoBox);
  Event &event = add(kind, op);
  event.address = getOffset(footprint.address);
  event.length = footprint.length;
  event.async = queue >= 0;
  event.queue = std::max(queue, 0);
}

void ProgramBuilder::emitBulkCopy(Operation *op, const TargetEvent &event) {
  // What leaves may be less than the most that a size can say.
  bool isIn = event.kind == TargetEvent::BulkCopyIn;
  auto bytesOf = [&](Value size) -> int64_t {
    const Symbol *symbol = values.get(size);
    if (isIn)
      return constantOf(symbol).value_or(-1);
    return symbol->high < (1u << 18) ? symbol->high : -1;
  };
  int64_t bytes =
      event.tensorMap ? boxBytes(event.tensorMap) : bytesOf(event.bytes);
  if (!isIn)
    return emitAccess(Event::Read, op, event.address, bytes, event.queue);
  if (bytes < 0)
    context.undecided(op, kNoBox);
  if (lanes != LaneSet::One)
    context.undecided(op, "several lanes copy");
  Linear barrier = addressOf(op, event.barrier);
  emitAccess(Event::Copy, op, event.address, bytes);
  if (program.events.empty() || program.events.back().op != op)
    return;
  program.events.back().barrier = barrier;
  program.events.back().bytes = bytes;
}

bool ProgramBuilder::emitAccessOp(Operation *op) {
  DataLayout layout = DataLayout::closest(op);
  auto sizeOf = [&](Type type) -> int64_t {
    return layout.getTypeSize(type).getFixedValue();
  };
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    emitAccess(Event::Read, op, load.getAddr(), sizeOf(load.getType()));
    if (program.events.empty() || program.events.back().op != op)
      return true;
    Event &read = program.events.back();
    read.fresh = context.messages.fresh.contains(op);
    if (context.target.isOfCluster(load.getAddr().getType())) {
      read.remote = true;
      read.async = true;
      read.queue = kPeers;
    }
    return true;
  }
  auto store = dyn_cast<LLVM::StoreOp>(op);
  if (store)
    emitAccess(Event::Write, op, store.getAddr(),
               sizeOf(store.getValue().getType()));
  return static_cast<bool>(store);
}
