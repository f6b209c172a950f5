//===- WarpSpecialize.cpp - Producer and consumer warps -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Within the pipeline level. Decides which operation belongs to the producer
// (acquire, copy, commit) and which to the consumers; what both need, they
// compute both.

#include "PhaseUtils.h"
#include "SplitTeams.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tracea-warp-specialize"

namespace mlir::tracea_pipe {
#define GEN_PASS_DEF_WARPSPECIALIZE
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h.inc"
} // namespace mlir::tracea_pipe

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Warps of the role that copies: registers are moved by four warps together.
static constexpr int64_t kCopyingWarps = 4;

/// What all roles may know: numbers that cost nothing to have.
static bool isShared(Operation *op) {
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         llvm::all_of(op->getResultTypes(),
                      [](Type type) { return type.isIntOrIndexOrFloat(); });
}

/// Keeps what fills slots, and all that this depends on.
static LogicalResult keepFilling(RoleOp role) {
  llvm::SetVector<Operation *> needed;
  auto require = [&](Operation *op) {
    for (; op && op != role; op = op->getParentOp())
      if (!needed.insert(op))
        return;
  };
  role->walk([&](Operation *op) {
    if (isa<AcquireOp, CopyOp, CommitOp>(op))
      require(op);
  });
  for (size_t i = 0; i < needed.size(); ++i) {
    Operation *op = needed[i];
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp())
        if (role->isProperAncestor(def))
          require(def);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      for (auto [argument, yielded] :
           llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
        if (isa<PhaseType>(argument.getType()))
          if (Operation *def = yielded.getDefiningOp())
            require(def);
  }
  for (Operation *op : needed)
    if (isa<WaitOp, MmaOp, StoreOp>(op))
      return op->emitOpError() << "decides what is copied: the roles cannot be "
                                  "pulled apart";
  // Values that the role does not need are yielded as they came, so that the
  // loop keeps its results.
  role->walk([&](scf::ForOp loop) {
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
      if (!isa<PhaseType>(loop.getRegionIterArg(i).getType()))
        loop.getBody()->getTerminator()->setOperand(i,
                                                    loop.getRegionIterArg(i));
  });
  SmallVector<Operation *> useless;
  role->walk([&](Operation *op) {
    if (op != role && !needed.contains(op) && !isa<EndOp, scf::YieldOp>(op))
      useless.push_back(op);
  });
  for (Operation *op : llvm::reverse(useless)) {
    op->dropAllUses();
    op->erase();
  }
  return success();
}

/// Keeps everything but what fills slots.
static LogicalResult keepReading(RoleOp role) {
  SmallVector<Operation *> filling;
  role->walk([&](Operation *op) {
    if (isa<AcquireOp, CopyOp, CommitOp>(op))
      filling.push_back(op);
  });
  for (Operation *op : llvm::reverse(filling)) {
    if (!op->use_empty())
      return op->emitOpError() << "gives a slot to something that is no copy: "
                                  "the roles cannot be pulled apart";
    op->erase();
  }
  return success();
}

static RoleOp createRole(OpBuilder &builder, Location loc, StringRef name,
                         int64_t first, int64_t end, int64_t copies,
                         int64_t registers) {
  auto role = RoleOp::create(builder, loc, name, ArrayRef<int64_t>{first, end},
                             copies, registers);
  Block &block = role.getBody().emplaceBlock();
  if (copies > 1)
    block.addArgument(builder.getIndexType(), loc);
  OpBuilder inner = OpBuilder::atBlockEnd(&block);
  EndOp::create(inner, loc);
  return role;
}

static LogicalResult specialize(KernelOp kernel, PipelineAttr pipeline) {
  Block &body = kernel.getTiles().getBody().front();
  SmallVector<Operation *> moved;
  llvm::SmallDenseSet<Operation *> isMoved;
  for (Operation &op : body.without_terminator()) {
    if (isa<ChannelOp, StartOp, OrderBarrierOp, ScratchOp>(op))
      continue;
    bool stays =
        isShared(&op) && llvm::none_of(op.getOperands(), [&](Value v) {
          return v.getDefiningOp() && isMoved.contains(v.getDefiningOp());
        });
    if (stays)
      continue;
    moved.push_back(&op);
    isMoved.insert(&op);
  }
  Location loc = kernel.getTiles().getLoc();
  OpBuilder builder(body.getTerminator());
  auto roles = RolesOp::create(builder, loc);
  if (roles.getBody().empty())
    roles.getBody().emplaceBlock();
  if (roles.getBody().front().empty()) {
    OpBuilder inner = OpBuilder::atBlockEnd(&roles.getBody().front());
    EndOp::create(inner, loc);
  }
  builder.setInsertionPoint(roles.getBody().front().getTerminator());
  ArrayRef<int64_t> budgets = pipeline.getRegisters();
  int64_t warps = pipeline.getTeams() * pipeline.getWarps();
  RoleOp producer = createRole(builder, loc, "producer", 0, kCopyingWarps, 1,
                               budgets.empty() ? 0 : budgets[0]);
  RoleOp consumer =
      createRole(builder, loc, "consumer", kCopyingWarps, kCopyingWarps + warps,
                 pipeline.getTeams(), budgets.empty() ? 0 : budgets[1]);
  for (RoleOp role : {producer, consumer}) {
    OpBuilder inner(role.getBody().front().getTerminator());
    IRMapping mapping;
    for (Operation *op : moved)
      inner.clone(*op, mapping);
  }
  for (Operation *op : llvm::reverse(moved))
    op->erase();
  if (failed(keepFilling(producer)) || failed(keepReading(consumer)))
    return failure();
  if (pipeline.getTeams() > 1 &&
      failed(splitTeams(consumer, pipeline.getTeams())))
    return failure();
  removeDeadCode(kernel);
  return success();
}

namespace {
struct WarpSpecialize
    : mlir::tracea_pipe::impl::WarpSpecializeBase<WarpSpecialize> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    PipelineAttr pipeline = kernel.getPipelineAttr();
    if (!pipeline || kernel.getRoles() ||
        kernel.getTiles().getBody().getOps<ChannelOp>().empty())
      return markAllAnalysesPreserved();
    LDBG() << "@" << kernel.getSymName() << ": a producer and "
           << pipeline.getTeams() << " teams of consumers";
    if (failed(specialize(kernel, pipeline)))
      signalPassFailure();
  }
};
} // namespace
