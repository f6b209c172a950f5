//===- SoftwarePipeline.cpp - Which pipelining a GPU kernel gets ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TargetPhases.h"
#include "mlir/IR/BuiltinOps.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h"
#include "tracea/Pipelines/Passes.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_SOFTWAREPIPELINE
#include "tracea/Pipelines/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

static void addRolePasses(OpPassManager &kernels) {
  kernels.addPass(tracea_pipe::createJoinChannels());
  kernels.addPass(tracea_pipe::createClusterReduce());
  // Without roles: the kernels that have no pipeline.
  kernels.addPass(tracea_pipe::createMultistagePrefetch());
  kernels.addPass(tracea_pipe::createPersistentTiles());
  kernels.addPass(tracea_pipe::createWarpSpecialize());
  kernels.addPass(tracea_pipe::createAsyncMMA());
  kernels.addPass(tracea_pipe::createStageEpilogue());
  kernels.addPass(tracea_pipe::createPingPong());
  addCleanup(kernels);
}

static OpPassManager makeKernelManager() {
  OpPassManager manager(tracea_pipe::KernelOp::getOperationName());
  addRolePasses(manager);
  return manager;
}

namespace {
struct SoftwarePipeline
    : mlir::tracea::impl::SoftwarePipelineBase<SoftwarePipeline> {
  void getDependentDialects(DialectRegistry &registry) const override {
    makeKernelManager().getDependentDialects(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpPassManager manager = makeKernelManager();
    bool failedAny = false;
    for (auto kernel : module.getOps<tracea_pipe::KernelOp>()) {
      if ((kernel.getPipelineAttr() || kernel.getWarps()) &&
          failed(runPipeline(manager, kernel)))
        failedAny = true;
    }
    if (failedAny)
      signalPassFailure();
  }
};
} // namespace
