//===- Variables.cpp - What walks rings, and what is handed over --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Operands.h"
#include "ProgramBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::tracea;

/// Integers that travel through loops and are computed from constants and such
/// integers alone: assumed, then disproved.
void ProgramBuilder::findWalks() {
  context.kernel.walk([&](Operation *op) {
    auto consider = [&](ValueRange range) {
      for (Value value : range)
        if (isa<IntegerType, IndexType>(value.getType()))
          walks.insert(value);
    };
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      consider(loop.getRegionIterArgs());
      consider(loop.getResults());
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      consider(loop.getBeforeArguments());
      consider(loop.getAfterArguments());
      consider(loop.getResults());
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      consider(branch.getResults());
    }
  });
  for (Value value : dropped)
    walks.erase(value);
  for (bool changed = true; changed;) {
    changed = false;
    auto drop = [&](Value value, bool keep) {
      if (!keep && walks.erase(value))
        changed = true;
    };
    context.kernel.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        for (auto [init, argument, yield, result] :
             llvm::zip_equal(loop.getInits(), loop.getRegionIterArgs(),
                             loop.getYieldedValues(), loop.getResults())) {
          drop(argument, isWalk(init) && isWalk(yield));
          drop(result, isWalk(argument));
        }
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        for (auto [init, argument, yield] :
             llvm::zip_equal(loop.getInits(), loop.getBeforeArguments(),
                             loop.getYieldOp().getOperands()))
          drop(argument, isWalk(init) && isWalk(yield));
        for (auto [forwarded, argument, result] :
             llvm::zip_equal(loop.getConditionOp().getArgs(),
                             loop.getAfterArguments(), loop.getResults())) {
          drop(argument, isWalk(forwarded));
          drop(result, isWalk(forwarded));
        }
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        for (Region *region :
             {&branch.getThenRegion(), &branch.getElseRegion()})
          if (!region->empty())
            for (auto [yield, result] :
                 llvm::zip_equal(region->front().getTerminator()->getOperands(),
                                 branch.getResults()))
              drop(result, isWalk(yield));
      }
    });
  }
}

/// From what synchronises back to the loops that its slots and parities have
/// come through.
void ProgramBuilder::findWalkingLoops() {
  SmallVector<Value> pending;
  DenseSet<Value> seen;
  auto ask = [&](ValueRange asked) {
    for (Value value : asked)
      if (hasSymbol(value.getType()) && seen.insert(value).second)
        pending.push_back(value);
  };
  context.kernel.walk([&](Operation *op) {
    if (!op->getNumRegions() && isRelevantAlone(op))
      ask(op->getOperands());
  });
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (loop && argument != loop.getInductionVar()) {
        ask(loop.getTiedLoopInit(argument)->get());
        ask(loop.getTiedLoopYieldedValue(argument)->get());
      }
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (walks.contains(value))
        walking.insert(loop);
      ask(loop.getRegionIterArg(cast<OpResult>(value).getResultNumber()));
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      unsigned number = cast<OpResult>(value).getResultNumber();
      ask(branch.thenYield().getOperand(number));
      ask(branch.elseYield().getOperand(number));
    } else if (op->getNumRegions() == 0 && isMemoryEffectFree(op)) {
      ask(op->getOperands());
    }
  }
}

bool ProgramBuilder::isWalk(Value value) {
  if (walks.contains(value))
    return true;
  Operation *def = value.getDefiningOp();
  if (!def || def->getNumRegions())
    return false;
  if (matchPattern(def, m_Constant()))
    return true;
  // What threads make of their number is a constant for a role, or not.
  TargetEvent::Kind kind = context.target.read(def).kind;
  if (kind == TargetEvent::ThreadId || kind == TargetEvent::Shuffle ||
      kind == TargetEvent::Broadcast)
    return true;
  bool computes =
      getOperator(def) ||
      isa<arith::CmpIOp, LLVM::ICmpOp, arith::ExtUIOp, arith::ExtSIOp,
          arith::TruncIOp, arith::IndexCastOp, arith::IndexCastUIOp,
          LLVM::ZExtOp, LLVM::SExtOp, LLVM::TruncOp>(def);
  return computes &&
         llvm::all_of(def->getOperands(), [&](Value v) { return isWalk(v); });
}

int ProgramBuilder::variableOf(Value value) {
  auto [it, inserted] =
      variables.try_emplace(value, static_cast<int>(program.variables.size()));
  if (inserted)
    program.variables.push_back({"variable " + std::to_string(it->second), 0});
  return it->second;
}

/// `to` := `from`, all at once; what is no walk becomes unknown.
void ProgramBuilder::assign(Operation *op, ValueRange to,
                            ArrayRef<const Symbol *> from) {
  SmallVector<std::pair<int, const Symbol *>> moves;
  for (auto [target, symbol] : llvm::zip_equal(to, from)) {
    unsigned bits = getSymbolBits(target.getType());
    if (!bits)
      continue;
    bool known = walks.contains(target) && !symbol->onThread &&
                 !symbol->onOpaque && !symbol->onBase;
    if (!known) {
      if (walks.erase(target)) {
        dropped.insert(target);
        restart = true;
      }
      values.bind(target, values.unknown(target, !symbol->onThread));
      continue;
    }
    int variable = variableOf(target);
    const Symbol *walk = context.symbols.walk(variable, bits);
    if (symbol != walk)
      moves.push_back({variable, symbol});
    values.bind(target, walk);
  }
  // Through temporaries where one move reads what another has written.
  bool buffered = moves.size() > 1;
  for (auto &[variable, symbol] : moves) {
    if (!buffered || symbol->isConstant())
      continue;
    auto [it, inserted] = temporaries.try_emplace(
        variable, static_cast<int>(program.variables.size()));
    if (inserted)
      program.variables.push_back({"copy " + std::to_string(variable), 0});
    Event &set = add(Event::Set, op);
    set.number = it->second;
    set.expression = symbol;
    symbol = context.symbols.walk(it->second, symbol->bits);
  }
  for (auto [variable, symbol] : moves) {
    Event &set = add(Event::Set, op);
    set.number = variable;
    set.expression = symbol;
  }
}

/// Values go on under another name within one iteration.
void ProgramBuilder::forward(Operation *op, ValueRange to,
                             ArrayRef<const Symbol *> from) {
  assign(op, to, from);
  for (auto [target, symbol] : llvm::zip_equal(to, from))
    if (getSymbolBits(target.getType()) && !walks.contains(target))
      values.bind(target, symbol);
}

/// A number that is handed over is the same for who sends and who receives it.
void ProgramBuilder::bindMessage(Value value) {
  auto it = context.messages.values.find(value);
  if (it != context.messages.values.end())
    values.bind(value, context.symbols.opaque(
                           it->second, getSymbolBits(value.getType()),
                           /*isPrivate=*/false, /*varies=*/true));
}

SmallVector<const Symbol *> ProgramBuilder::symbolsOf(ValueRange range) {
  SmallVector<const Symbol *> symbols;
  for (Value value : range)
    symbols.push_back(getSymbolBits(value.getType())
                          ? values.get(value)
                          : context.symbols.constant(0));
  return symbols;
}
