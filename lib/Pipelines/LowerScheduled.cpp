//===- LowerScheduled.cpp - Decisions, and lowering that bears them out ---===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "tracea/Pipelines/NextSchedule.h"
#include "tracea/Pipelines/Passes.h"
#include "tracea/Pipelines/Pipelines.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_LOWERSCHEDULED
#include "tracea/Pipelines/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

namespace {
struct LowerScheduled : mlir::tracea::impl::LowerScheduledBase<LowerScheduled> {
  using LowerScheduledBase::LowerScheduledBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    makeManager(Phase::Decision, Phase::Decision)
        .getDependentDialects(registry);
    makeManager(Phase::Tile, Phase::Target).getDependentDialects(registry);
  }

  void runOnOperation() override {
    Phase last = toTarget     ? Phase::Target
                 : toPipeline ? Phase::Pipeline
                              : Phase::Tile;
    OpPassManager decide = makeManager(Phase::Decision, Phase::Decision),
                  lower = makeManager(Phase::Tile, last);
    auto run = [&](OpPassManager &manager) {
      return [&](ModuleOp module) { return runPipeline(manager, module); };
    };
    if (failed(lowerWithNextSchedules(getOperation(), run(decide), run(lower))))
      signalPassFailure();
  }

private:
  OpPassManager makeManager(Phase from, Phase to) const {
    OpPassManager manager(ModuleOp::getOperationName());
    CompilePipelineOptions options;
    options.target = target;
    options.threads = threads;
    options.requireProof = requireProof;
    options.bankCycles = bankCycles;
    options.from = from;
    options.to = to;
    buildCompilePipeline(manager, options);
    return manager;
  }
};
} // namespace
