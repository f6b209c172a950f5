//===- TraceaDialect.h - The semantic dialect -------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEA_IR_TRACEADIALECT_H
#define TRACEA_DIALECT_TRACEA_IR_TRACEADIALECT_H

#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "tracea/Schedule/Params.h"

namespace mlir::tracea::schedule {
/// Attributes with the same fields are one.
llvm::hash_code hash_value(const Params &params);
} // namespace mlir::tracea::schedule

#include "tracea/Dialect/Tracea/IR/TraceaDialect.h.inc"

#include "tracea/Dialect/Tracea/IR/TraceaEnums.h.inc"

#include "tracea/Dialect/Tracea/IR/TraceaAttrInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tracea/Dialect/Tracea/IR/TraceaAttributes.h.inc"

namespace mlir::tracea {
/// The attribute of a family's fields; an error, and null, where these do not
/// hold.
ScheduleParamsAttrInterface
getScheduleParams(MLIRContext *context, const schedule::Params &params,
                  function_ref<InFlightDiagnostic()> emitError);
} // namespace mlir::tracea

#endif // TRACEA_DIALECT_TRACEA_IR_TRACEADIALECT_H
