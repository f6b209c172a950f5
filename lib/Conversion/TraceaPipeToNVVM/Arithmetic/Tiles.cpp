//===- Tiles.cpp - Arithmetic on what one lane holds ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From conversions of register tiles to NVVM's, which take two elements at
// once. Decided here: which operations stay on tiles until the kernel is a
// function.

#include "Lowering.h"
#include "tracea/Analysis/Banks.h"
#include "tracea/Conversion/TraceaPipeToGPU/TraceaPipeToGPU.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
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

/// A vote of the warp.
struct LowerAny : OpConversionPattern<AnyOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(AnyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value mine = vector::ReductionOp::create(b, vector::CombiningKind::OR,
                                             adaptor.getValue());
    Value all = arith::ConstantOp::create(b, b.getI32IntegerAttr(-1));
    rewriter.replaceOpWithNewOp<NVVM::VoteSyncOp>(op, b.getI1Type(), all, mine,
                                                  NVVM::VoteSyncKind::any);
    return success();
  }
};
} // namespace

/// Whether `op` stays an operation on tiles until the kernel is a function: it
/// needs windows, or has an instruction, as votes have, and conversions of
/// pairs of floats since sm_80.
static bool isKept(Operation *op, bool convertsPairs) {
  if (isa<LoadOp, StoreOp, SliceOp, AnyOp>(op))
    return true;
  auto truncate = dyn_cast<arith::TruncFOp>(op);
  if (!truncate || !convertsPairs)
    return false;
  auto tile = dyn_cast<RankedTensorType>(truncate.getType());
  auto rounding = truncate.getRoundingmode();
  return tile && isRegisterTile(tile) &&
         (tile.getElementType().isBF16() || tile.getElementType().isF16()) &&
         getElementTypeOrSelf(truncate.getIn().getType()).isF32() &&
         getLanes(tile).getNumRegisters() % 2 == 0 &&
         (!rounding || *rounding == arith::RoundingMode::to_nearest_even);
}

LogicalResult mlir::tracea_pipe::convertSharedTiles(KernelOp kernel,
                                                    const NVVMTarget &target) {
  GPULoweringContext context;
  ::tracea::algebra::Expected<::tracea::algebra::BankModel> banks =
      tracea::getBankModel(target.facts);
  if (!banks)
    return kernel.emitOpError() << banks.message();
  context.banks = *banks;
  bool convertsPairs = getCapability(kernel).value_or(80) >= 80;
  return convertTileArithmetic(kernel, context, [=](Operation *op) {
    return isKept(op, convertsPairs);
  });
}

void mlir::tracea_pipe::populatePairPatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns,
                                             NVVMLoweringContext &) {
  patterns.add<LowerTruncF, LowerAny>(converter, patterns.getContext());
}
