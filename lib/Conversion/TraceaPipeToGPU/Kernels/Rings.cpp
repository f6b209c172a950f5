//===- Rings.cpp - Slots of rings, and where they lie ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A phase of a ring is the number of its slot and the parity of the round, so
// that neither a slot nor a wait needs a division. A staged buffer is the
// offset of its bytes in the workgroup's memory, as the plan laid it out.
//
//===----------------------------------------------------------------------===//

#include "tracea/Conversion/TraceaPipeToGPU/Rings.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"

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

void mlir::tracea_pipe::populateRingPatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns,
                                             KernelContext &context) {
  patterns.add<LowerChannel, LowerScratch, LowerStart, LowerAdvance, LowerView,
               LowerReshape<memref::CollapseShapeOp>,
               LowerReshape<memref::ExpandShapeOp>>(
      converter, patterns.getContext(), context);
}
