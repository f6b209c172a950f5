//===- JoinChannels.cpp - One channel for what is filled together ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Within the pipeline level. Decides which rings share a barrier: one hand-over
// a step in place of one for each operand.

#include "PhaseUtils.h"
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tracea-join-channels"

namespace mlir::tracea_pipe {
#define GEN_PASS_DEF_JOINCHANNELS
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h.inc"
} // namespace mlir::tracea_pipe

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
/// The only operations of a ring that one role both fills and reads.
struct BlockRing {
  ChannelOp channel;
  AcquireOp acquire;
  CommitOp commit;
  WaitOp wait;
  ReleaseOp release;

  static std::optional<BlockRing> get(ChannelOp channel) {
    BlockRing ring;
    ring.channel = channel;
    auto take = [](auto &slot, auto op) {
      bool isFirst = !slot;
      slot = op;
      return isFirst;
    };
    for (Operation *user : channel.getResult().getUsers()) {
      bool isAlone =
          llvm::TypeSwitch<Operation *, bool>(user)
              .Case([&](AcquireOp op) { return take(ring.acquire, op); })
              .Case([&](CommitOp op) { return take(ring.commit, op); })
              .Case([&](WaitOp op) { return take(ring.wait, op); })
              .Case([&](ReleaseOp op) { return take(ring.release, op); })
              .Default(false);
      if (!isAlone)
        return std::nullopt;
    }
    if (!ring.acquire || !ring.commit || !ring.wait || !ring.release)
      return std::nullopt;
    Block *block = ring.acquire->getBlock();
    for (Operation *op : {ring.commit.getOperation(), ring.wait.getOperation(),
                          ring.release.getOperation()})
      if (op->getBlock() != block)
        return std::nullopt;
    return ring;
  }
};
} // namespace

/// Whether what `first` holds is read before `second` is filled: it need not
/// wait for the other.
static bool isReadBefore(BlockRing first, BlockRing second) {
  Block *block = first.wait->getBlock();
  SmallVector<Value> views(first.wait.getBuffers());
  for (size_t i = 0; i < views.size(); ++i)
    for (Operation *user : views[i].getUsers()) {
      if (auto view = dyn_cast<ViewOp>(user))
        views.push_back(view.getResult());
      else if (block->findAncestorOpInBlock(*user)->isBeforeInBlock(
                   second.acquire))
        return true;
    }
  return false;
}

/// `second` becomes buffers of `first`. Fails where the two are not filled and
/// read together.
static LogicalResult join(BlockRing first, BlockRing second) {
  int64_t slots = first.channel.getType().getSlots();
  if (second.channel.getType().getSlots() != slots ||
      first.acquire->getBlock() != second.acquire->getBlock() ||
      !first.acquire->isBeforeInBlock(second.acquire) ||
      isReadBefore(first, second))
    return failure();
  SmallVector<CopyOp> copies;
  for (Value buffer : second.acquire.getBuffers())
    for (Operation *user : buffer.getUsers()) {
      auto copy = dyn_cast<CopyOp>(user);
      if (!copy || copy.getDest() != buffer)
        return failure();
      copies.push_back(copy);
    }
  for (CopyOp copy : copies)
    for (Value operand : copy->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (operand != copy.getDest() && def &&
          def->getBlock() == first.commit->getBlock() &&
          !def->isBeforeInBlock(first.commit))
        return failure();
    }

  SmallVector<Type> buffers(first.channel.getType().getBuffers());
  llvm::append_range(buffers, second.channel.getType().getBuffers());
  OpBuilder builder(first.channel);
  auto type = ChannelType::get(builder.getContext(), slots, buffers);
  Value channel = ChannelOp::create(builder, first.channel.getLoc(), type);
  auto split = [&](ValueRange both, ResultRange a, ResultRange b) {
    a.replaceAllUsesWith(both.take_front(a.size()));
    b.replaceAllUsesWith(both.take_back(b.size()));
  };
  Value phase = first.acquire.getPhase();
  builder.setInsertionPoint(first.acquire);
  auto acquire = AcquireOp::create(builder, first.acquire.getLoc(), buffers,
                                   channel, phase);
  for (CopyOp copy : copies)
    copy->moveBefore(first.commit);
  split(acquire.getBuffers(), first.acquire.getBuffers(),
        second.acquire.getBuffers());
  builder.setInsertionPoint(first.commit);
  CommitOp::create(builder, first.commit.getLoc(), channel, phase);
  builder.setInsertionPoint(first.wait);
  auto wait = WaitOp::create(builder, first.wait.getLoc(), buffers, channel,
                             first.wait.getPhase());
  split(wait.getBuffers(), first.wait.getBuffers(), second.wait.getBuffers());
  bool firstIsLast = second.release->isBeforeInBlock(first.release);
  ReleaseOp last = firstIsLast ? first.release : second.release;
  builder.setInsertionPoint(last);
  ReleaseOp::create(builder, last.getLoc(), channel, first.release.getPhase());
  for (BlockRing &ring : {std::ref(first), std::ref(second)}) {
    ring.release.erase();
    ring.wait.erase();
    ring.commit.erase();
    ring.acquire.erase();
    ring.channel.erase();
  }
  return success();
}

namespace {
struct JoinChannels : mlir::tracea_pipe::impl::JoinChannelsBase<JoinChannels> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if ((!kernel.getPipeline() && !kernel.getWarps()) || kernel.getRoles())
      return markAllAnalysesPreserved();
    while (joinAny(kernel))
      ++numJoined;
    removeDeadCode(kernel);
  }

  static bool joinAny(KernelOp kernel) {
    SmallVector<BlockRing> rings;
    for (ChannelOp channel : kernel.getTiles().getBody().getOps<ChannelOp>())
      if (std::optional<BlockRing> ring = BlockRing::get(channel))
        rings.push_back(*ring);
    for (BlockRing &first : rings)
      for (BlockRing &second : rings)
        if (first.channel != second.channel) {
          LDBG() << "asks whether " << first.channel << " and "
                 << second.channel << " can be one";
          if (succeeded(join(first, second)))
            return true;
        }
    return false;
  }
};
} // namespace
