//===- ProductSum.h - Sums of products in linalg ----------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What contractions and convolutions have in common: a body that adds a
// product to the accumulator, and a start value of the sum.

#ifndef TRACEA_LIB_CONVERSION_LINALGTOTRACEA_PRODUCTSUM_H
#define TRACEA_LIB_CONVERSION_LINALGTOTRACEA_PRODUCTSUM_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include "tracea/Conversion/LinalgToTracea/LinalgToTracea.h"
#include "tracea/Dialect/Tracea/IR/TraceaOps.h"

namespace mlir::tracea {

/// `result[..] = init[..] + sum of cast(lhs[..]) * cast(rhs[..])`.
struct ProductSum {
  Value lhs, rhs, init;
  AffineMap lhsMap, rhsMap, resultMap;
  /// The accumulator's type.
  Type accumulator;

  /// The accumulator as an attribute; null where it is the default.
  TypeAttr getAccumulatorAttr() const;
  /// Exchanges the factors.
  void swap();
};

/// The accumulator for products of `element` that linalg sums in `sum`; null
/// when no semantic operation accumulates so.
Type chooseAccumulator(Type element, Type sum, const RaisingOptions &options);

/// Matches the body and the element types of `op`; the maps may be any.
FailureOr<ProductSum> matchProductSum(RewriterBase &rewriter,
                                      linalg::LinalgOp op,
                                      const RaisingOptions &options);

/// Where a sum starts: from zero, or from an addend that an epilogue adds.
struct SumStart {
  Value destination;   ///< what the semantic operation writes to
  Value addend;        ///< null for zero
  AffineMap addendMap; ///< from the result's dimensions
};

/// Splits `init`. With `readThroughBroadcasts` an addend that was only
/// broadcast or transposed is read where it comes from.
SumStart matchSumStart(RewriterBase &rewriter, Location loc, Value init,
                       bool readThroughBroadcasts);

/// Gives a just created operation without extra operands the epilogue that adds
/// the addend of `start`, if there is one.
void addStart(RewriterBase &rewriter, EpilogueOpInterface op,
              const SumStart &start);

/// Whether `value` is a constant zero; -0.0 is not, as 0.0 + -0.0 is 0.0.
bool isZero(Value value);

/// `tensor` with a dimension of extent 1 at `position`.
Value insertUnitDim(RewriterBase &rewriter, Location loc, Value tensor,
                    unsigned position);
/// `tensor` with dimensions `position` and `position + 1` as one.
Value mergeDims(RewriterBase &rewriter, Location loc, Value tensor,
                unsigned position);
/// Undoes either for a result: `tensor` in the shape of `like`.
Value reshapeLike(RewriterBase &rewriter, Location loc, Value tensor,
                  Value like, unsigned position);

/// Replaces `op` by `value` and erases producers that it leaves without use.
void replaceAndClean(RewriterBase &rewriter, linalg::LinalgOp op, Value value);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_LINALGTOTRACEA_PRODUCTSUM_H
