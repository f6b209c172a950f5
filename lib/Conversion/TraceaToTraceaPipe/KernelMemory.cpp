//===- KernelMemory.cpp - A kernel for each kind of memory ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelMemory.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

ValueRange
mlir::tracea::launchForMemory(KernelRewriter &rewriter, Operation *op,
                              ValueRange inputs, ValueRange inits,
                              unsigned numOperands,
                              function_ref<void(KernelBuilder &, bool)> build,
                              function_ref<bool(unsigned)> isWanted) {
  KernelBuilder first(rewriter, op, inputs, inits);
  bool isAligned = requirePieces(first.getKernel(), numOperands, isWanted);
  build(first, isAligned);
  if (!isAligned)
    return first.launch();
  KernelBuilder any(rewriter, op, inputs, inits);
  build(any, false);
  auto launch = first.launch()[0].getDefiningOp<LaunchOp>();
  launch.setOthersAttr(rewriter.getArrayAttr(
      FlatSymbolRefAttr::get(any.getKernel().getSymNameAttr())));
  return launch.getResults();
}
