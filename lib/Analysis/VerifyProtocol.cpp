//===- VerifyProtocol.cpp - Proves the synchronisation of kernels ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel's roles become programs over channels. Phases are SSA values, so
// that each becomes a register and nothing has to be recognised. Loops of the
// same bounds read the same trip count; what bounds mean is never asked. The
// mathematics is in lib/Analysis/Protocol.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "tracea/Analysis/Certificates.h"
#include "tracea/Analysis/Passes.h"
#include "tracea/Analysis/Protocol/Checker.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_VERIFYPROTOCOL
#include "tracea/Analysis/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace ta = ::tracea::analysis;

/// Loops of known counts up to this are unrolled; longer ones are proved for
/// every count.
static constexpr int64_t kMaxUnrolled = 16;

/// The ring operand of a channel operation; null for others.
static Value getRing(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<AcquireOp, CommitOp, WaitOp, ReleaseOp>(
          [](auto ring) { return ring.getChannel(); })
      .Default(Value());
}

static bool isPhase(Value value) { return isa<PhaseType>(value.getType()); }

/// Whether something in the regions of `op` synchronises or walks a ring.
static bool hasRingOps(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return getRing(inner) || isa<StartOp, AdvanceOp, RolesOp>(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What a buffer counts in the bytes of its slot; 0 if it has no static shape.
static int64_t getBytes(Type type) {
  auto shaped = cast<ShapedType>(type);
  if (!shaped.hasStaticShape())
    return 0;
  Type element = shaped.getElementType();
  int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  return shaped.getNumElements() * ((bits + 7) / 8);
}

namespace {

/// A buffer of a slot, found from a value that views it.
struct SlotBuffer {
  Operation *source = nullptr; // the acquire or wait
  unsigned part = 0;
};

/// One role of the kernel, or one of its copies.
struct Team {
  RoleOp role; // null: the whole workgroup
  int64_t copy = 0;
  std::string name;
};

/// Turns one kernel into a protocol.
class Extractor {
public:
  Extractor(KernelOp kernel, int64_t registerFile, int64_t threadsPerWarp)
      : kernel(kernel), registerFile(registerFile),
        threadsPerWarp(threadsPerWarp) {}

  /// Fails after an error; sets `reason` where the method does not apply.
  LogicalResult extract();

  ta::Protocol protocol;
  SmallVector<ChannelOp> channels;
  SmallVector<Operation *> sites;
  std::string reason;
  Operation *reasonOp = nullptr;

private:
  LogicalResult collect();
  LogicalResult declare();
  void emitTeam(Team &team);
  void emitBlock(Block &block);
  void emitOp(Operation *op);
  void emitRing(Operation *op);
  void emitAccesses(Operation *op);
  void emitFor(scf::ForOp loop);
  void emitIf(scf::IfOp branch);
  void emitYield(Block &block, ValueRange into);

  void undecided(Operation *op, const Twine &why) {
    if (!reason.empty())
      return;
    reason = why.str();
    reasonOp = op;
  }
  int siteOf(Operation *op) {
    auto [it, inserted] = siteNumbers.try_emplace(op, sites.size());
    if (inserted)
      sites.push_back(op);
    return it->second;
  }
  int phaseOf(Value phase);
  ta::Instruction &add(ta::Step step, Operation *op) {
    ta::Instruction &instruction = builder->add(step);
    instruction.site = siteOf(op);
    return instruction;
  }
  ta::Instruction &addSlot(ta::Step step, Operation *op, Value ring,
                           Value phase) {
    int position = phaseOf(phase);
    ta::Instruction &instruction = add(step, op);
    instruction.channel = channelNumbers.lookup(ring);
    instruction.position = position;
    instruction.count =
        step == ta::Step::Commit || step == ta::Step::Release ? 1 : 0;
    return instruction;
  }
  void move(Operation *op, int into, int from) {
    if (into == from)
      return;
    ta::Instruction &instruction = add(ta::Step::Move, op);
    instruction.position = into;
    instruction.source = from;
  }
  /// The buffer of a slot that `value` views, if any.
  SlotBuffer getSlotBuffer(Value value) const;
  /// What a value is, as text that is equal where the values are; empty for
  /// data.
  std::string keyOf(Value value);
  std::string tripKey(scf::ForOp loop, std::string &lower, std::string &upper,
                      std::string &step);
  std::string contextOf(Operation *op);
  std::string shareKey(std::string key, Operation *op);
  int tripOf(const std::string &key, Operation *op);
  /// The constant number of iterations, or -1.
  int64_t constantTrips(scf::ForOp loop);

  KernelOp kernel;
  int64_t registerFile, threadsPerWarp;
  RolesOp roles;
  SmallVector<Team> teams;
  DenseMap<Value, int> channelNumbers;
  DenseMap<Operation *, int> siteNumbers;
  llvm::StringMap<int> trips;
  // Of the team at hand.
  ta::RoleBuilder *builder = nullptr;
  Team *team = nullptr;
  int teamNumber = 0;
  DenseMap<Value, int> phases;
  /// Loops that continue a trip count whose first decision a branch has read.
  DenseMap<Operation *, std::string> continued;
  llvm::StringMap<Operation *> branchesSeen;
  llvm::StringMap<Operation *> varying;
};

} // namespace

//===----------------------------------------------------------------------===//
// Channels and roles
//===----------------------------------------------------------------------===//

LogicalResult Extractor::collect() {
  WalkResult result = kernel.walk([&](Operation *op) {
    if (auto channel = dyn_cast<ChannelOp>(op)) {
      if (!isa<TilesOp>(op->getParentOp())) {
        op->emitOpError() << "is initialised more than once: it is declared "
                             "inside '"
                          << op->getParentOp()->getName()
                          << "', not at the top of the grid tile (Rule A)";
        return WalkResult::interrupt();
      }
      channelNumbers[channel.getResult()] = channels.size();
      channels.push_back(channel);
    }
    if (auto split = dyn_cast<RolesOp>(op)) {
      if (!isa<TilesOp>(op->getParentOp())) {
        op->emitOpError() << "splits roles inside '"
                          << op->getParentOp()->getName()
                          << "'; a warp keeps its role (Rule B)";
        return WalkResult::interrupt();
      }
      if (roles) {
        InFlightDiagnostic diag =
            op->emitOpError() << "splits roles a second time; a warp keeps its "
                                 "role (Rule B)";
        diag.attachNote(roles.getLoc()) << "the first split is here";
        return WalkResult::interrupt();
      }
      roles = split;
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  if (!roles) {
    teams.push_back({RoleOp(), 0, "workgroup"});
    return success();
  }
  for (RoleOp role : roles.getBody().getOps<RoleOp>())
    for (int64_t copy = 0; copy < static_cast<int64_t>(role.getCopies());
         ++copy) {
      std::string name = role.getName().str();
      if (role.getCopies() > 1)
        name += "." + std::to_string(copy);
      teams.push_back({role, copy, name});
    }
  return success();
}

/// Who fills and who reads each ring.
LogicalResult Extractor::declare() {
  for (auto [number, channel] : llvm::enumerate(channels)) {
    ta::Channel ring;
    ring.name = "channel " + std::to_string(number);
    ring.slots = channel.getType().getSlots();
    ring.parts = channel.getType().getBuffers().size();
    ring.initialized = true;
    ring.commitLast = true;
    Operation *filler = nullptr, *reader = nullptr;
    for (auto [index, who] : llvm::enumerate(teams)) {
      Operation *acquire = nullptr, *commit = nullptr, *wait = nullptr,
                *release = nullptr;
      for (Operation *user : channel.getResult().getUsers()) {
        if (who.role && !who.role->isAncestor(user))
          continue;
        if (isa<AcquireOp>(user))
          acquire = user;
        else if (isa<CommitOp>(user))
          commit = user;
        else if (isa<WaitOp>(user))
          wait = user;
        else if (isa<ReleaseOp>(user))
          release = user;
      }
      if (commit && !acquire)
        return commit->emitOpError()
               << "hands over a slot of a channel that role '" << who.name
               << "' never acquires (Rule B)";
      if (release && !wait)
        return release->emitOpError()
               << "gives back a slot of a channel that role '" << who.name
               << "' never waits for (Rule B)";
      if (acquire)
        filler = acquire, ring.producers |= 1u << index;
      if (wait)
        reader = wait, ring.consumers |= 1u << index;
    }
    if (filler && !reader)
      return filler->emitOpError() << "fills a channel that nobody waits for";
    if (reader && !filler)
      return reader->emitOpError() << "waits for a channel that nobody fills";
    ring.fullCount = llvm::popcount(ring.producers);
    ring.emptyCount = llvm::popcount(ring.consumers);
    ring.readers.assign(ring.parts, ring.consumers);
    protocol.channels.push_back(ring);
  }
  return success();
}

LogicalResult Extractor::extract() {
  protocol.name = kernel.getSymName().str();
  if (failed(collect()))
    return failure();
  if (channels.empty())
    return success();
  if (teams.size() > 32) {
    undecided(roles, "the kernel has more than 32 teams");
    return success();
  }
  if (failed(declare()))
    return failure();
  if (roles) {
    // Budgets are checked against the whole file.
    protocol.registerFile = registerFile;
    for (ChannelOp channel : channels)
      for (Operation *user : channel.getResult().getUsers())
        if (!roles->isAncestor(user))
          undecided(user, "a channel is used outside of the roles");
  }
  for (auto [number, who] : llvm::enumerate(teams)) {
    teamNumber = number;
    emitTeam(who);
  }
  return success();
}

void Extractor::emitTeam(Team &who) {
  ta::RoleBuilder program(protocol, who.name);
  builder = &program;
  team = &who;
  phases.clear();
  continued.clear();
  branchesSeen.clear();
  varying.clear();
  if (who.role) {
    int64_t warps = who.role.getWarps()[1] - who.role.getWarps()[0];
    program.role.threads = warps / who.role.getCopies() * threadsPerWarp;
    program.role.registers = who.role.getRegisters();
  }
  emitBlock(kernel.getTiles().getBody().front());
  program.at(siteOf(who.role ? who.role.getOperation()
                             : kernel.getTiles().getOperation()));
  program.finish();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

int Extractor::phaseOf(Value phase) {
  auto [it, inserted] = phases.try_emplace(phase, 0);
  if (inserted) {
    it->second =
        builder->newPosition(cast<PhaseType>(phase.getType()).getSlots());
    // Blocks are emitted in order of dominance: what has no register yet was
    // made by something that the method does not know.
    Operation *def = phase.getDefiningOp();
    if (!def)
      def = phase.getParentBlock()->getParentOp();
    if (!isa<StartOp, AdvanceOp, scf::ForOp, scf::IfOp>(def))
      undecided(def,
                "a phase comes from '" + def->getName().getStringRef() + "'");
  }
  return it->second;
}

/// What `value` is a view of.
static Value getRoot(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (auto view = dyn_cast<ViewOp>(def))
      value = view.getSource();
    else if (auto view = dyn_cast<ViewLikeOpInterface>(def))
      value = view.getViewSource();
    else
      break;
  }
  return value;
}

SlotBuffer Extractor::getSlotBuffer(Value value) const {
  Value root = getRoot(value);
  if (!isa_and_nonnull<AcquireOp, WaitOp>(root.getDefiningOp()))
    return {};
  return {root.getDefiningOp(), cast<OpResult>(root).getResultNumber()};
}

void Extractor::emitBlock(Block &block) {
  for (Operation &op : block)
    emitOp(&op);
}

void Extractor::emitOp(Operation *op) {
  if (getRing(op))
    return emitRing(op);
  if (auto start = dyn_cast<StartOp>(op)) {
    int into = phaseOf(start.getResult());
    add(ta::Step::Start, op).position = into;
    return;
  }
  if (auto advance = dyn_cast<AdvanceOp>(op)) {
    int from = phaseOf(advance.getPhase());
    int into = phaseOf(advance.getResult());
    ta::Instruction &instruction = add(ta::Step::Advance, op);
    instruction.position = into;
    instruction.source = from;
    return;
  }
  if (auto split = dyn_cast<RolesOp>(op)) {
    if (team->role)
      emitBlock(team->role.getBody().front());
    return;
  }
  if (op->getNumRegions() && hasRingOps(op)) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return emitFor(loop);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return emitIf(branch);
    return undecided(op, "'" + op->getName().getStringRef() +
                             "' holds channel operations");
  }
  for (OpResult result : op->getResults())
    if (isPhase(result))
      return undecided(op, "a phase comes from '" +
                               op->getName().getStringRef() + "'");
  emitAccesses(op);
  // Without synchronisation inside, it does not matter how often.
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        emitOp(&inner);
}

void Extractor::emitRing(Operation *op) {
  Value ring = getRing(op);
  if (!channelNumbers.count(ring))
    return undecided(op, "a channel is passed on as a value");
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](AcquireOp acquire) {
        addSlot(ta::Step::Acquire, op, ring, acquire.getPhase());
      })
      .Case([&](CommitOp commit) {
        ta::Instruction &instruction =
            addSlot(ta::Step::Commit, op, ring, commit.getPhase());
        // One of the producers expects the bytes of the whole slot.
        const ta::Channel &channel = protocol.channels[instruction.channel];
        if (llvm::countr_zero(channel.producers) == teamNumber)
          for (Type buffer : cast<ChannelType>(ring.getType()).getBuffers())
            instruction.bytes += getBytes(buffer);
      })
      .Case([&](WaitOp wait) {
        addSlot(ta::Step::Wait, op, ring, wait.getPhase());
        // To wait is to look: what nobody uses needs no reader.
        ta::Instruction &read =
            addSlot(ta::Step::Read, op, ring, wait.getPhase());
        read.parts = (1u << wait.getBuffers().size()) - 1;
      })
      .Case([&](ReleaseOp release) {
        addSlot(ta::Step::Release, op, ring, release.getPhase());
      });
}

/// Reads and writes of slots through any operation.
void Extractor::emitAccesses(Operation *op) {
  if (isa<ViewOp, ViewLikeOpInterface>(op))
    return;
  for (OpOperand &operand : op->getOpOperands()) {
    SlotBuffer buffer = getSlotBuffer(operand.get());
    if (!buffer.source) {
      // Staged memory that is neither a slot nor scratch came another way.
      Value root = getRoot(operand.get());
      auto type = dyn_cast<MemRefType>(root.getType());
      if (type && isa_and_nonnull<StagedAttr>(type.getMemorySpace()) &&
          !root.getDefiningOp<ScratchOp>())
        undecided(op, "a slot's buffer is passed on as a value");
      continue;
    }
    auto copy = dyn_cast<CopyOp>(op);
    auto store = dyn_cast<StoreOp>(op);
    bool writes = (copy && copy.getDest() == operand.get()) ||
                  (store && store.getDest() == operand.get());
    Value phase = isa<AcquireOp>(buffer.source)
                      ? cast<AcquireOp>(buffer.source).getPhase()
                      : cast<WaitOp>(buffer.source).getPhase();
    ta::Instruction &instruction =
        addSlot(writes ? ta::Step::Copy : ta::Step::Read, op,
                getRing(buffer.source), phase);
    instruction.parts = 1u << buffer.part;
    if (!writes)
      continue;
    instruction.bytes = getBytes(operand.get().getType());
    if (!instruction.bytes)
      undecided(op, "the bytes of a copy are not static");
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

std::string Extractor::keyOf(Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return std::to_string(*constant);
  // What is defined outside of the roles is the same for all of them.
  if (!roles ||
      !roles->isProperAncestor(value.getParentRegion()->getParentOp())) {
    std::string text;
    llvm::raw_string_ostream(text) << "v" << value.getAsOpaquePointer();
    return text;
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return "";
    std::string lower, upper, step;
    std::string key = tripKey(loop, lower, upper, step);
    std::string context = contextOf(loop);
    return key.empty() || context.empty()
               ? ""
               : "iteration of (" + key + " in " + context + ")";
  }
  Operation *def = value.getDefiningOp();
  if (!def || def->getNumRegions() || !isPure(def))
    return "";
  std::string key = def->getName().getStringRef().str() + "#" +
                    std::to_string(cast<OpResult>(value).getResultNumber());
  llvm::raw_string_ostream(key)
      << def->getAttrDictionary() << value.getType() << "(";
  for (Value operand : def->getOperands()) {
    std::string inner = keyOf(operand);
    if (inner.empty())
      return "";
    key += inner + ",";
  }
  return key + ")";
}

/// The loops and branches around `op` in its role, outermost last; empty where
/// roles do not see them alike.
std::string Extractor::contextOf(Operation *op) {
  std::string context = "role";
  for (Operation *parent = op->getParentOp(); !isa<RoleOp, TilesOp>(parent);
       op = parent, parent = parent->getParentOp()) {
    std::string key;
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      std::string lower, upper, step;
      key = tripKey(loop, lower, upper, step);
    } else if (auto branch = dyn_cast<scf::IfOp>(parent)) {
      key = keyOf(branch.getCondition());
      if (!key.empty())
        key += op->getBlock() == branch.thenBlock() ? " then" : " else";
    }
    if (key.empty())
      return "";
    context += " in " + key;
  }
  return context;
}

/// A decision that changes with an iteration is the same for two roles only if
/// they read it equally often: in the same loops, and at one place of each.
std::string Extractor::shareKey(std::string key, Operation *op) {
  if (!roles || key.find("iteration of") == std::string::npos)
    return key;
  std::string context = contextOf(op);
  if (context.empty())
    return "";
  key += " in " + context;
  auto [it, inserted] = varying.try_emplace(key, op);
  return inserted || it->second == op ? key : "";
}

std::string Extractor::tripKey(scf::ForOp loop, std::string &lower,
                               std::string &upper, std::string &step) {
  lower = keyOf(loop.getLowerBound());
  upper = keyOf(loop.getUpperBound());
  step = keyOf(loop.getStep());
  if (lower.empty() || upper.empty() || step.empty() || loop.getUnsignedCmp())
    return "";
  if (std::optional<int64_t> count = constantTrips(loop))
    if (*count >= 0)
      return "constant " + std::to_string(*count);
  return lower + " to " + upper + " step " + step;
}

int64_t Extractor::constantTrips(scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> upper = getConstantIntValue(loop.getUpperBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!lower || !upper || !step || *step <= 0)
    return -1;
  int64_t distance;
  if (*upper <= *lower)
    return 0;
  if (llvm::SubOverflow(*upper, *lower, distance))
    return -1;
  return llvm::divideCeil(distance, *step);
}

int Extractor::tripOf(const std::string &key, Operation *op) {
  std::string full = key;
  if (!roles) // Nobody to share it with.
    full = "op " + std::to_string(siteOf(op));
  auto [it, inserted] = trips.try_emplace(full, protocol.trips.size());
  if (inserted)
    protocol.trips.push_back("loop " + std::to_string(it->second));
  return it->second;
}

/// Moves what a block yields, in parallel, to where it goes.
void Extractor::emitYield(Block &block, ValueRange into) {
  Operation *yield = block.getTerminator();
  SmallVector<std::pair<int, int>> moves;
  for (auto [from, to] : llvm::zip_equal(yield->getOperands(), into))
    if (isPhase(to))
      moves.push_back({phaseOf(to), phaseOf(from)});
  SmallVector<int> buffered;
  if (moves.size() > 1)
    for (auto &[to, from] : moves) {
      int temporary = builder->newPosition(builder->role.positions[from].slots);
      move(yield, temporary, from);
      from = temporary;
    }
  for (auto [to, from] : moves)
    move(yield, to, from);
}

void Extractor::emitFor(scf::ForOp loop) {
  Block &body = *loop.getBody();
  for (auto [init, argument, result] : llvm::zip_equal(
           loop.getInits(), loop.getRegionIterArgs(), loop.getResults())) {
    if (!isPhase(init))
      continue;
    move(loop, phaseOf(argument), phaseOf(init));
  }
  auto emitBody = [&] {
    for (Operation &op : body.without_terminator())
      emitOp(&op);
    emitYield(body, loop.getRegionIterArgs());
  };
  auto it = continued.find(loop);
  int64_t count = constantTrips(loop);
  if (it == continued.end() && count >= 0 && count <= kMaxUnrolled) {
    for (int64_t i = 0; i < count && builder->role.code.size() < 20000; ++i)
      emitBody();
  } else {
    std::string lower, upper, step;
    std::string key = it != continued.end()
                          ? it->second
                          : shareKey(tripKey(loop, lower, upper, step), loop);
    if (key.empty() && roles)
      return undecided(loop,
                       "the trip count of this loop depends on what other "
                       "roles do not see");
    int trip = it != continued.end() ? trips.lookup(key) : tripOf(key, loop);
    size_t head = builder->role.code.size();
    add(ta::Step::Next, loop).trip = trip;
    emitBody();
    add(ta::Step::Jump, loop).target = head;
    builder->role.code[head].target = builder->role.code.size();
  }
  for (auto [argument, result] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults()))
    if (isPhase(result))
      move(loop, phaseOf(result), phaseOf(argument));
}

/// `if lower < upper` around a loop that starts one step later is the first
/// decision of the loop's trip count; any other condition is one of its own.
void Extractor::emitIf(scf::IfOp branch) {
  std::string key;
  if (auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>()) {
    Value lower, upper;
    arith::CmpIPredicate predicate = compare.getPredicate();
    if (predicate == arith::CmpIPredicate::slt)
      lower = compare.getLhs(), upper = compare.getRhs();
    if (predicate == arith::CmpIPredicate::sgt)
      lower = compare.getRhs(), upper = compare.getLhs();
    std::optional<int64_t> begin =
        lower ? getConstantIntValue(lower) : std::nullopt;
    if (begin) {
      for (auto loop : branch.thenBlock()->getOps<scf::ForOp>()) {
        std::optional<int64_t> next = getConstantIntValue(loop.getLowerBound());
        std::optional<int64_t> step = getConstantIntValue(loop.getStep());
        if (loop.getUpperBound() != upper || !next || !step ||
            *next != *begin + *step || !hasRingOps(loop))
          continue;
        std::string bound = keyOf(upper);
        if (bound.empty())
          continue;
        key = shareKey(std::to_string(*begin) + " to " + bound + " step " +
                           std::to_string(*step),
                       branch);
        if (key.empty())
          continue;
        if (!roles)
          key = "op " + std::to_string(siteOf(branch));
        continued[loop] = key;
        break;
      }
    }
  }
  if (key.empty()) {
    std::string condition = shareKey(keyOf(branch.getCondition()), branch);
    if (condition.empty())
      return undecided(branch, "a branch around channel operations depends on "
                               "data");
    // Two branches of one condition would have to agree.
    auto [it, inserted] = branchesSeen.try_emplace(condition, branch);
    if (!inserted && it->second != branch)
      return undecided(branch, "two branches around channel operations have "
                               "one condition");
    key = "if " + condition;
  }
  int trip = tripOf(key, branch);
  size_t head = builder->role.code.size();
  add(ta::Step::Next, branch).trip = trip;
  for (Operation &op : branch.thenBlock()->without_terminator())
    emitOp(&op);
  emitYield(*branch.thenBlock(), branch.getResults());
  size_t skip = builder->role.code.size();
  add(ta::Step::Jump, branch);
  builder->role.code[head].target = builder->role.code.size();
  if (Block *block = branch.elseBlock()) {
    for (Operation &op : block->without_terminator())
      emitOp(&op);
    emitYield(*block, branch.getResults());
  }
  builder->role.code[skip].target = builder->role.code.size();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static void report(const Extractor &extractor, KernelOp kernel,
                   const ta::Finding &finding) {
  auto place = [&](ta::Site site) -> Operation * {
    return site >= 0 ? extractor.sites[site] : kernel.getOperation();
  };
  InFlightDiagnostic diag = place(finding.site)->emitOpError()
                            << "breaks the protocol ("
                            << ta::propertyName(finding.property)
                            << "): " << finding.message;
  if (finding.channel >= 0) {
    ChannelOp channel = extractor.channels[finding.channel];
    diag.attachNote(channel.getLoc())
        << "channel " << finding.channel << " is declared here";
  }
  for (const ta::Note &note : finding.notes)
    diag.attachNote(place(note.site)->getLoc()) << note.message;
  if (finding.trace.empty())
    return;
  std::string run;
  for (const ta::Event &event : finding.trace) {
    run += run.empty() ? "" : "; ";
    run += extractor.protocol.roles[event.role].name + ": " + event.text;
  }
  std::string counts =
      finding.trips.empty() ? "" : " (iterations: " + finding.trips + ")";
  diag.attachNote(kernel.getLoc()) << "the run" << counts << ": " << run;
}

namespace {
struct VerifyProtocol : mlir::tracea::impl::VerifyProtocolBase<VerifyProtocol> {
  using VerifyProtocolBase::VerifyProtocolBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    markAllAnalysesPreserved();
    Extractor extractor(kernel, registerFile, threadsPerWarp);
    if (failed(extractor.extract()))
      return signalPassFailure();
    if (extractor.channels.empty())
      return;
    ++numKernels;
    ta::CheckResult result;
    result.reason = extractor.reason;
    Operation *place = extractor.reasonOp;
    if (extractor.reason.empty()) {
      ta::CheckOptions options;
      options.maxStates = maxStates;
      result = ta::checkProtocol(extractor.protocol, options);
      numStates += result.statistics.states;
      numMicroseconds +=
          static_cast<int64_t>(result.statistics.milliseconds * 1000);
    }
    switch (result.verdict) {
    case ta::Verdict::Refuted:
      report(extractor, kernel, result.finding);
      return signalPassFailure();
    case ta::Verdict::NotDecided: {
      if (!place)
        place = kernel;
      InFlightDiagnostic diag =
          requireProof ? place->emitOpError() : place->emitWarning();
      diag << "protocol not decided: " << result.reason;
      if (requireProof)
        signalPassFailure();
      return;
    }
    case ta::Verdict::Proved:
      ++numProved;
      certify(kernel, extractor);
    }
  }

  /// Says what was proved, once.
  void certify(KernelOp kernel, const Extractor &extractor) {
    std::string text = std::to_string(extractor.protocol.roles.size()) +
                       " roles, " + std::to_string(extractor.channels.size()) +
                       " channels, every trip count";
    mlir::tracea::setCertificate(kernel, "protocol", text);
  }
};
} // namespace
