//===- TileMemory.cpp - Register tiles to and from memory -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `load` and `store` of register tiles become the accesses of one lane, on
// every GPU: runs of neighbours in staged memory, pieces of global memory, or
// single elements. Instructions of a target that move a tile across lanes are
// patterns of that target and come before these.
//
//===----------------------------------------------------------------------===//

#include "Memory/GlobalTile.h"
#include "mlir/IR/Remarks.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"
#include "tracea/Conversion/TraceaPipeToGPU/StagedRuns.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "convert-tracea-pipe-to-gpu"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Says how a lane accesses a tile.
static void remarkAccess(Operation *op, int64_t accesses, int64_t bytes,
                         bool isPredicated) {
  LDBG() << *op << ": " << accesses << " accesses of at most " << bytes
         << " bytes";
  remark::passed(op->getLoc(),
                 remark::RemarkOpts::name("TileAccessed").category(DEBUG_TYPE))
      << remark::metric("Operation", op->getName().getStringRef())
      << remark::metric("AccessBytes", bytes)
      << remark::metric("Accesses", accesses)
      << remark::metric("Predicated", isPredicated);
}

/// A lane of the map must be a lane of the target.
static LogicalResult checkLanes(Operation *op, LanesAttr lanes,
                                const GPUTarget &target) {
  if (lanes.getNumLanes() <= target.getSubgroupSize())
    return success();
  return op->emitOpError() << "cannot be lowered: expected a lane map of at "
                              "most "
                           << target.getSubgroupSize() << " lanes, found "
                           << lanes.getNumLanes();
}

/// Whether registers 2 i and 2 i + 1 of every lane are bytes that share an
/// aligned half word.
static bool hasBytePairs(const StagedWindow &window, RankedTensorType tile) {
  LanesAttr lanes = getLanes(tile);
  const StagedLayout &layout = window.layout;
  int64_t preserved = layout.swizzle.preservedVectorBytes();
  auto isOdd = [](int64_t value) { return value % 2 != 0; };
  if (layout.elementBytes != 1 || lanes.getReg().empty() ||
      window.dims.empty() || !window.walks.empty() ||
      isOdd(window.getTermsAlignment()) || isOdd(layout.panel) ||
      isOdd(layout.panelBytes) || preserved == 1 ||
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

namespace {
struct LowerStore : KernelPattern<StoreOp> {
  using KernelPattern::KernelPattern;

  void storeElements(Emitter &b, StoreOp op, OpAdaptor adaptor) const {
    auto tile = cast<RankedTensorType>(op.getValue().getType());
    const StagedWindow &window = context.getWindow(op.getDestMutable());
    LaneCoordinates coordinates(b, getLanes(tile));
    int64_t count = getLanes(tile).getNumRegisters();
    int64_t bytes = window.layout.elementBytes;
    bool byPairs = op.getLimits().empty() && hasBytePairs(window, tile);
    int64_t step = byPairs ? 2 : 1;
    remarkAccess(op, count / step, bytes * step, !op.getLimits().empty());
    Value registers = adaptor.getValue();
    if (byPairs)
      registers = vector::BitCastOp::create(
          b, VectorType::get(count / 2, b.getI16Type()), registers);
    for (int64_t reg = 0; reg < count; reg += step) {
      SmallVector<Value> at = coordinates.get(reg);
      Value element = vector::ExtractOp::create(b, registers, reg / step);
      b.onlyIf(isBelow(b, at, adaptor.getLimits(), tile.getShape()), [&]() {
        b.store(element, b.staged(window, adaptor.getDest(), at),
                byPairs ? 2 : 0);
      });
    }
  }

  LogicalResult
  matchAndRewrite(StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto tile = cast<RankedTensorType>(op.getValue().getType());
    if (failed(checkLanes(op, getLanes(tile), context.target)))
      return failure();
    if (!isa<MemRefType>(op.getDest().getType()))
      return op.emitOpError() << "to a staged tile; run "
                                 "tracea-pipeline-kernels first";
    Emitter b(op, rewriter, context);
    auto global = context.globalWindows.find(&op.getDestMutable());
    if (global != context.globalWindows.end()) {
      GlobalTile stored(b, global->second, tile, adaptor.getLimits());
      auto [accesses, bytes] = stored.getAccesses(/*isLoad=*/false);
      remarkAccess(op, accesses, bytes, !op.getLimits().empty());
      stored.store(adaptor.getValue());
      rewriter.eraseOp(op);
      return success();
    }
    const StagedWindow &window = context.getWindow(op.getDestMutable());
    std::optional<StagedRuns> runs;
    if (op.getLimits().empty())
      runs = StagedRuns::get(window, tile, context.target);
    if (runs) {
      remarkAccess(op, runs->getNumRuns(), runs->getRunBytes(), false);
      runs->store(b, runs->getPlaces(b, window, adaptor.getDest()),
                  adaptor.getValue());
    } else {
      storeElements(b, op, adaptor);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerLoad : KernelPattern<LoadOp> {
  using KernelPattern::KernelPattern;

  Value loadElements(Emitter &b, LoadOp op, OpAdaptor adaptor,
                     Value padding) const {
    auto tile = cast<RankedTensorType>(op.getResult().getType());
    const StagedWindow &window = context.getWindow(op.getSourceMutable());
    Type element = tile.getElementType();
    int64_t count = getLanes(tile).getNumRegisters();
    remarkAccess(op, count, window.layout.elementBytes,
                 !op.getLimits().empty());
    LaneCoordinates coordinates(b, getLanes(tile));
    SmallVector<Value> elements;
    for (int64_t reg = 0; reg < count; ++reg) {
      SmallVector<Value> at = coordinates.get(reg);
      elements.push_back(b.choose(
          element, isBelow(b, at, adaptor.getLimits(), tile.getShape()),
          [&]() {
            return b.load(element, b.staged(window, adaptor.getSource(), at));
          },
          [&]() { return padding; }));
    }
    return vector::FromElementsOp::create(b, getLaneVector(tile), elements);
  }

  LogicalResult
  matchAndRewrite(LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto tile = cast<RankedTensorType>(op.getResult().getType());
    if (!isa<MemRefType>(op.getSource().getType()))
      return op.emitOpError() << "of a staged tile; run "
                                 "tracea-pipeline-kernels first";
    if (!op.getPadded().empty())
      return op.emitOpError() << "has padded dimensions, which loads on GPUs "
                                 "do not know; stage the tile";
    if (failed(checkLanes(op, getLanes(tile), context.target)))
      return failure();
    Emitter b(op, rewriter, context);
    Value padding = adaptor.getPadding();
    if (!padding)
      padding = arith::ConstantOp::create(
          b, cast<TypedAttr>(b.getZeroAttr(tile.getElementType())));
    auto global = context.globalWindows.find(&op.getSourceMutable());
    if (global != context.globalWindows.end()) {
      GlobalTile loaded(b, global->second, tile, adaptor.getLimits());
      auto [accesses, bytes] = loaded.getAccesses(/*isLoad=*/true);
      remarkAccess(op, accesses, bytes, !op.getLimits().empty());
      rewriter.replaceOp(op, loaded.load(padding));
      return success();
    }
    const StagedWindow &window = context.getWindow(op.getSourceMutable());
    std::optional<StagedRuns> runs;
    if (op.getLimits().empty())
      runs = StagedRuns::get(window, tile, context.target);
    if (!runs) {
      rewriter.replaceOp(op, loadElements(b, op, adaptor, padding));
      return success();
    }
    remarkAccess(op, runs->getNumRuns(), runs->getRunBytes(), false);
    rewriter.replaceOp(
        op, runs->load(b, runs->getPlaces(b, window, adaptor.getSource()),
                       getLaneVector(tile)));
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateTileMemoryPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    KernelContext &context) {
  patterns.add<LowerStore, LowerLoad>(converter, patterns.getContext(),
                                      context);
}
