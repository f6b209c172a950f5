//===- LowerPlainLoops.cpp - Kernels of plain loops for a GPU -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is left of structured operations and views in kernels that no variant
// made becomes loops over single elements of the kernel's arguments, which the
// lowering for GPUs knows. Other kernels stay as they are.

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/Utils/KernelNames.h"
#include "tracea/Pipelines/Passes.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_LOWERPLAINLOOPS
#include "tracea/Pipelines/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

static OpPassManager makeLoopManager() {
  OpPassManager manager(tracea_pipe::KernelOp::getOperationName());
  manager.addPass(createConvertLinalgToLoopsPass());
  manager.addPass(memref::createFoldMemRefAliasOpsPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(affine::createAffineExpandIndexOpsPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  return manager;
}

/// Loops of the module's author, whose iterations one lane does in turn.
static LogicalResult lowerOwnLoops(tracea_pipe::KernelOp kernel) {
  SmallVector<scf::ForallOp> loops;
  kernel.walk([&](scf::ForallOp loop) {
    if (!loop.getMapping())
      loops.push_back(loop);
  });
  IRRewriter rewriter(kernel.getContext());
  for (scf::ForallOp loop : loops) {
    rewriter.setInsertionPoint(loop);
    if (failed(scf::forallToForLoop(rewriter, loop)))
      return failure();
  }
  return success();
}

/// A kernel on a GPU has no way to stop and to say why.
static LogicalResult verifyNothingIsAsserted(tracea_pipe::KernelOp kernel) {
  WalkResult result = kernel.walk([&](cf::AssertOp check) {
    check.emitError() << "'" << kernel.getSourceOp().value_or("an operation")
                      << "' decides by data which element it takes, which "
                         "kernels on GPUs cannot check yet; expected indices "
                         "that follow from sizes";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct LowerPlainLoops
    : mlir::tracea::impl::LowerPlainLoopsBase<LowerPlainLoops> {
  void getDependentDialects(DialectRegistry &registry) const override {
    makeLoopManager().getDependentDialects(registry);
  }

  void runOnOperation() override {
    OpPassManager manager = makeLoopManager();
    for (auto kernel : getOperation().getOps<tracea_pipe::KernelOp>())
      if (kernel.getVariant() == tracea_pipe::kPlainLoopsVariant &&
          (failed(verifyNothingIsAsserted(kernel)) ||
           failed(lowerOwnLoops(kernel)) ||
           failed(runPipeline(manager, kernel))))
        return signalPassFailure();
  }
};
} // namespace
