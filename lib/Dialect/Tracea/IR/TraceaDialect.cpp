//===- TraceaDialect.cpp - The semantic dialect ---------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "tracea/Dialect/Tracea/IR/Precision.h"
#include "tracea/Dialect/Tracea/IR/TraceaOps.h"

using namespace mlir;
using namespace mlir::tracea;

#include "tracea/Dialect/Tracea/IR/TraceaDialect.cpp.inc"

#include "tracea/Dialect/Tracea/IR/TraceaEnums.cpp.inc"

void TraceaDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "tracea/Dialect/Tracea/IR/TraceaOps.cpp.inc"
      >();
}

LogicalResult TraceaDialect::verifyOperationAttribute(Operation *op,
                                                      NamedAttribute attr) {
  if (attr.getName() == kAllowTF32AttrName ||
      attr.getName() == kAllowTF32x3AttrName) {
    if (!isa<FunctionOpInterface, ModuleOp>(op))
      return op->emitOpError() << "'" << attr.getName().getValue()
                               << "' belongs on a function or a module";
    if (!isa<UnitAttr>(attr.getValue()))
      return op->emitOpError()
             << "'" << attr.getName().getValue()
             << "' must be a unit attribute, found " << attr.getValue();
    return success();
  }
  if (attr.getName() != kTargetAttrName)
    return success();
  if (!isa<ModuleOp>(op))
    return op->emitOpError()
           << "'" << kTargetAttrName << "' belongs on a module";
  if (!isa<TargetAttr>(attr.getValue()))
    return op->emitOpError()
           << "'" << kTargetAttrName << "' must be a #tracea.target, found "
           << attr.getValue();
  return success();
}
