//===- Assembly.cpp - Inline assembly that synchronises -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Operands.h"
#include "ProgramBuilder.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tracea;

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
    if (line.trim().getAsInteger(10, wait.count) || wait.count < 0)
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
