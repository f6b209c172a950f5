//===- SingleLaneStores.cpp - Masked stores of one element ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of a masked store of narrowed integers whose mask is constant and has one
// lane, LLVM 22's code generator for AVX-512 stores the element as it was
// before it was narrowed: four bytes in place of one, over what follows. Rows
// that are one element longer than a multiple of the vector end so. A store of
// that element is right, and is what the code generator would make of it.

#include "SingleLaneStores.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <optional>

/// The only lane of a constant mask that is set.
static std::optional<unsigned> findSingleLane(const llvm::Value *value) {
  auto *mask = llvm::dyn_cast<llvm::Constant>(value);
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  if (!mask || !type)
    return std::nullopt;
  std::optional<unsigned> found;
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    llvm::Constant *bit = mask->getAggregateElement(lane);
    if (!bit || !(bit->isNullValue() || bit->isOneValue()))
      return std::nullopt;
    if (bit->isNullValue())
      continue;
    if (found)
      return std::nullopt;
    found = lane;
  }
  return found;
}

void mlir::tracea::storeSingleLanes(llvm::Module &module) {
  llvm::SmallVector<std::pair<llvm::IntrinsicInst *, unsigned>> stores;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (!call || call->getIntrinsicID() != llvm::Intrinsic::masked_store)
        continue;
      // The mask is the last argument.
      if (auto lane = findSingleLane(call->getArgOperand(call->arg_size() - 1)))
        stores.push_back({call, *lane});
    }
  for (auto [call, lane] : stores) {
    llvm::IRBuilder<> builder(call);
    llvm::Value *element =
        builder.CreateExtractElement(call->getArgOperand(0), lane);
    llvm::Value *place = builder.CreateConstInBoundsGEP1_64(
        element->getType(), call->getArgOperand(1), lane);
    builder.CreateAlignedStore(element, place, llvm::Align(1));
    call->eraseFromParent();
  }
}
