//===- ExtentChecks.h - What a run refuses about extents --------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers compare the extents that types tell. Where types leave one open,
// the run compares it before a kernel or a loop takes it for granted.

#ifndef TRACEA_DIALECT_TRACEA_IR_EXTENTCHECKS_H
#define TRACEA_DIALECT_TRACEA_IR_EXTENTCHECKS_H

#include "tracea/Dialect/Tracea/IR/TraceaOps.h"

namespace mlir::tracea {

/// Refuses at run time that two extents differ, before `op`: nothing where both
/// are static. `what` says what `op` expects.
void emitExtentCheck(OpBuilder &builder, Operation *op, Value lhs,
                     int64_t lhsDim, Value rhs, int64_t rhsDim, StringRef what);
/// The same of two indices.
void emitEqualityCheck(OpBuilder &builder, Operation *op, Value lhs, Value rhs,
                       StringRef what);
/// Everything that the operands of a grouped product must agree in.
void emitExtentChecks(OpBuilder &builder, GroupedGemmOp op);
/// Everything that image, filter and output of a convolution must agree in; the
/// filter's height and width are known.
void emitExtentChecks(OpBuilder &builder, ConvolutionOpInterface op);
/// Operands of an epilogue, and its auxiliary results, have the extents of the
/// result's dimensions that their maps name, and operands 1 where they are
/// broadcast.
void emitEpilogueChecks(OpBuilder &builder, EpilogueOpInterface op);
/// The same of a prologue's operands, and of results of rows, and the input.
void emitRowChecks(OpBuilder &builder, RowOpInterface op);

} // namespace mlir::tracea

#endif // TRACEA_DIALECT_TRACEA_IR_EXTENTCHECKS_H
