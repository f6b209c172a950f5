//===- Channels.cpp - Rings become barriers in shared memory --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A slot has two barriers: `full` completes a phase when the slot has been
// filled, `empty` when it has been read. A phase of the ring is the number of
// the slot and the parity of the barriers' phase, so that a wait needs no
// division. Who fills waits for the other parity: before the first round every
// slot is free.

#include "Lowering.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

SmallVector<Value> mlir::tracea_pipe::getSlotBuffers(Emitter &b,
                                                     const ChannelPlan &channel,
                                                     Value slot) {
  SmallVector<Value> buffers;
  for (auto [offset, stride] : llvm::zip(channel.offsets, channel.strides)) {
    Value start = b.add(b.mul(slot, stride), offset);
    if (channel.owner && channel.copies > 1)
      start = b.add(start, b.mul(channel.owner->index, stride * channel.slots));
    buffers.push_back(start);
  }
  return buffers;
}

namespace {
struct LowerChannel : KernelPattern<ChannelOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(ChannelOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, {ValueRange()});
    return success();
  }
};

struct LowerScratch : KernelPattern<ScratchOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(ScratchOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    const ScratchPlan &plan = context.plan.scratches.find(op)->second;
    Value offset = b.i32(plan.offset);
    if (plan.owner->copies > 1)
      offset = b.add(b.mul(plan.owner->index, plan.stride), offset);
    rewriter.replaceOp(op, offset);
    return success();
  }
};

struct LowerStart : KernelPattern<StartOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(StartOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    SmallVector<Value> phase = {b.i32(0), b.i32(0)};
    rewriter.replaceOpWithMultiple(op, {ValueRange(phase)});
    return success();
  }
};

struct LowerAdvance : KernelPattern<AdvanceOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(AdvanceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    Value slot = adaptor.getPhase()[0], parity = adaptor.getPhase()[1];
    int64_t slots = op.getPhase().getType().getSlots();
    if (slots == 1) {
      parity = arith::XOrIOp::create(b, parity, b.i32(1));
    } else {
      Value next = b.add(slot, 1);
      Value wraps = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, next,
                                          b.i32(slots));
      slot = arith::SelectOp::create(b, wraps, b.i32(0), next);
      Value flip = arith::ExtUIOp::create(b, b.getI32Type(), wraps);
      parity = arith::XOrIOp::create(b, parity, flip);
    }
    SmallVector<Value> phase = {slot, parity};
    rewriter.replaceOpWithMultiple(op, {ValueRange(phase)});
    return success();
  }
};

struct LowerAcquire : KernelPattern<AcquireOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(AcquireOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
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
        NVVM::MBarrierArriveExpectTxOp::create(
            b, /*res=*/Type(), b.barrierOf(channel, channel.full, slot),
            b.i32(context.plan.acquiredBytes.lookup(op)),
            NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/nullptr);
      });
    } else {
      waitUntilFree();
    }
    context.fullBarriers[op] = b.barrierOf(channel, channel.full, slot);
    rewriter.replaceOp(op, getSlotBuffers(b, channel, slot));
    return success();
  }
};

struct LowerCommit : KernelPattern<CommitOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(CommitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    const ChannelPlan &channel = context.plan.getChannel(op.getChannel());
    if (!channel.arrivesEarly) {
      if (channel.writtenByLanes) {
        // Units read memory by another way than lanes write it.
        NVVM::FenceProxyOp::create(
            b, NVVM::ProxyKind::async_shared,
            NVVM::SharedSpaceAttr::get(b.getContext(),
                                       NVVM::SharedSpace::shared_cta));
        b.meet();
      }
      b.onLeader([&]() {
        b.arrive(b.barrierOf(channel, channel.full, adaptor.getPhase()[0]));
      });
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerWait : KernelPattern<WaitOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(WaitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    const ChannelPlan &channel = context.plan.getChannel(op.getChannel());
    Value slot = adaptor.getPhase()[0];
    b.wait(b.barrierOf(channel, channel.full, slot), adaptor.getPhase()[1]);
    rewriter.replaceOp(op, getSlotBuffers(b, channel, slot));
    return success();
  }
};

struct LowerRelease : KernelPattern<ReleaseOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(ReleaseOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
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

/// Windows have been composed already: a view is the buffer it looks into.
struct LowerView : KernelPattern<ViewOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(ViewOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (adaptor.getSource().getType().isInteger())
      rewriter.replaceOp(op, adaptor.getSource());
    else
      rewriter.replaceOpWithNewOp<UnrealizedConversionCastOp>(
          op, op.getResult().getType(), adaptor.getSource());
    return success();
  }
};

template <typename OpTy>
struct LowerReshape : KernelPattern<OpTy> {
  using KernelPattern<OpTy>::KernelPattern;
  LogicalResult
  matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getSrc());
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateChannelPatterns(const TypeConverter &converter,
                                                RewritePatternSet &patterns,
                                                NVVMLoweringContext &context) {
  patterns.add<LowerChannel, LowerScratch, LowerStart, LowerAdvance,
               LowerAcquire, LowerCommit, LowerWait, LowerRelease, LowerView,
               LowerReshape<memref::CollapseShapeOp>,
               LowerReshape<memref::ExpandShapeOp>>(
      converter, patterns.getContext(), context);
}
