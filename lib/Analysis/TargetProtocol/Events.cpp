//===- Events.cpp - Operations of target IR that synchronise ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Operands.h"
#include "ProgramBuilder.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tracea;

void ProgramBuilder::emitWait(Operation *op, Value barrier, Value parity) {
  if (lanes == LaneSet::OnePerWarp)
    context.undecided(op, "one lane of each warp waits");
  if (!parity.getType().isInteger(32)) {
    context.undecided(op, "it waits for a state, not for a parity");
    return;
  }
  const Symbol *symbol = values.get(parity);
  if (symbol->onThread || symbol->onOpaque)
    context.undecided(op, "the parity that it waits for is not understood");
  Linear address = addressOf(op, barrier);
  Event &wait = add(Event::Wait, op);
  wait.barrier = address;
  wait.expression = symbol;
}

bool ProgramBuilder::emitBarrierOp(Operation *op) {
  auto number = [&](Value value, const char *what) -> int64_t {
    if (std::optional<int64_t> constant = constantOf(values.get(value)))
      return *constant;
    context.undecided(op, Twine(what) + " is not constant");
    return 0;
  };
  auto local = [&](auto barrier) {
    if (barrier.getScope() != NVVM::MemScopeKind::CTA)
      context.undecided(op, "it arrives across a cluster");
  };
  auto allLanes = [&] {
    if (lanes != LaneSet::All)
      context.undecided(op, "some lanes of a warp reach it, others do not");
  };
  auto named = [&](Event::Kind kind, Value id, Value count) {
    allLanes();
    int64_t which = id ? number(id, "the barrier's number") : 0;
    int64_t threadCount =
        count ? number(count, "the number of threads") : context.threads;
    Event &event = add(kind, op);
    event.id = which;
    event.count = threadCount;
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](NVVM::MBarrierInitOp init) {
        if (init.getPredicate())
          context.undecided(op, "it has a predicate");
        int64_t count = number(init.getCount(), "the count of a barrier");
        Linear address = addressOf(op, init.getAddr());
        if (!address.terms.empty())
          context.undecided(op, "which barrier it initialises is not constant");
        Event &event = add(Event::BarrierInit, op);
        event.barrier = address;
        event.count = count;
        return true;
      })
      .Case([&](NVVM::FenceMbarrierInitOp) {
        add(Event::InitFence, op);
        return true;
      })
      .Case([&](NVVM::MBarrierArriveOp arrive) {
        local(arrive);
        int64_t count =
            arrive.getCount() ? number(arrive.getCount(), "its count") : 1;
        Linear address = addressOf(op, arrive.getAddr());
        Event &event = add(Event::Arrive, op);
        event.barrier = address;
        event.count = count;
        return true;
      })
      .Case([&](NVVM::MBarrierArriveExpectTxOp arrive) {
        local(arrive);
        if (arrive.getPredicate())
          context.undecided(op, "it has a predicate");
        int64_t bytes = number(arrive.getTxcount(), "the number of bytes");
        Linear address = addressOf(op, arrive.getAddr());
        Event &event = add(Event::Arrive, op);
        event.barrier = address;
        event.bytes = bytes;
        return true;
      })
      .Case([&](NVVM::MBarrierTryWaitParityOp wait) {
        emitWait(op, wait.getAddr(), wait.getPhase());
        return true;
      })
      // A test that is not a loop is a hint; who branches on it must say why.
      .Case<NVVM::MBarrierTryWaitOp, NVVM::MBarrierTestWaitOp>(
          [&](auto) { return true; })
      .Case([&](NVVM::BarrierOp barrier) {
        if (barrier.getReductionOp())
          context.undecided(op, "it reduces");
        named(Event::NamedSync, barrier.getBarrierId(),
              barrier.getNumberOfThreads());
        return true;
      })
      .Case([&](NVVM::Barrier0Op) {
        named(Event::NamedSync, {}, {});
        return true;
      })
      .Case([&](NVVM::BarrierArriveOp barrier) {
        named(Event::NamedArrive, barrier.getBarrierId(),
              barrier.getNumberOfThreads());
        return true;
      })
      .Case([&](NVVM::SyncWarpOp sync) {
        allLanes();
        if (!values.get(sync.getMask())->isConstant(0xFFFFFFFF))
          context.undecided(op, "it does not join all lanes");
        add(Event::MeetWarps, op);
        return true;
      })
      .Case([&](NVVM::FenceProxyOp fence) {
        if (fence.getKind() == NVVM::ProxyKind::async_shared ||
            fence.getKind() == NVVM::ProxyKind::async)
          add(Event::ProxyFence, op);
        return true;
      })
      .Case([&](NVVM::SetMaxRegisterOp registers) {
        allLanes();
        add(Event::Registers, op).count = registers.getRegCount();
        return true;
      })
      .Default(false);
}

bool ProgramBuilder::emitGroupOp(Operation *op) {
  auto close = [&](int queue) {
    add(Event::CloseGroup, op).queue = queue;
    return true;
  };
  auto wait = [&](int queue, int64_t count) {
    if (count < 0)
      context.undecided(op, "it waits until " + std::to_string(count) +
                                " groups are pending");
    Event &event = add(Event::WaitGroup, op);
    event.queue = queue;
    event.count = count;
    event.collective = queue == kMultiplies;
    return true;
  };
  auto allLanes = [&] {
    if (lanes != LaneSet::All)
      context.undecided(op, "some lanes of a warp reach it, others do not");
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](NVVM::WgmmaFenceAlignedOp) {
        allLanes();
        add(Event::FenceRegisters, op);
        return true;
      })
      .Case([&](NVVM::WgmmaGroupSyncAlignedOp) {
        allLanes();
        return close(kMultiplies);
      })
      .Case([&](NVVM::WgmmaWaitGroupSyncOp group) {
        allLanes();
        return wait(kMultiplies, group.getGroup());
      })
      .Case([&](NVVM::WgmmaMmaAsyncOp) {
        emitMultiply(op);
        return true;
      })
      .Case([&](NVVM::CpAsyncBulkCommitGroupOp) { return close(kStores); })
      .Case([&](NVVM::CpAsyncBulkWaitGroupOp group) {
        return wait(kStores, group.getGroup());
      })
      .Case([&](NVVM::CpAsyncCommitGroupOp) { return close(kCopies); })
      .Case([&](NVVM::CpAsyncWaitGroupOp group) {
        return wait(kCopies, group.getN());
      })
      .Default(false);
}

/// Reads of accumulators, unless they are only passed on.
void ProgramBuilder::emitUses(Operation *op) {
  if (!context.accumulators.size() || Accumulators::isTransparent(op))
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
  if (!context.accumulators.size() || Accumulators::isTransparent(op))
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
  if (isHarmless(op) || !isRelevantAlone(op))
    return;
  if (emitBarrierOp(op) || emitGroupOp(op) || emitAccessOp(op) ||
      emitClusterOp(op) || emitAsm(op))
    return;
  // Only registers.
  bool known = op->getDialect() && op->getDialect()->getNamespace() != "nvvm" &&
               !isa<LLVM::CallOp, LLVM::InvokeOp, LLVM::CallIntrinsicOp>(op) &&
               llvm::none_of(op->getOperandTypes(), isSharedPointer);
  if (!known)
    context.undecided(op, "'" + op->getName().getStringRef() +
                              "' is outside of the method");
}
