//===- PhaseUtils.cpp - Phases along their ring ---------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PhaseUtils.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

Value mlir::tracea_pipe::getLastPhase(Value phase) {
  Block *block = phase.getParentBlock();
  while (true) {
    Value next;
    for (OpOperand &use : phase.getUses()) {
      Operation *user = use.getOwner();
      if (user->getBlock() != block)
        continue;
      if (auto advance = dyn_cast<AdvanceOp>(user))
        next = advance.getResult();
      else if (auto loop = dyn_cast<scf::ForOp>(user))
        next = loop.getTiedLoopResult(&use);
    }
    if (!next)
      return phase;
    phase = next;
  }
}

scf::ForOp
mlir::tracea_pipe::dropIterArgs(RewriterBase &rewriter, scf::ForOp loop,
                                llvm::function_ref<bool(unsigned)> drop) {
  SmallVector<Value> inits, yields;
  SmallVector<unsigned> kept;
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
    if (drop(i)) {
      loop.getRegionIterArg(i).replaceAllUsesWith(loop.getInits()[i]);
      continue;
    }
    kept.push_back(i);
    inits.push_back(loop.getInits()[i]);
  }
  for (unsigned i : kept)
    yields.push_back(loop.getYieldedValues()[i]);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(loop);
  auto result =
      scf::ForOp::create(rewriter, loop.getLoc(), loop.getLowerBound(),
                         loop.getUpperBound(), loop.getStep(), inits);
  result->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *body = result.getBody();
  if (inits.empty())
    body->getTerminator()->erase();
  SmallVector<Value> arguments{result.getInductionVar()};
  unsigned next = 0;
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
    bool isKept = next < kept.size() && kept[next] == i;
    arguments.push_back(isKept ? Value(result.getRegionIterArg(next++))
                               : loop.getInits()[i]);
  }
  Operation *yield = loop.getBody()->getTerminator();
  rewriter.mergeBlocks(loop.getBody(), body, arguments);
  rewriter.setInsertionPoint(yield);
  // Operands may have been arguments that were replaced by the merge.
  SmallVector<Value> values;
  for (unsigned i : kept)
    values.push_back(yield->getOperand(i));
  scf::YieldOp::create(rewriter, yield->getLoc(), values);
  yield->erase();
  for (auto [position, i] : llvm::enumerate(kept))
    loop.getResult(i).replaceAllUsesWith(result.getResult(position));
  rewriter.eraseOp(loop);
  return result;
}

/// Whether an iteration argument is used by nothing but what yields it.
static bool feedsItselfAlone(scf::ForOp loop, unsigned i) {
  if (!loop.getResult(i).use_empty())
    return false;
  llvm::SmallDenseSet<Value> seen;
  SmallVector<Value> pending{loop.getRegionIterArg(i)};
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (auto yield = dyn_cast<scf::YieldOp>(user)) {
        if (yield->getParentOp() == loop) {
          if (use.getOperandNumber() != i)
            return false;
          continue;
        }
        auto inner = dyn_cast<scf::ForOp>(yield->getParentOp());
        if (!inner)
          return false;
        pending.push_back(inner.getResult(use.getOperandNumber()));
        continue;
      }
      if (auto inner = dyn_cast<scf::ForOp>(user)) {
        if (use.getOperandNumber() < inner.getNumControlOperands())
          return false;
        pending.push_back(inner.getTiedLoopRegionIterArg(&use));
        pending.push_back(inner.getTiedLoopResult(&use));
        continue;
      }
      if (!isPure(user) || user->getNumRegions())
        return false;
      llvm::append_range(pending, user->getResults());
    }
  }
  return true;
}

void mlir::tracea_pipe::removeDeadCode(Operation *root) {
  IRRewriter rewriter(root->getContext());
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<Operation *> dead;
    // What is in a dead operation goes with it.
    root->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == root || !isOpTriviallyDead(op))
        return WalkResult::advance();
      dead.push_back(op);
      return WalkResult::skip();
    });
    // Users come after what they use: the other way round.
    for (Operation *op : llvm::reverse(dead))
      if (op->use_empty()) {
        op->erase();
        changed = true;
      }
    if (changed)
      continue;
    SmallVector<scf::ForOp> loops;
    root->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      llvm::BitVector useless(loop.getNumRegionIterArgs());
      for (unsigned i = 0; i < useless.size(); ++i)
        useless[i] = feedsItselfAlone(loop, i);
      if (useless.none())
        continue;
      dropIterArgs(rewriter, loop, [&](unsigned i) { return useless[i]; });
      changed = true;
      break;
    }
  }
}
