//===- Asynchrony.cpp - Groups of units, tiles in flight, turns -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Extractor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
using namespace mlir::tracea;
namespace ta = ::tracea::analysis;

bool Extractor::emitAsync(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](MmaAsyncOp mma) {
        emitAccesses(op);
        int value = inFlightOf(mma.getResult(), op);
        ta::Instruction &issue = add(ta::Step::Issue, op);
        issue.value = value;
        issue.queue = MmaQueue;
        return true;
      })
      .Case([&](CommitGroupOp commit) {
        add(ta::Step::CloseGroup, op).queue =
            commit.getUnit() == Unit::Mma ? MmaQueue : CopyQueue;
        return true;
      })
      .Case([&](WaitGroupOp wait) {
        ta::Instruction &instruction = add(ta::Step::WaitGroup, op);
        instruction.queue = wait.getUnit() == Unit::Mma ? MmaQueue : CopyQueue;
        instruction.count = static_cast<int>(wait.getPending());
        for (Value tile : wait.getInFlight()) {
          int value = inFlightOf(tile, op);
          add(ta::Step::Use, op).value = value;
        }
        return true;
      })
      .Case([&](SyncOp) {
        add(ta::Step::CloseGroup, op).queue = SyncQueue;
        add(ta::Step::WaitGroup, op).queue = SyncQueue;
        return true;
      })
      .Case([&](OrderWaitOp take) {
        emitTurn(op, take.getBarrier(), take.getTeam());
        return true;
      })
      .Case([&](OrderArriveOp pass) {
        emitTurn(op, pass.getBarrier(), pass.getTeam());
        return true;
      })
      .Default(false);
}

//===----------------------------------------------------------------------===//
// Tiles in flight
//===----------------------------------------------------------------------===//

void Extractor::numberInFlight() {
  auto unite = [&](Value a, Value b) {
    if (isInFlight(a) && isInFlight(b))
      inFlight.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  };
  kernel.walk([&](Operation *op) {
    if (auto mma = dyn_cast<MmaAsyncOp>(op)) {
      inFlight.insert(mma.getResult().getAsOpaquePointer());
      if (mma.getAcc())
        unite(mma.getResult(), mma.getAcc());
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [init, argument, yielded, result] :
           llvm::zip_equal(loop.getInits(), loop.getRegionIterArgs(),
                           loop.getYieldedValues(), loop.getResults())) {
        unite(init, argument);
        unite(yielded, argument);
        unite(result, argument);
      }
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (Block *block : {branch.thenBlock(), branch.elseBlock()})
        if (block)
          for (auto [yielded, result] : llvm::zip(
                   block->getTerminator()->getOperands(), branch.getResults()))
            unite(yielded, result);
    }
  });
}

int Extractor::inFlightOf(Value value, Operation *op) {
  const void *pointer = value.getAsOpaquePointer();
  if (!inFlight.contains(pointer)) {
    undecided(op, "a tile in flight comes from an operation that the method "
                  "does not know");
    inFlight.insert(pointer);
  }
  auto [it, inserted] =
      inFlightNumbers.try_emplace(inFlight.getLeaderValue(pointer), 0);
  if (inserted)
    it->second = builder->newValue("tile in flight");
  return it->second;
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

LogicalResult Extractor::declareTurns() {
  WalkResult result = kernel.walk([&](OrderBarrierOp turns) {
    if (!isa<TilesOp>(turns->getParentOp())) {
      turns.emitOpError() << "is declared inside '"
                          << turns->getParentOp()->getName()
                          << "', not at the top of the grid tile (Rule A)";
      return WalkResult::interrupt();
    }
    int64_t teams = turns.getResult().getType().getTeams();
    turnBarriers[turns.getResult()] = protocol.barriers.size();
    for (int64_t team = 0; team < teams; ++team)
      protocol.barriers.push_back({"turn " + std::to_string(team)});
    RoleOp owner;
    for (Operation *user : turns.getResult().getUsers()) {
      auto role = user->getParentOfType<RoleOp>();
      if (!role || (owner && owner != role)) {
        InFlightDiagnostic diag = user->emitOpError()
                                  << "takes part in turns outside of the one "
                                     "role whose teams share them (Rule B)";
        diag.attachNote(turns.getLoc()) << "the turns are declared here";
        return WalkResult::interrupt();
      }
      owner = role;
    }
    if (owner && static_cast<int64_t>(owner.getCopies()) != teams) {
      InFlightDiagnostic diag = turns.emitOpError()
                                << "are of " << teams << " teams, but role '"
                                << owner.getName() << "' has "
                                << owner.getCopies();
      diag.attachNote(owner.getLoc()) << "the role is here";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

int64_t Extractor::teamOf(Value value) const {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant;
  if (team->role && team->role.getBody().getNumArguments() &&
      value == team->role.getBody().getArgument(0))
    return team->copy;
  return -1;
}

/// A turn is a named barrier of two: who passes it arrives, who takes it waits.
void Extractor::emitTurn(Operation *op, Value turns, Value number) {
  if (!turnBarriers.count(turns))
    return undecided(op, "turns are passed on as a value");
  int64_t teams = cast<OrderBarrierType>(turns.getType()).getTeams();
  int64_t who = teamOf(number);
  if (who < 0 || who >= teams)
    return undecided(op, "the team is not known");
  bool takes = isa<OrderWaitOp>(op);
  ta::Instruction &step = add(takes ? ta::Step::Sync : ta::Step::Arrive, op);
  step.barrier = turnBarriers.lookup(turns) + (takes ? who : (who + 1) % teams);
  step.count = 2 * builder->role.threads;
}

int Extractor::turnVariableOf(Value truth) {
  std::optional<OwnTurn> turn = getOwnTurn(truth);
  if (!turn || turn->getRole() != team->role)
    return -1;
  auto [it, inserted] =
      turnVariables.try_emplace(turn->loop.getRegionIterArg(turn->number), 0);
  if (inserted) {
    it->second = static_cast<int>(builder->role.variables.size());
    builder->role.variables.push_back({"turn", 0});
  }
  return it->second;
}

int Extractor::addExpression(ta::Operator op, ArrayRef<int> operands,
                             int64_t value) {
  ta::Expression expression;
  expression.op = op;
  expression.value = value;
  llvm::copy(operands, expression.operands);
  builder->role.expressions.push_back(expression);
  return static_cast<int>(builder->role.expressions.size()) - 1;
}

void Extractor::setTurn(Operation *op, int variable, int expression) {
  ta::Instruction &set = add(ta::Step::Set, op);
  set.variable = variable;
  set.expression = expression;
}

/// A truth of turns, and what else the team's number decides.
int Extractor::conditionOf(Value condition) {
  if (int variable = turnVariableOf(condition); variable >= 0)
    return addExpression(ta::Operator::Variable, {}, variable);
  auto both = condition.getDefiningOp<arith::AndIOp>();
  if (!both)
    return -1;
  int turn = conditionOf(both.getLhs());
  auto compare = both.getRhs().getDefiningOp<arith::CmpIOp>();
  if (turn < 0 || !compare)
    return -1;
  int64_t lhs = teamOf(compare.getLhs()), rhs = teamOf(compare.getRhs());
  bool equal = compare.getPredicate() == arith::CmpIPredicate::eq;
  if (lhs < 0 || rhs < 0 ||
      (!equal && compare.getPredicate() != arith::CmpIPredicate::ne))
    return -1;
  return addExpression(
      ta::Operator::And,
      {turn, addExpression(ta::Operator::Constant, {}, (lhs == rhs) == equal)});
}

/// The turn begins with team 0, and comes back to it in the end.
void Extractor::emitTurnEnds(bool first) {
  for (auto turns : kernel.getTiles().getBody().getOps<OrderBarrierOp>()) {
    auto users = turns.getResult().getUsers();
    int64_t teams = turns.getResult().getType().getTeams();
    if (users.empty() || !team->role ||
        !team->role->isAncestor(*users.begin()) ||
        team->copy != (first ? teams - 1 : 0))
      continue;
    ta::Instruction &step =
        add(first ? ta::Step::Arrive : ta::Step::Sync, turns);
    step.barrier = turnBarriers.lookup(turns.getResult());
    step.count = 2 * builder->role.threads;
  }
}
