//===- Constants.h - Values that are the same in many runs ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEA_IR_CONSTANTS_H
#define TRACEA_DIALECT_TRACEA_IR_CONSTANTS_H

#include "mlir/IR/Value.h"

namespace mlir::tracea {

/// Whether a value is a constant of the module, or an argument of a function
/// that is marked as one.
bool isGivenConstant(Value value);

/// The same, or what a few operations compute of such values alone: a program
/// computes it once, and keeps it.
bool isConstant(Value value);

} // namespace mlir::tracea

#endif // TRACEA_DIALECT_TRACEA_IR_CONSTANTS_H
