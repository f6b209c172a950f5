//===- Whiles.cpp - What decides loops that are not counted by themselves -===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProgramBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::tracea;
using ::tracea::analysis::Operator;

/// `while (i < bound) { ...; i += step; }` counts as a loop of these bounds
/// does. Binds the counter.
std::string ProgramBuilder::countedLoopKey(scf::WhileOp loop,
                                           ArrayRef<const Symbol *> inits) {
  scf::ConditionOp condition = loop.getConditionOp();
  Operation *compare = condition.getCondition().getDefiningOp();
  StringRef predicate;
  if (auto op = dyn_cast_or_null<arith::CmpIOp>(compare))
    predicate = arith::stringifyCmpIPredicate(op.getPredicate());
  else if (auto op = dyn_cast_or_null<LLVM::ICmpOp>(compare))
    predicate = LLVM::stringifyICmpPredicate(op.getPredicate());
  if (predicate != "slt" && predicate != "ult")
    return "";
  auto counter = dyn_cast<BlockArgument>(compare->getOperand(0));
  if (!counter || counter.getOwner() != loop.getBeforeBody())
    return "";
  unsigned number = counter.getArgNumber();
  // The bound is computed outside.
  Value bound = compare->getOperand(1);
  if (loop->isProperAncestor(bound.getParentBlock()->getParentOp()))
    return "";
  Operation *next = loop.getYieldOp().getOperand(number).getDefiningOp();
  if (!next || getOperator(next) != Operator::Add)
    return "";
  for (unsigned side : {0, 1}) {
    auto argument = dyn_cast<BlockArgument>(next->getOperand(side));
    Value step = next->getOperand(1 - side);
    if (!argument || argument.getOwner() != loop.getAfterBody() ||
        condition.getArgs()[argument.getArgNumber()] != counter ||
        loop->isProperAncestor(step.getParentBlock()->getParentOp()))
      continue;
    const Symbol *lower = inits[number], *upper = values.get(bound),
                 *by = values.get(step);
    if (lower->onThread || upper->onThread || by->onThread || lower->onWalk ||
        upper->onWalk || by->onWalk)
      return "";
    bool isPrivate = lower->isPrivate || upper->isPrivate || by->isPrivate;
    if (isPrivate)
      return "";
    std::string key = shareKey(
        tripKey(lower, upper, by, predicate == "slt" ? "signed" : "unsigned"),
        false, lower->varies || upper->varies || by->varies, loop);
    uint64_t first = lower->isConstant() ? lower->value : 0;
    values.bind(counter, context.symbols.opaque(
                             "iteration of " + contextKey + "/" + key +
                                 (contextKnown ? "" : " elsewhere ") +
                                 std::to_string(first),
                             getSymbolBits(counter.getType()), !contextKnown,
                             /*varies=*/true, first));
    return key;
  }
  return "";
}
