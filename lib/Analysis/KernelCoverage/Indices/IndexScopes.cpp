//===- IndexScopes.cpp - Under which conditions an operation runs ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IndexContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;

bool IndexContext::addCondition(Value condition, bool isTrue,
                                SmallVectorImpl<cov::Constraint> &guard) {
  if (matchPattern(condition, isTrue ? m_One() : m_Zero()))
    return true;
  if (matchPattern(condition, isTrue ? m_Zero() : m_One())) {
    guard.push_back({Expr(-1), false});
    return true;
  }
  Operation *op = condition.getDefiningOp();
  if (!op)
    return false;
  if (auto both = dyn_cast<arith::XOrIOp>(op)) {
    if (matchPattern(both.getRhs(), m_One()))
      return addCondition(both.getLhs(), !isTrue, guard);
    return false;
  }
  if (isa<arith::AndIOp, arith::OrIOp>(op)) {
    Value lhs = op->getOperand(0), rhs = op->getOperand(1);
    // Both hold, or the first fails, or only the second.
    if (isa<arith::AndIOp>(op) == isTrue)
      return addCondition(lhs, isTrue, guard) &&
             addCondition(rhs, isTrue, guard);
    if (choices.choose(op, 2) == 0)
      return addCondition(lhs, isTrue, guard);
    return addCondition(lhs, !isTrue, guard) &&
           addCondition(rhs, isTrue, guard);
  }
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || !compare.getLhs().getType().isIntOrIndex())
    return false;
  // What lies below an end that a condition makes 0, and is not negative.
  Value least = compare.getLhs(), end = compare.getRhs();
  if (compare.getPredicate() == arith::CmpIPredicate::sgt)
    std::swap(least, end);
  bool isBelow = compare.getPredicate() == arith::CmpIPredicate::slt ||
                 compare.getPredicate() == arith::CmpIPredicate::sgt;
  if (arith::SelectOp choice = getChosenEnd(end);
      choice && isTrue && isBelow &&
      math.getConstant(get(least)).value_or(-1) >= 0) {
    math.require(get(choice.getTrueValue()) - get(least) - 1, guard);
    return addCondition(choice.getCondition(), /*isTrue=*/true, guard);
  }
  Expr a = get(compare.getLhs()), b = get(compare.getRhs());
  arith::CmpIPredicate predicate = compare.getPredicate();
  if (!isTrue)
    predicate = arith::invertPredicate(predicate);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    math.requireZero(a - b, guard);
    return true;
  case arith::CmpIPredicate::ne:
    if (math.isNonNegative(a - b))
      math.require(a - b - 1, guard);
    else if (math.isNonNegative(b - a))
      math.require(b - a - 1, guard);
    else if (choices.choose(op, 2) == 0)
      math.require(a - b - 1, guard);
    else
      math.require(b - a - 1, guard);
    return true;
  case arith::CmpIPredicate::ult:
  case arith::CmpIPredicate::ule:
  case arith::CmpIPredicate::ugt:
  case arith::CmpIPredicate::uge:
    if (!math.isNonNegative(a) || !math.isNonNegative(b))
      return false;
    break;
  default:
    break;
  }
  switch (predicate) {
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    math.require(b - a - 1, guard);
    addGroups(compare.getLhs(), compare.getRhs(), guard);
    break;
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    math.require(b - a, guard);
    break;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    math.require(a - b - 1, guard);
    break;
  default:
    math.require(a - b, guard);
    break;
  }
  return true;
}

/// A ragged tile in front of the rest is one of a group: if there is no group,
/// there is no such tile.
void IndexContext::addGroups(Value tile, Value end,
                             SmallVectorImpl<cov::Constraint> &guard) {
  auto count = end.getDefiningOp<RaggedCountOp>();
  if (forOutput || !count || end != count.getFull())
    return;
  for (Operation *user : tile.getUsers())
    if (auto found = dyn_cast<RaggedTileOp>(user);
        found && found.getIndex() == tile &&
        found.getEnds() == count.getEnds() &&
        found.getRows() == count.getRows() &&
        found.getTile() == count.getTile())
      math.require(getDim(found.getEnds(), 0) - get(found.getGroup()) - 1,
                   guard);
}

/// An iteration is one team's, and which one's makes no difference to what it
/// does: as if all were the first one's.
bool IndexContext::addOwnTurn(scf::IfOp branch, Region *region,
                              SmallVectorImpl<cov::Constraint> &guard) {
  std::optional<OwnTurn> turn = getOwnTurn(branch.getCondition());
  if (!turn || region != &branch.getThenRegion() ||
      !turn->loop->isProperAncestor(branch))
    return false;
  for (Operation *user : turn->team.getUsers())
    if (region->isAncestor(user->getParentRegion()) &&
        !isa<OrderWaitOp, OrderArriveOp>(user))
      return false;
  math.requireZero(get(turn->team), guard);
  return true;
}

IndexScope IndexContext::getScope(Operation *op) {
  SmallVector<Operation *> chain;
  for (Operation *next = op; next && !isa<KernelOp>(next);
       next = next->getParentOp())
    chain.push_back(next);
  IndexScope scope;
  auto append = [&](const Loop &loop) {
    scope.ids.append(loop.ids.begin(), loop.ids.end());
    for (const cov::Constraint &constraint : loop.guard)
      if (!llvm::is_contained(scope.guard, constraint))
        scope.guard.push_back(constraint);
    if (scope.overestimate.empty())
      scope.overestimate = loop.overestimate;
  };
  for (size_t i = chain.size(); i-- > 0;) {
    Operation *next = chain[i];
    if (next == op && !isa<linalg::LinalgOp>(op))
      break;
    llvm::TypeSwitch<Operation *>(next)
        .Case<TilesOp, RoleOp>([&](auto outer) { append(enter(outer)); })
        .Case<scf::ForOp, scf::ForallOp>([&](auto loop) {
          scope.loops.push_back(loop);
          append(enter(loop));
        })
        .Case([&](linalg::LinalgOp linalg) { append(enter(linalg).loop); })
        .Case([&](scf::IfOp branch) {
          Region *region = chain[i - 1]->getParentRegion();
          if (addOwnTurn(branch, region, scope.guard))
            return;
          if (!addCondition(branch.getCondition(),
                            region == &branch.getThenRegion(), scope.guard) &&
              scope.overestimate.empty())
            scope.overestimate = "it runs under a condition on data";
        })
        .Case<RolesOp, scf::ExecuteRegionOp>([](auto) {})
        .Default([&](Operation *other) {
          if (scope.overestimate.empty())
            scope.overestimate = "it runs inside '" +
                                 other->getName().getStringRef().str() + "'";
        });
  }
  return scope;
}
