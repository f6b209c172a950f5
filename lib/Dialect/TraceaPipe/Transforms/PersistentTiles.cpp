//===- PersistentTiles.cpp - Persistent kernels and their tile scheduler --===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Within the pipeline level. Replaces the grid of tiles by a loop of few
// workgroups over them, in the order (raster) that the schedule names; rings
// and their phases are carried from tile to tile.

#include "PhaseUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tracea-persistent-tiles"

namespace mlir::tracea_pipe {
#define GEN_PASS_DEF_PERSISTENTTILES
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h.inc"
} // namespace mlir::tracea_pipe

using namespace mlir;
using namespace mlir::tracea_pipe;

/// The grid's indices of tile number `tile`.
static SmallVector<Value> decode(ImplicitLocOpBuilder &b, Value tile,
                                 ValueRange bounds, int64_t group) {
  SmallVector<Value> indices(bounds.size());
  unsigned last = bounds.size();
  // Row by row is in groups of one row.
  if (last >= 2) {
    Value rows = bounds[last - 2], columns = bounds[last - 1];
    Value inner = tile;
    if (last > 2) {
      Value area = arith::MulIOp::create(b, rows, columns);
      inner = arith::RemUIOp::create(b, tile, area);
      tile = arith::DivUIOp::create(b, tile, area);
    }
    auto raster =
        RasterOp::create(b, inner, rows, columns, std::max<int64_t>(group, 1));
    indices[last - 2] = raster.getRow();
    indices[last - 1] = raster.getColumn();
    last -= 2;
  }
  for (unsigned dim = last; dim-- > 0;) {
    if (dim == 0) {
      indices[0] = tile;
      break;
    }
    indices[dim] = arith::RemUIOp::create(b, tile, bounds[dim]);
    tile = arith::DivUIOp::create(b, tile, bounds[dim]);
  }
  return indices;
}

static void persist(TilesOp tiles, int64_t most) {
  ImplicitLocOpBuilder b(tiles.getLoc(), tiles);
  SmallVector<Value> bounds(tiles.getBounds());
  Value count = bounds.front();
  for (Value bound : ArrayRef(bounds).drop_front())
    count = b.createOrFold<arith::MulIOp>(count, bound);
  Value workgroups = b.createOrFold<arith::MinSIOp>(
      count, arith::ConstantIndexOp::create(b, most));
  auto walk = TilesOp::create(b, ValueRange(workgroups));
  Block &outer = walk.getBody().front();
  Block &body = tiles.getBody().front();

  // Rings and their first phases are made once; the phases go on from tile to
  // tile.
  SmallVector<Operation *> declarations;
  SmallVector<Value> starts;
  for (Operation &op : body)
    if (isa<ChannelOp, StartOp, OrderBarrierOp>(op))
      declarations.push_back(&op);
  for (Operation *op : declarations) {
    op->moveBefore(outer.getTerminator());
    if (isa<StartOp>(op))
      starts.push_back(op->getResult(0));
  }
  b.setInsertionPoint(outer.getTerminator());
  auto loop =
      scf::ForOp::create(b, outer.getArgument(0), count, workgroups, starts);
  Block *inner = loop.getBody();
  if (starts.empty())
    inner->getTerminator()->erase();
  b.setInsertionPointToStart(inner);
  SmallVector<Value> indices =
      decode(b, loop.getInductionVar(), bounds, tiles.getGroup());
  for (auto [argument, index] : llvm::zip_equal(body.getArguments(), indices))
    argument.replaceAllUsesWith(index);
  body.getTerminator()->erase();
  inner->getOperations().splice(inner->end(), body.getOperations());
  for (auto [start, argument] :
       llvm::zip_equal(starts, loop.getRegionIterArgs()))
    start.replaceUsesWithIf(argument, [&](OpOperand &use) {
      return loop->isProperAncestor(use.getOwner());
    });
  SmallVector<Value> ends;
  b.setInsertionPointToEnd(inner);
  for (Value argument : loop.getRegionIterArgs()) {
    Value last = getLastPhase(argument);
    // A slot that is filled once for a tile, in no loop: the next tile takes
    // the next one.
    if (llvm::any_of(last.getUsers(), llvm::IsaPred<AcquireOp>))
      last = AdvanceOp::create(b, last);
    ends.push_back(last);
  }
  scf::YieldOp::create(b, ends);
  tiles.erase();
}

namespace {
struct PersistentTiles
    : mlir::tracea_pipe::impl::PersistentTilesBase<PersistentTiles> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    PipelineAttr pipeline = kernel.getPipelineAttr();
    if (!pipeline || !pipeline.getWorkgroups() || kernel.getRoles())
      return markAllAnalysesPreserved();
    if (kernel.getTiles().getCluster() > 1) {
      kernel.getTiles().emitOpError()
          << "has clusters, whose workgroups meet once: expects a pipeline "
             "without 'workgroups' that walk over tiles";
      return signalPassFailure();
    }
    LDBG() << "@" << kernel.getSymName() << ": " << pipeline.getWorkgroups()
           << " workgroups walk over all tiles";
    persist(kernel.getTiles(), pipeline.getWorkgroups());
  }
};
} // namespace
