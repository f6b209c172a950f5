//===- TraceaToLinalg.cpp - Write out the meaning of semantic operations --===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Conversion/TraceaToLinalg/TraceaToLinalg.h"

#include "Emitter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "tracea/Conversion/Passes.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_CONVERTTRACEATOLINALG
#include "tracea/Conversion/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

void mlir::tracea::populateTraceaToLinalgPatterns(RewritePatternSet &patterns) {
  populateProductPatterns(patterns);
  populateConvolutionPatterns(patterns);
  populateGroupedPatterns(patterns);
  populateNormalizationPatterns(patterns);
  populateAttentionPatterns(patterns);
  populateAttentionGradientPatterns(patterns);
}

namespace {
struct ConvertTraceaToLinalgPass
    : mlir::tracea::impl::ConvertTraceaToLinalgBase<ConvertTraceaToLinalgPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateTraceaToLinalgPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));

    // Operations without a definition must not pass silently.
    WalkResult left = getOperation()->walk([&](Operation *op) {
      if (!isa_and_present<TraceaDialect>(op->getDialect()))
        return WalkResult::advance();
      op->emitOpError("has no definition in linalg");
      return WalkResult::interrupt();
    });
    if (left.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
