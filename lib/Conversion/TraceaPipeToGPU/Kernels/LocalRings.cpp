//===- LocalRings.cpp - Rings that one team fills and reads ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A ring without roles needs no barriers of its own. What a thread copies for
// a slot is one group of asynchronous copies; a wait for a slot waits until so
// few groups are pending that the slot's is none of them, and then the team
// meets, so that each lane sees what the others have copied. A slot that has
// been given back may be filled again once the team has met since.
//
// How many groups may be pending, and where the team must meet, follows from
// how far commits, releases and meetings have come at each point, seen from the
// number that a phase has along the ring. Those distances are carried through
// the code by abstract interpretation. What is not known costs a wait or a
// meeting more, and nothing else.

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"
#include "tracea/Conversion/TraceaPipeToGPU/Rings.h"

#include <map>

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
/// Lower bounds of how many slots past a phase something has happened to.
struct Distance {
  static constexpr int64_t kUnknown = std::numeric_limits<int32_t>::min();

  int64_t committed = kUnknown;
  int64_t released = kUnknown;
  /// Of the releases those after which the team has met, so that the slots may
  /// be filled again.
  int64_t visible = kUnknown;

  void shift(int64_t slots) {
    for (int64_t *value : {&committed, &released, &visible})
      if (*value != kUnknown)
        *value += slots;
  }
  /// Keeps what holds on both paths into a join; says whether anything was
  /// lost.
  bool meet(const Distance &other) {
    Distance before = *this;
    committed = std::min(committed, other.committed);
    released = std::min(released, other.released);
    visible = std::min(visible, other.visible);
    return committed != before.committed || released != before.released ||
           visible != before.visible;
  }
};

class RingWalk {
public:
  RingWalk(KernelPlan &plan, ChannelOp channel)
      : plan(plan), channel(channel) {}

  void walk(Block &block);

private:
  using State = std::map<const void *, Distance>;

  /// Loops of up to so many iterations are followed one by one.
  static constexpr int64_t kMostTrips = 64;
  /// Rounds after which what still changes is given up.
  static constexpr int64_t kMostRounds = 3;

  static const void *keyOf(Value value) { return value.getAsOpaquePointer(); }
  Distance get(Value phase) const {
    auto it = state.find(keyOf(phase));
    return it == state.end() ? Distance() : it->second;
  }
  void visit(Operation *op);
  void visitLoop(scf::ForOp loop);
  void visitOther(Operation *op);
  /// Merges what the loop ends with into what it begins with.
  bool joinInto(State &begin, bool givesUp);
  void enter(scf::ForOp loop, ValueRange from);
  void countEach(int64_t Distance::*what) {
    for (auto &[key, distance] : state)
      if (distance.*what != Distance::kUnknown)
        ++(distance.*what);
  }

  KernelPlan &plan;
  ChannelOp channel;
  State state;
};
} // namespace

void RingWalk::walk(Block &block) {
  for (Operation &op : block)
    visit(&op);
}

void RingWalk::visit(Operation *op) {
  auto isMine = [&](auto ring) { return ring.getChannel() == channel; };
  if (auto start = dyn_cast<StartOp>(op)) {
    state[keyOf(start.getResult())] = {0, 0, 0};
  } else if (auto advance = dyn_cast<AdvanceOp>(op)) {
    Distance next = get(advance.getPhase());
    next.shift(-1);
    state[keyOf(advance.getResult())] = next;
  } else if (auto commit = dyn_cast<CommitOp>(op)) {
    if (isMine(commit))
      countEach(&Distance::committed);
  } else if (auto release = dyn_cast<ReleaseOp>(op)) {
    if (isMine(release))
      countEach(&Distance::released);
  } else if (auto acquire = dyn_cast<AcquireOp>(op)) {
    if (!isMine(acquire))
      return;
    // The slot's last release is a round behind.
    int64_t slots = channel.getType().getSlots();
    Distance at = get(acquire.getPhase());
    if (at.visible == Distance::kUnknown || at.visible + slots < 1) {
      plan.meetingAcquires.insert(op);
      for (auto &[key, distance] : state)
        distance.visible = distance.released;
    }
  } else if (auto wait = dyn_cast<WaitOp>(op)) {
    if (isMine(wait)) {
      int64_t later = std::max<int64_t>(get(wait.getPhase()).committed - 1, 0);
      auto [it, isNew] = plan.pendingGroups.try_emplace(op, later);
      it->second = std::min(it->second, later);
    }
    for (auto &[key, distance] : state)
      distance.visible = distance.released;
  } else if (isa<SyncOp>(op)) {
    for (auto &[key, distance] : state)
      distance.visible = distance.released;
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    visitLoop(loop);
  } else if (op->getNumRegions()) {
    visitOther(op);
  }
}

void RingWalk::enter(scf::ForOp loop, ValueRange from) {
  SmallVector<Distance> values;
  for (Value value : from)
    values.push_back(get(value));
  for (auto [argument, value] : llvm::zip(loop.getRegionIterArgs(), values))
    if (isa<PhaseType>(argument.getType()))
      state[keyOf(argument)] = value;
}

bool RingWalk::joinInto(State &begin, bool givesUp) {
  bool changed = false;
  for (auto &[key, distance] : begin) {
    auto it = state.find(key);
    Distance before = distance;
    if (!distance.meet(it == state.end() ? Distance() : it->second))
      continue;
    changed = true;
    if (givesUp)
      for (int64_t Distance::*what :
           {&Distance::committed, &Distance::released, &Distance::visible})
        if (distance.*what != before.*what)
          distance.*what = Distance::kUnknown;
  }
  return changed;
}

void RingWalk::visitLoop(scf::ForOp loop) {
  auto setResults = [&]() {
    for (auto [result, argument] :
         llvm::zip(loop.getResults(), loop.getRegionIterArgs()))
      if (isa<PhaseType>(result.getType()))
        state[keyOf(result)] = get(argument);
  };
  enter(loop, loop.getInits());
  std::optional<APInt> trips = loop.getStaticTripCount();
  if (trips && trips->ule(kMostTrips)) {
    for (uint64_t i = 0; i < trips->getZExtValue(); ++i) {
      walk(*loop.getBody());
      enter(loop, loop.getYieldedValues());
    }
    return setResults();
  }
  State begin = state;
  for (int64_t round = 0;; ++round) {
    walk(*loop.getBody());
    enter(loop, loop.getYieldedValues());
    if (!joinInto(begin, round >= kMostRounds))
      break;
    state = begin;
  }
  state = begin;
  setResults();
}

/// Branches are not followed: what happens in them makes all unknown.
void RingWalk::visitOther(Operation *op) {
  bool matters = false;
  op->walk([&](Operation *inner) {
    matters |= isa<AcquireOp, CommitOp, WaitOp, ReleaseOp>(inner);
  });
  if (!matters)
    return;
  auto forget = [&]() {
    for (auto &[key, distance] : state)
      distance = Distance();
  };
  forget();
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      walk(block);
      forget();
    }
}

/// Whether lanes alone fill and read the ring.
static bool isLocal(ChannelOp channel, const KernelPlan &plan) {
  // Units read memory by another way than lanes write it.
  KernelOp kernel = plan.kernel;
  WalkResult walked =
      kernel.walk([](MmaAsyncOp) { return WalkResult::interrupt(); });
  if (plan.teams.size() > 1 || walked.wasInterrupted())
    return false;
  for (Operation *user : channel.getResult().getUsers())
    if (auto acquire = dyn_cast<AcquireOp>(user))
      for (Value buffer : acquire.getBuffers())
        for (Operation *copy : buffer.getUsers())
          if (plan.unitCopies.contains(copy))
            return false;
  return true;
}

void mlir::tracea_pipe::planLocalRings(KernelPlan &plan) {
  plan.kernel.walk([&](ChannelOp channel) {
    ChannelPlan &entry = plan.channels[channel];
    entry.isLocal = isLocal(channel, plan);
    if (entry.isLocal)
      RingWalk(plan, channel).walk(plan.kernel.getTiles().getBody().front());
  });
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
/// A pattern for operations of local rings, before the one of all rings.
template <typename OpTy>
struct LocalPattern : KernelPattern<OpTy> {
  using Base = KernelPattern<OpTy>;
  LocalPattern(const TypeConverter &converter, MLIRContext *mlirContext,
               KernelContext &context)
      : Base(converter, mlirContext, context, /*benefit=*/2) {}
  bool isLocal(OpTy op) const {
    return this->context.plan.getChannel(op.getChannel()).isLocal;
  }
};

struct LowerAcquire : LocalPattern<AcquireOp> {
  using LocalPattern::LocalPattern;
  LogicalResult
  matchAndRewrite(AcquireOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isLocal(op))
      return failure();
    Emitter b(op, rewriter, context);
    if (context.plan.meetingAcquires.contains(op))
      b.meet();
    rewriter.replaceOp(
        op, getSlotBuffers(b, context.plan.getChannel(op.getChannel()),
                           adaptor.getPhase()[0]));
    return success();
  }
};

struct LowerCommit : LocalPattern<CommitOp> {
  using LocalPattern::LocalPattern;
  LogicalResult
  matchAndRewrite(CommitOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isLocal(op))
      return failure();
    Emitter b(op, rewriter, context);
    if (!context.plan.holdsCopies)
      b.target.commitCopies(b);
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerWait : LocalPattern<WaitOp> {
  using LocalPattern::LocalPattern;
  LogicalResult
  matchAndRewrite(WaitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isLocal(op))
      return failure();
    Emitter b(op, rewriter, context);
    if (!context.plan.holdsCopies)
      b.target.waitForCopies(b, context.plan.pendingGroups.lookup(op));
    b.meet();
    rewriter.replaceOp(
        op, getSlotBuffers(b, context.plan.getChannel(op.getChannel()),
                           adaptor.getPhase()[0]));
    return success();
  }
};

struct LowerRelease : LocalPattern<ReleaseOp> {
  using LocalPattern::LocalPattern;
  LogicalResult
  matchAndRewrite(ReleaseOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isLocal(op))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateLocalRingPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    KernelContext &context) {
  patterns.add<LowerAcquire, LowerCommit, LowerWait, LowerRelease>(
      converter, patterns.getContext(), context);
}
