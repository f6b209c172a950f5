//===- Convert.cpp - All patterns together --------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conversion of register tiles without a vendor: which operations it takes,
// and with what target.
//
//===----------------------------------------------------------------------===//

#include "Memory/MemRefTarget.h"
#include "Tiles/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

static void populateRegisterTilePatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns,
                                         GPULoweringContext &context) {
  populateElementwisePatterns(converter, patterns, context);
  populateMovePatterns(converter, patterns, context);
  populateReducePatterns(converter, patterns, context);
}

/// The windows of loads and stores; copies stay for others to lower.
static LogicalResult collectTileWindows(Operation *root,
                                        KernelContext &context) {
  WalkResult walked = root->walk([&](Operation *op) {
    LogicalResult found = success();
    if (auto load = dyn_cast<LoadOp>(op))
      found = collectWindow(op, load.getSourceMutable(), load.getIndices(),
                            load.getMap(), context);
    else if (auto store = dyn_cast<StoreOp>(op))
      found = collectWindow(op, store.getDestMutable(), store.getIndices(),
                            store.getMap(), context);
    return failed(found) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// Converts what is not kept; `memory` adds patterns for loads and stores.
static LogicalResult
convert(Operation *root, GPULoweringContext &context,
        function_ref<bool(Operation *)> isKept,
        function_ref<void(const TypeConverter &, RewritePatternSet &)> memory) {
  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  addRegisterTileConversion(converter);
  auto materialize = [](OpBuilder &b, Type type, ValueRange inputs,
                        Location loc) -> Value {
    return UnrealizedConversionCastOp::create(b, loc, type, inputs)
        .getResult(0);
  };
  converter.addSourceMaterialization(materialize);
  converter.addTargetMaterialization(materialize);

  MLIRContext *mlirContext = root->getContext();
  ConversionTarget target(*mlirContext);
  target.markUnknownOpDynamicallyLegal([&](Operation *op) {
    if (isKept(op))
      return true;
    if (isa<RelayoutOp, BroadcastOp, SliceOp, ReduceOp, AnyOp, CoordinateOp,
            LoadOp, StoreOp>(op))
      return false;
    // What a vendor's lowering takes keeps its tiles until then.
    return !(isa<arith::ArithDialect>(op->getDialect()) ||
             isa<tensor::SplatOp>(op) ||
             OpTrait::hasElementwiseMappableTraits(op)) ||
           llvm::none_of(op->getResultTypes(), isRegisterTile);
  });
  RewritePatternSet patterns(mlirContext);
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  populateRegisterTilePatterns(converter, patterns, context);
  memory(converter, patterns);
  return applyPartialConversion(root, target, std::move(patterns));
}

LogicalResult mlir::tracea_pipe::convertTileArithmetic(
    Operation *root, GPULoweringContext &context,
    function_ref<bool(Operation *)> isKept) {
  context.keepsStagedMemory = true;
  if (failed(planExchanges(root, context)))
    return failure();
  return convert(root, context, isKept,
                 [](const TypeConverter &, RewritePatternSet &) {});
}

LogicalResult
mlir::tracea_pipe::convertRegisterTiles(Operation *root,
                                        GPULoweringContext &context) {
  KernelPlan plan;
  MemRefTarget memory(context);
  KernelContext kernel(memory, plan);
  if (failed(planExchanges(root, context)) ||
      failed(collectTileWindows(root, kernel)))
    return failure();
  return convert(
      root, context, [](Operation *) { return false; },
      [&](const TypeConverter &converter, RewritePatternSet &patterns) {
        populateTileMemoryPatterns(converter, patterns, kernel);
      });
}
