//===- Branches.cpp - Who takes which side of a branch ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../ProgramBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tracea;
using ::tracea::analysis::Operator;

/// One side of a branch that threads take or leave: only those that take it
/// touch what is touched there.
void ProgramBuilder::emitForSome(Block &block, const Symbol *condition,
                                 bool taken) {
  std::vector<bool> before = active;
  if (const std::vector<uint64_t> *each = values.getPerThread(condition))
    for (auto [thread, value] : llvm::enumerate(*each))
      active[thread] = active[thread] && (value != 0) == taken;
  emitBlock(block);
  active = std::move(before);
}

void ProgramBuilder::emitIf(scf::IfOp branch) {
  const Symbol *condition = values.get(branch.getCondition());
  SmallVector<Block *> blocks = {branch.thenBlock()};
  if (branch.elseBlock())
    blocks.push_back(branch.elseBlock());
  auto yields = [](Block *block) {
    return block->getTerminator()->getOperands();
  };
  auto emitTaken = [&](bool taken) {
    Block *block = taken ? branch.thenBlock() : branch.elseBlock();
    if (!block)
      return;
    emitBlock(*block);
    for (auto [yield, result] :
         llvm::zip_equal(yields(block), branch.getResults()))
      if (getSymbolBits(result.getType()))
        values.bind(result, values.get(yield));
  };
  if (condition->isConstant())
    return emitTaken(condition->value != 0);

  // Which lanes?
  bool split = condition->onThread && lanes != LaneSet::One;
  LaneSet taking = lanes;
  const Symbol *which = lane;
  bool electsThen = false;
  if (split && !condition->onOpaque && !condition->onWalk) {
    unsigned total = 0, most = 0, warpsTaking = 0;
    for (unsigned warp = threads.first; warp <= threads.last; warp += 32) {
      unsigned taken = 0;
      for (unsigned thread = warp; thread < warp + 32; ++thread)
        taken +=
            evaluateForThread(condition, thread, thread == warp).value_or(0) !=
            0;
      total += taken;
      most = std::max(most, taken);
      warpsTaking += taken != 0;
    }
    if (total == threads.size())
      return emitTaken(true);
    if (total == 0)
      return emitTaken(false);
    electsThen = most == 1 && (total == 1 || warpsTaking == threads.warps());
    if (electsThen) {
      taking = total == 1 ? LaneSet::One : LaneSet::OnePerWarp;
      which = condition;
    }
  }
  if (split) {
    bool electing = electsThen && lanes == LaneSet::All;
    for (Block *block : blocks) {
      bool then = block == branch.thenBlock();
      if (then && electing) {
        LaneSet before = lanes;
        const Symbol *laneBefore = lane;
        lanes = taking;
        lane = which;
        values.setSingleLane(lanes == LaneSet::One);
        emitBlock(*block);
        lanes = before;
        lane = laneBefore;
        values.setSingleLane(lanes == LaneSet::One);
        continue;
      }
      // Some lanes touch memory: as if all did. They may not synchronise.
      if (Operation *first = findSynchronization(context, block))
        context.undecided(first, "lanes of one warp do not agree on a branch "
                                 "around it");
      emitForSome(*block, condition, then);
    }
    for (Value result : branch.getResults())
      if (getSymbolBits(result.getType()))
        values.bind(result, values.unknown(result, false));
    return;
  }

  // Results that walk are chosen without a branch if nothing else is inside.
  if (!isRelevant(branch)) {
    for (Block *block : blocks)
      for (Operation &op : block->without_terminator())
        if (!op.getNumRegions())
          values.visit(&op);
    for (OpResult result : branch.getResults()) {
      unsigned bits = getSymbolBits(result.getType());
      if (!bits)
        continue;
      unsigned number = result.getResultNumber();
      values.bind(
          result,
          context.symbols.apply(
              Operator::Select, bits,
              {condition, values.get(yields(branch.thenBlock())[number]),
               values.get(yields(branch.elseBlock())[number])}));
    }
    return;
  }

  // What is read on either side of a choice: as if all of it were. A read asks
  // for more order, and gives none. The sides of a copy out, say.
  auto onlyReads = [&](Operation *op) {
    TargetEvent::Kind kind = context.target.read(op).kind;
    return op->getNumRegions() != 0 || !isRelevantAlone(op) ||
           isa<LLVM::LoadOp>(op) || kind == TargetEvent::LaneRead ||
           kind == TargetEvent::BulkCopyOut;
  };
  WalkResult reads = branch->walk([&](Operation *op) {
    return onlyReads(op) ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (!reads.wasInterrupted() && branch.getNumResults() == 0) {
    for (Block *block : blocks)
      emitBlock(*block);
    return;
  }

  size_t head;
  bool knownBefore = contextKnown;
  std::string keyBefore = contextKey;
  if (!condition->onOpaque && !condition->onThread && !condition->onBase) {
    add(Event::Test, branch).expression = condition;
    head = program.events.size() - 1;
    contextKnown = false;
  } else {
    std::string key = continueLoop(branch);
    if (key.empty())
      key = shareKey(
          "if " + std::to_string(reinterpret_cast<uintptr_t>(condition)),
          condition->isPrivate || condition->onWalk || condition->onThread,
          condition->varies, branch);
    head = emitNext(branch, tripOf(key));
    contextKey += "/" + key;
  }
  emitBlock(*branch.thenBlock());
  assign(branch, branch.getResults(), symbolsOf(yields(branch.thenBlock())));
  size_t skip = program.events.size();
  add(Event::Jump, branch);
  program.events[head].target = program.events.size();
  if (Block *block = branch.elseBlock()) {
    emitBlock(*block);
    assign(branch, branch.getResults(), symbolsOf(yields(block)));
  }
  program.events[skip].target = program.events.size();
  contextKnown = knownBefore;
  contextKey = keyBefore;
}

/// `if lower < upper` around a loop that starts one step later is the first
/// decision of the loop's trip count.
std::string ProgramBuilder::continueLoop(scf::IfOp branch) {
  Operation *compare = branch.getCondition().getDefiningOp();
  if (!isa_and_nonnull<arith::CmpIOp, LLVM::ICmpOp>(compare))
    return "";
  const Symbol *sides[2] = {values.get(compare->getOperand(0)),
                            values.get(compare->getOperand(1))};
  for (auto loop : branch.thenBlock()->getOps<scf::ForOp>()) {
    // Bounds are computed before the branch.
    auto defined = [&](Value value) {
      return value.getParentBlock() != branch.thenBlock() ||
             (value.getDefiningOp() &&
              matchPattern(value.getDefiningOp(), m_Constant()));
    };
    if (!defined(loop.getLowerBound()) || !defined(loop.getUpperBound()) ||
        !defined(loop.getStep()) || !isRelevant(loop))
      continue;
    APInt first, step;
    if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&first)) ||
        !matchPattern(loop.getStep(), m_ConstantInt(&step)))
      continue;
    const Symbol *upper = values.get(loop.getUpperBound());
    const Symbol *lower = context.symbols.constant(
        (first - step).getZExtValue(), first.getBitWidth());
    bool matches = (sides[0] == lower && sides[1] == upper) ||
                   (sides[1] == lower && sides[0] == upper);
    if (!matches || upper->onThread || upper->onWalk)
      continue;
    std::string key = tripKey(
        lower, upper, context.symbols.constant(step.getZExtValue()), "signed");
    key = shareKey(key, upper->isPrivate, upper->varies, branch);
    continued[loop] = key;
    return key;
  }
  return "";
}
