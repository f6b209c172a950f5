//===- NVVMToLLVM.cpp - The last passes before code generation ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way from NVVM and the dialects around it to the LLVM dialect, as one
// pipeline.

#include "tracea/Conversion/TraceaPipeToNVVM/TraceaPipeToNVVM.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

/// Kernels arrive with many copies of an operation: those go first, and what
/// nobody uses before what it was computed from. Blocks are not merged: the
/// check of the result finds its loops and branches again.
static void addCleanup(OpPassManager &manager) {
  manager.addPass(createCSEPass());
  manager.addPass(createCanonicalizerPass(
      GreedyRewriteConfig()
          .setUseTopDownTraversal(false)
          .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal)));
  manager.addPass(createCSEPass());
}

void mlir::tracea::buildNVVMToLLVMPipeline(OpPassManager &manager) {
  addCleanup(manager);
  manager.addPass(createLoopInvariantCodeMotionPass());
  manager.addPass(arith::createArithExpandOpsPass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  addCleanup(manager);
}

void mlir::tracea::registerNVVMToLLVMInterfaces(DialectRegistry &registry) {
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  index::registerConvertIndexToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
  registerConvertNVVMToLLVMInterface(registry);
  ub::registerConvertUBToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);
  registerConvertToLLVMDependentDialectLoading(registry);
}

void mlir::tracea::registerNVVMToLLVMPipeline() {
  PassPipelineRegistration<>(
      "tracea-nvvm-to-llvm",
      "Lower what convert-tracea-pipe-to-nvvm leaves to the LLVM dialect",
      buildNVVMToLLVMPipeline);
}
