//===- Teams.cpp - Teams meet, take turns, and find their tiles -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lowering.h"
#include "Raster.h"

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
      NVVM::FenceProxyOp::create(
          b, NVVM::ProxyKind::async_shared,
          NVVM::SharedSpaceAttr::get(b.getContext(),
                                     NVVM::SharedSpace::shared_cta));
    b.meet();
    rewriter.eraseOp(op);
    return success();
  }
};

/// A round of turns is a barrier for each team, where it meets the one before.
struct LowerTurns : KernelPattern<TurnsOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(TurnsOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, {ValueRange()});
    return success();
  }
};

template <typename OpTy, bool takes>
struct LowerTurn : KernelPattern<OpTy> {
  using Base = KernelPattern<OpTy>;
  using Base::Base;
  LogicalResult
  matchAndRewrite(OpTy op, typename Base::OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, this->context);
    auto turns = op.getTurns().template getDefiningOp<TurnsOp>();
    if (!turns)
      return op.emitOpError() << "expects turns that 'tracea_pipe.turns' "
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

void mlir::tracea_pipe::populateTeamPatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns,
                                             NVVMLoweringContext &context) {
  patterns.add<LowerSync, LowerTurns, LowerTurn<TakeTurnOp, true>,
               LowerTurn<PassTurnOp, false>, LowerRaster>(
      converter, patterns.getContext(), context);
}
