//===- ContractionWarpgroup.cpp - Contractions by units of four warps -----===//
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

#include "ContractionResults.h"
#include "WarpgroupTile.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// The whole sum and its epilogue in one kernel.
static void lowerWhole(KernelRewriter &rewriter, WarpgroupTile &unit) {
  Contraction &contraction = unit.contraction;
  const auto &fields =
      contraction.getSchedule().getFields<schedule::WarpgroupGemm>();
  ContractionResults results(rewriter, contraction.getOp(),
                             {unit.tileM, unit.tileN}, unit.getReach());
  KernelBuilder kb(rewriter, contraction.getOp(), contraction.getInputs(),
                   results.getInits());
  contraction.define(kb);
  requireAlignment(kb.getKernel());
  setPipeline(kb, unit, /*isPersistent=*/true);

  ResultTile tile = contraction.beginTiles(
      kb, {unit.tileM, unit.tileN, unit.tileK}, fields.group);
  Value sum = unit.sum(kb, tile);
  results.store(kb, sum, contraction.getAddress(kb, tile, unit.isTransposed),
                tile.getLimits(kb.index(), unit.isTransposed));
  results.finish(kb.launch());
}

static LogicalResult lower(KernelRewriter &rewriter, Contraction &contraction,
                           bool isTransposed) {
  WarpgroupTile unit(contraction, isTransposed);
  if (failed(unit.verify()))
    return failure();
  const auto &fields =
      contraction.getSchedule().getFields<schedule::WarpgroupGemm>();
  contraction.emitChecks(rewriter);
  contraction.joinRows(rewriter);
  padOperands(rewriter, contraction);
  if (fields.split > 1)
    return lowerSplitSum(rewriter, unit);
  lowerWhole(rewriter, unit);
  return success();
}

LogicalResult mlir::tracea::lowerByWarpgroups(KernelRewriter &rewriter,
                                              Contraction &contraction) {
  return lower(rewriter, contraction, /*isTransposed=*/false);
}

LogicalResult
mlir::tracea::lowerTransposedByWarpgroups(KernelRewriter &rewriter,
                                          Contraction &contraction) {
  return lower(rewriter, contraction, /*isTransposed=*/true);
}
