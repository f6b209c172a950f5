//===- Constants.cpp - Values that are the same in many runs --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/Tracea/IR/Constants.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"

using namespace mlir;
using namespace mlir::tracea;

/// How far back a value is followed: weights are transposed and reshaped, and
/// scales are made of a few vectors.
static constexpr unsigned kMostSteps = 8;

bool mlir::tracea::isGivenConstant(Value value) {
  if (matchPattern(value, m_Constant()))
    return true;
  auto argument = dyn_cast<BlockArgument>(value);
  auto function =
      argument
          ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
          : FunctionOpInterface();
  return function && function.getArgAttr(argument.getArgNumber(),
                                         TraceaDialect::kConstantAttrName);
}

static bool isConstantWithin(Value value, unsigned steps) {
  if (isGivenConstant(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || steps == 0 || !isMemoryEffectFree(op))
    return false;
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  // Without operands it is memory to write to, whose contents nothing reads.
  return llvm::all_of(used, [&](Value operand) {
    return isConstantWithin(operand, steps - 1);
  });
}

bool mlir::tracea::isConstant(Value value) {
  return isConstantWithin(value, kMostSteps);
}
