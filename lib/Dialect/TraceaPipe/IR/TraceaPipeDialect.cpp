//===- TraceaPipeDialect.cpp - The pipeline dialect -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.cpp.inc"

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeEnums.cpp.inc"

#define GET_OP_CLASSES
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeOps.cpp.inc"

void TraceaPipeDialect::initialize() {
  registerAttributesAndTypes();
  addOperations<
#define GET_OP_LIST
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeOps.cpp.inc"
      >();
}

bool mlir::tracea_pipe::isRegisterTile(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() &&
         isa_and_nonnull<LanesAttr>(tensor.getEncoding());
}

bool mlir::tracea_pipe::isStagedTile(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() &&
         isa_and_nonnull<StagedAttr>(tensor.getEncoding());
}

LanesAttr mlir::tracea_pipe::getLanes(Type type) {
  return cast<LanesAttr>(cast<RankedTensorType>(type).getEncoding());
}

LinearForm mlir::tracea_pipe::getLinearForm(AffineExpr expr, unsigned numDims) {
  MLIRContext *context = expr.getContext();
  SmallVector<AffineExpr> point(numDims, getAffineConstantExpr(0, context));
  auto valueAt = [&]() {
    AffineExpr value = simplifyAffineExpr(expr.replaceDims(point), 0, 0);
    return cast<AffineConstantExpr>(value).getValue();
  };
  LinearForm form;
  form.constant = valueAt();
  for (unsigned dim = 0; dim < numDims; ++dim) {
    point[dim] = getAffineConstantExpr(1, context);
    form.coefficients.push_back(valueAt() - form.constant);
    point[dim] = getAffineConstantExpr(0, context);
  }
  return form;
}
