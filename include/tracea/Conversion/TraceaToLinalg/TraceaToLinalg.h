//===- TraceaToLinalg.h - The meaning of semantic operations ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_CONVERSION_TRACEATOLINALG_TRACEATOLINALG_H
#define TRACEA_CONVERSION_TRACEATOLINALG_TRACEATOLINALG_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::tracea {

/// Adds one pattern for every operation of the semantic dialect that replaces
/// it by its definition in linalg, tensor, arith and math. A pattern creates no
/// semantic operation, so one walk is enough.
void populateTraceaToLinalgPatterns(RewritePatternSet &patterns);

} // namespace mlir::tracea

#endif // TRACEA_CONVERSION_TRACEATOLINALG_TRACEATOLINALG_H
