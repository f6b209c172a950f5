//===- Products.cpp - Definition of gemm ----------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum of products: a generic whose maps are read off the formula of the
// dialect's documentation.

#include "Emitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::tracea;

//===----------------------------------------------------------------------===//
// gemm
//===----------------------------------------------------------------------===//

namespace {
struct GemmDefinition : OpRewritePattern<GemmOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GemmOp op,
                                PatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    // Loops: the batch, then m, n, k.
    unsigned batch = Emitter::rank(op.getInit()) - 2;
    unsigned m = batch, n = batch + 1, k = batch + 2, loops = batch + 3;
    auto operandMap = [&](Value operand, unsigned row, unsigned column,
                          bool transposed) {
      SmallVector<unsigned> dims;
      if (Emitter::rank(operand) > 2) // otherwise shared by the whole batch
        llvm::append_range(dims, llvm::seq<unsigned>(0, batch));
      dims.push_back(transposed ? column : row);
      dims.push_back(transposed ? row : column);
      return e.select(loops, dims);
    };
    SmallVector<unsigned> resultDims =
        llvm::to_vector(llvm::seq<unsigned>(0, batch + 2));
    Value start =
        e.filled(e.sizes(op.getInit()), e.zero(op.getAccumulatorType()));
    Value sum =
        e.generic({op.getLhs(), op.getRhs()},
                  {operandMap(op.getLhs(), m, k, op.getTransposeLhs()),
                   operandMap(op.getRhs(), k, n, op.getTransposeRhs())},
                  start, e.select(loops, resultDims), Emitter::multiplyAdd);
    rewriter.replaceOp(op, e.finish(op, sum));
    return success();
  }
};
} // namespace

void mlir::tracea::populateProductPatterns(RewritePatternSet &patterns) {
  patterns.add<GemmDefinition>(patterns.getContext());
}
