//===- Events.cpp - What operations do, as events of a program -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Operands.h"
#include "ProgramBuilder.h"

using namespace mlir;
using namespace mlir::tracea;

void ProgramBuilder::emitWait(Operation *op, const TargetEvent &event) {
  if (lanes == LaneSet::OnePerWarp)
    context.undecided(op, "one lane of each warp waits");
  if (!event.parity.getType().isInteger(32)) {
    context.undecided(op, "it waits for a state, not for a parity");
    return;
  }
  const Symbol *symbol = values.get(event.parity);
  if (symbol->onThread || symbol->onOpaque)
    context.undecided(op, "the parity that it waits for is not understood");
  Linear address = addressOf(op, event.barrier);
  Event &wait = add(Event::Wait, op);
  wait.barrier = address;
  wait.expression = symbol;
}

int64_t ProgramBuilder::numberOf(Operation *op, Value value, const char *what,
                                 int64_t otherwise) {
  if (!value)
    return otherwise;
  if (std::optional<int64_t> constant = constantOf(values.get(value)))
    return *constant;
  context.undecided(op, Twine(what) + " is not constant");
  return 0;
}

/// At a barrier in shared memory.
void ProgramBuilder::emitBarrier(Operation *op, const TargetEvent &event) {
  bool isInit = event.kind == TargetEvent::BarrierInit;
  int64_t count = numberOf(op, event.count,
                           isInit ? "the count of a barrier" : "its count", 1);
  int64_t bytes = numberOf(op, event.bytes, "the number of bytes", 0);
  Linear address = addressOf(op, event.barrier);
  if (isInit && !address.terms.empty())
    context.undecided(op, "which barrier it initialises is not constant");
  Event &own = add(isInit ? Event::BarrierInit : Event::Arrive, op);
  own.barrier = address;
  own.count = count;
  own.bytes = bytes;
}

void ProgramBuilder::emitTargetEvent(Operation *op, const TargetEvent &event) {
  if (!event.doubt.empty())
    context.undecided(op, event.doubt);
  if (event.isCollective && lanes != LaneSet::All)
    context.undecided(op, "some lanes of a warp reach it, others do not");
  switch (event.kind) {
  case TargetEvent::BarrierInit:
  case TargetEvent::Arrive:
    return emitBarrier(op, event);
  case TargetEvent::InitFence:
    add(Event::InitFence, op);
    return;
  case TargetEvent::Wait:
    return emitWait(op, event);
  // A test that is not a loop is a hint; who branches on it must say why.
  case TargetEvent::Test:
    return;
  case TargetEvent::Sync:
  case TargetEvent::SyncArrive: {
    int64_t id = numberOf(op, event.id, "the barrier's number", 0);
    int64_t count =
        numberOf(op, event.count, "the number of threads", context.threads);
    Event &named = add(event.kind == TargetEvent::Sync ? Event::NamedSync
                                                       : Event::NamedArrive,
                       op);
    named.id = id;
    named.count = count;
    return;
  }
  case TargetEvent::MeetLanes:
    if (!values.get(event.value)->isConstant(0xFFFFFFFF))
      context.undecided(op, "it does not join all lanes");
    add(Event::MeetWarps, op);
    return;
  case TargetEvent::ProxyFence:
    add(Event::ProxyFence, op);
    return;
  case TargetEvent::CloseGroup:
    add(Event::CloseGroup, op).queue = event.queue;
    return;
  case TargetEvent::WaitGroup: {
    if (event.number < 0)
      context.undecided(op, "it waits until " + std::to_string(event.number) +
                                " groups are pending");
    Event &wait = add(Event::WaitGroup, op);
    wait.queue = event.queue;
    wait.count = event.number;
    wait.collective = event.queue == kMultiplies;
    return;
  }
  case TargetEvent::BulkCopyIn:
  case TargetEvent::BulkCopyOut:
    return emitBulkCopy(op, event);
  case TargetEvent::LaneRead:
  case TargetEvent::LaneWrite:
    return emitAccess(event.kind == TargetEvent::LaneRead ? Event::Read
                                                          : Event::Write,
                      op, event.address, event.number, event.queue);
  case TargetEvent::Multiply:
    return emitMultiply(op, event);
  case TargetEvent::FenceRegisters:
    add(Event::FenceRegisters, op);
    return;
  case TargetEvent::Registers:
    add(Event::Registers, op).count = event.number;
    return;
  case TargetEvent::ClusterArrive:
  case TargetEvent::ClusterArriveRelaxed:
    add(Event::ClusterArrive, op).publishes =
        event.kind == TargetEvent::ClusterArrive;
    return;
  case TargetEvent::ClusterWait:
    add(Event::ClusterWait, op);
    return;
  default:
    context.undecided(op, "'" + op->getName().getStringRef() +
                              "' is outside of the method");
  }
}

/// Reads of accumulators, unless they are only passed on.
void ProgramBuilder::emitUses(Operation *op) {
  if (!context.accumulators.size() || context.accumulators.isTransparent(op))
    return;
  for (Value operand : op->getOperands()) {
    int number = context.accumulators.get(operand);
    if (number < 0)
      continue;
    // Once is enough until something else happens.
    bool repeated = false;
    for (size_t i = program.events.size(); i-- > 0 && !repeated;) {
      if (program.events[i].kind != Event::Use)
        break;
      repeated = program.events[i].number == number;
    }
    if (!repeated)
      add(Event::Use, op).number = number;
  }
}

/// Other accesses to registers of multiplies, which a fence has to order.
void ProgramBuilder::emitTouches(Operation *op) {
  if (!context.accumulators.size() || context.accumulators.isTransparent(op))
    return;
  auto touch = [&](Value value) {
    int number = context.accumulators.getRegisters(value);
    if (number < 0)
      return;
    for (size_t i = program.events.size(); i-- > 0;) {
      const Event &event = program.events[i];
      if (event.kind == Event::TouchRegisters && event.number == number)
        return;
      if (event.kind != Event::TouchRegisters && event.kind != Event::Use)
        break;
    }
    add(Event::TouchRegisters, op).number = number;
  };
  llvm::for_each(op->getOperands(), touch);
  llvm::for_each(op->getResults(), touch);
}

void ProgramBuilder::emitOp(Operation *op) {
  values.visit(op);
  for (Value result : op->getResults())
    bindMessage(result);
  emitUses(op);
  emitTouches(op);
  if (context.isHarmless(op) || !isRelevantAlone(op))
    return;
  if (TargetEvent event = context.target.read(op); event.isEvent())
    return emitTargetEvent(op, event);
  if (emitAccessOp(op))
    return;
  // Only registers.
  if (isa<LLVM::CallOp, LLVM::InvokeOp, LLVM::CallIntrinsicOp>(op) ||
      context.touchesShared(op))
    context.undecided(op, "'" + op->getName().getStringRef() +
                              "' is outside of the method");
}
