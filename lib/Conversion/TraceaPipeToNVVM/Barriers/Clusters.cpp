//===- Clusters.cpp - Barriers and memories of a cluster ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arriving at a cluster's barrier makes what was written before visible, and
// says that what was read has been read: loads may still be under way when an
// arrival that is relaxed lets others exit, and their memory with them.

#include "Lowering.h"
#include "tracea/Conversion/TraceaPipeToGPU/StagedRuns.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
/// The offsets of its buffers are those of every workgroup.
struct LowerPeer : NVVMPattern<PeerOp> {
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

struct LowerPeerLoad : NVVMPattern<LoadOp> {
  LowerPeerLoad(const TypeConverter &converter, MLIRContext *mlirContext,
                NVVMLoweringContext &context)
      : KernelPattern(converter, mlirContext, context, /*benefit=*/3) {}

  LogicalResult
  matchAndRewrite(LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto peer = op.getSource().getDefiningOp<PeerOp>();
    if (!peer)
      return failure();
    NVVMEmitter b(op, rewriter, context);
    auto tile = cast<RankedTensorType>(op.getResult().getType());
    const StagedWindow &window = context.getWindow(op.getSourceMutable());
    std::optional<StagedRuns> runs =
        StagedRuns::get(window, tile, context.target);
    if (!runs || !op.getLimits().empty())
      return op.emitOpError()
             << "reads another workgroup's memory: expects whole tiles with "
                "neighbours in each lane's registers, found "
             << tile;
    auto theirs = LLVM::LLVMPointerType::get(
        b.getContext(),
        static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
    Value workgroup = b.toI32(b.remap(peer.getWorkgroup()));
    SmallVector<Address> places =
        runs->getPlaces(b, window, adaptor.getSource());
    for (Address &place : places)
      place.base = NVVM::MapaOp::create(b, theirs, place.base, workgroup);
    rewriter.replaceOp(op, runs->load(b, places, getLaneVector(tile)));
    return success();
  }
};

/// All lanes of the team arrive. Those of roles that have ended count as there.
struct LowerClusterArrive : NVVMPattern<ClusterArriveOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(ClusterArriveOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::ClusterArriveOp>(op,
                                                       rewriter.getUnitAttr());
    return success();
  }
};

struct LowerClusterWait : NVVMPattern<ClusterWaitOp> {
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
