//===- PingPong.cpp - Consumer teams that alternate between tiles ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Within the pipeline level. Decides where a team takes the tensor cores and
// where it passes them on, so that the epilogue of one tile runs beside the
// multiplies of the next.

#include "PhaseUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tracea-ping-pong"

namespace mlir::tracea_pipe {
#define GEN_PASS_DEF_PINGPONG
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h.inc"
} // namespace mlir::tracea_pipe

using namespace mlir;
using namespace mlir::tracea_pipe;

template <typename OpTy>
static bool holds(Operation *op) {
  return op->walk([](OpTy) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

namespace {
/// Emits the walk of a block's phases along their rings, and nothing else.
class PhaseWalk {
public:
  PhaseWalk(ImplicitLocOpBuilder &b, Block &source) : b(b), source(source) {}

  LogicalResult emit(Block &block);
  Value get(Value phase) { return mapping.lookupOrDefault(phase); }

private:
  LogicalResult emitLoop(scf::ForOp loop);
  LogicalResult emitBranch(scf::IfOp branch);
  LogicalResult cloneNumber(Value value, Operation *user);
  SmallVector<Value> getPhases(ValueRange values) {
    SmallVector<Value> phases;
    for (Value value : values)
      if (isa<PhaseType>(value.getType()))
        phases.push_back(get(value));
    return phases;
  }
  void map(ValueRange from, ValueRange to) {
    for (Value value : from)
      if (isa<PhaseType>(value.getType())) {
        mapping.map(value, to.front());
        to = to.drop_front();
      }
  }

  ImplicitLocOpBuilder &b;
  Block &source;
  IRMapping mapping;
};
} // namespace

static bool walksRing(Operation *op) {
  return llvm::any_of(op->getResultTypes(),
                      [](Type type) { return isa<PhaseType>(type); });
}

LogicalResult PhaseWalk::emit(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (!walksRing(&op))
      continue;
    if (isa<AdvanceOp>(op)) {
      b.clone(op, mapping);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (failed(emitLoop(loop)))
        return failure();
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (failed(emitBranch(branch)))
        return failure();
    } else {
      return op.emitOpError() << "gives a phase: teams cannot advance past it "
                                 "to take turns";
    }
  }
  return success();
}

/// Copies what computes a number inside of the block.
LogicalResult PhaseWalk::cloneNumber(Value value, Operation *user) {
  Operation *def = value.getDefiningOp();
  bool isOutside = !source.getParent()->isAncestor(value.getParentRegion());
  if (!def || isOutside || mapping.contains(value))
    return success();
  if (def->getNumRegions() || !isPure(def))
    return user->emitOpError() << "depends on what one team computes: other "
                                  "teams cannot advance past it to take turns";
  for (Value operand : def->getOperands())
    if (failed(cloneNumber(operand, user)))
      return failure();
  b.clone(*def, mapping);
  return success();
}

LogicalResult PhaseWalk::emitLoop(scf::ForOp loop) {
  for (Value bound :
       {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
    if (failed(cloneNumber(bound, loop)))
      return failure();
  auto walk = scf::ForOp::create(b, get(loop.getLowerBound()),
                                 get(loop.getUpperBound()), get(loop.getStep()),
                                 getPhases(loop.getInits()));
  mapping.map(loop.getInductionVar(), walk.getInductionVar());
  map(loop.getRegionIterArgs(), walk.getRegionIterArgs());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(walk.getBody());
  if (failed(emit(*loop.getBody())))
    return failure();
  b.setInsertionPointToEnd(walk.getBody());
  scf::YieldOp::create(b, getPhases(loop.getYieldedValues()));
  map(loop.getResults(), walk.getResults());
  return success();
}

LogicalResult PhaseWalk::emitBranch(scf::IfOp branch) {
  if (failed(cloneNumber(branch.getCondition(), branch)))
    return failure();
  SmallVector<Type> types;
  for (Type type : branch.getResultTypes())
    if (isa<PhaseType>(type))
      types.push_back(type);
  auto walk = scf::IfOp::create(b, types, get(branch.getCondition()),
                                /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (auto [from, to] : {std::pair(branch.thenBlock(), walk.thenBlock()),
                          std::pair(branch.elseBlock(), walk.elseBlock())}) {
    b.setInsertionPointToEnd(to);
    if (failed(emit(*from)))
      return failure();
    scf::YieldOp::create(b, getPhases(from->getTerminator()->getOperands()));
  }
  map(branch.getResults(), walk.getResults());
  return success();
}

/// The role that multiplies and its loop over tiles; null where it has none.
static std::pair<RoleOp, scf::ForOp> findTileLoop(KernelOp kernel) {
  for (RoleOp role : kernel.getRoles().getBody().getOps<RoleOp>()) {
    if (!holds<MmaAsyncOp>(role))
      continue;
    scf::ForOp found;
    for (Operation &op : role.getBody().front())
      if (holds<WaitOp>(&op)) {
        auto loop = dyn_cast<scf::ForOp>(op);
        if (found || !loop)
          return {role, scf::ForOp()};
        found = loop;
      }
    return {role, found};
  }
  return {};
}

/// Passes the turn on behind the last multiply that is started in `block`, on
/// each way through it.
static void emitPass(Block &block, Value turns, BlockArgument team) {
  Operation *last = nullptr;
  for (Operation &op : block)
    if (holds<MmaAsyncOp>(&op))
      last = &op;
  if (auto branch = dyn_cast_or_null<scf::IfOp>(last);
      branch && branch.elseBlock()) {
    emitPass(*branch.thenBlock(), turns, team);
    emitPass(*branch.elseBlock(), turns, team);
    return;
  }
  ImplicitLocOpBuilder b(team.getLoc(), team.getContext());
  b.setInsertionPointToStart(&block);
  if (last) {
    // Multiplies that are started belong to a group, whose commit comes right
    // behind them.
    if (isa_and_nonnull<CommitGroupOp>(last->getNextNode()))
      last = last->getNextNode();
    b.setInsertionPointAfter(last);
  }
  OrderArriveOp::create(b, turns, team);
}

/// The turn is taken before the first slot of a tile is waited for.
static void emitTurn(Block &tile, Value turns, BlockArgument team) {
  for (Operation &op : tile)
    if (holds<WaitOp>(&op)) {
      ImplicitLocOpBuilder b(op.getLoc(), &op);
      OrderWaitOp::create(b, turns, team);
      break;
    }
  emitPass(tile, turns, team);
}

static LogicalResult takeTurns(KernelOp kernel, int64_t turns) {
  auto [role, loop] = findTileLoop(kernel);
  if (!loop || role.getCopies() != 1)
    return kernel.emitOpError()
           << "expects one role of one team that multiplies in a loop over "
              "tiles, which "
           << turns << " teams could take in turn";
  Block &roleBody = role.getBody().front();
  ImplicitLocOpBuilder b(role.getLoc(), kernel.getRoles());
  Value token = OrderBarrierOp::create(
      b, OrderBarrierType::get(kernel.getContext(), turns));
  role.walk([&](WaitOp wait) {
    wait.getChannel().getDefiningOp<ChannelOp>().setInTurns(true);
  });
  ArrayRef<int64_t> warps = role.getWarps();
  role.setWarps({warps[0], warps[0] + turns * (warps[1] - warps[0])});
  role.setCopies(turns);
  BlockArgument team = roleBody.addArgument(b.getIndexType(), role.getLoc());

  b.setInsertionPoint(loop);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, team, zero);
  Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
  SmallVector<Value> inits(loop.getInits());
  inits.push_back(isFirst);
  auto walk = scf::ForOp::create(b, loop.getLowerBound(), loop.getUpperBound(),
                                 loop.getStep(), inits);
  Value mine = walk.getRegionIterArgs().back();
  b.setInsertionPointToStart(walk.getBody());
  auto branch = scf::IfOp::create(b, loop.getResultTypes(), mine,
                                  /*withElseRegion=*/true);
  loop.getInductionVar().replaceAllUsesWith(walk.getInductionVar());
  for (auto [from, to] :
       llvm::zip(loop.getRegionIterArgs(), walk.getRegionIterArgs()))
    from.replaceAllUsesWith(to);
  Block &tile = *branch.thenBlock();
  tile.getOperations().splice(tile.end(), loop.getBody()->getOperations());
  emitTurn(tile, token, team);

  b.setInsertionPointToEnd(branch.elseBlock());
  PhaseWalk others(b, tile);
  if (failed(others.emit(tile)))
    return failure();
  SmallVector<Value> ends;
  for (Value end : tile.getTerminator()->getOperands())
    ends.push_back(others.get(end));
  scf::YieldOp::create(b, ends);

  b.setInsertionPointToEnd(walk.getBody());
  SmallVector<Value> next(branch.getResults());
  next.push_back(arith::XOrIOp::create(b, mine, yes));
  scf::YieldOp::create(b, next);

  // After an odd number of tiles the second team has the turn.
  b.setInsertionPointAfter(walk);
  Value isOther =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, team, zero);
  Value isLeft = arith::AndIOp::create(b, walk.getResults().back(), isOther);
  auto back = scf::IfOp::create(b, isLeft, /*withElseRegion=*/false);
  b.setInsertionPointToStart(back.thenBlock());
  OrderWaitOp::create(b, token, team);
  OrderArriveOp::create(b, token, team);

  for (auto [from, to] : llvm::zip(loop.getResults(), walk.getResults()))
    from.replaceAllUsesWith(to);
  loop.erase();
  return success();
}

namespace {
struct PingPong : mlir::tracea_pipe::impl::PingPongBase<PingPong> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    PipelineAttr pipeline = kernel.getPipelineAttr();
    // A kernel that is read again from the pipeline level has its turns.
    bool done =
        kernel.walk([](OrderBarrierOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (!pipeline || pipeline.getPingPong() == 1 || !kernel.getRoles() || done)
      return markAllAnalysesPreserved();
    LDBG() << "@" << kernel.getSymName() << ": " << pipeline.getPingPong()
           << " teams alternate between tiles";
    if (failed(takeTurns(kernel, pipeline.getPingPong())))
      signalPassFailure();
  }
};
} // namespace
