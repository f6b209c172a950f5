//===- MatrixTransfer.cpp - Fragments to and from memory by matrices ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MatrixUnit/MatrixTransfer.h"
#include "tracea/Conversion/TraceaPipeToGPU/ThreadOffsets.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

constexpr int64_t kRowBytes = 16, kWordBytes = 4, kRows = 8;

static int64_t sumSteps(ArrayRef<int64_t> steps, int64_t bits) {
  int64_t total = 0;
  for (auto [bit, bytes] : llvm::enumerate(steps))
    total += bits >> bit & 1 ? bytes : 0;
  return total;
}

std::optional<MatrixTransfer> MatrixTransfer::get(const StagedWindow &window,
                                                  RankedTensorType tile,
                                                  const GPUTarget &target) {
  LanesAttr lanes = getLanes(tile);
  unsigned bits = tile.getElementTypeBitWidth();
  if ((bits != 8 && bits != 16 && bits != 32) ||
      lanes.getNumLanes() != target.getSubgroupSize())
    return std::nullopt;
  int64_t bytes = bits / 8, perWord = kWordBytes / bytes;
  int64_t perGroup = kMatrices * perWord;
  if ((int64_t(1) << lanes.getReg().size()) % perGroup)
    return std::nullopt;
  // Rows stay whole if they begin at multiples of 16 bytes that the swizzle
  // keeps together.
  uint64_t whole = window.layout.swizzle.preservedVectorBytes();
  if ((whole && whole < kRowBytes) || window.getTermsAlignment() % kRowBytes)
    return std::nullopt;
  auto offset = [&](int64_t reg, int64_t lane, int64_t warp = 0) {
    return window.getOffset(lanes.getCoordinate(reg, lane, warp));
  };
  int64_t origin = offset(0, 0);
  auto step = [&](int64_t reg, int64_t lane, int64_t warp = 0) {
    return offset(reg, lane, warp) - origin;
  };
  MatrixTransfer transfer;
  bool alongRows = step(0, 1) == kWordBytes && step(0, 2) == 2 * kWordBytes;
  for (int64_t reg = 1; reg < perWord; reg *= 2)
    alongRows &= step(reg, 0) == reg * bytes;
  if (alongRows) {
    transfer.laneSteps = {step(0, 4), step(0, 8), step(0, 16)};
  } else if (perWord == 2 && step(0, 4) == bytes && step(0, 8) == 2 * bytes &&
             step(0, 16) == 4 * bytes) {
    transfer.transposed = true;
    transfer.laneSteps = {step(1, 0), step(0, 1), step(0, 2)};
  } else {
    return std::nullopt;
  }
  transfer.laneSteps.push_back(step(perWord, 0));
  transfer.laneSteps.push_back(step(2 * perWord, 0));
  for (int64_t warp = 1; warp < lanes.getNumWarps(); warp *= 2)
    transfer.warpSteps.push_back(step(0, 0, warp));
  int64_t registers = lanes.getNumRegisters();
  for (int64_t reg = 0; reg < registers; reg += perGroup)
    transfer.groups.push_back(offset(reg, 0));
  // Every row must begin where these say, at a multiple of 16 bytes, and be
  // neighbours.
  for (int64_t word = 0; word < registers / perWord; ++word)
    for (int64_t warp = 0; warp < lanes.getNumWarps(); ++warp)
      for (int64_t row = 0; row < kRows; ++row) {
        int64_t first =
            transfer.groups[word / kMatrices] +
            sumSteps(transfer.laneSteps, row | word % kMatrices << 3) +
            sumSteps(transfer.warpSteps, warp);
        if (first % kRowBytes)
          return std::nullopt;
        for (int64_t column = 0; column < kRowBytes / bytes; ++column) {
          int64_t reg = word * perWord, lane;
          if (transfer.transposed) {
            reg += row & 1;
            lane = row >> 1 | column << 2;
          } else {
            reg += column % perWord;
            lane = row << 2 | column / perWord;
          }
          if (offset(reg, lane, warp) != first + bytes * column)
            return std::nullopt;
        }
      }
  return transfer;
}

SmallVector<Address> MatrixTransfer::getPlaces(Emitter &b,
                                               const StagedWindow &window,
                                               Value buffer) const {
  return ThreadOffsets(b, window, buffer).get(laneSteps, warpSteps, groups);
}

namespace {
/// Four matrices at a time, from staged memory.
struct LowerMatrixLoad : NVVMPattern<LoadOp> {
  LowerMatrixLoad(const TypeConverter &converter, MLIRContext *mlirContext,
                  NVVMLoweringContext &context)
      : KernelPattern(converter, mlirContext, context, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto window = context.windows.find(&op.getSourceMutable());
    auto tile = cast<RankedTensorType>(op.getResult().getType());
    if (window == context.windows.end() || !op.getLimits().empty())
      return failure();
    std::optional<MatrixTransfer> transfer =
        MatrixTransfer::get(window->second, tile, context.target);
    if (!transfer)
      return failure();
    NVVMEmitter b(op, rewriter, context);
    auto type = LLVM::LLVMStructType::getLiteral(
        b.getContext(),
        SmallVector<Type>(MatrixTransfer::kMatrices, b.getI32Type()));
    SmallVector<Value> words;
    for (const Address &place :
         transfer->getPlaces(b, window->second, adaptor.getSource())) {
      Value matrices = NVVM::LdMatrixOp::create(
          b, type, place.base, MatrixTransfer::kMatrices,
          transfer->transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
          NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8),
          NVVM::LdStMatrixEltType::B16);
      for (int64_t i = 0; i < MatrixTransfer::kMatrices; ++i)
        words.push_back(LLVM::ExtractValueOp::create(b, matrices, i));
    }
    Value all = vector::FromElementsOp::create(
        b, VectorType::get(words.size(), b.getI32Type()), words);
    rewriter.replaceOpWithNewOp<vector::BitCastOp>(op, getLaneVector(tile),
                                                   all);
    return success();
  }
};

/// Four matrices at a time, to staged memory.
struct LowerMatrixStore : NVVMPattern<StoreOp> {
  LowerMatrixStore(const TypeConverter &converter, MLIRContext *mlirContext,
                   NVVMLoweringContext &context)
      : KernelPattern(converter, mlirContext, context, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto window = context.windows.find(&op.getDestMutable());
    auto tile = cast<RankedTensorType>(op.getValue().getType());
    if (window == context.windows.end() || !op.getLimits().empty() ||
        tile.getElementTypeBitWidth() != 16)
      return failure();
    std::optional<MatrixTransfer> transfer =
        MatrixTransfer::get(window->second, tile, context.target);
    if (!transfer)
      return failure();
    NVVMEmitter b(op, rewriter, context);
    SmallVector<Address> places =
        transfer->getPlaces(b, window->second, adaptor.getDest());
    Value words = vector::BitCastOp::create(
        b,
        VectorType::get(getLanes(tile).getNumRegisters() / 2, b.getI32Type()),
        adaptor.getValue());
    for (auto [number, place] : llvm::enumerate(places)) {
      SmallVector<Value> sources;
      for (int64_t i = 0; i < MatrixTransfer::kMatrices; ++i)
        sources.push_back(vector::ExtractOp::create(
            b, words,
            static_cast<int64_t>(number) * MatrixTransfer::kMatrices + i));
      NVVM::StMatrixOp::create(
          b, place.base, sources,
          transfer->transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
          NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8),
          NVVM::LdStMatrixEltType::B16);
    }
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateMatrixTransferPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    NVVMLoweringContext &context) {
  patterns.add<LowerMatrixLoad, LowerMatrixStore>(
      converter, patterns.getContext(), context);
}
