//===- PipelineKernels.cpp - Staged tiles become channels -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the tile level (where values live) to the pipeline level (when data
// moves). Decides nothing of its own: the slots are those that `stage` names.

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tracea-pipeline-kernels"

namespace mlir::tracea_pipe {
#define GEN_PASS_DEF_PIPELINEKERNELS
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h.inc"
} // namespace mlir::tracea_pipe

using namespace mlir;
using namespace mlir::tracea_pipe;

/// The memref that a staged tile becomes.
static MemRefType getSlotType(RankedTensorType tile) {
  return MemRefType::get(tile.getShape(), tile.getElementType(), AffineMap(),
                         tile.getEncoding());
}

/// The memref of a window into `source` through a linear `map`: strides are the
/// source's strides combined by the map's coefficients.
static FailureOr<MemRefType> getViewType(MemRefType source, AffineMap map,
                                         ArrayRef<int64_t> shape) {
  std::optional<SmallVector<int64_t>> strides = getViewStrides(source, map);
  if (!strides || llvm::any_of(*strides, ShapedType::isDynamic))
    return failure();
  auto layout = StridedLayoutAttr::get(source.getContext(),
                                       ShapedType::kDynamic, *strides);
  return MemRefType::get(shape, source.getElementType(), layout,
                         source.getMemorySpace());
}

/// Gives everything derived from the staged tile `tile` the memref `slot`.
static LogicalResult replaceStagedUses(Value tile, Value slot) {
  for (OpOperand &use : llvm::make_early_inc_range(tile.getUses())) {
    Operation *user = use.getOwner();
    if (auto view = dyn_cast<ViewOp>(user)) {
      FailureOr<MemRefType> type =
          getViewType(cast<MemRefType>(slot.getType()), view.getMap(),
                      cast<ShapedType>(view.getResult().getType()).getShape());
      if (failed(type))
        return view.emitOpError()
               << "expects a staged source of static strides";
      OpBuilder builder(view);
      auto window = ViewOp::create(builder, view.getLoc(), *type, slot,
                                   view.getOffsets(), view.getMap());
      if (failed(replaceStagedUses(view.getResult(), window.getResult())))
        return failure();
      view.erase();
      continue;
    }
    if (isa<MmaOp, LoadOp, PrefetchOp>(user)) {
      use.set(slot);
      continue;
    }
    return user->emitOpError() << "cannot use a staged tile";
  }
  return success();
}

/// The outermost loops between the grid's body and `op`, outermost first;
/// fails on other region operations, through which no phase can be carried.
static FailureOr<SmallVector<scf::ForOp>> getLoops(StageOp op) {
  SmallVector<scf::ForOp> loops;
  for (Operation *parent = op->getParentOp(); !isa<TilesOp>(parent);
       parent = parent->getParentOp()) {
    auto forOp = dyn_cast<scf::ForOp>(parent);
    if (!forOp) {
      InFlightDiagnostic diag =
          op.emitOpError() << "expects only 'scf.for' between the grid and a "
                              "staged tile, found '"
                           << parent->getName() << "'";
      diag.attachNote(parent->getLoc()) << "found here";
      return diag;
    }
    loops.push_back(forOp);
  }
  std::reverse(loops.begin(), loops.end());
  return loops;
}

/// The operation of `block` after which nothing of `block` reads `value` or a
/// view of it.
static Operation *getLastUse(Value value, Block *block) {
  Operation *last = value.getDefiningOp();
  for (Operation *user : value.getUsers()) {
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (isa<ViewOp>(user) && user->getBlock() == block)
      ancestor = getLastUse(user->getResult(0), block);
    else if (isa<ViewOp>(user))
      // A view in a nested block: its readers are in the same ancestor.
      ancestor = block->findAncestorOpInBlock(*user);
    if (last->isBeforeInBlock(ancestor))
      last = ancestor;
  }
  return last;
}

static LogicalResult pipelineStage(StageOp stage) {
  FailureOr<SmallVector<scf::ForOp>> loops = getLoops(stage);
  if (failed(loops))
    return failure();
  auto tiles = stage->getParentOfType<TilesOp>();
  MLIRContext *context = stage.getContext();
  Location loc = stage.getLoc();
  MemRefType slotType =
      getSlotType(cast<RankedTensorType>(stage.getResult().getType()));
  int64_t slots = stage.getSlots();
  auto channelType = ChannelType::get(context, slots, {Type(slotType)});
  auto phaseType = PhaseType::get(context, slots);

  IRRewriter rewriter(context);
  rewriter.setInsertionPointToStart(&tiles.getBody().front());
  Value channel = ChannelOp::create(rewriter, loc, channelType);
  Value phase = StartOp::create(rewriter, loc, phaseType);

  // Carry the phase inwards; each loop yields what comes out of its body.
  SmallVector<scf::ForOp> carried;
  for (scf::ForOp loop : *loops) {
    rewriter.setInsertionPoint(loop);
    auto replaced = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, ValueRange(phase), /*replaceInitOperandUsesInLoop=*/false,
        [](OpBuilder &, Location, ArrayRef<BlockArgument> newArgs) {
          // Completed below, when the advanced phase exists.
          return SmallVector<Value>(newArgs.begin(), newArgs.end());
        }));
    phase = replaced.getRegionIterArgs().back();
    carried.push_back(replaced);
  }

  rewriter.setInsertionPoint(stage);
  auto acquire = AcquireOp::create(rewriter, loc, TypeRange(Type(slotType)),
                                   channel, phase);
  CopyOp::create(rewriter, loc, stage.getSource(), stage.getIndices(),
                 stage.getLimits(), stage.getWalks(),
                 acquire.getBuffers().front(), stage.getMap(),
                 stage.getPadded(), stage.getReuse(), stage.getAlong());
  CommitOp::create(rewriter, loc, channel, phase);
  auto wait =
      WaitOp::create(rewriter, loc, TypeRange(Type(slotType)), channel, phase);
  if (failed(replaceStagedUses(stage.getResult(), wait.getBuffers().front())))
    return failure();
  Operation *last = getLastUse(wait.getBuffers().front(), wait->getBlock());
  rewriter.setInsertionPointAfter(last);
  ReleaseOp::create(rewriter, loc, channel, phase);
  Value next = AdvanceOp::create(rewriter, loc, phase);
  stage.erase();

  for (scf::ForOp loop : llvm::reverse(carried)) {
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    yield->setOperand(yield->getNumOperands() - 1, next);
    next = loop.getResults().back();
  }
  return success();
}

namespace {
struct PipelineKernels
    : mlir::tracea_pipe::impl::PipelineKernelsBase<PipelineKernels> {
  void runOnOperation() override {
    SmallVector<StageOp> stages;
    getOperation().walk([&](StageOp stage) { stages.push_back(stage); });
    for (StageOp stage : stages) {
      LDBG() << "makes a channel of " << stage;
      if (failed(pipelineStage(stage)))
        return signalPassFailure();
      ++numChannels;
    }
  }
};
} // namespace
