//===- TraceaPipeToNVVM.cpp - The way down to NVIDIA's GPUs ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arithmetic/Arithmetic.h"
#include "Lowering.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "tracea/Conversion/Passes.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_CONVERTTRACEAPIPETONVVM
#include "tracea/Conversion/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea_pipe;

static void addConversions(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](MemRefType type) -> std::optional<Type> {
    if (!isa_and_nonnull<StagedAttr>(type.getMemorySpace()))
      return std::nullopt;
    // The offset of its buffer in the workgroup's memory.
    return IntegerType::get(type.getContext(), 32);
  });
  converter.addConversion([](RankedTensorType type) -> std::optional<Type> {
    if (!isRegisterTile(type))
      return std::nullopt;
    return getLaneVector(type);
  });
  using Types = SmallVectorImpl<Type>;
  converter.addConversion(
      [](PhaseType type, Types &results) -> std::optional<LogicalResult> {
        // Slot and parity.
        results.append(2, IntegerType::get(type.getContext(), 32));
        return success();
      });
  converter.addConversion(
      [](ChannelType, Types &) -> std::optional<LogicalResult> {
        return success();
      });
  converter.addConversion(
      [](OrderBarrierType, Types &) -> std::optional<LogicalResult> {
        return success();
      });
  converter.addConversion(
      [](InFlightType type, Types &results) -> std::optional<LogicalResult> {
        llvm::append_range(results, getInFlightTypes(type));
        return success();
      });
}

static LogicalResult convertBody(NVVMLoweringContext &context) {
  MLIRContext *mlirContext = context.function.getContext();
  TypeConverter converter;
  addConversions(converter);
  ConversionTarget target(*mlirContext);
  target.markUnknownOpDynamicallyLegal([&](Operation *op) {
    return !isa<arith::ArithDialect, math::MathDialect, tensor::TensorDialect,
                scf::SCFDialect>(op->getDialect()) ||
           converter.isLegal(op);
  });
  target.addIllegalDialect<TraceaPipeDialect, gpu::GPUDialect>();
  target.addDynamicallyLegalOp<UnrealizedConversionCastOp>(
      [&](UnrealizedConversionCastOp op) {
        return llvm::none_of(op.getOperandTypes(), isRegisterTile) &&
               llvm::none_of(op.getResultTypes(), isRegisterTile);
      });
  target.addDynamicallyLegalOp<memref::CollapseShapeOp, memref::ExpandShapeOp>(
      [&](Operation *op) { return converter.isLegal(op->getResultTypes()); });
  RewritePatternSet patterns(mlirContext);
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  populateChannelPatterns(converter, patterns, context);
  populateClusterPatterns(converter, patterns, context);
  populateCopyPatterns(converter, patterns, context);
  populateMatrixTransferPatterns(converter, patterns, context);
  populateMatrixUnitPatterns(converter, patterns, context);
  populateTeamPatterns(converter, patterns, context);
  populateTilePatterns(converter, patterns, context);
  populateWarpMultiplyPatterns(converter, patterns, context);
  populateElementCopyPatterns(converter, patterns, context);
  populateLaneCopyPatterns(converter, patterns, context);
  populateLaneMultiplyPatterns(converter, patterns, context);
  populateLaneStorePatterns(converter, patterns, context);
  populateLocalRingPatterns(converter, patterns, context);
  populateRaggedTilePatterns(converter, patterns, context);
  populateReadPatterns(converter, patterns, context);
  populateRingPatterns(converter, patterns, context);
  populateShiftedLoadPatterns(converter, patterns, context);
  populateTileMemoryPatterns(converter, patterns, context);
  populateTransposedCopyPatterns(converter, patterns, context);
  // Whoever goes along a walk computes its coordinates, where it stands.
  target.addLegalOp<DelinearizeOp>();
  if (failed(applyPartialConversion(context.function, target,
                                    std::move(patterns))))
    return failure();
  context.function.walk([](DelinearizeOp op) {
    if (op->use_empty())
      op.erase();
  });
  return success();
}

/// The casts that stood for arguments have no uses left.
static LogicalResult eraseArguments(NVVMLoweringContext &context) {
  SmallVector<Operation *> casts;
  context.function.walk([&](UnrealizedConversionCastOp cast) {
    if (llvm::any_of(cast.getResultTypes(), llvm::IsaPred<MemRefType>))
      casts.push_back(cast);
  });
  for (Operation *cast : llvm::reverse(casts)) {
    if (cast->use_empty()) {
      cast->erase();
      continue;
    }
    return cast->use_begin()->getOwner()->emitOpError()
           << "uses memory in a way that this target has no lowering for";
  }
  return success();
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
    // [PTX] tanh: since sm_75.
    bool hasTangent = getCapability(kernel).value_or(75) >= 75;
    return failure(
        failed(buildFunction(context)) ||
        failed(collectWindows(context.function, context)) ||
        failed(convertBody(context)) || failed(eraseArguments(context)) ||
        failed(lowerArithmetic(context.function, digits, hasTangent, facts)));
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<KernelOp> kernels(module.getOps<KernelOp>());
    // Host code, which the manifest has taken over by now.
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (function.walk([](LaunchOp) { return WalkResult::interrupt(); })
              .wasInterrupted())
        function.erase();
    for (KernelOp kernel : kernels)
      if (failed(convert(kernel)))
        return signalPassFailure();
  }
};
} // namespace
