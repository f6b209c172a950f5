//===- Precision.h - What a program lets its products round -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEA_IR_PRECISION_H
#define TRACEA_DIALECT_TRACEA_IR_PRECISION_H

#include "mlir/IR/Operation.h"

namespace mlir::tracea {

/// A unit attribute of functions and modules: their products of f32 may round
/// operands to tf32, which keeps 10 bits of the fraction.
inline constexpr llvm::StringLiteral kAllowTF32AttrName = "tracea.allow_tf32";

/// Another one: they may split operands into two parts of tf32, and leave out
/// the product of the smaller ones. That keeps 21 bits of the fraction; an
/// operand that is not finite, or that rounds to what is not, makes NaN.
inline constexpr llvm::StringLiteral kAllowTF32x3AttrName =
    "tracea.allow_tf32x3";

/// Whether `op`, or what it stands in, has an attribute.
inline bool isWithin(Operation *op, llvm::StringRef attribute) {
  for (; op; op = op->getParentOp())
    if (op->hasAttr(attribute))
      return true;
  return false;
}

/// Whether products of f32 may round their operands to tf32.
inline bool allowsTF32(Operation *op) {
  return isWithin(op, kAllowTF32AttrName);
}

/// Whether they may split them.
inline bool allowsTF32x3(Operation *op) {
  return isWithin(op, kAllowTF32x3AttrName) || allowsTF32(op);
}

} // namespace mlir::tracea

#endif // TRACEA_DIALECT_TRACEA_IR_PRECISION_H
