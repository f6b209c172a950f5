//===- CountedLoops.cpp - Loops that count --------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CountedLoops.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::tracea;

scf::ForOp mlir::tracea::countLoop(scf::WhileOp loop,
                                   MutableArrayRef<Value> values) {
  Block *before = loop.getBeforeBody(), *after = loop.getAfterBody();
  scf::ConditionOp condition = loop.getConditionOp();
  auto compare = condition.getCondition().getDefiningOp<LLVM::ICmpOp>();
  if (!compare || &before->front() != compare ||
      compare->getNextNode() != condition)
    return {};
  bool isUnsigned = compare.getPredicate() == LLVM::ICmpPredicate::ult;
  if (!isUnsigned && compare.getPredicate() != LLVM::ICmpPredicate::slt)
    return {};
  auto counter = dyn_cast<BlockArgument>(compare.getLhs());
  Value bound = compare.getRhs();
  if (!counter || counter.getOwner() != before ||
      bound.getParentBlock() == before || !counter.getType().isInteger())
    return {};
  unsigned number = counter.getArgNumber();
  // Which of the loop's values each value of the body is.
  SmallVector<unsigned> sources;
  for (Value value : condition.getArgs()) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != before)
      return {};
    sources.push_back(argument.getArgNumber());
  }
  auto add = loop.getYieldOp().getOperand(number).getDefiningOp<LLVM::AddOp>();
  if (!add)
    return {};
  Value step;
  for (unsigned side : {0, 1})
    if (auto argument = dyn_cast<BlockArgument>(add->getOperand(side)))
      if (argument.getOwner() == after &&
          sources[argument.getArgNumber()] == number)
        step = add->getOperand(1 - side);
  if (!step || loop->isAncestor(step.getParentBlock()->getParentOp()))
    return {};
  // What it has counted to is not said by a loop that counts.
  for (auto [source, result] : llvm::zip_equal(sources, loop.getResults()))
    if (source == number &&
        (!result.use_empty() || llvm::is_contained(values, result)))
      return {};

  OpBuilder b(loop);
  SmallVector<Value> inits;
  SmallVector<unsigned> places(loop.getNumOperands());
  for (auto [i, init] : llvm::enumerate(loop.getInits()))
    if (i != number) {
      places[i] = inits.size();
      inits.push_back(init);
    }
  auto counted =
      scf::ForOp::create(b, loop.getLoc(), loop.getInits()[number], bound, step,
                         inits, /*bodyBuilder=*/nullptr, isUnsigned);
  Block *body = counted.getBody();
  if (!body->empty())
    body->getTerminator()->erase();
  for (auto [source, argument] :
       llvm::zip_equal(sources, after->getArguments()))
    argument.replaceAllUsesWith(
        source == number ? counted.getInductionVar()
                         : Value(counted.getRegionIterArg(places[source])));
  SmallVector<Value> yielded;
  for (auto [i, value] : llvm::enumerate(loop.getYieldOp().getOperands()))
    if (i != number)
      yielded.push_back(value);
  Operation *yield = loop.getYieldOp();
  body->getOperations().splice(body->end(), after->getOperations());
  b.setInsertionPointToEnd(body);
  scf::YieldOp::create(b, yield->getLoc(), yielded);
  yield->erase();
  for (auto [source, result] : llvm::zip_equal(sources, loop.getResults())) {
    if (source == number)
      continue;
    Value out = counted.getResult(places[source]);
    for (Value &value : values)
      if (value == result)
        value = out;
    result.replaceAllUsesWith(out);
  }
  loop->erase();
  return counted;
}
