//===- Teams.cpp - Teams meet, take turns, and find their tiles -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From roles to warps: a named barrier is where a team meets, one more for each
// team is its turn (ping-pong), and a thread finds its place by its number.

#include "Lowering.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Matchers.h"
#include "tracea/Conversion/TraceaPipeToGPU/Raster.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
struct LowerSync : NVVMPattern<SyncOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(SyncOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    NVVMEmitter b(op, rewriter, context);
    if (b.team.feedsUnits)
      b.fenceUnits();
    b.meet();
    rewriter.eraseOp(op);
    return success();
  }
};

/// A round of turns is a barrier for each team, where it meets the one before.
struct LowerTurns : NVVMPattern<OrderBarrierOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(OrderBarrierOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, {ValueRange()});
    return success();
  }
};

template <typename OpTy, bool takes>
struct LowerTurn : NVVMPattern<OpTy> {
  using Base = NVVMPattern<OpTy>;
  using Base::Base;
  LogicalResult
  matchAndRewrite(OpTy op, typename Base::OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    NVVMEmitter b(op, rewriter, this->context);
    auto turns = op.getBarrier().template getDefiningOp<OrderBarrierOp>();
    if (!turns)
      return op.emitOpError()
             << "expects a barrier that 'tracea_pipe.order_barrier' "
                "declares, without a detour";
    int64_t count = turns.getResult().getType().getTeams();
    Value team = b.toI32(adaptor.getTeam().front());
    if (!takes) {
      team = b.add(team, 1);
      Value last = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, team,
                                         b.i32(count));
      team = arith::SelectOp::create(b, last, b.i32(0), team);
    }
    Value id = b.add(team, this->context.plan.turnBarriers.lookup(turns));
    Value threads = b.i32(2 * b.team.getNumThreads());
    if (takes)
      NVVM::BarrierOp::create(b, Type(), id, threads, nullptr, nullptr);
    else
      NVVM::BarrierArriveOp::create(b, id, threads);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Where a thread stands, as an index.
template <typename OpTy, Value Team::*member>
struct LowerPlace : NVVMPattern<OpTy> {
  using Base = NVVMPattern<OpTy>;
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

/// Of words of 32 bits, between all lanes of a warp.
struct LowerShuffle : NVVMPattern<gpu::ShuffleOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(gpu::ShuffleOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    NVVMEmitter b(op, rewriter, context);
    Type type = adaptor.getValue().getType();
    if (!type.isInteger(32) && !type.isF32())
      return op.emitOpError() << "expects 32 bits, found " << type;
    APInt width;
    if (!matchPattern(op.getWidth(), m_ConstantInt(&width)) ||
        width != context.target.getSubgroupSize() || !op.getValid().use_empty())
      return op.emitOpError() << "expects to shuffle among all lanes of a warp";
    NVVM::ShflKind kind = NVVM::ShflKind::idx;
    // The last lane, or the first one where lanes below are read.
    int64_t clamp = context.target.getSubgroupSize() - 1;
    switch (op.getMode()) {
    case gpu::ShuffleMode::XOR:
      kind = NVVM::ShflKind::bfly;
      break;
    case gpu::ShuffleMode::UP:
      kind = NVVM::ShflKind::up;
      clamp = 0;
      break;
    case gpu::ShuffleMode::DOWN:
      kind = NVVM::ShflKind::down;
      break;
    case gpu::ShuffleMode::IDX:
      break;
    }
    Value shuffled = NVVM::ShflOp::create(
        b, type, b.i32(-1), adaptor.getValue(), adaptor.getOffset(),
        b.i32(clamp), kind, /*return_value_and_is_valid=*/::mlir::UnitAttr());
    Value valid = arith::ConstantOp::create(b, b.getBoolAttr(true));
    rewriter.replaceOp(op, {shuffled, valid});
    return success();
  }
};

struct LowerBarrier : NVVMPattern<gpu::BarrierOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(gpu::BarrierOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::BarrierOp>(op);
    return success();
  }
};

struct LowerRaster : NVVMPattern<RasterOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(RasterOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    NVVMEmitter b(op, rewriter, context);
    auto [row, column] = emitRaster(b, adaptor.getIndex(), adaptor.getRows(),
                                    adaptor.getColumns(), op.getGroup());
    rewriter.replaceOp(op, {row, column});
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateTeamPatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns,
                                             NVVMLoweringContext &context) {
  patterns.add<LowerSync, LowerTurns, LowerTurn<OrderWaitOp, true>,
               LowerTurn<OrderArriveOp, false>, LowerRaster, LowerShuffle,
               LowerBarrier, LowerPlace<gpu::LaneIdOp, &Team::lane>,
               LowerPlace<gpu::SubgroupIdOp, &Team::warp>>(
      converter, patterns.getContext(), context);
}
