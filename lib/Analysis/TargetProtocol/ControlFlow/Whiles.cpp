//===- Whiles.cpp - What decides loops that are not counted by themselves ===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../ProgramBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

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

/// A loop that waits by testing again and again.
static Operation *getTestedWait(scf::WhileOp loop, const TargetEvents &target) {
  if (loop.getNumOperands() || loop.getNumResults())
    return nullptr;
  Block *after = loop.getAfterBody();
  if (!llvm::hasSingleElement(*after))
    return nullptr;
  // condition(!test)
  Value condition = loop.getConditionOp().getCondition();
  Operation *negation = condition.getDefiningOp();
  if (!isa_and_nonnull<arith::XOrIOp, LLVM::XOrOp>(negation))
    return nullptr;
  for (unsigned i : {0, 1}) {
    APInt one;
    Operation *test = negation->getOperand(i).getDefiningOp();
    if (matchPattern(negation->getOperand(1 - i), m_ConstantInt(&one)) &&
        one.isOne() && test && target.read(test).kind == TargetEvent::Test)
      return test;
  }
  return nullptr;
}

void ProgramBuilder::emitWhile(scf::WhileOp loop) {
  if (Operation *test = getTestedWait(loop, context.target)) {
    for (Operation &op : loop.getBeforeBody()->without_terminator())
      values.visit(&op);
    return emitWait(test, context.target.read(test));
  }
  if (!isRelevant(loop)) {
    for (Value result : loop.getResults())
      if (getSymbolBits(result.getType()))
        values.bind(result, values.unknown(result, false));
    return;
  }
  SmallVector<const Symbol *> inits = symbolsOf(loop.getInits());
  assign(loop, loop.getBeforeArguments(), inits);
  bool knownBefore = contextKnown;
  std::string keyBefore = contextKey;
  std::string key = context.messages.loops.lookup(loop);
  bool message = !key.empty();
  if (!message)
    key = countedLoopKey(loop, inits);
  for (Value argument : loop.getBeforeArguments())
    bindMessage(argument);
  contextKnown &= !key.empty();
  contextKey += "/" + key;
  size_t head = program.events.size();
  emitBlock(*loop.getBeforeBody());
  scf::ConditionOp condition = loop.getConditionOp();
  const Symbol *decision = values.get(condition.getCondition());
  SmallVector<const Symbol *> forwarded = symbolsOf(condition.getArgs());
  forward(condition, loop.getAfterArguments(), forwarded);
  if (!message && decision->onThread && lanes != LaneSet::One) {
    context.undecided(loop, "lanes of one warp do not agree on this loop");
    return;
  }
  size_t exit;
  if (decision->onWalk && !decision->onOpaque) {
    add(Event::Test, loop).expression = decision;
    exit = program.events.size() - 1;
  } else {
    if (key.empty())
      key = shareKey("while", /*isPrivate=*/true, true, loop);
    exit = emitNext(loop, tripOf(key));
  }
  emitBlock(*loop.getAfterBody());
  assign(loop, loop.getBeforeArguments(),
         symbolsOf(loop.getYieldOp().getOperands()));
  add(Event::Jump, loop).target = head;
  program.events[exit].target = program.events.size();
  contextKnown = knownBefore;
  contextKey = keyBefore;
  for (auto [argument, result] :
       llvm::zip_equal(loop.getAfterArguments(), loop.getResults()))
    if (unsigned bits = getSymbolBits(result.getType()))
      values.bind(result, walks.contains(argument)
                              ? context.symbols.walk(variableOf(argument), bits)
                              : values.unknown(result, true));
}
