//===- ProtocolFaults.cpp - Faults of synchronisation ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Faults.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace tracea::test {

RoleOp getFiller(KernelOp kernel) {
  auto acquire = first<AcquireOp>(kernel);
  return acquire ? acquire->getParentOfType<RoleOp>() : RoleOp();
}

RoleOp getReader(KernelOp kernel) {
  auto acquire = first<AcquireOp>(kernel);
  if (!acquire)
    return {};
  auto wait = first<WaitOp>(kernel, [&](WaitOp op) {
    return op.getChannel() == acquire.getChannel();
  });
  return wait ? wait->getParentOfType<RoleOp>() : RoleOp();
}

namespace {

bool erase(Operation *op) {
  if (!op)
    return false;
  op->erase();
  return true;
}

bool repeat(Operation *op) {
  if (!op)
    return false;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  builder.clone(*op);
  return true;
}

bool moveBefore(Operation *op, Operation *other) {
  if (!op || !other)
    return false;
  op->moveBefore(other);
  return true;
}

bool moveAfter(Operation *op, Operation *other) {
  if (!op || !other)
    return false;
  op->moveAfter(other);
  return true;
}

/// The next phase instead of the one that `operand` holds.
bool advanceOperand(OpOperand &operand) {
  OpBuilder builder(operand.getOwner());
  Value next =
      AdvanceOp::create(builder, operand.getOwner()->getLoc(), operand.get());
  operand.set(next);
  return true;
}

/// A bound of a loop moved by `delta`.
bool moveUpper(scf::ForOp loop, int64_t delta) {
  if (!loop)
    return false;
  OpBuilder builder(loop);
  Value step = arith::ConstantIndexOp::create(builder, loop.getLoc(), delta);
  loop.setUpperBound(arith::AddIOp::create(builder, loop.getLoc(),
                                           loop.getUpperBound(), step));
  return true;
}

/// Begins each tile with the first phase again: it is not carried on.
bool startOver(RoleOp role) {
  auto loop = first<scf::ForOp>(role, [](scf::ForOp op) {
    bool walks = llvm::any_of(op.getResultTypes(),
                              [](Type type) { return isa<PhaseType>(type); });
    return walks && !op->getParentOfType<scf::ForOp>() &&
           first<scf::ForOp>(op, [&](scf::ForOp inner) { return inner != op; });
  });
  if (!loop)
    return false;
  for (auto [init, argument] :
       llvm::zip_equal(loop.getInits(), loop.getRegionIterArgs()))
    if (isa<PhaseType>(init.getType()))
      argument.replaceAllUsesWith(init);
  return true;
}

template <typename Op>
std::function<bool(KernelOp)> eraseFirst() {
  return [](KernelOp kernel) { return erase(first<Op>(kernel)); };
}
template <typename Op>
std::function<bool(KernelOp)> repeatFirst() {
  return [](KernelOp kernel) { return repeat(first<Op>(kernel)); };
}
template <typename Op>
std::function<bool(KernelOp)> advanceFirst() {
  // A ring of one slot has no other slot.
  return [](KernelOp kernel) {
    auto op = first<Op>(
        kernel, [](Op op) { return op.getPhase().getType().getSlots() > 1; });
    return op && advanceOperand(op.getPhaseMutable());
  };
}

/// Yields the phase that a loop began its iteration with.
bool dropAdvance(RoleOp role) {
  if (!role)
    return false;
  auto advance = last<AdvanceOp>(role);
  if (!advance)
    return false;
  advance.getResult().replaceAllUsesWith(advance.getPhase());
  advance.erase();
  return true;
}

bool doubleAdvance(RoleOp role) {
  if (!role)
    return false;
  auto advance = last<AdvanceOp>(role);
  return advance && advanceOperand(advance.getPhaseMutable());
}

bool changePending(WaitGroupOp wait, int64_t pending) {
  if (!wait)
    return false;
  wait.setPending(pending);
  return true;
}

bool waitsFor(WaitGroupOp op, Unit unit) { return op.getUnit() == unit; }

/// Another ring of the same type, where the kernel has one.
bool swapRings(Operation *op, OpOperand &operand) {
  auto owner = op->getParentOfType<KernelOp>();
  for (ChannelOp other : all<ChannelOp>(owner)) {
    if (other.getResult() == operand.get() ||
        other.getType() != operand.get().getType())
      continue;
    operand.set(other.getResult());
    return true;
  }
  return false;
}

} // namespace

void addProtocolFaults(std::vector<Fault> &faults) {
  auto add = [&](const char *name, std::function<bool(KernelOp)> inject) {
    faults.push_back({name, "protocol", std::move(inject)});
  };

  // Handing over.
  add("commit-missing", eraseFirst<CommitOp>());
  add("commit-twice", repeatFirst<CommitOp>());
  add("commit-other-slot", advanceFirst<CommitOp>());
  add("commit-before-copies", [](KernelOp kernel) {
    return moveBefore(first<CommitOp>(kernel), first<CopyOp>(kernel));
  });
  add("acquire-other-slot", advanceFirst<AcquireOp>());
  add("copy-missing", eraseFirst<CopyOp>());
  add("copy-twice", repeatFirst<CopyOp>());
  add("copy-other-ring", [](KernelOp kernel) {
    for (AcquireOp op : all<AcquireOp>(kernel))
      if (swapRings(op, op.getChannelMutable()))
        return true;
    return false;
  });
  add("commit-other-ring", [](KernelOp kernel) {
    for (CommitOp op : all<CommitOp>(kernel))
      if (swapRings(op, op.getChannelMutable()))
        return true;
    return false;
  });

  // Giving back.
  add("release-missing", eraseFirst<ReleaseOp>());
  add("release-twice", repeatFirst<ReleaseOp>());
  add("last-release-missing", [](KernelOp kernel) {
    return erase(last<ReleaseOp>(getReader(kernel)));
  });
  add("release-other-slot", advanceFirst<ReleaseOp>());
  add("release-other-ring", [](KernelOp kernel) {
    for (ReleaseOp op : all<ReleaseOp>(kernel))
      if (swapRings(op, op.getChannelMutable()))
        return true;
    return false;
  });
  add("release-before-wait-group", [](KernelOp kernel) {
    auto wait = first<WaitGroupOp>(kernel, [](WaitGroupOp op) {
      return waitsFor(op, Unit::Mma) && op->getNextNode() &&
             isa<ReleaseOp>(op->getNextNode());
    });
    return wait && moveBefore(wait->getNextNode(), wait);
  });
  add("release-before-read", [](KernelOp kernel) {
    auto release = first<ReleaseOp>(kernel);
    auto wait =
        release
            ? first<WaitOp>(kernel,
                            [&](WaitOp op) {
                              return op.getChannel() == release.getChannel() &&
                                     op.getPhase() == release.getPhase() &&
                                     op->getBlock() == release->getBlock();
                            })
            : WaitOp();
    return wait && moveAfter(release, wait);
  });
  add("wait-other-slot", advanceFirst<WaitOp>());
  add("wait-other-ring", [](KernelOp kernel) {
    for (WaitOp op : all<WaitOp>(kernel))
      if (swapRings(op, op.getChannelMutable()))
        return true;
    return false;
  });

  // Phases.
  add("filler-advance-missing",
      [](KernelOp kernel) { return dropAdvance(getFiller(kernel)); });
  add("reader-advance-missing",
      [](KernelOp kernel) { return dropAdvance(getReader(kernel)); });
  add("filler-advances-twice",
      [](KernelOp kernel) { return doubleAdvance(getFiller(kernel)); });
  add("reader-advances-twice",
      [](KernelOp kernel) { return doubleAdvance(getReader(kernel)); });
  add("filler-starts-over",
      [](KernelOp kernel) { return startOver(getFiller(kernel)); });
  add("reader-starts-over",
      [](KernelOp kernel) { return startOver(getReader(kernel)); });

  // Trip counts.
  for (int64_t delta : {-1, 1}) {
    bool less = delta < 0;
    add(less ? "filler-one-step-less" : "filler-one-step-more",
        [=](KernelOp kernel) {
          return moveUpper(last<scf::ForOp>(getFiller(kernel)), delta);
        });
    add(less ? "reader-one-step-less" : "reader-one-step-more",
        [=](KernelOp kernel) {
          return moveUpper(last<scf::ForOp>(getReader(kernel)), delta);
        });
    add(less ? "filler-one-tile-less" : "filler-one-tile-more",
        [=](KernelOp kernel) {
          auto loop = first<scf::ForOp>(getFiller(kernel));
          return loop &&
                 first<scf::ForOp>(
                     loop, [&](scf::ForOp inner) { return inner != loop; }) &&
                 moveUpper(loop, delta);
        });
  }

  // Groups of units.
  add("wait-group-too-many-pending", [](KernelOp kernel) {
    auto wait = first<WaitGroupOp>(kernel, [](WaitGroupOp op) {
      return waitsFor(op, Unit::Mma) && op.getInFlight().empty();
    });
    return wait && changePending(wait, wait.getPending() + 1);
  });
  add("tile-taken-too-early", [](KernelOp kernel) {
    auto wait = first<WaitGroupOp>(
        kernel, [](WaitGroupOp op) { return !op.getInFlight().empty(); });
    return wait && changePending(wait, wait.getPending() + 1);
  });
  add("last-tile-taken-too-early", [](KernelOp kernel) {
    auto wait = last<WaitGroupOp>(
        kernel, [](WaitGroupOp op) { return !op.getInFlight().empty(); });
    return wait && changePending(wait, wait.getPending() + 1);
  });
  add("commit-group-missing", [](KernelOp kernel) {
    return erase(first<CommitGroupOp>(
        kernel, [](CommitGroupOp op) { return op.getUnit() == Unit::Mma; }));
  });
  add("wait-group-missing", [](KernelOp kernel) {
    return erase(first<WaitGroupOp>(kernel, [](WaitGroupOp op) {
      return waitsFor(op, Unit::Mma) && op.getInFlight().empty();
    }));
  });
  add("copies-out-not-waited-for", [](KernelOp kernel) {
    return erase(last<WaitGroupOp>(
        kernel, [](WaitGroupOp op) { return waitsFor(op, Unit::Copy); }));
  });
  add("staging-written-too-early", [](KernelOp kernel) {
    auto store = first<StoreOp>(kernel);
    auto wait = first<WaitGroupOp>(
        kernel, [](WaitGroupOp op) { return waitsFor(op, Unit::Copy); });
    return wait && store && wait->getBlock() == store->getBlock() &&
           wait->isBeforeInBlock(store) && erase(wait);
  });
  add("copy-out-not-committed", [](KernelOp kernel) {
    return erase(first<CommitGroupOp>(
        kernel, [](CommitGroupOp op) { return op.getUnit() == Unit::Copy; }));
  });
  add("copy-out-waits-too-little", [](KernelOp kernel) {
    auto wait = first<WaitGroupOp>(
        kernel, [](WaitGroupOp op) { return waitsFor(op, Unit::Copy); });
    return wait && changePending(wait, wait.getPending() + 1);
  });
  add("sync-missing", eraseFirst<SyncOp>());
  add("sync-before-store", [](KernelOp kernel) {
    auto sync = first<SyncOp>(kernel);
    return sync && moveBefore(sync, last<StoreOp>(kernel, [&](StoreOp op) {
                                return op->getBlock() == sync->getBlock() &&
                                       op->isBeforeInBlock(sync);
                              }));
  });

  // Turns.
  add("turn-not-taken", eraseFirst<OrderWaitOp>());
  add("turn-not-passed", eraseFirst<OrderArriveOp>());
  add("turn-taken-twice", repeatFirst<OrderWaitOp>());
  add("turn-passed-twice", repeatFirst<OrderArriveOp>());
  add("turn-of-the-other", [](KernelOp kernel) {
    auto take = first<OrderWaitOp>(kernel);
    if (!take)
      return false;
    OpBuilder builder(take);
    take.getTeamMutable().set(
        arith::ConstantIndexOp::create(builder, take.getLoc(), 1));
    return true;
  });
  add("turn-passed-to-itself", [](KernelOp kernel) {
    auto pass = first<OrderArriveOp>(kernel);
    if (!pass)
      return false;
    OpBuilder builder(pass);
    pass.getTeamMutable().set(
        arith::ConstantIndexOp::create(builder, pass.getLoc(), 1));
    return true;
  });
  add("turns-of-three", [](KernelOp kernel) {
    auto turns = first<OrderBarrierOp>(kernel);
    if (!turns)
      return false;
    turns.getResult().setType(OrderBarrierType::get(kernel.getContext(), 3));
    return true;
  });

  // Roles and rings.
  add("slots-fewer-than-held", [](KernelOp kernel) {
    // Only where a slot is given back a step late.
    auto wait = first<WaitGroupOp>(kernel, [](WaitGroupOp op) {
      return waitsFor(op, Unit::Mma) && op.getPending() == 1 &&
             op.getInFlight().empty();
    });
    auto channel = first<ChannelOp>(kernel);
    if (!wait || !channel || all<ChannelOp>(kernel).size() > 1)
      return false;
    AttrTypeReplacer replacer;
    int64_t slots = channel.getType().getSlots();
    replacer.addReplacement([&](Type type) -> std::optional<Type> {
      if (auto phase = dyn_cast<PhaseType>(type);
          phase && static_cast<int64_t>(phase.getSlots()) == slots)
        return PhaseType::get(type.getContext(), 1);
      if (auto ring = dyn_cast<ChannelType>(type))
        return ChannelType::get(type.getContext(), 1, ring.getBuffers());
      return std::nullopt;
    });
    replacer.recursivelyReplaceElementsIn(kernel, /*replaceAttrs=*/false,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    return true;
  });
  add("ring-initialised-in-a-loop", [](KernelOp kernel) {
    auto channel = first<ChannelOp>(kernel);
    auto role = channel ? getFiller(kernel) : RoleOp();
    if (!role)
      return false;
    // A second ring of the same type, made anew in each iteration.
    auto loop = first<scf::ForOp>(role);
    if (!loop)
      return false;
    OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
    builder.clone(*channel);
    return true;
  });
  add("ring-nobody-reads", [](KernelOp kernel) {
    auto wait = first<WaitOp>(kernel);
    if (!wait)
      return false;
    auto channel = wait.getChannel();
    auto reader = wait->getParentOfType<RoleOp>();
    if (!reader)
      return false;
    for (ReleaseOp op : all<ReleaseOp>(reader))
      if (op.getChannel() == channel)
        op.erase();
    for (WaitOp op : all<WaitOp>(reader)) {
      if (op.getChannel() != channel)
        continue;
      OpBuilder builder(op);
      for (Value buffer : op.getBuffers())
        if (!buffer.use_empty())
          buffer.replaceAllUsesWith(
              ScratchOp::create(builder, op.getLoc(), buffer.getType()));
      op.erase();
    }
    return true;
  });
  add("register-budgets-too-large", [](KernelOp kernel) {
    auto reader = getReader(kernel);
    if (!reader || !reader.getRegisters() || reader.getCopies() < 2)
      return false;
    reader.setRegisters(256);
    return true;
  });
  add("third-role-releases", [](KernelOp kernel) {
    // The filler gives back what it never read.
    auto filler = getFiller(kernel);
    auto commit = filler ? first<CommitOp>(filler) : CommitOp();
    if (!commit)
      return false;
    OpBuilder builder(commit->getContext());
    builder.setInsertionPointAfter(commit);
    ReleaseOp::create(builder, commit.getLoc(), commit.getChannel(),
                      commit.getPhase());
    return true;
  });
}

} // namespace tracea::test
