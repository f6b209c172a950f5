//===- Turns.cpp - Iterations that teams take in turn ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/TraceaPipe/IR/Turns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

RoleOp OwnTurn::getRole() {
  return cast<RoleOp>(team.getOwner()->getParentOp());
}

/// The number of the team that `first` says is 0; null for other values.
static BlockArgument getFirstTeam(Value first) {
  auto compare = first.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
      !matchPattern(compare.getRhs(), m_Zero()))
    return {};
  auto team = dyn_cast<BlockArgument>(compare.getLhs());
  if (!team)
    return {};
  auto role = dyn_cast<RoleOp>(team.getOwner()->getParentOp());
  return role && role.getCopies() == 2 ? team : BlockArgument();
}

/// Whether a value is computed from what all teams of a role have alike.
static bool isAlikeForTeams(Value value, RoleOp role) {
  if (!role.getBody().isAncestor(value.getParentRegion()))
    return true;
  Operation *def = value.getDefiningOp();
  return def && isMemoryEffectFree(def) && def->getNumRegions() == 0 &&
         llvm::all_of(def->getOperands(), [&](Value operand) {
           return isAlikeForTeams(operand, role);
         });
}

std::optional<OwnTurn> mlir::tracea_pipe::getOwnTurn(Value truth) {
  OwnTurn turn;
  if (auto argument = dyn_cast<BlockArgument>(truth)) {
    turn.loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!turn.loop || argument == turn.loop.getInductionVar())
      return std::nullopt;
    turn.number = argument.getArgNumber() - turn.loop.getNumInductionVars();
  } else {
    turn.loop = truth.getDefiningOp<scf::ForOp>();
    if (!turn.loop)
      return std::nullopt;
    turn.number = cast<OpResult>(truth).getResultNumber();
  }
  auto other =
      turn.loop.getYieldedValues()[turn.number].getDefiningOp<arith::XOrIOp>();
  if (!truth.getType().isInteger(1) || !other ||
      other.getLhs() != turn.loop.getRegionIterArg(turn.number) ||
      !matchPattern(other.getRhs(), m_One()))
    return std::nullopt;
  turn.team = getFirstTeam(turn.loop.getInits()[turn.number]);
  if (!turn.team || !turn.getRole()->isProperAncestor(turn.loop))
    return std::nullopt;
  // Both teams walk over the same iterations.
  for (Value bound : {turn.loop.getLowerBound(), turn.loop.getUpperBound(),
                      turn.loop.getStep()})
    if (!isAlikeForTeams(bound, turn.getRole()))
      return std::nullopt;
  return turn;
}
