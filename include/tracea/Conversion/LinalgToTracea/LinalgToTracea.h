//===- LinalgToTracea.h - Raises linalg to semantic operations --*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_CONVERSION_LINALGTOTRACEA_LINALGTOTRACEA_H
#define TRACEA_CONVERSION_LINALGTOTRACEA_LINALGTOTRACEA_H

#include "mlir/Support/LogicalResult.h"

namespace mlir {
class RewriterBase;
namespace linalg {
class LinalgOp;
class SoftmaxOp;
} // namespace linalg
} // namespace mlir

namespace mlir::tracea {

/// What the raising may change in an operation.
struct RaisingOptions {
  /// Accumulate in f32 where the linalg operation sums in f16 or bf16.
  bool widenAccumulators = false;
};

/// Each replaces `op` by a semantic operation with the same meaning, or fails
/// with a match failure that says what does not fit and changes nothing.
LogicalResult raiseContraction(RewriterBase &rewriter, linalg::LinalgOp op,
                               const RaisingOptions &options = {});
LogicalResult raiseConvolution(RewriterBase &rewriter, linalg::LinalgOp op,
                               const RaisingOptions &options = {});
LogicalResult raiseSoftmax(RewriterBase &rewriter, linalg::SoftmaxOp op,
                           const RaisingOptions &options = {});

} // namespace mlir::tracea

#endif // TRACEA_CONVERSION_LINALGTOTRACEA_LINALGTOTRACEA_H
