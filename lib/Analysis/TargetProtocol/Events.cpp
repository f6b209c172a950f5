//===- Events.cpp - Operations of target IR that synchronise --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProgramBuilder.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tracea;

/// Bytes of the box of a tensor map, an attribute of the kernel's argument.
static constexpr const char *kBoxBytes = "tracea.box_bytes";

static bool isSharedPointer(Type type) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer &&
         (pointer.getAddressSpace() == 3 || pointer.getAddressSpace() == 7);
}

//===----------------------------------------------------------------------===//
// Which operations matter
//===----------------------------------------------------------------------===//

/// Text of inline assembly that synchronises or touches shared memory.
static bool asmSynchronizes(StringRef text) {
  for (StringRef word : {"wgmma", "mbarrier", "bar.", "barrier", "cp.async",
                         "setmaxnreg", "fence.proxy", "shared", "elect",
                         "cluster", "stmatrix", "ldmatrix", "ret;", "exit"})
    if (text.contains(word))
      return true;
  return false;
}

static bool isAccess(Operation *op) {
  if (isa<NVVM::StMatrixOp, NVVM::LdMatrixOp>(op))
    return true;
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    return isSharedPointer(load.getAddr().getType());
  if (auto store = dyn_cast<LLVM::StoreOp>(op))
    return isSharedPointer(store.getAddr().getType());
  return false;
}

/// Operations of nvvm that have nothing to do with a block's protocol.
static bool isHarmless(Operation *op) {
  return isa<NVVM::PrefetchOp, NVVM::ShflOp, NVVM::VoteSyncOp, NVVM::ReduxOp,
             NVVM::ElectSyncOp, NVVM::GriddepcontrolOp, NVVM::MmaOp>(op) ||
         op->getName().getStringRef().starts_with("nvvm.read.") ||
         op->getName().getStringRef().starts_with("nvvm.convert.") ||
         isPure(op);
}

bool ProgramBuilder::isRelevantAlone(Operation *op) {
  if (auto assembly = dyn_cast<LLVM::InlineAsmOp>(op))
    if (asmSynchronizes(assembly.getAsmString()))
      return true;
  if (isa<LLVM::CallOp, LLVM::InvokeOp, LLVM::CallIntrinsicOp>(op))
    return true;
  if (op->getDialect() && op->getDialect()->getNamespace() == "nvvm" &&
      !isHarmless(op))
    return true;
  if (!isPure(op) && llvm::any_of(op->getOperandTypes(), isSharedPointer))
    return true;
  if (Accumulators::isTransparent(op))
    return false;
  auto isRegister = [&](Value value) {
    return context.accumulators.getRegisters(value) >= 0;
  };
  return context.accumulators.size() &&
         (llvm::any_of(op->getOperands(), isRegister) ||
          llvm::any_of(op->getResults(), isRegister));
}

bool ProgramBuilder::isRelevant(Operation *op) {
  auto it = relevant.find(op);
  if (it != relevant.end())
    return it->second;
  bool result = isRelevantAlone(op);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        result |= isRelevant(&inner);
  relevant[op] = result;
  return result;
}

/// The first operation that does more than touch memory and registers.
Operation *ProgramBuilder::findSynchronization(Block *block) {
  Operation *found = nullptr;
  block->walk([&](Operation *op) {
    if (op->getNumRegions() || isAccess(op) || !isRelevantAlone(op))
      return WalkResult::advance();
    bool synchronizes =
        isa<LLVM::InlineAsmOp, LLVM::CallOp>(op) ||
        (op->getDialect() && op->getDialect()->getNamespace() == "nvvm" &&
         !isHarmless(op));
    if (!synchronizes)
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

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
  auto bytes = context.kernel.getArgAttrOfType<IntegerAttr>(
      argument.getArgNumber(), kBoxBytes);
  return bytes && bytes.getInt() > 0 ? bytes.getInt() : -1;
}

static std::optional<int64_t> constantOf(const Symbol *symbol) {
  if (!symbol->isConstant() || symbol->value > (uint64_t(1) << 31))
    return std::nullopt;
  return static_cast<int64_t>(symbol->value);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

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

void ProgramBuilder::emitMultiply(Operation *op) {
  if (lanes != LaneSet::All || threads.size() != 128)
    context.undecided(op, "a multiply of a warpgroup is run by other threads");
  FailureOr<SmallVector<MultiplyOperand>> operands = getMultiplyOperands(op);
  if (failed(operands)) {
    context.undecided(op, "this multiply is not understood");
    return;
  }
  for (const MultiplyOperand &operand : *operands) {
    Footprint footprint = getDescriptorFootprint(operand, values);
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
  llvm::for_each(getFragments(op), feed);
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
    if (isSharedPointer(address.getType()))
      context.undecided(op, "the address of shared memory is not understood");
    return;
  }
  Footprint footprint =
      getLaneFootprint(address, std::max<int64_t>(length, 1), values);
  if (!footprint.reason.empty())
    context.undecided(op, footprint.reason);
  if (length < 0)
    context.undecided(op, "how many bytes it copies is not known; the tensor "
                          "map's argument has no '" +
                              Twine(kBoxBytes) + "'");
  Event &event = add(kind, op);
  event.address = getOffset(footprint.address);
  event.length = footprint.length;
  event.async = queue >= 0;
  event.queue = std::max(queue, 0);
}

bool ProgramBuilder::emitAccessOp(Operation *op) {
  DataLayout layout = DataLayout::closest(op);
  auto sizeOf = [&](Type type) -> int64_t {
    return layout.getTypeSize(type).getFixedValue();
  };
  auto copy = [&](Value to, Value barrier, int64_t bytes, Value mask) {
    if (mask)
      context.undecided(op, "it copies to several blocks of a cluster");
    if (bytes < 0)
      context.undecided(op, "how many bytes it copies is not known; the "
                            "tensor map's argument has no '" +
                                Twine(kBoxBytes) + "'");
    if (lanes != LaneSet::One)
      context.undecided(op, "several lanes copy");
    Linear linear = addressOf(op, barrier);
    emitAccess(Event::Copy, op, to, bytes);
    if (program.events.empty() || program.events.back().op != op)
      return;
    program.events.back().barrier = linear;
    program.events.back().bytes = bytes;
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp bulk) {
        if (bulk.getPredicate())
          context.undecided(op, "it has a predicate");
        copy(bulk.getDstMem(), bulk.getMbar(),
             boxBytes(bulk.getTmaDescriptor()), bulk.getMulticastMask());
        return true;
      })
      .Case([&](NVVM::CpAsyncBulkGlobalToSharedClusterOp bulk) {
        copy(bulk.getDstMem(), bulk.getMbar(),
             constantOf(values.get(bulk.getSize())).value_or(-1),
             bulk.getMulticastMask());
        return true;
      })
      .Case([&](NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp bulk) {
        emitAccess(Event::Read, op, bulk.getSrcMem(),
                   boxBytes(bulk.getTmaDescriptor()), kStores);
        return true;
      })
      .Case([&](NVVM::CpAsyncBulkSharedCTAToGlobalOp bulk) {
        const Symbol *size = values.get(bulk.getSize());
        emitAccess(Event::Read, op, bulk.getSrcMem(),
                   size->high < (1u << 18) ? size->high : -1, kStores);
        return true;
      })
      .Case([&](NVVM::CpAsyncOp copied) {
        emitAccess(Event::Write, op, copied.getDst(), copied.getSize(),
                   kCopies);
        return true;
      })
      .Case([&](NVVM::StMatrixOp store) {
        emitAccess(Event::Write, op, store.getPtr(), 16);
        return true;
      })
      .Case([&](NVVM::LdMatrixOp load) {
        emitAccess(Event::Read, op, load.getPtr(), 16);
        return true;
      })
      .Case([&](LLVM::LoadOp load) {
        emitAccess(Event::Read, op, load.getAddr(), sizeOf(load.getType()));
        if (!program.events.empty() && program.events.back().op == op)
          program.events.back().fresh = context.messages.fresh.contains(op);
        return true;
      })
      .Case([&](LLVM::StoreOp store) {
        emitAccess(Event::Write, op, store.getAddr(),
                   sizeOf(store.getValue().getType()));
        return true;
      })
      .Default(false);
}

/// A loop that tests the parity at $0 until it is no longer $1.
static bool isWaitAsm(StringRef text) {
  SmallVector<StringRef> words;
  llvm::SplitString(text, words, " \t\n");
  return llvm::join(words, " ") ==
         "{ .reg .pred P1; LAB_WAIT: mbarrier.try_wait.parity.shared.b64 P1, "
         "[$0], $1, $2; @P1 bra.uni DONE; bra.uni LAB_WAIT; DONE: }";
}

/// Assembly that stands for operations which the dialect has not, or has in a
/// form that does not tie registers.
bool ProgramBuilder::emitAsm(Operation *op) {
  auto assembly = dyn_cast<LLVM::InlineAsmOp>(op);
  if (!assembly)
    return false;
  StringRef text = assembly.getAsmString();
  if (!asmSynchronizes(text))
    return true;
  auto allLanes = [&] {
    if (lanes != LaneSet::All)
      context.undecided(op, "some lanes of a warp reach it, others do not");
  };
  StringRef line = text.trim(" \t\n;");
  if (line == "wgmma.fence.sync.aligned") {
    allLanes();
    add(Event::FenceRegisters, op);
    return true;
  }
  if (line == "wgmma.commit_group.sync.aligned") {
    allLanes();
    add(Event::CloseGroup, op).queue = kMultiplies;
    return true;
  }
  if (line.consume_front("wgmma.wait_group.sync.aligned ")) {
    allLanes();
    Event &wait = add(Event::WaitGroup, op);
    wait.queue = kMultiplies;
    wait.collective = true;
    if (line.trim().getAsInteger(10, wait.count))
      context.undecided(op, "how many groups it leaves is not constant");
    return true;
  }
  // What conversions make of `mbarrier.try_wait.parity` and `barrier.arrive`.
  if (isWaitAsm(text) && op->getNumOperands() == 3) {
    emitWait(op, op->getOperand(0), op->getOperand(1));
    return true;
  }
  if (line == "bar.arrive $0, $1" && op->getNumOperands() == 2) {
    allLanes();
    std::optional<int64_t> id = constantOf(values.get(op->getOperand(0))),
                           count = constantOf(values.get(op->getOperand(1)));
    if (!id || !count)
      context.undecided(op, "a named barrier or its count is not constant");
    Event &event = add(Event::NamedArrive, op);
    event.id = id.value_or(0);
    event.count = count.value_or(0);
    return true;
  }
  if (isMultiplyAsm(op)) {
    emitMultiply(op);
    return true;
  }
  if (line.starts_with("cp.async.bulk.global.shared::cta.bulk_group [$0], "
                       "[$1], $2") &&
      op->getNumOperands() >= 3) {
    const Symbol *size = values.get(op->getOperand(2));
    emitAccess(Event::Read, op, op->getOperand(1),
               size->high < (1u << 18) ? size->high : -1, kStores);
    return true;
  }
  context.undecided(op, "this inline assembly is not understood");
  return true;
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
  if (emitBarrierOp(op) || emitGroupOp(op) || emitAccessOp(op) || emitAsm(op))
    return;
  // Only registers.
  bool known = op->getDialect() && op->getDialect()->getNamespace() != "nvvm" &&
               !isa<LLVM::CallOp, LLVM::InvokeOp, LLVM::CallIntrinsicOp>(op) &&
               llvm::none_of(op->getOperandTypes(), isSharedPointer);
  if (!known)
    context.undecided(op, "'" + op->getName().getStringRef() +
                              "' is outside of the method");
}
