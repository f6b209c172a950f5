//===- GemmWarpgroup.cpp - tracea.gemm for a unit of four warps -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variant "gemm.warpgroup": a grid tile of TM x TN sums over k in steps of TK.
// Each step stages a block of both operands in the order that memory has them;
// the unit reads either order. Copies fill with zeros what lies past the ends
// of a matrix, so that nothing is masked before the result. Operands whose rows
// are known to be no multiples of 16 bytes are padded first. What is copied
// when, and by whom, is the pipeline level's business: the kernel carries what
// the schedule says of it.
//
// The unit multiplies 64 rows at a time, but columns in eights. Variant
// "gemm.skinny" computes the transposed product, for results with few rows:
// their columns are the unit's rows.

#include "Definitions.h"
#include "GemmResults.h"
#include "UnitProduct.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
/// A walk over tiles of batches divides by numbers of tiles: proofs know what
/// that gives where the numbers are known.
static bool walksOverTiles(UnitProduct &product) {
  auto type = cast<RankedTensorType>(product.op.getInit().getType());
  return product.shape.batchRank == 0 || type.hasStaticShape();
}

/// The whole sum and its epilogue in one kernel.
static void lowerWhole(KernelRewriter &rewriter, UnitProduct &product) {
  GemmOp op = product.op;
  GemmShape &shape = product.shape;
  GemmResults results(rewriter, op, {product.tileM, product.tileN},
                      product.getReach());
  KernelBuilder kb(rewriter, op, op.getScheduleAttr(), product.getInputs(),
                   results.getInits());
  defineProduct(kb, op, product.lhs, product.rhs);
  IndexMath &ix = kb.index();
  requireAlignment(kb.getKernel());
  setPipeline(kb, product, walksOverTiles(product));

  Value sizeM = kb.getDim(op.getInit(), shape.resultRank - 2);
  Value sizeN = kb.getDim(op.getInit(), shape.resultRank - 1);
  Value sizeK = product.getSizeK(kb);
  SmallVector<Value> bounds;
  for (int64_t dim = 0; dim < shape.batchRank; ++dim)
    bounds.push_back(kb.getDim(op.getInit(), dim));
  bounds.push_back(ix.ceilDiv(sizeM, product.tileM));
  bounds.push_back(ix.ceilDiv(sizeN, product.tileN));
  Value steps = ix.ceilDiv(sizeK, product.tileK);
  Block::BlockArgListType grid =
      kb.beginTiles(bounds, op.getScheduleAttr().getGroup());
  SmallVector<Value> batch(grid.begin(), grid.begin() + shape.batchRank);
  Value m = ix.mul(grid[shape.batchRank], product.tileM);
  Value n = ix.mul(grid[shape.batchRank + 1], product.tileN);
  Value sum = product.sum(kb, batch, m, n, ix.constant(0), steps);
  SmallVector<Value> limits = product.getLimits(ix, sizeM, sizeN, m, n);
  SmallVector<Value> indices = shape.at(batch, shape.batchRank, m, n);
  results.store(kb, sum, indices, product.getResultMap(kb, shape.batchRank),
                limits);
  results.finish(kb.launch());
}

static LogicalResult lower(KernelRewriter &rewriter, GemmOp op,
                           bool isTransposed) {
  UnitProduct product(op, isTransposed);
  if (failed(product.verify()))
    return failure();
  if (op.getScheduleAttr().getTurns() > 1 && !walksOverTiles(product))
    return op.emitOpError() << "expects a result whose extents are all known "
                               "for teams that take "
                               "tiles of batches in turn, found "
                            << op.getInit().getType();
  product.shape.emitChecks(rewriter);
  std::tie(product.lhs, product.rhs) = padOperands(rewriter, op);
  if (op.getScheduleAttr().getSplit() > 1)
    return lowerSplitProduct(rewriter, product);
  lowerWhole(rewriter, product);
  return success();
}

LogicalResult mlir::tracea::lowerGemmWarpgroup(KernelRewriter &rewriter,
                                               GemmOp op) {
  return lower(rewriter, op, /*isTransposed=*/false);
}

LogicalResult mlir::tracea::lowerGemmSkinny(KernelRewriter &rewriter,
                                            GemmOp op) {
  return lower(rewriter, op, /*isTransposed=*/true);
}
