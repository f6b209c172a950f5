//===- Tiles.cpp - Arithmetic on what one lane holds ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lowering.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

VectorType mlir::tracea_pipe::getLaneVector(RankedTensorType tile) {
  return VectorType::get(getLanes(tile).getNumRegisters(),
                         tile.getElementType());
}

namespace {
/// An operation on each element alone is the same on a lane's elements.
struct LowerElementwise : ConversionPattern {
  LowerElementwise(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1,
                          context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
        op->getNumRegions() || isa<arith::ConstantOp>(op))
      return failure();
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return failure();
    OperationState state(op->getLoc(), op->getName(), operands, types,
                         op->getAttrs());
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

/// Two elements are converted at once, into one register.
struct LowerTruncF : OpConversionPattern<arith::TruncFOp> {
  LowerTruncF(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern(converter, context, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(arith::TruncFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto tile = dyn_cast<RankedTensorType>(op.getType());
    auto from = dyn_cast<VectorType>(adaptor.getIn().getType());
    if (!tile || !from || !from.getElementType().isF32() ||
        from.getNumElements() % 2)
      return failure();
    bool isBF16 = tile.getElementType().isBF16();
    if (!isBF16 && !tile.getElementType().isF16())
      return failure();
    auto rounding = op.getRoundingmode();
    if (rounding && *rounding != arith::RoundingMode::to_nearest_even)
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto pair = VectorType::get(2, tile.getElementType());
    auto word = VectorType::get(1, b.getI32Type());
    SmallVector<Value> words;
    for (int64_t i = 0; i < from.getNumElements(); i += 2) {
      Value low = vector::ExtractOp::create(b, adaptor.getIn(), i);
      Value high = vector::ExtractOp::create(b, adaptor.getIn(), i + 1);
      Value both =
          isBF16
              ? NVVM::ConvertF32x2ToBF16x2Op::create(b, pair, high, low,
                                                     /*random_bits=*/Value(),
                                                     NVVM::FPRoundingMode::RN)
                    .getResult()
              : NVVM::ConvertF32x2ToF16x2Op::create(b, pair, high, low,
                                                    /*random_bits=*/Value(),
                                                    NVVM::FPRoundingMode::RN)
                    .getResult();
      Value bits = vector::BitCastOp::create(b, word, both);
      words.push_back(vector::ExtractOp::create(b, bits, 0));
    }
    Value all = vector::FromElementsOp::create(
        b, VectorType::get(words.size(), b.getI32Type()), words);
    rewriter.replaceOpWithNewOp<vector::BitCastOp>(op, getLaneVector(tile),
                                                   all);
    return success();
  }
};

struct LowerConstant : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto tile = dyn_cast<RankedTensorType>(op.getType());
    auto values = dyn_cast<SplatElementsAttr>(op.getValue());
    if (!tile || !isRegisterTile(tile))
      return failure();
    if (!values)
      return op.emitOpError()
             << "expects a register tile of one value, found " << op.getValue();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, values.resizeSplat(getLaneVector(tile)));
    return success();
  }
};

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

struct LowerSplat : OpConversionPattern<tensor::SplatOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::SplatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto tile = cast<RankedTensorType>(op.getType());
    if (!isRegisterTile(tile))
      return failure();
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(op, getLaneVector(tile),
                                                     adaptor.getInput());
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateTilePatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns,
                                             NVVMLoweringContext &) {
  patterns.add<LowerElementwise, LowerTruncF, LowerConstant, LowerSplat,
               LowerSlice>(converter, patterns.getContext());
}
