//===- LowerToTarget.cpp - The last phase, by the module's target ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the pipeline level to the LLVM dialect, by the passes of the module's
// kind of target.

#include "TargetPhases.h"
#include "mlir/IR/BuiltinOps.h"
#include "tracea/Analysis/DotProducts.h"
#include "tracea/Dialect/Tracea/IR/TargetFeatures.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Pipelines/Passes.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_LOWERTOTARGET
#include "tracea/Pipelines/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

namespace {
struct LowerToTarget : mlir::tracea::impl::LowerToTargetBase<LowerToTarget> {
  using LowerToTargetBase::LowerToTargetBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    CPUArithmetic all;
    all.tiles = all.narrows = true;
    for (TargetKind kind : {TargetKind::CPU, TargetKind::CUDA})
      makeManager(kind, all, /*several=*/true).getDependentDialects(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target =
        module->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName);
    TargetKind kind = target ? target.getKind() : TargetKind::CPU;
    if (kind != TargetKind::CPU && (kind != TargetKind::CUDA || reference)) {
      module.emitError() << "no code generator for target '" << target.getName()
                         << "' of kind " << stringifyTargetKind(kind)
                         << (reference ? "; a reference is for kind cpu"
                                       : "; expected kind cpu or cuda");
      return signalPassFailure();
    }
    CPUArithmetic arithmetic;
    if (target)
      arithmetic = {hasFusedMultiplyAdd(target), scalesByPowers(target),
                    getUnitRegisters(target) > 0,
                    narrowsToBF16(target, /*isNormal=*/true),
                    narrowsToBF16(target, /*isNormal=*/false)};
    bool several =
        llvm::hasNItemsOrMore(module.getOps<tracea_pipe::KernelOp>(), 2);
    OpPassManager manager = makeManager(kind, arithmetic, several);
    if (failed(runPipeline(manager, module)))
      signalPassFailure();
  }

private:
  OpPassManager makeManager(TargetKind kind, CPUArithmetic arithmetic,
                            bool several) const {
    OpPassManager manager(ModuleOp::getOperationName());
    if (kind == TargetKind::CUDA)
      addCUDATargetPhase(manager, verify, requireProof);
    else
      addCPUTargetPhase(manager, reference, arithmetic, several);
    return manager;
  }
};
} // namespace
