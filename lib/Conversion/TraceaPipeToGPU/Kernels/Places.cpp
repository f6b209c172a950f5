//===- Places.cpp - Where threads stand and meet --------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the numbers of lanes and warps, meetings, shuffles and the order of
// tiles to values of the thread and what the target has for them.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Matchers.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"
#include "tracea/Conversion/TraceaPipeToGPU/Raster.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
struct LowerSync : KernelPattern<SyncOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(SyncOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    if (b.team.feedsUnits)
      b.target.fenceUnits(b);
    b.meet();
    rewriter.eraseOp(op);
    return success();
  }
};

/// Where a thread stands, as an index.
template <typename OpTy, Value Team::*member>
struct LowerPlace : KernelPattern<OpTy> {
  using Base = KernelPattern<OpTy>;
  using Base::Base;
  LogicalResult
  matchAndRewrite(OpTy op, typename OpTy::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    // Warps count in the workgroup.
    const Team &workgroup = *this->context.plan.teams.front();
    rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, rewriter.getIndexType(),
                                                    workgroup.*member);
    return success();
  }
};

/// Words of 32 bits, between all lanes of a subgroup.
struct LowerShuffle : KernelPattern<gpu::ShuffleOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(gpu::ShuffleOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    Type type = adaptor.getValue().getType();
    if (!type.isInteger(32) && !type.isF32())
      return op.emitOpError() << "expects 32 bits, found " << type;
    APInt width;
    if (!matchPattern(op.getWidth(), m_ConstantInt(&width)) ||
        width != b.target.getSubgroupSize() || !op.getValid().use_empty())
      return op.emitOpError() << "expects to shuffle among all lanes of a warp";
    Value shuffled = b.target.shuffle(b, adaptor.getValue(),
                                      adaptor.getOffset(), op.getMode());
    Value valid = arith::ConstantOp::create(b, b.getBoolAttr(true));
    rewriter.replaceOp(op, {shuffled, valid});
    return success();
  }
};

struct LowerBarrier : KernelPattern<gpu::BarrierOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(gpu::BarrierOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    b.target.meetWorkgroup(b);
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerRaster : KernelPattern<RasterOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(RasterOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    auto [row, column] = emitRaster(b, adaptor.getIndex(), adaptor.getRows(),
                                    adaptor.getColumns(), op.getGroup());
    rewriter.replaceOp(op, {row, column});
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populatePlacePatterns(const TypeConverter &converter,
                                              RewritePatternSet &patterns,
                                              KernelContext &context) {
  patterns.add<LowerSync, LowerShuffle, LowerBarrier, LowerRaster,
               LowerPlace<gpu::LaneIdOp, &Team::lane>,
               LowerPlace<gpu::SubgroupIdOp, &Team::warp>>(
      converter, patterns.getContext(), context);
}
