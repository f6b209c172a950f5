//===- TileValues.cpp - Tiles that the first step has left ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From slices of register tiles, and casts between tiles and the vectors that
// the first step made of them, to vectors of one lane.
//
//===----------------------------------------------------------------------===//

#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
struct LowerSlice : OpConversionPattern<SliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(SliceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    std::optional<SmallVector<int64_t>> registers = op.getRegisters();
    if (!registers)
      return op.emitOpError() << "moves elements between lanes";
    rewriter.replaceOpWithNewOp<vector::ShuffleOp>(
        op, adaptor.getValue(), adaptor.getValue(), *registers);
    return success();
  }
};

/// Between the two steps a tile is a vector in the one and a tile in the other.
struct LowerCast : OpConversionPattern<UnrealizedConversionCastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(UnrealizedConversionCastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getNumOperands() != 1 || op.getNumResults() != 1)
      return failure();
    Type type = getTypeConverter()->convertType(op.getResult(0).getType());
    if (type != adaptor.getInputs().front().getType())
      return failure();
    rewriter.replaceOp(op, adaptor.getInputs());
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateTilePatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns,
                                             KernelContext &) {
  patterns.add<LowerSlice, LowerCast>(converter, patterns.getContext());
}
