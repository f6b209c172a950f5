//===- Turns.cpp - Teams take turns ---------------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A round of turns (ping-pong) is a named barrier for each team, where it meets
// the team before it.

#include "Lowering.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
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

} // namespace

void mlir::tracea_pipe::populateTurnPatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns,
                                             NVVMLoweringContext &context) {
  patterns.add<LowerTurns, LowerTurn<OrderWaitOp, true>,
               LowerTurn<OrderArriveOp, false>>(converter,
                                                patterns.getContext(), context);
}
