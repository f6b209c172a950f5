//===- Assembly.cpp - Inline assembly of PTX that synchronises ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assembly stands for operations which the dialect has not, or has in a form
// that does not tie registers.

#include "NVVMEvents.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using Kind = TargetEvent::Kind;

/// Whether the text synchronises or touches shared memory.
static bool synchronizes(StringRef text) {
  for (StringRef word : {"wgmma", "mbarrier", "bar.", "barrier", "cp.async",
                         "setmaxnreg", "fence.proxy", "shared", "elect",
                         "cluster", "stmatrix", "ldmatrix", "ret;", "exit"})
    if (text.contains(word))
      return true;
  return false;
}

/// A loop that tests the parity at $0 until it is no longer $1: what
/// conversions make of `mbarrier.try_wait.parity`.
static bool isWait(StringRef text) {
  SmallVector<StringRef> words;
  llvm::SplitString(text, words, " \t\n");
  return llvm::join(words, " ") ==
         "{ .reg .pred P1; LAB_WAIT: mbarrier.try_wait.parity.shared.b64 P1, "
         "[$0], $1, $2; @P1 bra.uni DONE; bra.uni LAB_WAIT; DONE: }";
}

bool mlir::tracea::isMultiplyAssembly(LLVM::InlineAsmOp op) {
  return op.getAsmString().contains("wgmma.mma_async");
}

TargetEvent mlir::tracea::readAssembly(LLVM::InlineAsmOp op) {
  StringRef text = op.getAsmString();
  TargetEvent result;
  auto is = [&](Kind kind, bool isCollective = true) {
    result.kind = kind;
    result.isCollective = isCollective;
    return result;
  };
  if (!synchronizes(text))
    return is(Kind::Harmless, false);
  StringRef line = text.trim(" \t\n;");
  if (line == "wgmma.fence.sync.aligned")
    return is(Kind::FenceRegisters);
  if (line == "wgmma.commit_group.sync.aligned") {
    result.queue = kMultiplies;
    return is(Kind::CloseGroup);
  }
  if (line.consume_front("wgmma.wait_group.sync.aligned ")) {
    result.queue = kMultiplies;
    if (line.trim().getAsInteger(10, result.number) || result.number < 0)
      result.doubt = "how many groups it leaves is not constant";
    return is(Kind::WaitGroup);
  }
  if (isWait(text) && op->getNumOperands() == 3) {
    result.barrier = op->getOperand(0);
    result.parity = op->getOperand(1);
    return is(Kind::Wait, false);
  }
  // What conversions make of `barrier.arrive`.
  if (line == "bar.arrive $0, $1" && op->getNumOperands() == 2) {
    result.id = op->getOperand(0);
    result.count = op->getOperand(1);
    return is(Kind::SyncArrive);
  }
  if (isMultiplyAssembly(op)) {
    result.number = 128;
    return is(Kind::Multiply);
  }
  if (line.starts_with("cp.async.bulk.global.shared::cta.bulk_group [$0], "
                       "[$1], $2") &&
      op->getNumOperands() >= 3) {
    result.address = op->getOperand(1);
    result.bytes = op->getOperand(2);
    result.queue = kStores;
    return is(Kind::BulkCopyOut, false);
  }
  result.doubt = "this inline assembly is not understood";
  return is(Kind::Unknown, false);
}
