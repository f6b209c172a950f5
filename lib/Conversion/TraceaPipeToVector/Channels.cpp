//===- Channels.cpp - Rings become panels of the workspace ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One thread fills and reads each slot in program order, so acquire, commit,
// wait and release order nothing here: what is left of a ring is its memory,
// and the phase as the index that picks the slot.

#include "Patterns.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

Value mlir::tracea_pipe::getWorkspaceBuffer(ImplicitLocOpBuilder &b,
                                            KernelOp kernel,
                                            VectorLoweringContext &context,
                                            int64_t offset, MemRefType type) {
  auto bytes = MemRefType::get({context.workspaceBytes[kernel]}, b.getI8Type());
  Value workspace = WorkspaceOp::create(b, bytes);
  Value start = arith::ConstantIndexOp::create(b, offset);
  return memref::ViewOp::create(b, type, workspace, start, ValueRange());
}

namespace {
struct LowerChannel : OpConversionPattern<ChannelOp> {
  LowerChannel(const TypeConverter &converter, MLIRContext *mlirContext,
               VectorLoweringContext &context)
      : OpConversionPattern(converter, mlirContext), context(context) {}

  LogicalResult
  matchAndRewrite(ChannelOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Type> types;
    if (failed(
            getTypeConverter()->convertType(op.getResult().getType(), types)))
      return failure();
    SmallVector<Value> buffers;
    for (auto [type, offset] : llvm::zip(types, context.workspaceOffsets[op]))
      buffers.push_back(getWorkspaceBuffer(b, op->getParentOfType<KernelOp>(),
                                           context, offset,
                                           cast<MemRefType>(type)));
    rewriter.replaceOpWithMultiple(op, {ValueRange(buffers)});
    return success();
  }
  VectorLoweringContext &context;
};

struct LowerScratch : OpConversionPattern<ScratchOp> {
  LowerScratch(const TypeConverter &converter, MLIRContext *mlirContext,
               VectorLoweringContext &context)
      : OpConversionPattern(converter, mlirContext), context(context) {}

  LogicalResult
  matchAndRewrite(ScratchOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(
        op, getWorkspaceBuffer(
                b, op->getParentOfType<KernelOp>(), context,
                context.workspaceOffsets[op].front(),
                getPlainMemRef(cast<MemRefType>(op.getResult().getType()))));
    return success();
  }
  VectorLoweringContext &context;
};

/// acquire and wait: the buffers of the slot `phase mod slots`.
template <typename OpTy>
struct LowerSlot : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;
  using OneToNOpAdaptor = typename OpConversionPattern<OpTy>::OneToNOpAdaptor;

  LogicalResult
  matchAndRewrite(OpTy op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t slots = op.getChannel().getType().getSlots();
    Value slot;
    if (slots > 1)
      slot = b.createOrFold<arith::RemUIOp>(
          adaptor.getPhase().front(),
          arith::ConstantIndexOp::create(b, slots).getResult());
    SmallVector<Value> results;
    for (auto [ring, buffer] :
         llvm::zip(adaptor.getChannel(), op.getBuffers())) {
      auto type = getPlainMemRef(cast<MemRefType>(buffer.getType()));
      Value start = slot ? mulIndex(b, slot, getSlotBytes(type))
                         : arith::ConstantIndexOp::create(b, 0).getResult();
      results.push_back(
          memref::ViewOp::create(b, type, ring, start, ValueRange()));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

template <typename OpTy>
struct EraseOp : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;
  using OneToNOpAdaptor = typename OpConversionPattern<OpTy>::OneToNOpAdaptor;
  LogicalResult
  matchAndRewrite(OpTy op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerStart : OpConversionPattern<StartOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(StartOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(op, 0);
    return success();
  }
};

struct LowerAdvance : OpConversionPattern<AdvanceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(AdvanceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t slots = op.getPhase().getType().getSlots();
    // With a single slot the parity says nothing on one thread.
    if (slots == 1) {
      rewriter.replaceOp(op, adaptor.getPhase());
      return success();
    }
    Value next = addIndex(b, adaptor.getPhase(), 1);
    Value end = arith::ConstantIndexOp::create(b, 2 * slots);
    rewriter.replaceOpWithNewOp<arith::RemUIOp>(op, next, end);
    return success();
  }
};

struct RefuseRoles : OpConversionPattern<RolesOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(RolesOp op, OpAdaptor,
                                ConversionPatternRewriter &) const override {
    return op.emitOpError() << "has no meaning on a target without warps; "
                               "schedule the kernel without roles";
  }
};
} // namespace

void mlir::tracea_pipe::populateChannelPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    VectorLoweringContext &context) {
  MLIRContext *mlirContext = patterns.getContext();
  patterns.add<LowerChannel, LowerScratch>(converter, mlirContext, context);
  patterns.add<LowerSlot<AcquireOp>, LowerSlot<WaitOp>, EraseOp<CommitOp>,
               EraseOp<ReleaseOp>, LowerStart, LowerAdvance, RefuseRoles>(
      converter, mlirContext);
}
