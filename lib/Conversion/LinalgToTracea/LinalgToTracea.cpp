//===- LinalgToTracea.cpp - Raise linalg to semantic operations -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Conversion/LinalgToTracea/LinalgToTracea.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "tracea/Conversion/Passes.h"
#include "tracea/Dialect/Tracea/IR/TraceaOps.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_CONVERTLINALGTOTRACEA
#include "tracea/Conversion/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

namespace {
struct ConvertLinalgToTraceaPass
    : mlir::tracea::impl::ConvertLinalgToTraceaBase<ConvertLinalgToTraceaPass> {
  using ConvertLinalgToTraceaBase::ConvertLinalgToTraceaBase;

  void runOnOperation() override {
    RaisingOptions options;
    options.widenAccumulators = widenAccumulators;

    // Producers come first: one that a raised operation leaves without use is
    // erased with it, after its own turn.
    SmallVector<Operation *> candidates;
    getOperation()->walk([&](Operation *op) {
      if (isa<linalg::LinalgOp, linalg::SoftmaxOp>(op) &&
          !isa<linalg::FillOp>(op))
        candidates.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : candidates) {
      if (linalg::SoftmaxOp softmax = dyn_cast<linalg::SoftmaxOp>(op)) {
        if (succeeded(raiseSoftmax(rewriter, softmax, options)))
          ++numSoftmaxes;
      } else if (succeeded(raiseContraction(
                     rewriter, cast<linalg::LinalgOp>(op), options))) {
        ++numGemms;
      } else if (succeeded(raiseConvolution(
                     rewriter, cast<linalg::LinalgOp>(op), options))) {
        ++numConvolutions;
      }
    }
  }
};
} // namespace
