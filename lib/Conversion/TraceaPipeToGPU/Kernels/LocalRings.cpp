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
// number that a phase has along the ring, and from how many groups other rings
// have committed behind a slot's: all groups of a thread end in one order.
// Those distances are carried through the code by abstract interpretation. What
// is not known costs a wait or a meeting more, and nothing else.

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"
#include "tracea/Conversion/TraceaPipeToGPU/Rings.h"

#include <deque>
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
  /// Of the slots from the phase on that are committed: how many groups of
  /// other rings have been committed since. Of slots behind the last, none.
  std::deque<int64_t> others;

  /// To the next phase.
  void advance() {
    for (int64_t *value : {&committed, &released, &visible})
      if (*value != kUnknown)
        --*value;
    if (!others.empty())
      others.pop_front();
  }
  void commit() {
    if (committed == kUnknown)
      return;
    ++committed;
    if (committed > 0) {
      others.resize(committed - 1, 0);
      others.push_back(0);
    }
  }
  void commitOther() {
    for (int64_t &groups : others)
      ++groups;
  }
  /// Groups that have been committed behind that of the phase's slot.
  int64_t getLater() const {
    return std::max<int64_t>(committed - 1, 0) +
           (committed > 0 && !others.empty() ? others.front() : 0);
  }
  /// Keeps what holds on both paths into a join; says whether anything was
  /// lost.
  bool meet(const Distance &other) {
    Distance before = *this;
    committed = std::min(committed, other.committed);
    released = std::min(released, other.released);
    visible = std::min(visible, other.visible);
    others.resize(std::min(others.size(), other.others.size()));
    for (auto [mine, theirs] : llvm::zip(others, other.others))
      mine = std::min(mine, theirs);
    return committed != before.committed || released != before.released ||
           visible != before.visible || others != before.others;
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
    state[keyOf(start.getResult())] = {0, 0, 0, {}};
  } else if (auto advance = dyn_cast<AdvanceOp>(op)) {
    Distance next = get(advance.getPhase());
    next.advance();
    state[keyOf(advance.getResult())] = next;
  } else if (auto commit = dyn_cast<CommitOp>(op)) {
    bool isLocal = plan.channels[commit.getChannel().getDefiningOp()].isLocal;
    for (auto &[key, distance] : state)
      if (isMine(commit))
        distance.commit();
      else if (isLocal)
        distance.commitOther();
  } else if (auto release = dyn_cast<ReleaseOp>(op)) {
    if (isMine(release))
      for (auto &[key, distance] : state)
        if (distance.released != Distance::kUnknown)
          ++distance.released;
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
      int64_t later = get(wait.getPhase()).getLater();
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
    if (!givesUp)
      continue;
    for (int64_t Distance::*what :
         {&Distance::committed, &Distance::released, &Distance::visible})
      if (distance.*what != before.*what)
        distance.*what = Distance::kUnknown;
    if (distance.others != before.others)
      distance.others.clear();
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
  // Groups of all local rings end in one order.
  plan.kernel.walk([&](ChannelOp channel) {
    plan.channels[channel].isLocal = isLocal(channel, plan);
  });
  plan.kernel.walk([&](ChannelOp channel) {
    if (plan.channels[channel].isLocal)
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
