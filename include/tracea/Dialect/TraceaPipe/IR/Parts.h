//===- Parts.h - Parts of register tiles ------------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_PARTS_H
#define TRACEA_DIALECT_TRACEAPIPE_IR_PARTS_H

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea_pipe {

/// The lane map of the first `width` coordinates along `dim` of a tile:
/// registers that reach beyond them are left out. Null where lanes or warps do.
LanesAttr getPartLanes(LanesAttr lanes, unsigned dim, int64_t width);

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_IR_PARTS_H
