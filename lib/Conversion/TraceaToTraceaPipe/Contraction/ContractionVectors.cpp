//===- ContractionVectors.cpp - Where sums of a CPU's kernels go ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums leave registers as results of the operation. Where the schedule splits
// them they leave as parts, each by tasks of its own, so that threads share a
// sum where there are few tiles; a second kernel adds the parts up in their
// order. How many parts there are is the schedule's to say, never the run's:
// results are the same on any number of threads.

#include "ContractionResults.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// The tile of a kernel that adds parts up: sixteen vectors, where the result
/// is so large.
static RankedTensorType getPartsTile(KernelBuilder &kb,
                                     Contraction &contraction) {
  Type type = contraction.getAccumulatorType();
  int64_t lanes = contraction.getTarget().getVectorBits() /
                  static_cast<int64_t>(type.getIntOrFloatBitWidth());
  SmallVector<int64_t> tile = {4, 4 * lanes};
  ArrayRef<int64_t> matrix =
      contraction.getResultType().getShape().take_back(2);
  if (!ShapedType::isDynamic(matrix[0]))
    tile[0] = std::clamp<int64_t>(matrix[0], 1, tile[0]);
  if (!ShapedType::isDynamic(matrix[1]))
    tile[1] =
        std::clamp<int64_t>(llvm::alignTo(matrix[1], lanes), lanes, tile[1]);
  return kb.getTileType(tile, type);
}

void mlir::tracea::lowerForVectors(
    KernelRewriter &rewriter, Contraction &contraction,
    function_ref<void(KernelBuilder &, StoreVectors)> build) {
  EpilogueOpInterface op = contraction.getOp();
  int64_t split =
      contraction.getSchedule().getFields<schedule::CPUGemm>().split;
  ContractionResults results(rewriter, op);
  if (split == 1) {
    KernelBuilder kb(rewriter, op, contraction.getInputs(), results.getInits());
    contraction.define(kb);
    build(kb, [&](Value sums, const TileAddress &address, ValueRange limits) {
      results.store(kb, sums, address, limits);
    });
    return results.finish(kb.launch());
  }
  Value parts = createParts(rewriter, contraction, split);
  KernelBuilder kb(
      rewriter, op,
      {contraction.getLhs().getTensor(), contraction.getRhs().getTensor()},
      parts);
  contraction.defineParts(kb);
  build(kb, [&](Value sums, const TileAddress &address, ValueRange limits) {
    kb.store(sums, address, limits);
  });
  parts = kb.launch().front();
  SmallVector<Value> inputs{parts};
  llvm::append_range(inputs, op.getExtras());
  KernelBuilder sum(rewriter, op, inputs, results.getInits());
  buildSumOfParts(sum, contraction, parts, results,
                  getPartsTile(sum, contraction));
  results.finish(sum.launch());
}
