//===- NarrowBF16.cpp - Roundings to bf16 that are instructions -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream expands roundings to bf16 to integer arithmetic, eight operations a
// vector, for targets that have nothing else. One that is an operation of the
// LLVM dialect before that stays one instruction. That of x86 takes subnormal
// numbers for zeros, so there it is for roundings that may do so.

#include "tracea/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_NARROWBF16
#include "tracea/Conversion/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;

namespace {
struct NarrowBF16 : public mlir::tracea::impl::NarrowBF16Base<NarrowBF16> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<arith::TruncFOp> roundings;
    getOperation()->walk([&](arith::TruncFOp op) {
      if (getElementTypeOrSelf(op.getIn().getType()).isF32() &&
          getElementTypeOrSelf(op.getType()).isBF16() && isNearest(op) &&
          (subnormals || op->hasAttr(tracea_pipe::kFlushesAttrName)))
        roundings.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (arith::TruncFOp op : roundings) {
      rewriter.setInsertionPoint(op);
      rewriter.replaceOpWithNewOp<LLVM::FPTruncOp>(op, op.getType(),
                                                   op.getIn());
    }
  }

private:
  static bool isNearest(arith::TruncFOp op) {
    std::optional<arith::RoundingMode> mode = op.getRoundingmode();
    return !mode || *mode == arith::RoundingMode::to_nearest_even;
  }
};
} // namespace
