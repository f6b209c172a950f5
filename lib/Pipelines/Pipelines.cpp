//===- Pipelines.cpp - The compiler's passes in their order ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Pipelines/Pipelines.h"

#include "TargetPhases.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "tracea/Analysis/Passes.h"
#include "tracea/Conversion/Passes.h"
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h"
#include "tracea/Doctor/Doctor.h"
#include "tracea/Doctor/Passes.h"
#include "tracea/Pipelines/Passes.h"
#include "tracea/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tracea;

void mlir::tracea::addCleanup(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

/// What is computed: operations are recognised and fused.
static void addSemanticPhase(OpPassManager &manager,
                             const CompilePipelineOptions &options) {
  manager.addPass(createInlineCalls());
  addCleanup(manager);
  manager.addNestedPass<func::FuncOp>(createExpandFunctions());
  // Before their numbers are operations on tensors.
  manager.addNestedPass<func::FuncOp>(createExpandReshapes());
  // Operations of `arith` and `math` written on whole tensors; on tiles of
  // kernels they have a meaning of their own.
  manager.addNestedPass<func::FuncOp>(createElementwiseToLinalg());
  manager.addNestedPass<func::FuncOp>(createGatherToLinalg());
  if (options.reference) {
    manager.addPass(createConvertTraceaToLinalg());
    manager.addPass(createPromoteToF64());
    addCleanup(manager);
    return;
  }
  // Slices that a loop places are constant then.
  manager.addNestedPass<func::FuncOp>(createUnrollLoops());
  addCleanup(manager);
  // Kernels sum in single precision even where linalg says half: the sums are
  // at least as accurate, and no unit works otherwise.
  ConvertLinalgToTraceaOptions raise;
  raise.widenAccumulators = true;
  manager.addPass(createConvertLinalgToTracea(raise));
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createFoldPads());
  manager.addNestedPass<func::FuncOp>(createSinkTransposes());
  manager.addPass(createPropagateTransposes());
  manager.addPass(createFoldBatchNorm());
  ExpandDGradOptions expand;
  // As kernels of GPUs do.
  expand.storesToWindows = isGPU(options.target.getValue());
  if (options.fuse.getValue() == FusionLevel::None) {
    manager.addNestedPass<func::FuncOp>(createExpandDGrad(expand));
    manager.addPass(createMergeTaps());
    manager.addPass(createCollapseRows());
    addCleanup(manager);
    return;
  }
  manager.addPass(createFuseEpilogues());
  // Some transposes reach a product only after what stood between is fused.
  manager.addPass(createPropagateTransposes());
  manager.addPass(createFuseEpilogues());
  // Before reshapes reach what reads the rows.
  manager.addPass(createFuseFinishes());
  manager.addPass(createPropagateCasts());
  manager.addPass(createHoistEpilogueInvariants());
  // Its convolutions share the epilogue that it has by now.
  manager.addNestedPass<func::FuncOp>(createExpandDGrad(expand));
  manager.addPass(createFuseElementwise());
  // Behind all that takes an elementwise operation elsewhere.
  manager.addPass(createFusePrologues());
  // Calls of kernels cost little, launches do not.
  if (isGPU(options.target.getValue()))
    manager.addNestedPass<func::FuncOp>(createJoinSiblings());
  // Behind all that looks for the producer of an image or the reader of a
  // result: reshapes stand between them from here on.
  manager.addPass(createMergeTaps());
  manager.addPass(createCollapseRows());
  addCleanup(manager);
}

/// With what: a target, and a schedule for every operation.
static void addDecisionPhase(OpPassManager &manager,
                             const CompilePipelineOptions &options) {
  SelectScheduleOptions select;
  select.target = options.target;
  select.threads = options.threads;
  manager.addPass(createSelectSchedule(select));
}

/// Where: kernels over tiles, and buffers for the host.
static void addTilePhase(OpPassManager &manager, bool reference) {
  if (!reference) {
    manager.addPass(createConvertTraceaToTraceaPipe());
    // Before anything else is done to each of them.
    manager.addPass(tracea_pipe::createDeduplicateKernels());
    manager.addPass(createConvertTraceaToLinalg());
    addCleanup(manager);
    manager.addPass(createFuseElementwise());
    addCleanup(manager);
  }
  manager.addPass(createBufferizeHost());
  manager.addPass(createOutlineHost());
  manager.addPass(tracea_pipe::createDropUnreachedKernels());
  manager.addPass(tracea_pipe::createDeduplicateKernels());
}

/// Kernels leave the pipeline level with certificates, or with the reasons why
/// not; with `require-proof` they do not leave it without.
static void addProofs(OpPassManager &manager,
                      const CompilePipelineOptions &options) {
  bool requireProof = options.requireProof;
  OpPassManager &kernels = manager.nest<tracea_pipe::KernelOp>();
  VerifyProtocolOptions protocol;
  protocol.requireProof = requireProof;
  kernels.addPass(createVerifyProtocol(protocol));
  VerifyBanksOptions banks;
  banks.requireProof = requireProof;
  banks.maxDegree = options.bankCycles;
  kernels.addPass(createVerifyBanks(banks));
  VerifyCoverageOptions coverage;
  coverage.requireProof = requireProof;
  kernels.addPass(createVerifyCoverage(coverage));
  VerifyResourcesOptions resources;
  resources.requireProof = requireProof;
  kernels.addPass(createVerifyResources(resources));
  kernels.addPass(createClassifyNumerics());
}

void mlir::tracea::buildCompilePipeline(OpPassManager &manager,
                                        const CompilePipelineOptions &options) {
  auto runs = [&](Phase phase) {
    return options.from.getValue() <= phase && phase <= options.to.getValue();
  };
  manager.addPass(createVerifyInput());
  if (runs(Phase::Semantic))
    addSemanticPhase(manager, options);
  if (runs(Phase::Decision) && options.fuse.getValue() == FusionLevel::All &&
      !options.reference) {
    JoinProductsOptions join;
    join.target = options.target;
    join.threads = options.threads;
    manager.addPass(createJoinProducts(join));
  }
  if (runs(Phase::Decision) && options.fuse.getValue() != FusionLevel::None &&
      !options.reference) {
    ShapeConvolutionsOptions shape;
    shape.target = options.target;
    shape.threads = options.threads;
    manager.addPass(createShapeConvolutions(shape));
  }
  if (runs(Phase::Decision) && runs(Phase::Tile) && !options.reference) {
    LowerScheduledOptions rest;
    rest.target = options.target;
    rest.threads = options.threads;
    rest.requireProof = options.requireProof;
    rest.bankCycles = options.bankCycles;
    rest.toPipeline = runs(Phase::Pipeline);
    rest.toTarget = runs(Phase::Target);
    manager.addPass(createLowerScheduled(rest));
    return;
  }
  if (runs(Phase::Decision))
    addDecisionPhase(manager, options);
  if (runs(Phase::Tile))
    addTilePhase(manager, options.reference);
  if (runs(Phase::Pipeline) && !options.reference) {
    manager.addPass(tracea_pipe::createPipelineKernels());
    manager.addPass(createSoftwarePipeline());
    addProofs(manager, options);
  }
  if (!options.reference && options.to.getValue() >= Phase::Pipeline) {
    if (options.requireProof)
      manager.addNestedPass<tracea_pipe::KernelOp>(createRequireProof());
    VerifyLaunchesOptions launches;
    launches.requireProof = options.requireProof;
    manager.addNestedPass<func::FuncOp>(createVerifyLaunches(launches));
  }
  if (runs(Phase::Target)) {
    LowerToTargetOptions lower;
    lower.reference = options.reference;
    lower.requireProof = options.requireProof;
    manager.addPass(createLowerToTarget(lower));
  }
}

void mlir::tracea::registerCompilePipeline() {
  // Registered by hand for the sake of its message: phases in the wrong order
  // would run nothing, and say nothing.
  registerPassPipeline(
      "tracea-compile",
      "Compile a module, from any level of the compiler to any later one",
      [](OpPassManager &manager, StringRef text,
         function_ref<LogicalResult(const Twine &)> error) -> LogicalResult {
        CompilePipelineOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        if (options.from.getValue() > options.to.getValue())
          return error("tracea-compile: the phase 'from' comes after the phase "
                       "'to' in \"" +
                       text + "\"");
        if (options.requireProof &&
            (options.reference || options.to.getValue() < Phase::Pipeline))
          return error("tracea-compile: kernels are proved in the phase "
                       "'pipeline', and those of a reference never are; "
                       "'require-proof' cannot be kept in \"" +
                       text + "\"");
        buildCompilePipeline(manager, options);
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> handler) {
        handler(CompilePipelineOptions());
      });
}
