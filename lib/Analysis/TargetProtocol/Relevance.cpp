//===- Relevance.cpp - Which operations matter to a protocol ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProgramBuilder.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::tracea;

bool KernelContext::touchesShared(Operation *op) const {
  return llvm::any_of(op->getOperandTypes(),
                      [&](Type type) { return target.isShared(type); });
}

bool KernelContext::isHarmless(Operation *op) const {
  return isPure(op) || target.read(op).isHarmless();
}

/// Whether it touches shared memory lane by lane.
static bool isAccess(const KernelContext &context, Operation *op) {
  // What a copy of lanes fills is told by the group that it is in.
  TargetEvent::Kind kind = context.target.read(op).kind;
  if (kind == TargetEvent::LaneRead || kind == TargetEvent::LaneWrite)
    return true;
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    return context.target.isShared(load.getAddr().getType());
  if (auto store = dyn_cast<LLVM::StoreOp>(op))
    return context.target.isShared(store.getAddr().getType());
  return false;
}

/// Whether it matters to the protocol, whatever is inside of it.
static bool isRelevantAlone(const KernelContext &context, Operation *op) {
  if (context.target.read(op).isEvent() ||
      isa<LLVM::CallOp, LLVM::InvokeOp, LLVM::CallIntrinsicOp>(op))
    return !isPure(op);
  if (!isPure(op) && context.touchesShared(op))
    return true;
  if (context.accumulators.isTransparent(op))
    return false;
  auto isRegister = [&](Value value) {
    return context.accumulators.getRegisters(value) >= 0;
  };
  return context.accumulators.size() &&
         (llvm::any_of(op->getOperands(), isRegister) ||
          llvm::any_of(op->getResults(), isRegister));
}

bool ProgramBuilder::isRelevantAlone(Operation *op) {
  return ::isRelevantAlone(context, op);
}

bool ProgramBuilder::isRelevant(Operation *op) {
  auto it = relevant.find(op);
  if (it != relevant.end())
    return it->second;
  bool result = isRelevantAlone(op) || walking.contains(op);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        result |= isRelevant(&inner);
  relevant[op] = result;
  return result;
}

Operation *mlir::tracea::findSynchronization(const KernelContext &context,
                                             Block *block) {
  Operation *found = nullptr;
  block->walk([&](Operation *op) {
    if (op->getNumRegions() || isAccess(context, op) ||
        !::isRelevantAlone(context, op))
      return WalkResult::advance();
    bool synchronizes = isa<LLVM::InlineAsmOp, LLVM::CallOp>(op) ||
                        context.target.read(op).isEvent();
    if (!synchronizes)
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}
