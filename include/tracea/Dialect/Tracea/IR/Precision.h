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

/// Whether `op`, or what it stands in, has that attribute.
inline bool allowsTF32(Operation *op) {
  for (; op; op = op->getParentOp())
    if (op->hasAttr(kAllowTF32AttrName))
      return true;
  return false;
}

} // namespace mlir::tracea

#endif // TRACEA_DIALECT_TRACEA_IR_PRECISION_H
