//===- TileMemory.cpp - Register tiles to and from memory -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GlobalTile.h"
#include "ThreadOffsets.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

namespace {

//===----------------------------------------------------------------------===//
// Staged memory, by matrices
//===----------------------------------------------------------------------===//

/// How `stmatrix` stores a tile of 16-bit elements: eight registers of each
/// lane are four matrices of 8x8, whose rows are 16 bytes of memory.
struct MatrixStore {
  bool transposed = false;
  /// What the bits of a lane add to the address it gives: the first three are
  /// the row's, the other two the matrix's. Then those of the warp, and where
  /// each group of registers begins.
  SmallVector<int64_t> laneSteps, warpSteps, registers;
};

/// Whether stmatrix can store the tile: one register bit and two lane bits (or
/// three lane bits) run along 16 bytes.
std::optional<MatrixStore> matchMatrixStore(const StagedWindow &window,
                                            RankedTensorType tile) {
  LanesAttr lanes = getLanes(tile);
  if (tile.getElementTypeBitWidth() != 16 || lanes.getNumLanes() != kWarpSize ||
      lanes.getReg().size() < 3)
    return std::nullopt;
  // Rows stay whole if they begin at multiples of 16 bytes that the swizzle
  // keeps together.
  uint64_t whole = window.layout.swizzle.preservedVectorBytes();
  if ((whole && whole < 16) || window.getTermsAlignment() % 16)
    return std::nullopt;
  auto offset = [&](int64_t reg, int64_t lane, int64_t warp = 0) {
    return window.getOffset(lanes.getCoordinate(reg, lane, warp));
  };
  int64_t origin = offset(0, 0);
  auto fits = [&](ArrayRef<std::pair<int64_t, int64_t>> along) {
    for (auto [bit, at] : llvm::enumerate(along))
      if (offset(at.first, at.second) - origin != int64_t(2) << bit)
        return false;
    return true;
  };
  MatrixStore store;
  if (fits({{1, 0}, {0, 1}, {0, 2}}))
    store.transposed = false;
  else if (fits({{0, 4}, {0, 8}, {0, 16}}))
    store.transposed = true;
  else
    return std::nullopt;
  auto step = [&](int64_t reg, int64_t lane, int64_t warp = 0) {
    return offset(reg, lane, warp) - origin;
  };
  if (store.transposed)
    store.laneSteps = {step(1, 0), step(0, 1), step(0, 2)};
  else
    store.laneSteps = {step(0, 4), step(0, 8), step(0, 16)};
  store.laneSteps.push_back(step(2, 0));
  store.laneSteps.push_back(step(4, 0));
  for (int64_t warp = 1; warp < lanes.getNumWarps(); warp *= 2)
    store.warpSteps.push_back(step(0, 0, warp));
  for (int64_t reg = 0; reg < lanes.getNumRegisters(); reg += 8)
    store.registers.push_back(offset(reg, 0));
  auto sum = [](ArrayRef<int64_t> steps, int64_t bits) {
    int64_t total = 0;
    for (auto [bit, bytes] : llvm::enumerate(steps))
      total += bits >> bit & 1 ? bytes : 0;
    return total;
  };
  // Every row must begin where these say, at a multiple of 16 bytes, and be
  // eight neighbours.
  for (int64_t reg = 0; reg < lanes.getNumRegisters(); reg += 2)
    for (int64_t warp = 0; warp < lanes.getNumWarps(); ++warp)
      for (int64_t row = 0; row < 8; ++row) {
        int64_t first = store.registers[reg / 8] +
                        sum(store.laneSteps, row | reg / 2 % 4 << 3) +
                        sum(store.warpSteps, warp);
        if (first % 16)
          return std::nullopt;
        for (int64_t column = 0; column < 8; ++column) {
          int64_t found =
              store.transposed
                  ? offset(reg + (row & 1), row >> 1 | column << 2, warp)
                  : offset(reg + (column & 1), row << 2 | column >> 1, warp);
          if (found != first + 2 * column)
            return std::nullopt;
        }
      }
  return store;
}

void storeMatrices(Emitter &b, const StagedWindow &window, Value buffer,
                   RankedTensorType tile, Value vector,
                   const MatrixStore &store) {
  SmallVector<Value> pointers =
      ThreadOffsets(b, window, buffer)
          .get(store.laneSteps, store.warpSteps, store.registers);
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
