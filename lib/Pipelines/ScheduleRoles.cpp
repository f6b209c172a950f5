//===- ScheduleRoles.cpp - Roles, rings and staged results for GPUs -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TargetPhases.h"
#include "mlir/IR/BuiltinOps.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h"
#include "tracea/Pipelines/Passes.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_SCHEDULEROLES
#include "tracea/Pipelines/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

/// The variant of kernels that are loops over elements.
static constexpr StringLiteral kPlainLoops = "linalg";

static void addRolePasses(OpPassManager &kernels) {
  kernels.addPass(tracea_pipe::createJoinChannels());
  kernels.addPass(tracea_pipe::createShareClusterSums());
  // Without roles: the kernels that have no pipeline.
  kernels.addPass(tracea_pipe::createFillAhead());
  kernels.addPass(tracea_pipe::createPersistTiles());
  kernels.addPass(tracea_pipe::createSpecializeRoles());
  kernels.addPass(tracea_pipe::createOverlapMultiplies());
  kernels.addPass(tracea_pipe::createStageStores());
  kernels.addPass(tracea_pipe::createTakeTurns());
  addCleanup(kernels);
}

static OpPassManager makeKernelManager() {
  OpPassManager manager(tracea_pipe::KernelOp::getOperationName());
  addRolePasses(manager);
  return manager;
}

namespace {
struct ScheduleRoles : mlir::tracea::impl::ScheduleRolesBase<ScheduleRoles> {
  void getDependentDialects(DialectRegistry &registry) const override {
    makeKernelManager().getDependentDialects(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target =
        module->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName);
    bool onGPU = target && target.getKind() != TargetKind::CPU;
    OpPassManager manager = makeKernelManager();
    bool failedAny = false;
    for (auto kernel : module.getOps<tracea_pipe::KernelOp>()) {
      if (onGPU && kernel.getVariant() == kPlainLoops) {
        kernel.emitError()
            << "'" << kernel.getSourceOp().value_or("an operation")
            << "' has no variant for target '" << target.getName()
            << "' and was fused into no operation that has one; "
               "expected only what the target's variants compute";
        failedAny = true;
        continue;
      }
      if ((kernel.getPipelineAttr() || kernel.getWarps()) &&
          failed(runPipeline(manager, kernel)))
        failedAny = true;
    }
    if (failedAny)
      signalPassFailure();
  }
};
} // namespace
