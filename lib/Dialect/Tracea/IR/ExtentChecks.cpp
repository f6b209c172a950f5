//===- ExtentChecks.cpp - What a run refuses about extents ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/Tracea/IR/ExtentChecks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::tracea;

static bool isDynamic(Value tensor, unsigned dim) {
  return cast<RankedTensorType>(tensor.getType()).isDynamicDim(dim);
}

void mlir::tracea::emitExtentCheck(OpBuilder &builder, Operation *op, Value lhs,
                                   int64_t lhsDim, Value rhs, int64_t rhsDim,
                                   StringRef what) {
  auto lhsType = cast<RankedTensorType>(lhs.getType());
  auto rhsType = cast<RankedTensorType>(rhs.getType());
  // Two static extents were compared by the verifier.
  if (!lhsType.isDynamicDim(lhsDim) && !rhsType.isDynamicDim(rhsDim))
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  Location loc = op->getLoc();
  Value lhsSize = builder.createOrFold<tensor::DimOp>(loc, lhs, lhsDim);
  Value rhsSize = builder.createOrFold<tensor::DimOp>(loc, rhs, rhsDim);
  emitEqualityCheck(builder, op, lhsSize, rhsSize, what);
}

void mlir::tracea::emitEqualityCheck(OpBuilder &builder, Operation *op,
                                     Value lhs, Value rhs, StringRef what) {
  if (lhs == rhs)
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  Location loc = op->getLoc();
  Value same =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lhs, rhs);
  cf::AssertOp::create(
      builder, loc, same,
      (op->getName().getStringRef() + ": expected " + what).str());
}

void mlir::tracea::emitExtentChecks(OpBuilder &builder, GroupedGemmOp op) {
  Value lhs = op.getLhs(), rhs = op.getRhs(), init = op.getInit();
  emitExtentCheck(builder, op, lhs, 1, rhs, op.getRhsK(),
                  "lhs and rhs to have the same k");
  emitExtentCheck(builder, op, lhs, 0, init, 0,
                  "lhs and the result to have the same rows");
  emitExtentCheck(builder, op, rhs, op.getRhsN(), init, 1,
                  "rhs and the result to have the same n");
  emitExtentCheck(builder, op, rhs, 0, op.getEnds(), 0,
                  "an end for each matrix of rhs");
}

/// One spatial dimension of the output follows from image and filter.
static void emitSpatialCheck(OpBuilder &builder, ConvolutionOpInterface op,
                             unsigned axis) {
  auto [image, filter, output, imageName, filterName, outputName] =
      op.getParts();
  unsigned dim = axis == 0 ? op.getHeightDim() : op.getWidthDim();
  unsigned taps = axis == 0 ? op.getFilterHeightDim() : op.getFilterWidthDim();
  if (!isDynamic(image, dim) && !isDynamic(output, dim) &&
      !isDynamic(filter, taps))
    return;
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  // A filter of n taps reaches from its first row over (n - 1) * dilation more.
  int64_t dilation = op.getDilations()[axis];
  int64_t pads = op.getPads()[axis] + op.getPads()[axis + 2];
  Value further = builder.createOrFold<arith::MulIOp>(
      loc, builder.createOrFold<tensor::DimOp>(loc, filter, taps),
      constant(-dilation));
  Value extent = builder.createOrFold<arith::AddIOp>(
      loc, builder.createOrFold<tensor::DimOp>(loc, image, dim),
      constant(pads + dilation - 1));
  Value last = builder.createOrFold<arith::FloorDivSIOp>(
      loc, builder.createOrFold<arith::AddIOp>(loc, extent, further),
      constant(op.getStrides()[axis]));
  Value count = builder.createOrFold<arith::MaxSIOp>(
      loc, builder.createOrFold<arith::AddIOp>(loc, last, constant(1)),
      constant(0));
  emitEqualityCheck(
      builder, op, builder.createOrFold<tensor::DimOp>(loc, output, dim), count,
      llvm::formatv("the {0} of the {1} that {2}, {3}, pads, "
                    "stride and dilation give",
                    axis == 0 ? "height" : "width", outputName, imageName,
                    filterName)
          .str());
}

void mlir::tracea::emitExtentChecks(OpBuilder &builder,
                                    ConvolutionOpInterface op) {
  auto [image, filter, output, imageName, filterName, outputName] =
      op.getParts();
  unsigned channelDim = op.getChannelDim();
  emitExtentCheck(
      builder, op, image, op.getBatchDim(), output, op.getBatchDim(),
      llvm::formatv("batch of {0} and {1} to be equal", imageName, outputName)
          .str());
  emitExtentCheck(builder, op, filter, op.getFilterOutDim(), output, channelDim,
                  llvm::formatv("output channels of {0} and {1} to be equal",
                                filterName, outputName)
                      .str());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  Location loc = op.getLoc();
  auto extent = [&](Value tensor, unsigned dim) -> Value {
    return builder.createOrFold<tensor::DimOp>(loc, tensor, dim);
  };
  int64_t groups = op.getGroups();
  Value groupCount = arith::ConstantIndexOp::create(builder, loc, groups);
  if (isDynamic(image, channelDim) || isDynamic(filter, op.getFilterInDim()))
    emitEqualityCheck(
        builder, op, extent(image, channelDim),
        builder.createOrFold<arith::MulIOp>(
            loc, extent(filter, op.getFilterInDim()), groupCount),
        llvm::formatv("the channels of the {0} to be those of the {1} in all "
                      "groups",
                      imageName, filterName)
            .str());
  if (groups > 1 && isDynamic(output, channelDim))
    emitEqualityCheck(builder, op,
                      builder.createOrFold<arith::RemUIOp>(
                          loc, extent(output, channelDim), groupCount),
                      arith::ConstantIndexOp::create(builder, loc, 0),
                      "output channels that the groups divide");
  for (unsigned axis : {0u, 1u})
    emitSpatialCheck(builder, op, axis);
}

/// Operands of an epilogue or a prologue have the extents of the dimensions of
/// `indexed` that their maps name, and 1 where they are broadcast.
static void emitOperandChecks(OpBuilder &builder, Operation *op,
                              StringRef region, ValueRange operands,
                              ArrayAttr maps, Value indexed,
                              StringRef indexedName) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  for (auto [operand, map] : llvm::zip(operands, maps)) {
    auto type = cast<RankedTensorType>(operand.getType());
    for (auto [dim, expr] :
         llvm::enumerate(cast<AffineMapAttr>(map).getValue().getResults())) {
      if (auto position = dyn_cast<AffineDimExpr>(expr)) {
        emitExtentCheck(builder, op, operand, dim, indexed,
                        position.getPosition(),
                        ("operands of the " + region + " to have the " +
                         indexedName + "'s extents")
                            .str());
        continue;
      }
      if (!type.isDynamicDim(dim))
        continue;
      Location loc = op->getLoc();
      Value size = builder.createOrFold<tensor::DimOp>(loc, operand, dim);
      Value one = arith::ConstantIndexOp::create(builder, loc, 1);
      Value same = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         size, one);
      cf::AssertOp::create(
          builder, loc, same,
          (op->getName().getStringRef() +
           ": expected an extent of 1 where an operand of the " + region +
           " is broadcast")
              .str());
    }
  }
}

void mlir::tracea::emitEpilogueChecks(OpBuilder &builder,
                                      EpilogueOpInterface op) {
  emitOperandChecks(builder, op, "epilogue", op.getExtras(),
                    op.getEpilogueMaps(), op.getEpilogueInit().get(), "result");
  for (auto [init, map] : llvm::zip(op.getAuxInitsMutable(), op.getAuxMaps()))
    for (auto [dim, expr] :
         llvm::enumerate(cast<AffineMapAttr>(map).getValue().getResults()))
      emitExtentCheck(builder, op, init.get(), dim, op.getEpilogueInit().get(),
                      cast<AffineDimExpr>(expr).getPosition(),
                      "auxiliary results to have the result's extents");
}

void mlir::tracea::emitRowChecks(OpBuilder &builder, RowOpInterface op) {
  emitOperandChecks(builder, op, "prologue", op.getPrologueOperands(),
                    op.getPrologueMaps(), op.getInput(), "input");
  for (OpOperand &init : op.getRowInitsMutable())
    for (auto [dim, expr] : llvm::enumerate(getRowMap(op).getResults()))
      emitExtentCheck(builder, op, init.get(), dim, op.getInput(),
                      cast<AffineDimExpr>(expr).getPosition(),
                      "results of rows to have the input's extents");
}
