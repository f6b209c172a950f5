//===- MultistagePrefetch.cpp - The multistage (cp.async) pipeline --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Within the pipeline level, for kernels without warp roles. Decides which loop
// prefetches: all slots but one are in flight while one is read.

#include "PhaseUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tracea-multistage-prefetch"

namespace mlir::tracea_pipe {
#define GEN_PASS_DEF_MULTISTAGEPREFETCH
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h.inc"
} // namespace mlir::tracea_pipe

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
/// A ring that one loop fills and reads in the same iteration.
struct LoopRing {
  ChannelOp channel;
  AcquireOp acquire;
  CommitOp commit;
  WaitOp wait;
  ReleaseOp release;
  scf::ForOp loop;
  /// The loop's argument that is the phase of all four.
  unsigned argument = 0;
  /// What fills a slot: the four without `wait` and `release`, copies, and
  /// what they need that changes with the iteration, in order.
  SmallVector<Operation *> filling;
  /// Why the loop stays as it is.
  std::string reason;

  static std::optional<LoopRing> get(ChannelOp channel);
  bool collectFilling();
  bool isZeroPastTheEnd(CopyOp copy);
  bool existsPastTheEnd(ReadOp read);
};
} // namespace

std::optional<LoopRing> LoopRing::get(ChannelOp channel) {
  LoopRing ring;
  ring.channel = channel;
  if (channel.getType().getSlots() < 2)
    return std::nullopt;
  for (Operation *user : channel.getResult().getUsers()) {
    bool isFirst = true;
    auto take = [&](auto &place, auto op) {
      isFirst &= !place;
      place = op;
    };
    if (auto op = dyn_cast<AcquireOp>(user))
      take(ring.acquire, op);
    else if (auto op = dyn_cast<CommitOp>(user))
      take(ring.commit, op);
    else if (auto op = dyn_cast<WaitOp>(user))
      take(ring.wait, op);
    else if (auto op = dyn_cast<ReleaseOp>(user))
      take(ring.release, op);
    else
      return std::nullopt;
    if (!isFirst)
      return std::nullopt;
  }
  if (!ring.acquire || !ring.commit || !ring.wait || !ring.release)
    return std::nullopt;
  ring.loop = dyn_cast<scf::ForOp>(ring.acquire->getParentOp());
  auto phase = dyn_cast<BlockArgument>(ring.acquire.getPhase());
  if (!ring.loop || !phase || phase.getOwner() != ring.loop.getBody() ||
      phase.getArgNumber() == 0)
    return std::nullopt;
  ring.argument = phase.getArgNumber() - 1;
  for (Operation *op : {ring.commit.getOperation(), ring.wait.getOperation(),
                        ring.release.getOperation()})
    if (op->getBlock() != ring.loop.getBody() || op->getOperand(1) != phase)
      return std::nullopt;
  auto advance =
      ring.loop.getYieldedValues()[ring.argument].getDefiningOp<AdvanceOp>();
  if (!advance || advance.getPhase() != phase)
    return std::nullopt;
  return ring;
}

/// Whether a copy for an iteration behind the last one fills its slot with
/// zeros: what grows with the iteration is a padded dimension. Of a number that
/// is divided into coordinates only the first one grows, the others are
/// remainders.
bool LoopRing::isZeroPastTheEnd(CopyOp copy) {
  if (!copy.getLimits().empty())
    return false;
  bool hasPadded = false;
  TileTransfer transfer = *getTileTransfer(copy);
  SmallVector<MapInput> inputs = getMapInputs(transfer);
  for (auto [dim, index, expr] :
       llvm::enumerate(copy.getIndices(), transfer.map.getResults())) {
    bool changes = !loop.isDefinedOutsideOfLoop(index);
    LinearForm form = getLinearForm(expr, inputs.size());
    for (auto [input, factor] : llvm::zip_equal(inputs, form.coefficients)) {
      if (factor == 0 || input.walk < 0)
        continue;
      Value walk = transfer.walks[input.walk];
      bool isRemainder = input.coordinate > 0 && getDelinearize(walk);
      changes |= !isRemainder && !loop.isDefinedOutsideOfLoop(walk);
    }
    if (!changes)
      continue;
    if (!llvm::is_contained(copy.getPadded(), static_cast<int64_t>(dim)))
      return false;
    hasPadded = true;
  }
  return hasPadded;
}

/// Whether the place of a number exists for an iteration behind the last one,
/// too: what changes with the iteration is cut.
bool LoopRing::existsPastTheEnd(ReadOp read) {
  return llvm::all_of(read.getIndices(), [&](Value index) {
    if (loop.isDefinedOutsideOfLoop(index))
      return true;
    auto cut = index.getDefiningOp<arith::MinSIOp>();
    return cut && (loop.isDefinedOutsideOfLoop(cut.getLhs()) ||
                   loop.isDefinedOutsideOfLoop(cut.getRhs()));
  });
}

bool LoopRing::collectFilling() {
  llvm::SetVector<Operation *> needed;
  needed.insert(acquire);
  needed.insert(commit);
  for (Value buffer : acquire.getBuffers())
    for (Operation *user : buffer.getUsers()) {
      auto copy = dyn_cast<CopyOp>(user);
      if (!copy || copy->getBlock() != loop.getBody() ||
          copy.getDest() != buffer) {
        reason = "a slot is filled by something that is no copy";
        return false;
      }
      if (!isZeroPastTheEnd(copy)) {
        reason = "a copy for an iteration behind the last would leave memory";
        return false;
      }
      needed.insert(copy);
    }
  for (size_t i = 0; i < needed.size(); ++i)
    for (Value operand : needed[i]->getOperands()) {
      if (loop.isDefinedOutsideOfLoop(operand))
        continue;
      auto argument = dyn_cast<BlockArgument>(operand);
      if (argument && argument != loop.getInductionVar() &&
          argument.getArgNumber() - 1 != this->argument) {
        reason = "a copy depends on what the loop carries";
        return false;
      }
      Operation *def = operand.getDefiningOp();
      if (!def)
        continue;
      auto read = dyn_cast<ReadOp>(def);
      if (read && !existsPastTheEnd(read)) {
        reason =
            "a copy depends on a number that may not exist behind the last "
            "iteration";
        return false;
      }
      if (!needed.contains(def) && !read &&
          (!isPure(def) || def->getNumRegions())) {
        reason = "a copy depends on what the iteration computes";
        return false;
      }
      needed.insert(def);
    }
  for (Operation &op : *loop.getBody())
    if (needed.contains(&op))
      filling.push_back(&op);
  return true;
}

/// Fills the slot of `phase` for the iteration of `induction`; the commit. From
/// the acquire on it does so in front of `place`, if one is given.
static Operation *fill(OpBuilder &b, const LoopRing &ring, Value induction,
                       Value phase, Operation *place = nullptr) {
  IRMapping mapping;
  scf::ForOp loop = ring.loop;
  mapping.map(loop.getInductionVar(), induction);
  mapping.map(loop.getRegionIterArg(ring.argument), phase);
  Operation *commit = nullptr;
  for (Operation *op : ring.filling) {
    if (op == ring.acquire && place)
      b.setInsertionPoint(place);
    Operation *copy = b.clone(*op, mapping);
    if (op == ring.commit)
      commit = copy;
  }
  return commit;
}

/// `count` times what `body` does with a number and a phase; the phase behind.
static Value repeat(ImplicitLocOpBuilder &b, int64_t count, Value phase,
                    function_ref<void(Value, Value)> body) {
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  };
  auto loop = scf::ForOp::create(b, constant(0), constant(count), constant(1),
                                 ValueRange(phase));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar(), loop.getRegionIterArg(0));
  Value next = AdvanceOp::create(b, loop.getRegionIterArg(0));
  scf::YieldOp::create(b, next);
  return loop.getResult(0);
}

static void fillAhead(LoopRing ring) {
  IRRewriter rewriter(ring.loop.getContext());
  int64_t ahead = ring.channel.getType().getSlots() - 1;
  // The first slots.
  ImplicitLocOpBuilder b(ring.acquire.getLoc(), ring.loop);
  Value lower = ring.loop.getLowerBound(), step = ring.loop.getStep();
  Value filled =
      repeat(b, ahead, ring.loop.getInits()[ring.argument],
             [&](Value number, Value phase) {
               Value distance = arith::MulIOp::create(b, number, step);
               fill(b, ring, arith::AddIOp::create(b, lower, distance), phase);
             });

  // Each iteration fills the slot that the one before has given back.
  auto loop = cast<scf::ForOp>(*ring.loop.replaceWithAdditionalYields(
      rewriter, ValueRange(filled), /*replaceInitOperandUsesInLoop=*/false,
      [](OpBuilder &inner, Location loc, ArrayRef<BlockArgument> phases) {
        return SmallVector<Value>{AdvanceOp::create(inner, loc, phases[0])};
      }));
  ring.loop = loop;
  // What the iteration reads first does not wait for the copies to be started.
  Operation *place = ring.wait->getNextNode();
  while (isa<LoadOp>(place) || (isPure(place) && place->getNumRegions() == 0 &&
                                !place->hasTrait<OpTrait::IsTerminator>()))
    place = place->getNextNode();
  // Numbers that memory holds are on their way while the iteration waits.
  bool isRead = llvm::any_of(ring.filling, llvm::IsaPred<ReadOp>);
  b.setInsertionPoint(isRead ? ring.wait.getOperation() : place);
  Value distance =
      arith::MulIOp::create(b, step, arith::ConstantIndexOp::create(b, ahead));
  Operation *commit =
      fill(b, ring, arith::AddIOp::create(b, loop.getInductionVar(), distance),
           loop.getRegionIterArgs().back(), place);
  // Registers that hold copies do so while the iteration multiplies.
  if (loop->getParentOfType<KernelOp>()->hasAttr(kHeldCopiesAttrName))
    commit->moveBefore(loop.getBody()->getTerminator());
  for (Operation *op : llvm::reverse(ring.filling))
    if (isa<AcquireOp, CopyOp, CommitOp>(op))
      op->erase();

  // What lies past the end is zero; its slots go back unread.
  b.setInsertionPointAfter(loop);
  Value last = loop.getResult(ring.argument);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : last.getUses())
    uses.push_back(&use);
  Value drained = repeat(b, ahead, last, [&](Value, Value phase) {
    WaitOp::create(b, ring.wait.getResultTypes(), ring.channel, phase);
    ReleaseOp::create(b, ring.channel, phase);
  });
  for (OpOperand *use : uses)
    use->set(drained);
}

namespace {
struct MultistagePrefetch
    : mlir::tracea_pipe::impl::MultistagePrefetchBase<MultistagePrefetch> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    // A thread of a CPU has nobody who copies beside it.
    if (!kernel.getWarps() || kernel.getPipeline() || kernel.getRoles())
      return markAllAnalysesPreserved();
    // In the order in which an iteration fills them, so that the first slots
    // are filled in the order of the others.
    llvm::SetVector<ChannelOp> channels;
    kernel.walk([&](AcquireOp acquire) {
      if (auto channel = acquire.getChannel().getDefiningOp<ChannelOp>())
        channels.insert(channel);
    });
    for (ChannelOp channel : channels) {
      std::optional<LoopRing> ring = LoopRing::get(channel);
      if (!ring)
        continue;
      // What is the same in all iterations is seen by where it is computed.
      moveLoopInvariantCode(ring->loop);
      if (!ring->collectFilling()) {
        remark::missed(
            channel.getLoc(),
            remark::RemarkOpts::name("NotFilledAhead").category(DEBUG_TYPE))
            << remark::reason("{0}", ring->reason);
        continue;
      }
      LDBG() << "prefetches all slots but one of " << ring->channel;
      fillAhead(*ring);
      ++numRings;
    }
    removeDeadCode(kernel);
  }
};
} // namespace
