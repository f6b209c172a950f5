//===- TraceaPipeRead.cpp - Numbers that memory holds ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that read memory and have no effects are right where nobody writes
// that memory.

#include "Verifiers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Whether `op` may write what it reaches by `memory`. What takes memory and
/// does not say what it does to it may do anything, and so may what hands it on
/// out of a region, where it is not followed.
static bool mayWrite(Operation *op, Value memory) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return true;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return true;
  SmallVector<MemoryEffects::EffectInstance> found;
  effects.getEffects(found);
  return llvm::any_of(found, [&](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Write, MemoryEffects::Free>(effect.getEffect()) &&
           (!effect.getValue() || effect.getValue() == memory);
  });
}

LogicalResult mlir::tracea_pipe::verifiers::verifyUnchanged(Operation *op,
                                                            Value memory,
                                                            StringRef what) {
  llvm::SetVector<Value> names;
  names.insert(memory);
  for (size_t i = 0; i < names.size(); ++i)
    for (Operation *user : names[i].getUsers()) {
      // Without effects it may still give the memory another name.
      if (isMemoryEffectFree(user) &&
          !user->hasTrait<OpTrait::IsTerminator>()) {
        for (Value result : user->getResults())
          if (isa<BaseMemRefType>(result.getType()))
            names.insert(result);
        continue;
      }
      if (!mayWrite(user, names[i]))
        continue;
      InFlightDiagnostic error = op->emitOpError()
                                 << "expects " << what
                                 << " that the kernel does not write";
      error.attachNote(user->getLoc()) << "written here";
      return error;
    }
  return success();
}

LogicalResult mlir::tracea_pipe::verifiers::verifyUnchangedArgument(
    Operation *op, Value memory, StringRef what) {
  auto argument = dyn_cast<BlockArgument>(memory);
  if (!argument ||
      !isa_and_nonnull<KernelOp>(argument.getOwner()->getParentOp()))
    return op->emitOpError()
           << "expects " << what << " that is an argument of the kernel";
  return verifyUnchanged(op, memory, what);
}

LogicalResult ReadOp::verify() {
  MemRefType type = getSource().getType();
  if (static_cast<int64_t>(getIndices().size()) != type.getRank())
    return emitOpError() << "expects " << type.getRank() << " indices for "
                         << type << ", found " << getIndices().size();
  return verifiers::verifyUnchangedArgument(*this, getSource(), "memory");
}
