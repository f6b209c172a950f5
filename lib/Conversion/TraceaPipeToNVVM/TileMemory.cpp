//===- TileMemory.cpp - Register tiles to and from memory -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GlobalTile.h"
#include "MatrixTransfer.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {

//===----------------------------------------------------------------------===//
// Staged memory, by matrices
//===----------------------------------------------------------------------===//

/// Whether stmatrix can store the tile.
std::optional<MatrixTransfer> matchMatrixStore(const StagedWindow &window,
                                               RankedTensorType tile) {
  if (tile.getElementTypeBitWidth() != 16)
    return std::nullopt;
  return MatrixTransfer::get(window, tile);
}

void storeMatrices(Emitter &b, const StagedWindow &window, Value buffer,
                   RankedTensorType tile, Value vector,
                   const MatrixTransfer &store) {
  SmallVector<Value> pointers = store.getPointers(b, window, buffer);
  MLIRContext *c = b.getContext();
  Value words = vector::BitCastOp::create(
      b, VectorType::get(getLanes(tile).getNumRegisters() / 2, b.getI32Type()),
      vector);
  for (auto [number, pointer] : llvm::enumerate(pointers)) {
    SmallVector<Value> sources;
    for (int64_t i = 0; i < 4; ++i)
      sources.push_back(vector::ExtractOp::create(
          b, words, static_cast<int64_t>(number) * 4 + i));
    NVVM::StMatrixOp::create(
        b, pointer, sources,
        store.transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(c, 8, 8), NVVM::LdStMatrixEltType::B16);
  }
}

//===----------------------------------------------------------------------===//
// Staged memory, one element at a time
//===----------------------------------------------------------------------===//

Value getStagedPointer(Emitter &b, OpOperand &memory, Value converted,
                       ValueRange at) {
  return b.sharedPointer(
      b.add(converted, b.stagedOffset(b.context.getWindow(memory), at)));
}

struct LowerStore : KernelPattern<StoreOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    auto tile = cast<RankedTensorType>(op.getValue().getType());
    auto window = context.windows.find(&op.getDestMutable());
    if (window != context.windows.end() && op.getLimits().empty())
      if (auto store = matchMatrixStore(window->second, tile)) {
        storeMatrices(b, window->second, adaptor.getDest(), tile,
                      adaptor.getValue(), *store);
        rewriter.eraseOp(op);
        return success();
      }
    auto global = context.globalWindows.find(&op.getDestMutable());
    if (global != context.globalWindows.end()) {
      GlobalTile(b, global->second, tile, adaptor.getLimits())
          .store(adaptor.getValue());
      rewriter.eraseOp(op);
      return success();
    }
    LaneCoordinates coordinates(b, getLanes(tile));
    for (int64_t reg = 0; reg < getLanes(tile).getNumRegisters(); ++reg) {
      SmallVector<Value> at = coordinates.get(reg);
      Value element = vector::ExtractOp::create(b, adaptor.getValue(), reg);
      auto store = [&]() {
        Value pointer =
            getStagedPointer(b, op.getDestMutable(), adaptor.getDest(), at);
        LLVM::StoreOp::create(b, element, pointer);
      };
      Value below = isBelow(b, at, adaptor.getLimits(), tile.getShape());
      if (!below) {
        store();
        continue;
      }
      auto ifOp = scf::IfOp::create(b, below, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(ifOp.thenBlock());
      store();
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerLoad : KernelPattern<LoadOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    auto tile = cast<RankedTensorType>(op.getResult().getType());
    if (!isa<MemRefType>(op.getSource().getType()))
      return op.emitOpError() << "of a staged tile; run "
                                 "tracea-pipeline-kernels first";
    Type element = tile.getElementType();
    Value padding = adaptor.getPadding();
    if (!padding)
      padding =
          arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(element)));
    auto global = context.globalWindows.find(&op.getSourceMutable());
    if (global != context.globalWindows.end()) {
      GlobalTile loaded(b, global->second, tile, adaptor.getLimits());
      rewriter.replaceOp(op, loaded.load(padding));
      return success();
    }
    LaneCoordinates coordinates(b, getLanes(tile));
    SmallVector<Value> elements;
    for (int64_t reg = 0; reg < getLanes(tile).getNumRegisters(); ++reg) {
      SmallVector<Value> at = coordinates.get(reg);
      auto load = [&]() -> Value {
        Value pointer =
            getStagedPointer(b, op.getSourceMutable(), adaptor.getSource(), at);
        return LLVM::LoadOp::create(b, element, pointer);
      };
      Value below = isBelow(b, at, adaptor.getLimits(), tile.getShape());
      if (!below) {
        elements.push_back(load());
        continue;
      }
      auto ifOp = scf::IfOp::create(b, TypeRange(element), below,
                                    /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(ifOp.thenBlock());
      scf::YieldOp::create(b, load());
      b.setInsertionPointToStart(ifOp.elseBlock());
      scf::YieldOp::create(b, padding);
      elements.push_back(ifOp.getResult(0));
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, getLaneVector(tile),
                                                        elements);
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateTileMemoryPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    NVVMLoweringContext &context) {
  patterns.add<LowerStore, LowerLoad>(converter, patterns.getContext(),
                                      context);
}
