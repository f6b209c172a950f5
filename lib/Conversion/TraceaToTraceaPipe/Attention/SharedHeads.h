//===- SharedHeads.h - Sums of query heads that share a key head -*- C++ -*-==//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_SHAREDHEADS_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_SHAREDHEADS_H

#include "mlir/IR/PatternMatch.h"
#include "tracea/Dialect/Tracea/IR/TraceaOps.h"

namespace mlir::tracea {

/// Query heads that share a key head; ShapedType::kDynamic where types do not
/// tell.
int64_t getSharedHeads(AttentionOpInterface op);

/// A tensor of what each query head leaves of a gradient in the shape of
/// `init`, in the type of sums.
Value createHeadParts(RewriterBase &rewriter, AttentionOpInterface op,
                      Value init);

/// What heads that share one have left, added up in their order into `init`.
Value addHeadParts(RewriterBase &rewriter, Location loc, Value parts,
                   Value init);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_SHAREDHEADS_H
