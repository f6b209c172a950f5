//===- Channels.cpp - Rings become barriers in shared memory --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A slot has two barriers: `full` completes a phase when the slot has been
// filled, `empty` when it has been read. The parity of a ring's phase is that
// of its barriers. Who fills waits for the other parity: before the first round
// every slot is free.

#include "Lowering.h"
#include "tracea/Conversion/TraceaPipeToGPU/Rings.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
struct LowerAcquire : NVVMPattern<AcquireOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(AcquireOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    NVVMEmitter b(op, rewriter, context);
    const ChannelPlan &channel = context.plan.getChannel(op.getChannel());
    Value slot = adaptor.getPhase()[0], parity = adaptor.getPhase()[1];
    auto waitUntilFree = [&]() {
      Value other = arith::XOrIOp::create(b, parity, b.i32(1));
      b.wait(b.barrierOf(channel, channel.empty, slot), other);
    };
    if (channel.arrivesEarly) {
      // Only who starts the copies must know that the slot is free.
      b.onLeader([&]() {
        waitUntilFree();
        b.arriveExpecting(b.barrierOf(channel, channel.full, slot),
                          context.plan.acquiredBytes.lookup(op));
      });
    } else {
      waitUntilFree();
    }
    context.fullBarriers[op] = b.barrierOf(channel, channel.full, slot);
    rewriter.replaceOp(op, getSlotBuffers(b, channel, slot));
    return success();
  }
};

struct LowerCommit : NVVMPattern<CommitOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(CommitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    NVVMEmitter b(op, rewriter, context);
    const ChannelPlan &channel = context.plan.getChannel(op.getChannel());
    if (!channel.arrivesEarly) {
      if (channel.writtenByLanes) {
        b.target.fenceUnits(b);
        b.meet();
      }
      int64_t bytes = context.plan.committedBytes.lookup(op);
      b.onLeader([&]() {
        Value barrier =
            b.barrierOf(channel, channel.full, adaptor.getPhase()[0]);
        if (bytes)
          b.arriveExpecting(barrier, bytes);
        else
          b.arrive(barrier);
      });
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerWait : NVVMPattern<WaitOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(WaitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    NVVMEmitter b(op, rewriter, context);
    const ChannelPlan &channel = context.plan.getChannel(op.getChannel());
    Value slot = adaptor.getPhase()[0];
    b.wait(b.barrierOf(channel, channel.full, slot), adaptor.getPhase()[1]);
    rewriter.replaceOp(op, getSlotBuffers(b, channel, slot));
    return success();
  }
};

struct LowerRelease : NVVMPattern<ReleaseOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(ReleaseOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    NVVMEmitter b(op, rewriter, context);
    const ChannelPlan &channel = context.plan.getChannel(op.getChannel());
    if (channel.meetsBeforeRelease())
      b.meet();
    b.onLeader([&]() {
      b.arrive(b.barrierOf(channel, channel.empty, adaptor.getPhase()[0]));
    });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::tracea_pipe::populateChannelPatterns(const TypeConverter &converter,
                                                RewritePatternSet &patterns,
                                                NVVMLoweringContext &context) {
  patterns.add<LowerAcquire, LowerCommit, LowerWait, LowerRelease>(
      converter, patterns.getContext(), context);
}
