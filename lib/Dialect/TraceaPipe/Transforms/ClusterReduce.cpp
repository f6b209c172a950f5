//===- ClusterReduce.cpp - Reductions over distributed shared memory ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Within the pipeline level. Decides how the partial sums of a cluster (split-K
// within a cluster) are exchanged, and the swizzle of the memory that they pass
// through.
//
// Rows of the memory are swizzled for both sides. A matrix unit leaves two
// neighbours of eight rows in a quarter of a warp's lanes each: four rows of
// eight bytes are to lie in different banks. Who reads takes rows, 16 bytes a
// lane. What the epilogue loads arrives while the cluster meets.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "tracea-cluster-reduce"

namespace mlir::tracea_pipe {
#define GEN_PASS_DEF_CLUSTERREDUCE
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h.inc"
} // namespace mlir::tracea_pipe

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Bytes of a row that the swizzle permutes, eight chunks of 16.
static constexpr int64_t kRowBytes = 128;

/// Memory for a tile: panels of rows of 128 bytes. Pairs of chunks move by the
/// lowest two bits of the row, chunks of a pair by the third.
static MemRefType getMemoryType(RankedTensorType tile) {
  int64_t bytes = tile.getElementTypeBitWidth() / 8;
  int64_t panel = kRowBytes / bytes;
  int64_t columns = llvm::alignTo(tile.getDimSize(1), panel);
  auto staged = StagedAttr::get(tile.getContext(), {5, 7, 6, 8, 4, 9},
                                columns == panel ? 0 : panel);
  return MemRefType::get({tile.getDimSize(0), columns}, tile.getElementType(),
                         AffineMap(), staged);
}

static Value addTiles(ImplicitLocOpBuilder &b, Value x, Value y) {
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return arith::AddFOp::create(b, x, y);
  return arith::AddIOp::create(b, x, y);
}

/// Puts `op`, and what it is computed from, before `point` of its block.
static bool hoist(Operation *op, Operation *point) {
  if (op->getBlock() != point->getBlock() || op->isBeforeInBlock(point))
    return true;
  if (op == point || op->getNumRegions() ||
      !(isMemoryEffectFree(op) || isa<LoadOp>(op)))
    return false;
  for (Value operand : op->getOperands())
    if (Operation *def = operand.getDefiningOp(); def && !hoist(def, point))
      return false;
  op->moveBefore(point);
  return true;
}

/// Tiles of the caller's memory that nothing in the kernel writes are loaded
/// before the workgroups wait for one another.
static void loadAhead(ClusterSumOp sum) {
  auto isWritten = [](Value memory) {
    return llvm::any_of(memory.getUsers(), [](Operation *user) {
      return !isa<LoadOp, StageOp, CopyOp, memref::DimOp>(user);
    });
  };
  SmallVector<LoadOp> loads;
  for (LoadOp load : sum->getBlock()->getOps<LoadOp>())
    if (sum->isBeforeInBlock(load) && isa<BlockArgument>(load.getSource()) &&
        !isWritten(load.getSource()))
      loads.push_back(load);
  for (LoadOp load : loads)
    hoist(load, sum);
}

static LogicalResult share(ClusterSumOp sum) {
  auto tiles = sum->getParentOfType<TilesOp>();
  if (sum->getBlock() != &tiles.getBody().front())
    return sum.emitOpError() << "expects to stand directly in the grid: all of "
                                "the cluster comes to it once";
  auto value = cast<RankedTensorType>(sum.getValue().getType());
  auto result = cast<RankedTensorType>(sum.getResult().getType());
  int64_t bits = value.getElementTypeBitWidth();
  if (bits < 8 || !llvm::isPowerOf2_64(bits))
    return sum.emitOpError()
           << "expects elements of whole bytes, found " << value;
  loadAhead(sum);
  auto b = ImplicitLocOpBuilder::atBlockBegin(sum.getLoc(), sum->getBlock());
  Value memory = ScratchOp::create(b, getMemoryType(value));
  b.setInsertionPoint(sum);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  AffineMap map = b.getMultiDimIdentityMap(2);
  StoreOp::create(b, sum.getValue(), memory, ValueRange{zero, zero},
                  ValueRange(), map);
  ClusterArriveOp::create(b);
  ClusterWaitOp::create(b);
  Value rows = arith::ConstantIndexOp::create(b, result.getDimSize(0));
  Value row = arith::MulIOp::create(b, sum.getPart(), rows);
  // Each reads from another one at a time. Loads come before sums: all are
  // under way at once.
  SmallVector<Value> parts;
  for (int64_t distance = 0; distance < int64_t(tiles.getCluster());
       ++distance) {
    Value from = memory;
    if (distance) {
      Value peer = arith::XOrIOp::create(
          b, sum.getPart(), arith::ConstantIndexOp::create(b, distance));
      from = PeerOp::create(b, memory, peer);
    }
    parts.push_back(LoadOp::create(b, result, from, ValueRange{row, zero},
                                   ValueRange(), Value(), map));
  }
  Value total = parts.front();
  for (Value part : ArrayRef(parts).drop_front())
    total = addTiles(b, total, part);
  ClusterArriveOp::create(b);
  sum.getResult().replaceAllUsesWith(total);
  sum.erase();
  b.setInsertionPoint(tiles.getBody().front().getTerminator());
  ClusterWaitOp::create(b);
  return success();
}

namespace {
struct ClusterReduce
    : mlir::tracea_pipe::impl::ClusterReduceBase<ClusterReduce> {
  void runOnOperation() override {
    SmallVector<ClusterSumOp> sums;
    getOperation().walk([&](ClusterSumOp sum) { sums.push_back(sum); });
    if (sums.empty())
      return markAllAnalysesPreserved();
    // Phases of the barrier would run into one another.
    if (sums.size() > 1) {
      InFlightDiagnostic diag = sums[1].emitOpError()
                                << "is the second one of this kernel; expected "
                                   "one sum that a cluster shares";
      diag.attachNote(sums[0].getLoc()) << "the first one is here";
      return signalPassFailure();
    }
    LDBG() << "reduces " << sums.front()
           << " through distributed shared memory";
    if (failed(share(sums.front())))
      return signalPassFailure();
    ++numSums;
  }
};
} // namespace
