//===- ContractionMemory.cpp - What kernels ask of memory -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bulk copies need rows that begin at multiples of 16 bytes. Lanes copy from
// anywhere, but move whole pieces where rows begin so.

#include "ContractionResults.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

void mlir::tracea::buildForMemory(KernelRewriter &rewriter,
                                  Contraction &contraction,
                                  const ContractionResults &results,
                                  function_ref<void(KernelBuilder &)> build,
                                  function_ref<bool(unsigned)> isWanted) {
  constexpr unsigned kOperands = 2;
  results.finish(launchForMemory(
      rewriter, contraction.getOp(), contraction.getInputs(),
      results.getInits(), kOperands,
      [&](KernelBuilder &kb, bool) {
        contraction.define(kb);
        build(kb);
      },
      isWanted));
}
