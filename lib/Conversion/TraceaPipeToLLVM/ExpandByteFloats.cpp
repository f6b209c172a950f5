//===- ExpandByteFloats.cpp - 8-bit floats become integers ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Conversion/MathExpansion/MathExpansion.h"
#include "tracea/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_EXPANDBYTEFLOATS
#include "tracea/Conversion/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;

namespace {
struct ExpandByteFloats
    : public mlir::tracea::impl::ExpandByteFloatsBase<ExpandByteFloats> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    mlir::tracea::populateByteFloatExpansionPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
