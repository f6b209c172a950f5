//===- Convert.cpp - All patterns together --------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

void mlir::tracea_pipe::populateRegisterTilePatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    GPULoweringContext &context) {
  populateElementwisePatterns(converter, patterns, context);
  populateMovePatterns(converter, patterns, context);
  populateReducePatterns(converter, patterns, context);
  populateMemoryPatterns(converter, patterns, context);
}

LogicalResult
mlir::tracea_pipe::convertRegisterTiles(Operation *root,
                                        GPULoweringContext &context) {
  if (failed(planExchanges(root, context)))
    return failure();
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
    // What a vendor's lowering takes keeps its tiles until then.
    return !OpTrait::hasElementwiseMappableTraits(op) ||
           llvm::none_of(op->getResultTypes(), isRegisterTile);
  });
  target.addDynamicallyLegalDialect<arith::ArithDialect>([](Operation *op) {
    return llvm::none_of(op->getResultTypes(), isRegisterTile);
  });
  target.addDynamicallyLegalOp<tensor::SplatOp>(
      [](tensor::SplatOp op) { return !isRegisterTile(op.getType()); });
  target.addIllegalOp<RelayoutOp, BroadcastOp, SliceOp, ReduceOp, AnyOp,
                      CoordinateOp, LoadOp, StoreOp>();
  RewritePatternSet patterns(mlirContext);
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  populateRegisterTilePatterns(converter, patterns, context);
  return applyPartialConversion(root, target, std::move(patterns));
}
