//===- Relevance.cpp - Which operations matter to a protocol ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Operands.h"
#include "ProgramBuilder.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::tracea;

bool mlir::tracea::isSharedPointer(Type type) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer &&
         (pointer.getAddressSpace() == 3 || pointer.getAddressSpace() == 7);
}

/// Text of inline assembly that synchronises or touches shared memory.
bool mlir::tracea::asmSynchronizes(StringRef text) {
  for (StringRef word : {"wgmma", "mbarrier", "bar.", "barrier", "cp.async",
                         "setmaxnreg", "fence.proxy", "shared", "elect",
                         "cluster", "stmatrix", "ldmatrix", "ret;", "exit"})
    if (text.contains(word))
      return true;
  return false;
}

static bool isAccess(Operation *op) {
  // What a copy of lanes fills is told by the group that it is in.
  if (isa<NVVM::StMatrixOp, NVVM::LdMatrixOp, NVVM::CpAsyncOp>(op))
    return true;
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    return isSharedPointer(load.getAddr().getType());
  if (auto store = dyn_cast<LLVM::StoreOp>(op))
    return isSharedPointer(store.getAddr().getType());
  return false;
}

/// Operations of nvvm that have nothing to do with a block's protocol.
bool mlir::tracea::isHarmless(Operation *op) {
  return isa<NVVM::PrefetchOp, NVVM::ShflOp, NVVM::VoteSyncOp, NVVM::ReduxOp,
             NVVM::ElectSyncOp, NVVM::GriddepcontrolOp, NVVM::MmaOp,
             NVVM::MapaOp, NVVM::DotAccumulate4WayOp>(op) ||
         op->getName().getStringRef().starts_with("nvvm.read.") ||
         op->getName().getStringRef().starts_with("nvvm.convert.") ||
         isPure(op);
}

/// Whether it matters to the protocol, whatever is inside of it.
static bool isRelevantAlone(const KernelContext &context, Operation *op) {
  if (auto assembly = dyn_cast<LLVM::InlineAsmOp>(op))
    if (asmSynchronizes(assembly.getAsmString()))
      return true;
  if (isa<LLVM::CallOp, LLVM::InvokeOp, LLVM::CallIntrinsicOp>(op))
    return true;
  if (op->getDialect() && op->getDialect()->getNamespace() == "nvvm" &&
      !isHarmless(op))
    return true;
  if (!isPure(op) && llvm::any_of(op->getOperandTypes(), isSharedPointer))
    return true;
  if (Accumulators::isTransparent(op))
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
    if (op->getNumRegions() || isAccess(op) || !::isRelevantAlone(context, op))
      return WalkResult::advance();
    bool synchronizes =
        isa<LLVM::InlineAsmOp, LLVM::CallOp>(op) ||
        (op->getDialect() && op->getDialect()->getNamespace() == "nvvm" &&
         !isHarmless(op));
    if (!synchronizes)
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}
