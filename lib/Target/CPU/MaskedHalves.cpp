//===- MaskedHalves.cpp - Masked loads of 16-bit floats -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM 22's code generator for AArch64 with SVE has no instruction for a masked
// load of a vector of bf16 of known length, and stops. The same load of
// integers it has.

#include "MaskedHalves.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

void mlir::tracea::loadHalvesAsIntegers(llvm::Module &module) {
  if (!module.getTargetTriple().isAArch64())
    return;
  llvm::SmallVector<llvm::IntrinsicInst *> loads;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (call && call->getIntrinsicID() == llvm::Intrinsic::masked_load &&
          call->getType()->getScalarType()->isBFloatTy())
        loads.push_back(call);
    }
  for (llvm::IntrinsicInst *call : loads) {
    llvm::IRBuilder<> builder(call);
    // The mask, and what lanes are without it, are the last two arguments.
    unsigned count = call->arg_size();
    llvm::Type *type = llvm::VectorType::getInteger(
        llvm::cast<llvm::VectorType>(call->getType()));
    llvm::Value *loaded = builder.CreateMaskedLoad(
        type, call->getArgOperand(0),
        call->getParamAlign(0).value_or(llvm::Align(2)),
        call->getArgOperand(count - 2),
        builder.CreateBitCast(call->getArgOperand(count - 1), type));
    call->replaceAllUsesWith(builder.CreateBitCast(loaded, call->getType()));
    call->eraseFromParent();
  }
}
