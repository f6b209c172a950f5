//===- TraceaPipeDialect.h - The pipeline dialect ---------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEDIALECT_H
#define TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h.inc"

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeTypes.h.inc"

namespace mlir::tracea_pipe {

/// A ranked tensor of static shape whose encoding is a lane map.
bool isRegisterTile(Type type);
/// A ranked tensor of static shape whose encoding is `#tracea_pipe.staged`.
bool isStagedTile(Type type);
/// Memory that `tracea_pipe.ragged_count` reads the ends of groups from.
bool isRaggedEnds(Type type);
/// The lane map of a register tile.
LanesAttr getLanes(Type type);

/// `constant + sum over d of coefficients[d] * d`.
struct LinearForm {
  SmallVector<int64_t> coefficients;
  int64_t constant = 0;
};
/// The linear form of `expr`; nothing if it is not linear in dimensions alone,
/// or if a coefficient does not fit.
std::optional<LinearForm> tryGetLinearForm(AffineExpr expr, unsigned numDims);
/// The result of an access map (which the verifiers know to be linear).
LinearForm getLinearForm(AffineExpr expr, unsigned numDims);

/// Strides of a window into `source` through a linear `map`: the source's
/// strides combined by the map's coefficients, ShapedType::kDynamic where one
/// of them is known only at run time. Nothing if the source has no strides.
std::optional<SmallVector<int64_t>> getViewStrides(MemRefType source,
                                                   AffineMap map);

} // namespace mlir::tracea_pipe

#define GET_OP_CLASSES
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeOps.h.inc"

#endif // TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEDIALECT_H
