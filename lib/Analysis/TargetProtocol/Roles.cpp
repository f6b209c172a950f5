//===- Roles.cpp - The warps of a block that run the same code ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A branch that whole warps take or leave splits roles if they synchronise in
// it; one that some lanes of a warp take elects. Other branches say only who
// touches what stands in them: warps that have no rows of a result still
// multiply with their group, and lanes that copy no part of a block still meet
// the others. Warpgroups are roles of their own, since their addresses and
// barriers differ.

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tracea/Analysis/TargetProtocol/Program.h"

using namespace mlir;
using namespace mlir::tracea;

/// Branches, and what decides them, in their order.
static SmallVector<Operation *> findDecisions(KernelContext &context) {
  DenseSet<Operation *> demanded;
  context.kernel.walk([&](scf::IfOp branch) { addDemand(branch, demanded); });
  SmallVector<Operation *> decisions;
  context.kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<scf::IfOp>(op) || (demanded.contains(op) && !op->getNumRegions()))
      decisions.push_back(op);
  });
  return decisions;
}

/// What the warp makes of each branch condition: 0, 1 or 2 for "not all".
static std::vector<uint8_t> decideBranches(KernelContext &context,
                                           ArrayRef<Operation *> steps,
                                           unsigned warp) {
  ValueSymbols values(context.symbols, context.target,
                      {32 * warp, 32 * warp + 31}, context.demanded);
  std::vector<uint8_t> decisions;
  for (Operation *op : steps) {
    auto branch = dyn_cast<scf::IfOp>(op);
    if (!branch) {
      values.visit(op);
      continue;
    }
    const Symbol *condition = values.get(branch.getCondition());
    unsigned taken = 0, known = 0;
    if (const std::vector<uint64_t> *each = values.getPerThread(condition)) {
      known = each->size();
      taken = llvm::count_if(*each, [](uint64_t value) { return value != 0; });
    } else if (condition->onThread && !condition->onOpaque)
      for (unsigned thread = 32 * warp; thread < 32 * warp + 32; ++thread)
        if (std::optional<uint64_t> value =
                evaluateForThread(condition, thread, thread % 32 == 0)) {
          ++known;
          taken += *value != 0;
        }
    decisions.push_back(known < 32 ? 2 : taken == 32 ? 1 : taken == 0 ? 0 : 2);
  }
  return decisions;
}

static bool synchronizes(const KernelContext &context, scf::IfOp branch) {
  return findSynchronization(context, branch.thenBlock()) ||
         (branch.elseBlock() &&
          findSynchronization(context, branch.elseBlock()));
}

SmallVector<ThreadRange> mlir::tracea::findRoles(KernelContext &context) {
  unsigned warps = context.threads / 32;
  std::vector<std::vector<uint8_t>> decisions;
  SmallVector<Operation *> steps = findDecisions(context);
  for (unsigned warp = 0; warp < warps; ++warp)
    decisions.push_back(decideBranches(context, steps, warp));
  // A branch that some warp takes with some lanes elects.
  std::vector<bool> elects;
  for (Operation *op : steps)
    if (auto branch = dyn_cast<scf::IfOp>(op))
      elects.push_back(!synchronizes(context, branch));
  for (const std::vector<uint8_t> &decision : decisions)
    for (size_t i = 0; i < decision.size(); ++i)
      if (decision[i] == 2)
        elects[i] = true;
  SmallVector<ThreadRange> roles;
  for (unsigned warp = 0; warp < warps; ++warp) {
    bool split = warp == 0 || (context.hasWarpgroups && warp % 4 == 0);
    for (size_t i = 0; i < elects.size(); ++i)
      split |=
          !elects[i] && warp && decisions[warp][i] != decisions[warp - 1][i];
    if (split)
      roles.push_back({32 * warp, 32 * warp});
    roles.back().last = 32 * warp + 31;
  }
  return roles;
}
