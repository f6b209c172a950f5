//===- KernelConversion.cpp - From a kernel's body to a vendor ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which operations of a kernel's function are left to convert, and all patterns
// of the level that all GPUs share.
//
//===----------------------------------------------------------------------===//

#include "tracea/Conversion/TraceaPipeToGPU/KernelConversion.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"

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
}

KernelConversion::KernelConversion(KernelContext &context,
                                   MLIRContext *mlirContext)
    : context(context), target(*mlirContext), patterns(mlirContext) {
  addConversions(converter);
  target.markUnknownOpDynamicallyLegal([&](Operation *op) {
    return !isa_and_nonnull<arith::ArithDialect, math::MathDialect,
                            tensor::TensorDialect, scf::SCFDialect>(
               op->getDialect()) ||
           converter.isLegal(op);
  });
  target.addIllegalDialect<TraceaPipeDialect>();
  // Whoever goes along a walk computes its coordinates, where it stands, or
  // finds them in its table.
  target.addLegalOp<GatherOp>();
  target.addDynamicallyLegalOp<DelinearizeOp>(
      [](DelinearizeOp op) { return !op.getTable(); });
  target.addIllegalOp<scf::ForallOp>();
  target.addDynamicallyLegalOp<UnrealizedConversionCastOp>(
      [](UnrealizedConversionCastOp op) {
        return llvm::none_of(op.getOperandTypes(), isRegisterTile) &&
               llvm::none_of(op.getResultTypes(), isRegisterTile);
      });
  target.addDynamicallyLegalOp<memref::CollapseShapeOp, memref::ExpandShapeOp>(
      [&](Operation *op) { return converter.isLegal(op->getResultTypes()); });
  target.addDynamicallyLegalOp<memref::ViewOp>(
      [&](Operation *op) { return converter.isLegal(op); });
  auto isOwnMemory = [&](Operation *op, Value memory) {
    return converter.isLegal(op) && !findArgument(memory, context);
  };
  target.addDynamicallyLegalOp<vector::LoadOp>(
      [=](vector::LoadOp op) { return isOwnMemory(op, op.getBase()); });
  target.addDynamicallyLegalOp<vector::StoreOp>(
      [=](vector::StoreOp op) { return isOwnMemory(op, op.getBase()); });
  target.addDynamicallyLegalOp<memref::LoadOp>(
      [=](memref::LoadOp op) { return isOwnMemory(op, op.getMemRef()); });
  target.addDynamicallyLegalOp<memref::StoreOp>(
      [=](memref::StoreOp op) { return isOwnMemory(op, op.getMemRef()); });
  target.addDynamicallyLegalOp<memref::AtomicRMWOp>(
      [&](memref::AtomicRMWOp op) {
        return !findArgument(op.getMemref(), context);
      });
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
}

/// The casts that stood for arguments have no uses left.
static LogicalResult eraseArguments(Operation *function) {
  SmallVector<Operation *> casts;
  function->walk([&](UnrealizedConversionCastOp cast) {
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

LogicalResult KernelConversion::apply(Operation *function) {
  for (auto populate :
       {populateElementCopyPatterns, populateExchangeMemoryPatterns,
        populateFragmentMultiplyPatterns, populateLaneCopyPatterns,
        populateLaneLoopPatterns, populateLaneMultiplyPatterns,
        populateLaneStorePatterns, populateLocalRingPatterns,
        populatePlacePatterns, populateRaggedTilePatterns, populateReadPatterns,
        populateRingPatterns, populateShiftedLoadPatterns, populateTilePatterns,
        populateTileMemoryPatterns, populateTransposedCopyPatterns,
        populateWalkPatterns})
    populate(converter, patterns, context);
  if (failed(applyPartialConversion(function, target, std::move(patterns))))
    return failure();
  function->walk([](Operation *op) {
    if (isa<DelinearizeOp, GatherOp, memref::ReinterpretCastOp>(op) &&
        op->use_empty())
      op->erase();
  });
  return eraseArguments(function);
}
