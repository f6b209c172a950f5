//===- Passes.h - Passes of the pipeline dialect -----------------*- C++
//-*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_TRANSFORMS_PASSES_H
#define TRACEA_DIALECT_TRACEAPIPE_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::tracea_pipe {

#define GEN_PASS_DECL
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h.inc"

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_TRANSFORMS_PASSES_H
