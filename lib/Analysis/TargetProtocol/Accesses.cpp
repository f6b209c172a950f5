//===- Accesses.cpp - What operations touch in shared memory ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Operands.h"
#include "ProgramBuilder.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tracea/Dialect/TraceaPipe/IR/KernelInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tracea;

static constexpr const char *kNoBox =
    "how many bytes it copies is not known; the kernel's interface has no such "
    "tensor map";

/// Whether it may point into another block's memory.
static bool isClusterPointer(Value address) {
  auto type = dyn_cast<LLVM::LLVMPointerType>(address.getType());
  return type &&
         type.getAddressSpace() ==
             static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster);
}

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

bool ProgramBuilder::emitAccessOp(Operation *op) {
  DataLayout layout = DataLayout::closest(op);
  auto sizeOf = [&](Type type) -> int64_t {
    return layout.getTypeSize(type).getFixedValue();
  };
  auto copy = [&](Value to, Value barrier, int64_t bytes, Value mask) {
    if (mask)
      context.undecided(op, "it copies to several blocks of a cluster");
    if (bytes < 0)
      context.undecided(op, kNoBox);
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
        if (!program.events.empty() && program.events.back().op == op) {
          program.events.back().fresh = context.messages.fresh.contains(op);
          if (isClusterPointer(load.getAddr())) {
            program.events.back().remote = true;
            program.events.back().async = true;
            program.events.back().queue = kPeers;
          }
        }
        return true;
      })
      .Case([&](LLVM::StoreOp store) {
        emitAccess(Event::Write, op, store.getAddr(),
                   sizeOf(store.getValue().getType()));
        return true;
      })
      .Default(false);
}
