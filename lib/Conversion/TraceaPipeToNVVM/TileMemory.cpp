//===- TileMemory.cpp - Register tiles to and from memory -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GlobalTile.h"
#include "MatrixTransfer.h"
#include "StagedRuns.h"

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

/// Whether registers 2 i and 2 i + 1 of every lane are bytes that share an
/// aligned half word.
bool hasBytePairs(const StagedWindow &window, RankedTensorType tile) {
  LanesAttr lanes = getLanes(tile);
  const StagedLayout &layout = window.layout;
  int64_t preserved = layout.swizzle.preservedVectorBytes();
  auto isOdd = [](int64_t value) { return value % 2 != 0; };
  if (layout.elementBytes != 1 || lanes.getReg().empty() ||
      window.dims.empty() || isOdd(window.getTermsAlignment()) ||
      isOdd(layout.panel) || isOdd(layout.panelBytes) || preserved == 1 ||
      llvm::any_of(ArrayRef(layout.steps).drop_back(), isOdd))
    return false;
  // The tile's dimension that runs along the buffer's last one.
  ArrayRef<int64_t> first = lanes.getReg().front();
  const auto *one = llvm::find(first, 1);
  if (one == first.end() || llvm::count(first, 0) + 1 != tile.getRank())
    return false;
  size_t dim = static_cast<size_t>(one - first.begin());
  for (auto [number, row] : llvm::enumerate(window.dims)) {
    bool isLast = number + 1 == window.dims.size();
    if (row.form.coefficients[dim] != (isLast ? 1 : 0))
      return false;
    if (!isLast)
      continue;
    if (isOdd(row.form.constant))
      return false;
    for (auto [other, factor] : llvm::enumerate(row.form.coefficients))
      if (other != dim && isOdd(factor))
        return false;
  }
  auto isEven = [&](ArrayRef<DenseI64ArrayAttr> basis) {
    return llvm::none_of(
        basis, [&](DenseI64ArrayAttr vector) { return isOdd(vector[dim]); });
  };
  int64_t pieces = lanes.getOuter()[dim];
  return isEven(lanes.getReg().drop_front()) && isEven(lanes.getLane()) &&
         isEven(lanes.getWarp()) &&
         (pieces == 1 ||
          !isOdd(tile.getDimSize(static_cast<unsigned>(dim)) / pieces));
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
    if (window != context.windows.end() && op.getLimits().empty())
      if (auto runs = StagedRuns::get(window->second, tile)) {
        runs->store(b, runs->getPointers(b, window->second, adaptor.getDest()),
                    adaptor.getValue());
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
    int64_t count = getLanes(tile).getNumRegisters();
    if (window != context.windows.end() && op.getLimits().empty() &&
        hasBytePairs(window->second, tile)) {
      Value pairs = vector::BitCastOp::create(
          b, VectorType::get(count / 2, b.getI16Type()), adaptor.getValue());
      for (int64_t reg = 0; reg < count; reg += 2)
        b.store(vector::ExtractOp::create(b, pairs, reg / 2),
                getStagedPointer(b, op.getDestMutable(), adaptor.getDest(),
                                 coordinates.get(reg)),
                2);
      rewriter.eraseOp(op);
      return success();
    }
    for (int64_t reg = 0; reg < count; ++reg) {
      SmallVector<Value> at = coordinates.get(reg);
      Value element = vector::ExtractOp::create(b, adaptor.getValue(), reg);
      auto store = [&]() {
        Value pointer =
            getStagedPointer(b, op.getDestMutable(), adaptor.getDest(), at);
        b.store(element, pointer);
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
    auto window = context.windows.find(&op.getSourceMutable());
    if (window != context.windows.end() && op.getLimits().empty())
      if (auto runs = StagedRuns::get(window->second, tile)) {
        SmallVector<Value> pointers =
            runs->getPointers(b, window->second, adaptor.getSource());
        rewriter.replaceOp(op, runs->load(b, pointers, getLaneVector(tile)));
        return success();
      }
    LaneCoordinates coordinates(b, getLanes(tile));
    SmallVector<Value> elements;
    for (int64_t reg = 0; reg < getLanes(tile).getNumRegisters(); ++reg) {
      SmallVector<Value> at = coordinates.get(reg);
      auto load = [&]() -> Value {
        Value pointer =
            getStagedPointer(b, op.getSourceMutable(), adaptor.getSource(), at);
        return b.load(element, pointer);
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
