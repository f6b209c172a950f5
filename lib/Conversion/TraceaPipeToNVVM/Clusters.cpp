//===- Clusters.cpp - Barriers and memories of a cluster ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arriving at a cluster's barrier makes what was written before visible, which
// costs a fence. Where nothing was written since the last phase there is none:
// what was read has been read when its sums are there.

#include "Lowering.h"
#include "StagedRuns.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Whether lanes write staged memory between the last phase of the barrier and
/// `arrive`, in its block.
static bool publishes(ClusterArriveOp arrive) {
  for (Operation *op = arrive->getPrevNode(); op; op = op->getPrevNode()) {
    if (isa<ClusterWaitOp>(op))
      return false;
    WalkResult result = op->walk([](Operation *inner) {
      auto store = dyn_cast<StoreOp>(inner);
      if (!store)
        return WalkResult::advance();
      auto memory = cast<MemRefType>(store.getDest().getType());
      return isa_and_nonnull<StagedAttr>(memory.getMemorySpace())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return true;
  }
  return true;
}

void mlir::tracea_pipe::planClusters(KernelPlan &plan) {
  plan.kernel.walk([&](ClusterArriveOp arrive) {
    if (publishes(arrive))
      plan.publishingArrivals.insert(arrive);
  });
}

namespace {
/// The offsets of its buffers are those of every workgroup.
struct LowerPeer : KernelPattern<PeerOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(PeerOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    for (Operation *user : op.getResult().getUsers())
      if (!isa<LoadOp>(user)) {
        InFlightDiagnostic diag =
            user->emitOpError()
            << "uses the memory of another workgroup, which this target loads "
               "tiles from alone";
        diag.attachNote(op.getLoc()) << "the memory comes from here";
        return diag;
      }
    rewriter.replaceOp(op, adaptor.getMemory());
    return success();
  }
};

struct LowerPeerLoad : KernelPattern<LoadOp> {
  LowerPeerLoad(const TypeConverter &converter, MLIRContext *mlirContext,
                NVVMLoweringContext &context)
      : KernelPattern(converter, mlirContext, context, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto peer = op.getSource().getDefiningOp<PeerOp>();
    if (!peer)
      return failure();
    Emitter b(op, rewriter, context);
    auto tile = cast<RankedTensorType>(op.getResult().getType());
    const StagedWindow &window = context.getWindow(op.getSourceMutable());
    std::optional<StagedRuns> runs = StagedRuns::get(window, tile);
    if (!runs || !op.getLimits().empty())
      return op.emitOpError()
             << "reads another workgroup's memory: expects whole tiles with "
                "neighbours in each lane's registers, found "
             << tile;
    auto theirs = LLVM::LLVMPointerType::get(
        b.getContext(),
        static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
    Value workgroup = b.toI32(b.remap(peer.getWorkgroup()));
    SmallVector<Value> pointers;
    for (Value pointer : runs->getPointers(b, window, adaptor.getSource()))
      pointers.push_back(NVVM::MapaOp::create(b, theirs, pointer, workgroup));
    rewriter.replaceOp(op, runs->load(b, pointers, getLaneVector(tile)));
    return success();
  }
};

/// All lanes of the team arrive. Those of roles that have ended count as there.
struct LowerClusterArrive : KernelPattern<ClusterArriveOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(ClusterArriveOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ::mlir::UnitAttr aligned = rewriter.getUnitAttr();
    if (context.plan.publishingArrivals.contains(op))
      rewriter.replaceOpWithNewOp<NVVM::ClusterArriveOp>(op, aligned);
    else
      rewriter.replaceOpWithNewOp<NVVM::ClusterArriveRelaxedOp>(op, aligned);
    return success();
  }
};

struct LowerClusterWait : KernelPattern<ClusterWaitOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(ClusterWaitOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::ClusterWaitOp>(op,
                                                     rewriter.getUnitAttr());
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateClusterPatterns(const TypeConverter &converter,
                                                RewritePatternSet &patterns,
                                                NVVMLoweringContext &context) {
  patterns.add<LowerPeer, LowerPeerLoad, LowerClusterArrive, LowerClusterWait>(
      converter, patterns.getContext(), context);
}
