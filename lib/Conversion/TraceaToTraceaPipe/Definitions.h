//===- Definitions.h - What a kernel's operation says of it -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel carries what its operation reads for each element of the result, in
// the operation's own maps, which know no tiles. The proofs compare the kernel
// with it.

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_DEFINITIONS_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_DEFINITIONS_H

#include "GemmShape.h"

namespace mlir::tracea {

/// The product of `lhs` and `rhs`, the operands of `op` or copies of them, with
/// the operands of its epilogue.
void defineProduct(KernelBuilder &kb, GemmOp op, Value lhs, Value rhs);
/// Parts of that sum: element (part, ...) of the result is a part of element
/// (...).
void definePartsOfProduct(KernelBuilder &kb, GemmOp op, Value lhs, Value rhs);
/// The sum over the first dimension of `parts`, with the epilogue of `op`.
void defineSumOfParts(KernelBuilder &kb, GemmOp op, Value parts);
/// Result number `result` is a copy of `source`, with zeros beyond its extents.
void defineCopy(KernelBuilder &kb, Value source, unsigned result);
/// A convolution with the operands of its epilogue.
void defineConvolution(KernelBuilder &kb, Conv2DOp op);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_DEFINITIONS_H
