//===- Demand.cpp - Which integers of a kernel matter to its protocol -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most of a kernel computes results and where they go in global memory, which
// no barrier depends on. What is asked for are operands of operations that
// synchronise, touch shared memory or branch, and what those are computed from.

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tracea/Analysis/TargetProtocol/Program.h"

using namespace mlir;
using namespace mlir::tracea;

/// Whether symbols of the operands are asked for, whatever the results are.
static bool asksForOperands(const KernelContext &context, Operation *op) {
  if (op->getNumRegions() || op->hasTrait<OpTrait::IsTerminator>() ||
      isa<LLVM::AssumeOp, LLVM::InlineAsmOp, LLVM::CallOp, LLVM::InvokeOp,
          LLVM::CallIntrinsicOp>(op))
    return true;
  if (context.target.read(op).kind != TargetEvent::None)
    return !context.isHarmless(op);
  return context.touchesShared(op) && !isPure(op);
}

void mlir::tracea::addDemand(Operation *op, DenseSet<Operation *> &demanded) {
  SmallVector<Operation *> pending = {op};
  while (!pending.empty())
    for (Value operand : pending.pop_back_val()->getOperands()) {
      Operation *source = operand.getDefiningOp();
      // Fields are registers of multiplies, which nobody knows.
      if (source && hasSymbol(operand.getType()) &&
          !isa<LLVM::ExtractValueOp>(source) && demanded.insert(source).second)
        pending.push_back(source);
    }
}

void mlir::tracea::findDemand(KernelContext &context) {
  context.kernel.walk([&](Operation *op) {
    if (asksForOperands(context, op))
      addDemand(op, context.demanded);
  });
}
