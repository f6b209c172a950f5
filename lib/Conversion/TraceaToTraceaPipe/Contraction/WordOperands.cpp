//===- WordOperands.cpp - Operands of a CPU's dot products ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WordOperands.h"
#include "tracea/Analysis/DotProducts.h"

using namespace mlir;
using namespace mlir::tracea;

SmallVector<int64_t> WordOperands::getShape(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> result(shape);
  if (length > 1)
    result.push_back(length);
  return result;
}

FailureOr<WordOperands> mlir::tracea::getWordOperands(ScheduledOpInterface op,
                                                      StringRef variant,
                                                      Value lhs, Value rhs,
                                                      Type accumulator,
                                                      int64_t block) {
  WordOperands words;
  words.lhs = words.rhs = accumulator;
  if (op.getScheduleAttr().getVariant() != variant)
    return words;
  auto target = op->getParentOfType<ModuleOp>()->getAttrOfType<TargetAttr>(
      TraceaDialect::kTargetAttrName);
  Type operand = getElementTypeOrSelf(lhs.getType());
  const ::tracea::target::DotProduct *dot =
      operand == getElementTypeOrSelf(rhs.getType())
          ? getDotProduct(target, operand, accumulator)
          : nullptr;
  if (!dot)
    return op->emitOpError()
           << "expects dot products of " << operand << " into " << accumulator
           << " for the variant '" << variant << "', which the target '"
           << target.getName() << "' does not have";
  if (block % dot->folded)
    return op->emitOpError()
           << "expects blocks of k in multiples of " << dot->folded
           << " for the variant '" << variant << "', found " << block;
  words.length = dot->folded;
  words.rhs = operand;
  words.lhs = dot->isFirstUnsigned
                  ? IntegerType::get(op->getContext(), 8, IntegerType::Unsigned)
                  : operand;
  return words;
}
