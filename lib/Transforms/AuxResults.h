//===- AuxResults.h - Auxiliary results of products -------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_AUXRESULTS_H
#define TRACEA_LIB_TRANSFORMS_AUXRESULTS_H

#include "mlir/IR/PatternMatch.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

namespace mlir::tracea {

/// A further result of an epilogue: what it yields, where that goes, and how it
/// is reduced on the way.
struct AuxResult {
  Value scalar;
  AffineMap map;
  ReductionKind kind = ReductionKind::None;
  Value init;
};

/// Puts an operation with more results in the place of `op`, which must have an
/// epilogue. The scalars are values of its region.
GemmOp appendAuxResults(RewriterBase &rewriter, GemmOp op,
                        ArrayRef<AuxResult> added);

/// A tensor for what `map` of the result's dimensions says, its contents
/// undefined.
Value createAuxInit(OpBuilder &builder, GemmOp op, AffineMap map,
                    RankedTensorType type);

/// Whether `value` may be read where `op` stands.
bool isDefinedBefore(Value value, Operation *op);

/// Adds the pattern that fuses reductions of a product's results.
void populateFuseReductionPatterns(RewritePatternSet &patterns,
                                   unsigned maxOperations,
                                   std::function<void()> onFuse);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_AUXRESULTS_H
