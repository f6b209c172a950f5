//===- TraceaOps.h - Semantic operations ------------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEA_IR_TRACEAOPS_H
#define TRACEA_DIALECT_TRACEA_IR_TRACEAOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"

namespace mlir::tracea::detail {

/// Verifies the region, the extra operands and the maps of an epilogue.
LogicalResult verifyEpilogue(Operation *op);

/// Verifies the region, the operands and the maps of a prologue, and what it
/// keeps.
LogicalResult verifyPrologue(Operation *op);

/// Verifies the region of a finish, what it reduces, and the results of rows.
LogicalResult verifyFinish(Operation *op);

/// Names for the arguments of the block of a scalar region when it is printed.
void nameScalarArguments(Region &region, OpAsmSetValueNameFn setNameFn);

/// Where the dimension k, r, s or c, by its number, is in a filter.
unsigned getFilterDim(FilterLayout layout, unsigned number);

/// The given accumulator, or the default for what `operand` holds.
Type getAccumulatorOf(std::optional<Type> given, Value operand);

/// The factor of the scores of an attention; nothing where the run decides it.
std::optional<double> getAttentionScale(std::optional<APFloat> given,
                                        Value query, Value key);

} // namespace mlir::tracea::detail

namespace mlir::tracea {

/// The tensors of a convolution, of which an operation computes one, and what
/// its messages call them.
struct ConvolutionParts {
  Value image, filter, output;
  StringRef imageName, filterName, outputName;
};

/// See Tracea_DefinesSums.
template <typename OpTy>
class DefinesSums : public OpTrait::TraitBase<OpTy, DefinesSums> {};

} // namespace mlir::tracea

#include "tracea/Dialect/Tracea/IR/TraceaInterfaces.h.inc"

#define GET_OP_CLASSES
#include "tracea/Dialect/Tracea/IR/TraceaOps.h.inc"

namespace mlir::tracea {

/// The accumulator type used when an operation names none: f64 for f64, f32
/// for the smaller floats, i32 for integers of up to 32 bits.
Type getDefaultAccumulatorType(Type elementType);

} // namespace mlir::tracea

#endif // TRACEA_DIALECT_TRACEA_IR_TRACEAOPS_H
