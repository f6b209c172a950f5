//===- TraceaDialect.h - The semantic dialect -------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEA_IR_TRACEADIALECT_H
#define TRACEA_DIALECT_TRACEA_IR_TRACEADIALECT_H

#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"

#include "tracea/Dialect/Tracea/IR/TraceaDialect.h.inc"

#include "tracea/Dialect/Tracea/IR/TraceaEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tracea/Dialect/Tracea/IR/TraceaAttributes.h.inc"

#endif // TRACEA_DIALECT_TRACEA_IR_TRACEADIALECT_H
