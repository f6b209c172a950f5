//===- TraceaPipeToNVVM.cpp - The way down to NVIDIA's GPUs ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arithmetic/Arithmetic.h"
#include "Lowering.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "tracea/Conversion/Passes.h"
#include "tracea/Conversion/TraceaPipeToGPU/KernelConversion.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_CONVERTTRACEAPIPETONVVM
#include "tracea/Conversion/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea_pipe;

static LogicalResult convertBody(NVVMLoweringContext &context) {
  KernelConversion conversion(context, context.function.getContext());
  TypeConverter &converter = conversion.converter;
  using Types = SmallVectorImpl<Type>;
  converter.addConversion(
      [](OrderBarrierType, Types &) -> std::optional<LogicalResult> {
        return success();
      });
  converter.addConversion(
      [](InFlightType type, Types &results) -> std::optional<LogicalResult> {
        llvm::append_range(results, getInFlightTypes(type));
        return success();
      });
  conversion.target.addIllegalDialect<gpu::GPUDialect>();
  for (auto populate :
       {populateChannelPatterns, populateClusterPatterns, populateCopyPatterns,
        populateMatrixTransferPatterns, populateMatrixUnitPatterns,
        populatePairPatterns, populateTurnPatterns})
    populate(converter, conversion.patterns, context);
  return conversion.apply(context.function);
}

/// What the tables say of the kernel's target; of a kernel without one, of the
/// target that has all the instructions.
static ::tracea::target::TargetDescription getFacts(KernelOp kernel) {
  auto target = kernel->getParentOfType<ModuleOp>()
                    ->getAttrOfType<mlir::tracea::TargetAttr>(
                        mlir::tracea::TraceaDialect::kTargetAttrName);
  if (target)
    if (auto facts = ::tracea::target::lookup(target.getName().str());
        facts && facts->occupancy.subgroupSize)
      return *facts;
  return *::tracea::target::lookup("sm_90a");
}

/// Bits of the significand of what the kernel writes to the caller's memory.
static unsigned getStoredDigits(KernelOp kernel) {
  unsigned digits = 0;
  auto add = [&](Value memory) {
    auto type = cast<MemRefType>(memory.getType());
    if (isa_and_nonnull<StagedAttr>(type.getMemorySpace()))
      return;
    if (auto element = dyn_cast<FloatType>(type.getElementType()))
      digits = std::max(digits, element.getFPMantissaWidth());
  };
  kernel.walk([&](Operation *op) {
    if (auto store = dyn_cast<StoreOp>(op))
      add(store.getDest());
    else if (auto copy = dyn_cast<CopyOutOp>(op))
      add(copy.getDest());
    else if (auto element = dyn_cast<memref::StoreOp>(op))
      add(element.getMemRef());
    else if (auto elements = dyn_cast<vector::StoreOp>(op))
      add(elements.getBase());
  });
  return digits ? digits : ~0u;
}

namespace {
struct ConvertTraceaPipeToNVVM
    : mlir::tracea::impl::ConvertTraceaPipeToNVVMBase<ConvertTraceaPipeToNVVM> {
  using ConvertTraceaPipeToNVVMBase::ConvertTraceaPipeToNVVMBase;

  LogicalResult convert(KernelOp kernel) {
    const ::tracea::target::TargetDescription facts = getFacts(kernel);
    NVVMTarget target(facts);
    if (failed(convertSharedTiles(kernel, target)))
      return failure();
    NVVMPlan plan;
    PlanOptions options;
    options.laneCopies = laneCopies;
    options.earlyStart = earlyStart;
    if (failed(planKernel(kernel, options, target, plan)))
      return failure();
    numLaneCopies += plan.numLaneCopies;
    NVVMLoweringContext context(target, plan);
    unsigned digits = getStoredDigits(kernel);
    // [PTX] tanh: since sm_75; max.NaN: since sm_80.
    int64_t capability = getCapability(kernel).value_or(75);
    ArithmeticUnits units{capability >= 75, capability >= 80};
    if (failed(buildFunction(context)) ||
        failed(collectWindows(context.function, context)) ||
        failed(convertBody(context)))
      return failure();
    passDivisors(context);
    return lowerArithmetic(context.function, digits, units, facts);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<KernelOp> kernels(module.getOps<KernelOp>());
    // Host code, which the manifest has taken over by now.
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      function.erase();
    for (KernelOp kernel : kernels)
      if (failed(convert(kernel)))
        return signalPassFailure();
  }
};
} // namespace
