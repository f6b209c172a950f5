//===- Assembler.cpp - A protocol out of the roles' events --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

using namespace mlir;
using namespace mlir::tracea;
namespace ta = ::tracea::analysis;
using ta::Property;
using ta::Step;

static bool dependsOnElection(const Symbol *symbol) {
  if (symbol->kind == Symbol::Elected)
    return true;
  for (unsigned i = 0; i < symbol->numOperands; ++i)
    if (dependsOnElection(symbol->operands[i]))
      return true;
  return false;
}

int64_t mlir::tracea::laneOf(const Symbol *condition, ThreadRange threads) {
  for (unsigned thread = threads.first; thread <= threads.last; ++thread)
    if (evaluateForThread(condition, thread, thread % 32 == 0).value_or(0))
      return dependsOnElection(condition) ? -1 - int64_t(thread / 32) : thread;
  return -1;
}

void Assembler::fault(Property property, const Twine &message, Operation *op,
                      Operation *other, StringRef note) {
  if (result.finding)
    return;
  ta::Finding finding;
  finding.property = property;
  finding.message = message.str();
  finding.site = siteOf(op);
  if (other)
    finding.notes.push_back({-1, siteOf(other), note.str()});
  result.finding = finding;
}

int Assembler::siteOf(Operation *op) {
  auto [it, inserted] = siteNumbers.try_emplace(op, result.sites.size());
  if (inserted)
    result.sites.push_back(op);
  return it->second;
}

ta::Instruction &Assembler::add(Step step, const Event &event) {
  ta::Instruction &instruction = builder->add(step);
  instruction.site = siteOf(event.op);
  instruction.elected = event.lanes == LaneSet::One;
  instruction.perWarp = event.lanes == LaneSet::OnePerWarp;
  return instruction;
}

/// Whether the slot was read before and nothing has happened since: lanes that
/// load a tile byte by byte read its slot once, as far as anybody else can
/// tell.
bool Assembler::isReadAgain(const Event &event, SlotParts slot) {
  if (event.kind != Event::Read || event.async || event.remote)
    return false;
  return !reads.insert({slot, event.lanes, event.fresh}).second;
}

void Assembler::assembleAccess(const Event &event, unsigned number) {
  bool writes = event.kind != Event::Read;
  int64_t begin = event.address.constant, end = begin + event.length;
  int64_t stride = std::abs(strideOf(event.address));
  bool found = false;
  // Part by part; parts of one channel with equal slots are one step.
  struct Target {
    int channel, slot;
    uint32_t parts;
  };
  SmallVector<Target> targets;
  for (const BufferRegion &region : regions) {
    // The slots that the access touches when variables are zero.
    int first = -1, last = -1;
    for (int slot = 0; slot < region.slots; ++slot) {
      int64_t at = region.base + slot * region.stride;
      if (begin < at + region.length && at < end) {
        first = first < 0 ? slot : first;
        last = slot;
      }
    }
    if (first < 0)
      continue;
    found = true;
    if (event.kind == Event::Copy &&
        (!region.copied ||
         region.channel != arrays[arrayOf(event.barrier)].channel))
      continue; // Reported as an overlap.
    if (stride && region.stride && stride % region.stride)
      fault(Property::SlotRange,
            "its address steps by " + Twine(stride) + " bytes, but slots of '" +
                result.protocol.channels[region.channel].name + "' are " +
                Twine(region.stride) + " bytes apart",
            event.op, region.op, "they are filled here");
    if (stride && !region.stride)
      fault(Property::SlotRange,
            "its address steps by " + Twine(stride) +
                " bytes in a buffer of one slot",
            event.op, region.op, "the buffer is filled here");
    for (int at = first; at <= last; ++at) {
      Linear address = event.address;
      address.constant = region.base + at * std::max<int64_t>(region.stride, 1);
      int slot = slotOf(address, region.base,
                        std::max<int64_t>(region.stride, 1), event.op);
      auto it = llvm::find_if(targets, [&](const Target &target) {
        return target.channel == region.channel && target.slot == slot;
      });
      if (it != targets.end())
        it->parts |= 1u << region.part;
      else
        targets.push_back({region.channel, slot, 1u << region.part});
    }
  }
  if (!found && !writes)
    fault(Property::UnfilledRead,
          "bytes " + Twine(begin) + " to " + Twine(end) +
              " of shared memory are read, but nobody fills them",
          event.op);
  for (const Target &target : targets) {
    if (isReadAgain(event, {target.channel, target.slot, target.parts}))
      continue;
    const ta::Channel &channel = result.protocol.channels[target.channel];
    if (writes && !(channel.producers >> number & 1))
      context.undecided(event.op, "it writes into a slot that others fill");
    ta::Instruction &step = add(event.kind == Event::Copy ? Step::Copy
                                : writes                  ? Step::Write
                                                          : Step::Read,
                                event);
    step.channel = target.channel;
    step.slot = target.slot;
    step.parts = target.parts;
    step.bytes = event.bytes;
    step.async = event.async;
    step.queue = event.queue;
    step.fresh = event.fresh;
  }
}

void Assembler::assembleEvent(const Event &event, unsigned number) {
  ThreadRange threads = programs[number].threads;
  // Generic writes are seen by generic readers with what orders them.
  auto publish = [&] {
    for (const BufferRegion &region : regions)
      if (!region.copied && !region.readAsync &&
          (region.writers >> number & 1)) {
        ta::Instruction &fence = add(Step::Fence, event);
        fence.channel = region.channel;
        fence.elected = !(region.wideWriters >> number & 1);
        fence.perWarp = false;
      }
  };
  // Only one lane of a role may be told from the others.
  bool ring = event.kind == Event::Arrive || event.kind == Event::Wait ||
              event.kind == Event::Copy || event.kind == Event::CloseGroup ||
              event.kind == Event::WaitGroup;
  bool stranger = event.lanes == LaneSet::One && event.lane && electedLane &&
                  laneOf(event.lane, threads) != *electedLane;
  if (ring && stranger)
    context.undecided(event.op, "two different lanes of a role are elected");
  switch (event.kind) {
  case Event::BarrierInit: {
    initialized.insert(event.barrier.constant);
    return;
  }
  case Event::InitFence:
    for (size_t c = 0; c < result.protocol.channels.size(); ++c) {
      bool all = true, any = false;
      for (const BarrierArray &array : arrays)
        if (array.channel == static_cast<int>(c)) {
          any = true;
          for (int slot = 0; slot < array.slots; ++slot)
            all &= initialized.contains(array.base + slot * array.stride);
        }
      if (!any || !all || !fenced.insert(c).second)
        continue;
      ta::Instruction &step = add(Step::Initialize, event);
      step.channel = static_cast<int>(c);
      // What another lane has done, the elected one does not know.
      if (stranger) {
        step.elected = false;
        step.perWarp = true;
      }
    }
    return;
  case Event::Arrive: {
    publish();
    const BarrierArray &array = arrays[arrayOf(event.barrier)];
    int slot = slotOf(event.barrier, array.base, array.stride, event.op);
    ta::Instruction &step =
        add(array.full ? Step::Commit : Step::Release, event);
    step.channel = array.channel;
    step.slot = slot;
    step.bytes = event.bytes;
    int64_t lanes = event.lanes == LaneSet::One          ? 1
                    : event.lanes == LaneSet::OnePerWarp ? threads.warps()
                                                         : threads.size();
    step.count = static_cast<int>(event.count * lanes);
    if (event.bytes && event.lanes != LaneSet::One)
      context.undecided(event.op, "several lanes expect bytes");
    return;
  }
  case Event::Wait: {
    const BarrierArray &array = arrays[arrayOf(event.barrier)];
    int slot = slotOf(event.barrier, array.base, array.stride, event.op);
    int parity = expressionOf(event.expression, event.op);
    ta::Instruction &step = add(array.full ? Step::Wait : Step::Acquire, event);
    step.channel = array.channel;
    step.slot = slot;
    step.parity = parity;
    return;
  }
  case Event::Copy:
  case Event::Read:
  case Event::Write:
    return assembleAccess(event, number);
  case Event::CloseGroup:
    add(Step::CloseGroup, event).queue = event.queue;
    return;
  case Event::WaitGroup: {
    ta::Instruction &step = add(Step::WaitGroup, event);
    step.queue = event.queue;
    step.count = static_cast<int>(event.count);
    step.collective = event.collective;
    return;
  }
  case Event::NamedSync:
  case Event::NamedArrive: {
    publish();
    auto [it, inserted] = namedBarriers.try_emplace(
        event.id, static_cast<int>(result.protocol.barriers.size()));
    if (inserted)
      result.protocol.barriers.push_back({std::to_string(event.id)});
    if (event.id > 15)
      fault(Property::NamedBarrier,
            "named barrier " + Twine(event.id) + " is beyond the last, 15",
            event.op);
    ta::Instruction &step =
        add(event.kind == Event::NamedSync ? Step::Sync : Step::Arrive, event);
    step.barrier = it->second;
    step.count = static_cast<int>(event.count);
    return;
  }
  case Event::MeetWarps: {
    publish();
    add(Step::Converge, event).perWarp = threads.warps() > 1;
    return;
  }
  case Event::ProxyFence:
    add(Step::Fence, event);
    return;
  case Event::ClusterArrive:
    if (event.publishes)
      publish();
    return assembleCluster(event);
  case Event::ClusterWait:
    return assembleCluster(event);
  case Event::Registers:
  case Event::TouchRegisters:
  case Event::FenceRegisters:
  case Event::FeedRegisters:
    return;
  case Event::Issue:
  case Event::Use: {
    int &value = valueNumbers[event.number];
    if (value < 0)
      value = builder->newValue(programs[number].values[event.number]);
    ta::Instruction &step =
        add(event.kind == Event::Issue ? Step::Issue : Step::Use, event);
    step.value = value;
    step.queue = event.queue;
    return;
  }
  case Event::Set: {
    int expression = expressionOf(event.expression, event.op);
    ta::Instruction &step = add(Step::Set, event);
    step.variable = event.number;
    step.expression = expression;
    return;
  }
  case Event::Test: {
    int expression = expressionOf(event.expression, event.op);
    ta::Instruction &step = add(Step::Test, event);
    step.expression = expression;
    step.target = event.target;
    return;
  }
  case Event::Next: {
    ta::Instruction &step = add(Step::Next, event);
    step.trip = event.number;
    step.target = event.target;
    return;
  }
  case Event::Jump:
    add(Step::Jump, event).target = event.target;
    return;
  case Event::Exit:
    builder->at(siteOf(event.op));
    return;
  }
}

void Assembler::assemble(unsigned number) {
  const RoleProgram &program = programs[number];
  unsigned first = program.threads.first / 32, last = program.threads.last / 32;
  std::string name = first == last ? "warp " + std::to_string(first)
                                   : "warps " + std::to_string(first) + "-" +
                                         std::to_string(last);
  if (program.isPeer)
    name = "peers of " + name;
  clusterArrivals = clusterWaits = 0;
  ta::RoleBuilder role(result.protocol, name);
  builder = &role;
  expressions.clear();
  valueNumbers.assign(context.accumulators.size(), -1);
  role.role.threads = static_cast<int>(program.threads.size());
  role.role.divergent = true;
  role.role.variables = program.variables;
  // The lane that is elected most often is the one that is followed.
  std::map<int64_t, int> lanes;
  for (const Event &event : program.events)
    if (event.lanes == LaneSet::One && event.lane &&
        event.kind != Event::BarrierInit && event.kind != Event::InitFence)
      ++lanes[laneOf(event.lane, program.threads)];
  electedLane.reset();
  int most = 0;
  for (auto [lane, times] : lanes)
    if (times > most) {
      most = times;
      electedLane = lane;
    }
  std::vector<int> start;
  std::vector<bool> isTarget(program.events.size() + 1);
  for (const Event &event : program.events)
    if (event.target >= 0)
      isTarget[event.target] = true;
  for (auto [place, event] : llvm::enumerate(program.events)) {
    if (event.kind != Event::Read || isTarget[place])
      reads.clear();
    start.push_back(static_cast<int>(role.role.code.size()));
    assembleEvent(event, number);
  }
  assembleClusterEnd(context.kernel);
  for (ta::Instruction &op : role.role.code)
    if (op.target >= 0)
      op.target = start[op.target];
  role.finish();
  pruneVariables(result.protocol.roles.back());
}

RecoveredProtocol Assembler::run() {
  result.protocol.name = context.kernel.getSymName().str();
  result.protocol.trips = context.trips.names;
  addPeers();
  findArrays();
  auto finish = [&] {
    result.reason = context.reason;
    result.reasonOp = context.reasonOp;
    result.guessed = context.guessed;
    result.guessedOp = context.guessedOp;
    return std::move(result);
  };
  // Without barriers in shared memory, blocks meet at named ones.
  bool noRings = arrays.empty() && context.hasWarpgroups;
  if (noRings || !context.reason.empty() || programs.size() > 32) {
    if (programs.size() > 32)
      context.undecided(context.kernel, "the kernel has more than 32 roles");
    return finish();
  }
  pairArrays();
  declareChannels();
  findRegions();
  findLooseRegions();
  // Buffers without barriers are channels of their own.
  for (BufferRegion &region : regions) {
    if (region.channel >= 0) {
      ta::Channel &channel = result.protocol.channels[region.channel];
      channel.parts = std::max(channel.parts, region.part + 1);
      channel.producers |= region.writers;
      continue;
    }
    region.channel = static_cast<int>(result.protocol.channels.size());
    ta::Channel channel;
    channel.name = "buffer at byte " + std::to_string(region.base);
    channel.slots = region.slots;
    channel.producers = region.writers;
    channel.fullCount = llvm::popcount(region.writers);
    channel.initialized = true;
    // Lanes that fill and read a ring themselves fill it past its end.
    channel.ahead = !context.hasWarpgroups;
    channel.parts = 1;
    result.protocol.channels.push_back(channel);
    result.channels.push_back(region.op);
  }
  declareCluster();
  checkOverlaps();
  // Who reads which part.
  for (ta::Channel &channel : result.protocol.channels) {
    channel.parts = std::max(channel.parts, 1);
    channel.readers.assign(channel.parts, 0);
  }
  for (auto [number, program] : llvm::enumerate(programs))
    for (const Event &event : program.events) {
      if (event.kind != Event::Read)
        continue;
      int64_t begin = event.address.constant, end = begin + event.length;
      for (const BufferRegion &region : regions)
        for (int slot = 0; slot < region.slots; ++slot) {
          int64_t at = region.base + slot * region.stride;
          if (begin < at + region.length && at < end)
            result.protocol.channels[region.channel].readers[region.part] |=
                1u << number;
        }
    }
  for (ta::Channel &channel : result.protocol.channels)
    if (channel.consumers == 0 && channel.initialized) {
      for (uint32_t readers : channel.readers)
        channel.consumers |= readers;
      channel.emptyCount = llvm::popcount(channel.consumers);
    }
  for (unsigned number = 0; number < programs.size(); ++number)
    assemble(number);
  budgetRegisters();
  checkRegisterFences();
  return finish();
}
