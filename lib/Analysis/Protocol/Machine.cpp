//===- Machine.cpp - One step of a protocol, with what everybody knows ----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machine.h"

#include <algorithm>
#include <utility>

namespace tracea::analysis {

static bool isRingStep(Step step) {
  switch (step) {
  case Step::Acquire:
  case Step::Copy:
  case Step::Write:
  case Step::Commit:
  case Step::Wait:
  case Step::Read:
  case Step::Release:
    return true;
  default:
    return false;
  }
}

static bool isFillStep(Step step) {
  return step == Step::Acquire || step == Step::Copy || step == Step::Write ||
         step == Step::Commit;
}

template <typename T>
static void append(std::string &key, const std::vector<T> &values) {
  key.append(reinterpret_cast<const char *>(values.data()),
             values.size() * sizeof(T));
}

std::string MachineState::key() const {
  std::string key;
  append(key, roles);
  append(key, positions);
  append(key, barriers);
  append(key, buffers);
  append(key, named);
  append(key, trips);
  append(key, cursors);
  append(key, lastItem);
  append(key, initialized);
  append(key, sets);
  return key;
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

Machine::Machine(const Protocol &protocol, const CheckOptions &options)
    : protocol(protocol), options(options),
      numRoles(static_cast<int>(protocol.roles.size())) {
  if (numRoles > 32) {
    reason = "more than 32 roles";
    return;
  }
  auto fact = [&] { return numFacts++; };
  for (size_t c = 0; c < protocol.channels.size(); ++c) {
    const Channel &channel = protocol.channels[c];
    if (channel.slots > 100) {
      reason = "ring '" + channel.name + "' has more than 100 slots";
      return;
    }
    slotBase.push_back(numSlots);
    bufferBase.push_back(numBuffers);
    initFact.push_back(fact());
    for (int slot = 0; slot < channel.slots; ++slot) {
      channelOfSlot.push_back(static_cast<int>(c));
      for (int part = 0; part < channel.parts; ++part) {
        channelOfBuffer.push_back(static_cast<int>(c));
        fillFact.push_back(fact());
        std::vector<int> readers(numRoles, -1);
        for (int role = 0; role < numRoles; ++role)
          if (channel.readers[part] >> role & 1)
            readers[role] = fact();
        readFact.push_back(readers);
      }
      // The full barrier: producers arrive, consumers observe. The empty
      // barrier: the other way round.
      for (bool full : {true, false}) {
        uint32_t arrivers = full ? channel.producers : channel.consumers;
        uint32_t observers = full ? channel.consumers : channel.producers;
        std::vector<int> arrives(numRoles, -1), observes(numRoles, -1);
        for (int role = 0; role < numRoles; ++role) {
          if (arrivers >> role & 1)
            arrives[role] = fact();
          if (observers >> role & 1)
            observes[role] = fact();
        }
        arriveFact.push_back(arrives);
        observeFact.push_back(observes);
      }
    }
    numSlots += channel.slots;
    numBuffers += channel.slots * channel.parts;
  }
  numBarriers = 2 * numSlots;
  for (size_t barrier = 0; barrier < protocol.barriers.size(); ++barrier) {
    namedFact.emplace_back(numRoles);
    for (int role = 0; role < numRoles; ++role)
      namedFact.back()[role] = fact();
  }
  numHolders =
      3 * numRoles + 2 * numBarriers + static_cast<int>(namedFact.size());
  factWords = (numFacts + 63) / 64;
  setWords = std::max(1, (std::max(numBuffers, numSlots) + 63) / 64);

  readersOfTrip.assign(protocol.trips.size(), 0);
  int positions = 0;
  for (int role = 0; role < numRoles; ++role) {
    positionBase.push_back(positions);
    positions += static_cast<int>(protocol.roles[role].positions.size());
    if (protocol.roles[role].code.size() > 60000) {
      reason = "the program of " + quoted(role) + " is too long";
      return;
    }
    for (const Instruction &op : protocol.roles[role].code) {
      if (op.step == Step::Next)
        readersOfTrip[op.trip] |= 1u << role;
      if (op.step == Step::Poll && reason.empty())
        reason = quoted(role) + " branches on a test that does not block";
    }
  }
  checkStatically();
  computeLiveness();
}

std::string Machine::barrierName(int barrier) const {
  int slot = barrier / 2;
  int channel = channelOfSlot[slot];
  return std::string(barrier % 2 ? "empty" : "full") + " barrier of slot " +
         std::to_string(slot - slotBase[channel]) + " of '" +
         protocol.channels[channel].name + "'";
}

std::string Machine::bufferName(int buffer) const {
  int channel = channelOfBuffer[buffer];
  const Channel &ring = protocol.channels[channel];
  int index = buffer - bufferBase[channel];
  std::string text =
      "slot " + std::to_string(index / ring.parts) + " of '" + ring.name + "'";
  if (ring.parts > 1)
    text = "part " + std::to_string(index % ring.parts) + " of " + text;
  return text;
}

/// Counts, roles and budgets that the text of the programs decides.
void Machine::checkStatically() {
  auto report = [&](Property property, std::string message, int role,
                    Site site) {
    if (staticFinding)
      return;
    staticFinding.emplace();
    staticFinding->property = property;
    staticFinding->message = std::move(message);
    staticFinding->role = role;
    staticFinding->site = site;
  };
  for (int role = 0; role < numRoles; ++role) {
    for (const Instruction &op : protocol.roles[role].code) {
      if (!isRingStep(op.step))
        continue;
      const Channel &ring = protocol.channels[op.channel];
      uint32_t allowed = isFillStep(op.step) ? ring.producers : ring.consumers;
      if (op.step == Step::Read) {
        allowed = ~0u;
        for (int part = 0; part < ring.parts; ++part)
          if (op.parts >> part & 1)
            allowed &= ring.readers[part];
      }
      if (!(allowed >> role & 1))
        report(Property::Roles,
               quoted(role) + " may not " + stepName(op.step) + " '" +
                   ring.name + "': it is no declared " +
                   (isFillStep(op.step)     ? "producer"
                    : op.step == Step::Read ? "reader of this part"
                                            : "consumer"),
               role, op.site);
    }
  }
  for (size_t c = 0; c < protocol.channels.size(); ++c) {
    const Channel &ring = protocol.channels[c];
    for (bool full : {true, false}) {
      int sum = 0, roles = 0;
      Site site = kNoSite;
      for (int role = 0; role < numRoles; ++role) {
        if (!((full ? ring.producers : ring.consumers) >> role & 1))
          continue;
        int arrivals = 0;
        for (const Instruction &op : protocol.roles[role].code) {
          if (op.channel != static_cast<int>(c) ||
              op.step != (full ? Step::Commit : Step::Release))
            continue;
          if (arrivals && arrivals != op.count)
            report(Property::ArrivalCount,
                   quoted(role) + " arrives " + std::to_string(arrivals) +
                       " times at one and " + std::to_string(op.count) +
                       " times at another " + stepName(op.step) + " of '" +
                       ring.name + "'",
                   role, op.site);
          arrivals = op.count;
          if (site == kNoSite)
            site = op.site;
        }
        sum += arrivals ? arrivals : 1;
        ++roles;
      }
      int count = full ? ring.fullCount : ring.emptyCount;
      if (roles && sum != count)
        report(Property::ArrivalCount,
               std::string("the ") + (full ? "full" : "empty") +
                   " barriers of '" + ring.name + "' count " +
                   std::to_string(count) + " arrivals, but their roles make " +
                   std::to_string(sum),
               -1, site);
    }
  }
  for (size_t b = 0; b < protocol.barriers.size(); ++b) {
    int threads = 0, count = 0;
    for (const Role &role : protocol.roles) {
      bool used = false;
      for (const Instruction &op : role.code) {
        if ((op.step != Step::Sync && op.step != Step::Arrive) ||
            op.barrier != static_cast<int>(b))
          continue;
        used = true;
        count = count ? std::min(count, op.count) : op.count;
      }
      threads += used ? role.threads : 0;
    }
    if (threads > count && reason.empty())
      reason = "more roles use the named barrier '" +
               protocol.barriers[b].name +
               "' than it counts, so that the order of arrivals matters";
  }
  if (static_cast<int>(protocol.barriers.size()) > protocol.maxNamedBarriers)
    report(Property::NamedBarrier,
           std::to_string(protocol.barriers.size()) +
               " named barriers are used, the target has " +
               std::to_string(protocol.maxNamedBarriers),
           -1, kNoSite);
  if (protocol.registerFile) {
    int64_t sum = 0;
    for (const Role &role : protocol.roles)
      sum += int64_t(role.threads) * role.registers;
    if (sum > protocol.registerFile)
      report(Property::Roles,
             "the roles' budgets need " + std::to_string(sum) +
                 " registers, a workgroup has " +
                 std::to_string(protocol.registerFile),
             -1, kNoSite);
  }
}

/// Backward over each program: states that differ only in positions that are
/// never used again are one state.
void Machine::computeLiveness() {
  live.resize(numRoles);
  for (int r = 0; r < numRoles; ++r) {
    const Role &role = protocol.roles[r];
    int words = (static_cast<int>(role.positions.size()) + 63) / 64;
    live[r].assign(role.code.size() + 1, std::vector<uint64_t>(words));
    for (bool changed = true; changed;) {
      changed = false;
      for (int pc = static_cast<int>(role.code.size()) - 1; pc >= 0; --pc) {
        const Instruction &op = role.code[pc];
        std::vector<uint64_t> now(words);
        auto from = [&](int target) {
          for (int w = 0; w < words; ++w)
            now[w] |= live[r][target][w];
        };
        if (op.step != Step::Exit && op.step != Step::Jump)
          from(pc + 1);
        if (op.step == Step::Next || op.step == Step::Jump)
          from(op.target);
        bool defines = op.step == Step::Start || op.step == Step::Move ||
                       op.step == Step::Advance;
        if (defines)
          mark(now.data(), op.position, false);
        else if (op.position >= 0)
          mark(now.data(), op.position, true);
        if (op.source >= 0)
          mark(now.data(), op.source, true);
        if (now != live[r][pc]) {
          live[r][pc] = now;
          changed = true;
        }
      }
    }
  }
}

void Machine::forgetDead(MachineState &state) const {
  for (int role = 0; role < numRoles; ++role) {
    const std::vector<uint64_t> &used = live[role][state.roles[role].pc];
    size_t count = protocol.roles[role].positions.size();
    for (size_t i = 0; i < count; ++i)
      if (state.roles[role].exited || !test(used.data(), static_cast<int>(i)))
        state.positions[positionBase[role] + i] = PositionState();
  }
}

//===----------------------------------------------------------------------===//
// Knowledge
//===----------------------------------------------------------------------===//

bool Machine::holds(const MachineState &state, int holder, int fact) const {
  return state.knowledge[holder * factWords + fact / 64] >> (fact % 64) & 1;
}

void Machine::learn(MachineState &state, int holder, int fact) const {
  state.knowledge[holder * factWords + fact / 64] |= uint64_t(1) << (fact % 64);
}

void Machine::forget(MachineState &state, int fact) const {
  uint64_t mask = ~(uint64_t(1) << (fact % 64));
  for (int holder = 0; holder < numHolders; ++holder)
    state.knowledge[holder * factWords + fact / 64] &= mask;
}

void Machine::join(MachineState &state, int into, int from) const {
  for (int w = 0; w < factWords; ++w)
    state.knowledge[into * factWords + w] |=
        state.knowledge[from * factWords + w];
}

void Machine::clear(MachineState &state, int holder) const {
  std::fill_n(state.knowledge.begin() + holder * factWords, factWords, 0);
}

bool Machine::knows(const MachineState &state, int role, bool elected,
                    int fact) const {
  return holds(state, roleHolder(role), fact) ||
         (elected && holds(state, electedHolder(role), fact));
}

bool Machine::anyLaneKnows(const MachineState &state, int role,
                           int fact) const {
  return knows(state, role, true, fact) ||
         holds(state, lanesHolder(role), fact);
}

/// What the lanes that arrive bring along: all of them everything, an elected
/// one only what it knows itself.
void Machine::tell(MachineState &state, int holder, int role,
                   bool elected) const {
  join(state, holder, roleHolder(role));
  join(state, holder, electedHolder(role));
  if (!elected)
    join(state, holder, lanesHolder(role));
}

MachineState Machine::initial() const {
  MachineState state;
  state.roles.resize(numRoles);
  int positions = 0;
  for (const Role &role : protocol.roles)
    positions += static_cast<int>(role.positions.size());
  state.positions.resize(positions);
  for (int r = 0; r < numRoles; ++r)
    for (size_t i = 0; i < protocol.roles[r].positions.size(); ++i)
      state.positions[positionBase[r] + i].parity =
          static_cast<uint8_t>(protocol.roles[r].positions[i].parity);
  state.barriers.resize(numBarriers);
  state.buffers.resize(numBuffers);
  state.named.resize(namedFact.size());
  state.trips.resize(protocol.trips.size());
  state.cursors.resize(protocol.trips.size() * numRoles);
  state.lastItem.resize(numBarriers * numRoles);
  state.initialized.resize(protocol.channels.size());
  state.sets.resize(numRoles * kSets * setWords);
  state.knowledge.resize(numHolders * factWords);

  auto known = [&](int fact) {
    if (fact >= 0)
      for (int role = 0; role < numRoles; ++role)
        learn(state, roleHolder(role), fact);
  };
  for (const std::vector<int> &facts : readFact)
    for (int fact : facts)
      known(fact);
  for (int barrier = 0; barrier < numBarriers; ++barrier) {
    const Channel &ring = protocol.channels[channelOfSlot[barrier / 2]];
    bool full = barrier % 2 == 0;
    for (int role = 0; role < numRoles; ++role) {
      known(arriveFact[barrier][role]);
      if (full)
        known(observeFact[barrier][role]);
    }
    // Slots start empty: a phase that the producers have yet to observe.
    if (!full)
      state.barriers[barrier].ready = ring.producers;
    state.barriers[barrier].pending = full ? ring.fullCount : ring.emptyCount;
  }
  for (const std::vector<int> &facts : namedFact)
    for (int fact : facts)
      known(fact);
  for (size_t c = 0; c < protocol.channels.size(); ++c)
    if (protocol.channels[c].initialized) {
      state.initialized[c] = 1;
      known(initFact[c]);
    }
  return state;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

int Machine::slotOf(MachineState &state, int role,
                    const Instruction &op) const {
  int modulus = protocol.roles[role].positions[op.position].modulus;
  int slot = (position(state, role, op.position).slot + op.offset) % modulus;
  return slot < 0 ? slot + modulus : slot;
}

int Machine::itemOf(MachineState &state, int role,
                    const Instruction &op) const {
  int period = 2 * protocol.channels[op.channel].slots;
  int item = (position(state, role, op.position).item + op.offset) % period;
  return item < 0 ? item + period : item;
}

/// Whether the parity that the code waits for is that of the phase it means.
/// The code's parity of an offset position follows the position of the slot.
bool Machine::parityMatches(MachineState &state, int role,
                            const Instruction &op, int slot) const {
  bool full = op.step == Step::Wait;
  const BarrierState &barrier =
      state.barriers[barrierOf(op.channel, slot, full)];
  const Position &walk = protocol.roles[role].positions[op.position];
  const PositionState &at = position(state, role, op.position);
  // Every wrap of the slot index towards the offset changes the parity.
  int shifted = at.slot + op.offset;
  int wraps = (shifted - slot) / walk.modulus;
  int parity = (at.parity ^ (wraps & 1)) & 1;
  int seen = barrier.observed >> role & 1;
  // Who fills waits for the phase before, so both sides compare alike.
  return parity == seen;
}

/// A wait for a phase that the role has already observed passes at once.
bool Machine::waitsAgain(MachineState &state, int role, const Instruction &op,
                         int slot) const {
  int barrier = barrierOf(op.channel, slot, op.step == Step::Wait);
  return !parityMatches(state, role, op, slot) &&
         !(state.barriers[barrier].ready >> role & 1) &&
         state.lastItem[barrier * numRoles + role] ==
             itemOf(state, role, op) + 1;
}

bool Machine::isEnabled(MachineState &state, int role) const {
  if (state.roles[role].exited)
    return false;
  const Instruction &op = protocol.roles[role].code[state.roles[role].pc];
  if (op.step == Step::Wait || op.step == Step::Acquire) {
    int slot = slotOf(state, role, op);
    if (slot >= protocol.channels[op.channel].slots)
      return true; // To fail there.
    int barrier = barrierOf(op.channel, slot, op.step == Step::Wait);
    return !parityMatches(state, role, op, slot) ||
           (state.barriers[barrier].ready >> role & 1);
  }
  if (op.step == Step::Sync)
    return !(state.named[op.barrier].waiting >> role & 1);
  return true;
}

bool Machine::needsDecision(const MachineState &state, int role) const {
  if (state.roles[role].exited)
    return false;
  const Instruction &op = protocol.roles[role].code[state.roles[role].pc];
  return op.step == Step::Next && state.cursors[op.trip * numRoles + role] >=
                                      state.trips[op.trip].length;
}

/// Drops the decisions that every reader has read.
void Machine::trim(MachineState &state, int trip) const {
  TripState &word = state.trips[trip];
  uint32_t read = word.length;
  for (int role = 0; role < numRoles; ++role)
    if ((readersOfTrip[trip] >> role & 1) && !state.roles[role].exited)
      read = std::min<uint32_t>(read, state.cursors[trip * numRoles + role]);
  word.bits = read >= 64 ? 0 : word.bits >> read;
  word.length -= read;
  for (int role = 0; role < numRoles; ++role) {
    uint8_t &cursor = state.cursors[trip * numRoles + role];
    cursor = static_cast<uint8_t>(cursor >= read ? cursor - read : 0);
  }
}

/// The laggard first: nobody reads a new decision while anybody can do
/// anything else, so that leads stay as short as the rings are.
Machine::Stop Machine::run(MachineState &state, int &decider) {
  for (;;) {
    if (!reason.empty())
      return Stop::NotDecided;
    int candidate = -1, runner = -1;
    bool exited = true;
    for (int role = numRoles - 1; role >= 0; --role) {
      exited &= state.roles[role].exited != 0;
      if (!isEnabled(state, role))
        continue;
      if (needsDecision(state, role)) {
        if (candidate < 0)
          candidate = role;
        continue;
      }
      runner = role;
      break;
    }
    if (runner >= 0) {
      if (!step(state, runner, false))
        return Stop::Failed;
      continue;
    }
    if (candidate >= 0) {
      decider = candidate;
      return Stop::Decision;
    }
    if (exited)
      return checkExit(state) ? Stop::Finished : Stop::Failed;
    checkStuck(state);
    return Stop::Failed;
  }
}

Machine::Stop Machine::decide(MachineState &state, int &role, bool more) {
  if (!step(state, role, more))
    return Stop::Failed;
  return run(state, role);
}

bool Machine::step(MachineState &state, int role, bool more) {
  ++steps;
  const Instruction &op = protocol.roles[role].code[state.roles[role].pc];
  int next = state.roles[role].pc + 1;
  int slot = -1;
  if (isRingStep(op.step)) {
    slot = slotOf(state, role, op);
    const Channel &ring = protocol.channels[op.channel];
    if (tracing)
      record(state, role, op, slot, more);
    if (slot >= ring.slots)
      return fail(Property::SlotRange,
                  quoted(role) + " indexes slot " + std::to_string(slot) +
                      " of '" + ring.name + "', which has " +
                      std::to_string(ring.slots),
                  role, op.site, op.channel);
    if (!holds(state, roleHolder(role), initFact[op.channel]) &&
        !anyLaneKnows(state, role, initFact[op.channel]))
      return fail(Property::Initialization,
                  quoted(role) + " uses '" + ring.name +
                      "' without waiting for its initialisation (Rule A)",
                  role, op.site, op.channel, slot);
  } else if (tracing) {
    record(state, role, op, slot, more);
  }
  if (!execute(state, role, op, slot, more, next))
    return false;
  state.roles[role].pc = static_cast<uint16_t>(next);
  return true;
}

bool Machine::execute(MachineState &state, int role, const Instruction &op,
                      int slot, bool more, int &next) {
  switch (op.step) {
  case Step::Initialize:
    if (state.initialized[op.channel])
      return fail(Property::Initialization,
                  "'" + protocol.channels[op.channel].name +
                      "' is initialised more than once (Rule A)",
                  role, op.site, op.channel);
    state.initialized[op.channel] = 1;
    learn(state,
          op.elected && protocol.roles[role].divergent ? electedHolder(role)
                                                       : roleHolder(role),
          initFact[op.channel]);
    return true;
  case Step::Acquire:
  case Step::Wait: {
    int barrier = barrierOf(op.channel, slot, op.step == Step::Wait);
    BarrierState &b = state.barriers[barrier];
    int fact = observeFact[barrier][role];
    bool elected = op.elected && protocol.roles[role].divergent;
    int holder = elected ? electedHolder(role) : roleHolder(role);
    int flags = op.step == Step::Wait ? Released : Committed;
    if (waitsAgain(state, role, op, slot)) {
      forget(state, fact);
      learn(state, holder, fact);
      return true;
    }
    if (!parityMatches(state, role, op, slot))
      return fail(Property::ParityAliasing,
                  quoted(role) + " waits at the " + barrierName(barrier) +
                      " with the parity of another phase",
                  role, op.site, op.channel, slot);
    mark(set(state, role, flags), slotBase[op.channel] + slot, false);
    b.ready &= ~(1u << role);
    b.observed ^= 1u << role;
    state.lastItem[barrier * numRoles + role] =
        static_cast<uint8_t>(itemOf(state, role, op) + 1);
    join(state, holder, doneHolder(barrier));
    learn(state, holder, fact);
    return true;
  }
  case Step::Copy: {
    int barrier = barrierOf(op.channel, slot, true);
    bool elected = op.elected || !protocol.roles[role].divergent;
    for (int part = 0; part < protocol.channels[op.channel].parts; ++part) {
      if (!(op.parts >> part & 1))
        continue;
      int buffer = bufferOf(op.channel, slot, part);
      if (!checkOverwrite(state, role, op, buffer))
        return false;
      if (!(state.barriers[barrier].arrived >> role & 1) &&
          !knows(state, role, elected, arriveFact[barrier][role]))
        return fail(Property::Bytes,
                    quoted(role) + " copies into " + bufferName(buffer) +
                        " while the phase before may still be open: the "
                        "bytes are counted there",
                    role, op.site, op.channel, slot);
      fill(state, role, op, buffer);
      // Copies land at once: the phase completes when the last byte lands,
      // and bytes of one phase are never counted in another (checked above).
      tell(state, pendingHolder(barrier), role, true);
      // A copy that counts no bytes holds nothing up: nobody knows its end.
      if (op.bytes > 0)
        learn(state, pendingHolder(barrier), fillFact[buffer]);
    }
    state.barriers[barrier].copied += op.bytes;
    const BarrierState &b = state.barriers[barrier];
    return b.pending || b.expected != b.copied || complete(state, barrier);
  }
  case Step::Write:
    for (int part = 0; part < protocol.channels[op.channel].parts; ++part) {
      if (!(op.parts >> part & 1))
        continue;
      int buffer = bufferOf(op.channel, slot, part);
      if (!checkOverwrite(state, role, op, buffer))
        return false;
      fill(state, role, op, buffer);
      mark(set(state, role, Unfenced), buffer, true);
    }
    return true;
  case Step::Fence: {
    uint64_t *unfenced = set(state, role, Unfenced);
    bool elected = op.elected && protocol.roles[role].divergent;
    // Each lane fences its own writes: together they know, alone none does.
    int holder = !protocol.roles[role].divergent ? roleHolder(role)
                 : elected                       ? electedHolder(role)
                                                 : lanesHolder(role);
    for (int buffer = 0; buffer < numBuffers; ++buffer)
      if (test(unfenced, buffer)) {
        learn(state, holder, fillFact[buffer]);
        mark(unfenced, buffer, false);
      }
    return true;
  }
  case Step::Commit: {
    int barrier = barrierOf(op.channel, slot, true);
    state.barriers[barrier].expected += op.bytes;
    mark(set(state, role, Committed), slotBase[op.channel] + slot, true);
    return arrive(state, role, op, barrier);
  }
  case Step::Release:
    mark(set(state, role, Released), slotBase[op.channel] + slot, true);
    return arrive(state, role, op, barrierOf(op.channel, slot, false));
  case Step::Read:
    return read(state, role, op, slot);
  case Step::CloseGroup: {
    RoleState &r = state.roles[role];
    if (r.groups >= kGroups) {
      reason = quoted(role) + " has more than " + std::to_string(kGroups) +
               " pending groups of asynchronous reads";
      return true;
    }
    uint64_t *open = set(state, role, Open);
    std::copy_n(open, setWords, set(state, role, Closed + r.groups));
    std::fill_n(open, setWords, 0);
    ++r.groups;
    return true;
  }
  case Step::WaitGroup: {
    RoleState &r = state.roles[role];
    while (r.groups > op.count) {
      std::vector<uint64_t> oldest(set(state, role, Closed),
                                   set(state, role, Closed) + setWords);
      for (int g = 1; g < r.groups; ++g)
        std::copy_n(set(state, role, Closed + g), setWords,
                    set(state, role, Closed + g - 1));
      --r.groups;
      std::fill_n(set(state, role, Closed + r.groups), setWords, 0);
      for (int buffer = 0; buffer < numBuffers; ++buffer) {
        bool again = test(set(state, role, Open), buffer);
        for (int g = 0; g < r.groups; ++g)
          again |= test(set(state, role, Closed + g), buffer);
        if (test(oldest.data(), buffer) && !again)
          retire(state, role, op.elected, buffer);
      }
    }
    return true;
  }
  case Step::Start: {
    PositionState &p = position(state, role, op.position);
    p = PositionState();
    p.parity = static_cast<uint8_t>(
        protocol.roles[role].positions[op.position].parity);
    return true;
  }
  case Step::Move:
    position(state, role, op.position) = position(state, role, op.source);
    return true;
  case Step::Advance: {
    const Position &walk = protocol.roles[role].positions[op.position];
    PositionState p = position(state, role, op.source);
    p.item = static_cast<uint8_t>((p.item + 1) % (2 * walk.slots));
    p.slot = static_cast<uint8_t>(p.slot + 1 >= walk.modulus ? 0 : p.slot + 1);
    if (++p.count >= walk.flip) {
      p.count = 0;
      p.parity ^= 1;
    }
    position(state, role, op.position) = p;
    return true;
  }
  case Step::Next: {
    TripState &word = state.trips[op.trip];
    uint8_t &cursor = state.cursors[op.trip * numRoles + role];
    if (cursor >= word.length) {
      if (static_cast<int>(word.length) + 1 >= options.maxLead) {
        reason = quoted(role) + " gets more than " +
                 std::to_string(options.maxLead) +
                 " iterations ahead of the other roles in '" +
                 protocol.trips[op.trip] + "'";
        return true;
      }
      word.bits |= uint64_t(more) << word.length;
      ++word.length;
      lead = std::max<int64_t>(lead, word.length);
    }
    bool taken = word.bits >> cursor & 1;
    ++cursor;
    if (!taken)
      next = op.target;
    trim(state, op.trip);
    return true;
  }
  case Step::Jump:
    next = op.target;
    return true;
  case Step::Sync:
  case Step::Arrive:
    return meet(state, role, op, next);
  case Step::Converge:
    join(state, roleHolder(role), electedHolder(role));
    join(state, roleHolder(role), lanesHolder(role));
    return true;
  case Step::Poll:
    return true;
  case Step::Exit:
    next = state.roles[role].pc;
    return leave(state, role, op);
  }
  return true;
}

bool Machine::arrive(MachineState &state, int role, const Instruction &op,
                     int barrier) {
  bool elected = op.elected && protocol.roles[role].divergent;
  int fact = arriveFact[barrier][role];
  int slot = barrier / 2 - slotBase[op.channel];
  BarrierState &b = state.barriers[barrier];
  if (!knows(state, role, elected, fact))
    return fail(Property::ArrivalCount,
                quoted(role) + " may " + stepName(op.step) + " slot " +
                    std::to_string(slot) + " of '" +
                    protocol.channels[op.channel].name + "' twice in one phase",
                role, op.site, op.channel, slot);
  if (b.pending < op.count)
    return fail(Property::ArrivalCount,
                "more arrivals than the " + barrierName(barrier) + " counts",
                role, op.site, op.channel, slot);
  forget(state, fact);
  tell(state, pendingHolder(barrier), role, elected);
  b.arrived |= 1u << role;
  b.pending -= op.count;
  return b.pending || b.expected != b.copied || complete(state, barrier);
}

bool Machine::complete(MachineState &state, int barrier) {
  BarrierState &b = state.barriers[barrier];
  int channel = channelOfSlot[barrier / 2];
  const Channel &ring = protocol.channels[channel];
  for (int role = 0; role < numRoles; ++role) {
    int fact = observeFact[barrier][role];
    if (fact < 0)
      continue;
    if (!holds(state, pendingHolder(barrier), fact))
      return fail(Property::ParityAliasing,
                  "a phase of the " + barrierName(barrier) +
                      " completes before " + quoted(role) +
                      " is sure to have seen the one before",
                  role, kNoSite, channel, barrier / 2 - slotBase[channel]);
    forget(state, fact);
    b.ready |= 1u << role;
  }
  for (int role = 0; role < numRoles; ++role)
    if (arriveFact[barrier][role] >= 0)
      learn(state, pendingHolder(barrier), arriveFact[barrier][role]);
  clear(state, doneHolder(barrier));
  join(state, doneHolder(barrier), pendingHolder(barrier));
  clear(state, pendingHolder(barrier));
  b.arrived = 0;
  b.expected = b.copied = 0;
  b.pending = barrier % 2 == 0 ? ring.fullCount : ring.emptyCount;
  return true;
}

bool Machine::checkOverwrite(MachineState &state, int role,
                             const Instruction &op, int buffer) {
  bool elected = op.elected && protocol.roles[role].divergent;
  int index =
      (buffer - bufferBase[op.channel]) / protocol.channels[op.channel].parts;
  if (protocol.channels[op.channel].commitLast &&
      test(set(state, role, Committed), slotBase[op.channel] + index))
    return fail(Property::Overwrite,
                quoted(role) + " fills " + bufferName(buffer) +
                    " after it has committed the slot",
                role, op.site, op.channel, index);
  for (int reader = 0; reader < numRoles; ++reader) {
    int fact = readFact[buffer][reader];
    if (fact < 0 || knows(state, role, elected, fact))
      continue;
    bool pending = test(set(state, reader, Open), buffer);
    for (int g = 0; g < state.roles[reader].groups; ++g)
      pending |= test(set(state, reader, Closed + g), buffer);
    std::string why;
    if (pending)
      why = "an asynchronous read by " + quoted(reader) + " is not waited for";
    else if (anyLaneKnows(state, reader, fact))
      why = "nothing orders this after the read by " + quoted(reader);
    else
      why = quoted(reader) + " has not read what is there";
    return fail(Property::Overwrite,
                quoted(role) + " overwrites " + bufferName(buffer) + ": " + why,
                role, op.site, op.channel, index);
  }
  return true;
}

void Machine::fill(MachineState &state, int role, const Instruction &op,
                   int buffer) {
  for (int fact : readFact[buffer])
    if (fact >= 0)
      forget(state, fact);
  forget(state, fillFact[buffer]);
  state.buffers[buffer].item = static_cast<uint8_t>(itemOf(state, role, op));
  state.buffers[buffer].filled = 1;
}

void Machine::retire(MachineState &state, int role, bool elected,
                     int buffer) const {
  int holder = !protocol.roles[role].divergent ? roleHolder(role)
               : elected                       ? electedHolder(role)
                                               : lanesHolder(role);
  learn(state, holder, readFact[buffer][role]);
}

bool Machine::read(MachineState &state, int role, const Instruction &op,
                   int slot) {
  const Channel &ring = protocol.channels[op.channel];
  bool elected = op.elected && protocol.roles[role].divergent;
  for (int part = 0; part < ring.parts; ++part) {
    if (!(op.parts >> part & 1))
      continue;
    int buffer = bufferOf(op.channel, slot, part);
    if (test(set(state, role, Released), slotBase[op.channel] + slot))
      return fail(Property::ReadAfterRelease,
                  quoted(role) + " reads " + bufferName(buffer) +
                      " after it has released the slot",
                  role, op.site, op.channel, slot);
    if (!state.buffers[buffer].filled ||
        !knows(state, role, elected, fillFact[buffer]))
      return fail(Property::UnfilledRead,
                  quoted(role) + " reads " + bufferName(buffer) +
                      " without waiting for its data",
                  role, op.site, op.channel, slot);
    if (state.buffers[buffer].item != itemOf(state, role, op))
      return fail(Property::UnfilledRead,
                  quoted(role) + " reads the data of another phase in " +
                      bufferName(buffer),
                  role, op.site, op.channel, slot);
    forget(state, readFact[buffer][role]);
    if (op.async) {
      mark(set(state, role, Open), buffer, true);
      continue;
    }
    bool pending = test(set(state, role, Open), buffer);
    for (int g = 0; g < state.roles[role].groups; ++g)
      pending |= test(set(state, role, Closed + g), buffer);
    if (!pending)
      retire(state, role, op.elected, buffer);
  }
  return true;
}

bool Machine::meet(MachineState &state, int role, const Instruction &op,
                   int &next) {
  NamedState &named = state.named[op.barrier];
  const std::string &name = protocol.barriers[op.barrier].name;
  bool elected = op.elected && protocol.roles[role].divergent;
  if (named.count && named.count != op.count)
    return fail(Property::NamedBarrier,
                quoted(role) + " arrives at the named barrier '" + name +
                    "' with the count " + std::to_string(op.count) +
                    ", others with " + std::to_string(named.count),
                role, op.site, -1, -1, op.barrier);
  int fact = namedFact[op.barrier][role];
  if (!knows(state, role, elected, fact))
    return fail(Property::NamedBarrier,
                quoted(role) +
                    " may arrive twice in one generation of the "
                    "named barrier '" +
                    name + "'",
                role, op.site, -1, -1, op.barrier);
  forget(state, fact);
  named.count = op.count;
  named.arrivals += protocol.roles[role].threads;
  named.arrived |= 1u << role;
  tell(state, namedHolder(op.barrier), role, elected);
  if (op.step == Step::Sync)
    named.waiting |= 1u << role;
  if (named.arrivals < op.count) {
    if (op.step == Step::Sync)
      next = state.roles[role].pc;
    return true;
  }
  for (int other = 0; other < numRoles; ++other)
    if (named.arrived >> other & 1)
      learn(state, namedHolder(op.barrier), namedFact[op.barrier][other]);
  for (int other = 0; other < numRoles; ++other) {
    if (!(named.waiting >> other & 1))
      continue;
    join(state, roleHolder(other), namedHolder(op.barrier));
    if (other != role)
      ++state.roles[other].pc;
  }
  clear(state, namedHolder(op.barrier));
  named = NamedState();
  return true;
}

bool Machine::leave(MachineState &state, int role, const Instruction &op) {
  bool open = state.roles[role].groups != 0;
  for (int w = 0; w < setWords; ++w)
    open |= set(state, role, Open)[w] != 0;
  if (open)
    return fail(Property::Drain,
                quoted(role) +
                    " exits with asynchronous reads that it has not waited for",
                role, op.site);
  for (int buffer = 0; buffer < numBuffers; ++buffer) {
    const Channel &ring = protocol.channels[channelOfBuffer[buffer]];
    if (!ring.drain || !(ring.producers >> role & 1))
      continue;
    for (int reader = 0; reader < numRoles; ++reader) {
      int fact = readFact[buffer][reader];
      if (fact >= 0 && !anyLaneKnows(state, role, fact))
        return fail(Property::Drain,
                    quoted(role) + " exits while " + quoted(reader) +
                        " may still use " + bufferName(buffer),
                    role, op.site, channelOfBuffer[buffer],
                    (buffer - bufferBase[channelOfBuffer[buffer]]) /
                        ring.parts);
    }
  }
  state.roles[role].exited = 1;
  for (size_t trip = 0; trip < state.trips.size(); ++trip)
    trim(state, static_cast<int>(trip));
  return true;
}

bool Machine::checkExit(MachineState &state) {
  for (int buffer = 0; buffer < numBuffers; ++buffer)
    for (int role = 0; role < numRoles; ++role) {
      int fact = readFact[buffer][role];
      int channel = channelOfBuffer[buffer];
      if (state.buffers[buffer].filled && fact >= 0 &&
          !anyLaneKnows(state, role, fact))
        return fail(
            Property::Drain,
            bufferName(buffer) + " is filled and never read by " + quoted(role),
            role, kNoSite, channel,
            (buffer - bufferBase[channel]) / protocol.channels[channel].parts);
    }
  for (size_t b = 0; b < state.named.size(); ++b)
    if (state.named[b].arrivals)
      return fail(Property::NamedBarrier,
                  "arrivals at the named barrier '" +
                      protocol.barriers[b].name +
                      "' are left when all roles have exited",
                  -1, kNoSite, -1, -1, static_cast<int>(b));
  for (int barrier = 0; barrier < numBarriers; ++barrier) {
    const BarrierState &b = state.barriers[barrier];
    int channel = channelOfSlot[barrier / 2];
    const Channel &ring = protocol.channels[channel];
    int slot = barrier / 2 - slotBase[channel];
    if (b.expected != b.copied)
      return fail(Property::Bytes,
                  "slot " + std::to_string(slot) + " of '" + ring.name +
                      "' expects " + std::to_string(b.expected) +
                      " bytes, but " + std::to_string(b.copied) + " are copied",
                  -1, kNoSite, channel, slot);
    if (b.pending != (barrier % 2 == 0 ? ring.fullCount : ring.emptyCount))
      return fail(Property::ArrivalCount,
                  "a partial phase of the " + barrierName(barrier) +
                      " is left when all roles have exited",
                  -1, kNoSite, channel, slot);
  }
  return true;
}

/// Nobody can go on: names what is missing.
void Machine::checkStuck(MachineState &state) {
  for (int barrier = 0; barrier < numBarriers; barrier += 2) {
    const BarrierState &b = state.barriers[barrier];
    if (b.pending || b.expected == b.copied)
      continue;
    int channel = channelOfSlot[barrier / 2];
    int slot = barrier / 2 - slotBase[channel];
    fail(Property::Bytes,
         "slot " + std::to_string(slot) + " of '" +
             protocol.channels[channel].name + "' expects " +
             std::to_string(b.expected) + " bytes, but " +
             std::to_string(b.copied) + " are copied",
         -1, kNoSite, channel, slot);
    return;
  }
  std::vector<Note> notes;
  for (int role = 0; role < numRoles; ++role) {
    if (state.roles[role].exited)
      continue;
    const Instruction &op = protocol.roles[role].code[state.roles[role].pc];
    std::string text = quoted(role) + " waits for ever ";
    if (op.step == Step::Sync) {
      text += "at the named barrier '" + protocol.barriers[op.barrier].name +
              "', which has " +
              std::to_string(state.named[op.barrier].arrivals) + " of " +
              std::to_string(op.count) + " arrivals";
    } else {
      int slot = slotOf(state, role, op);
      bool full = op.step == Step::Wait;
      int barrier = barrierOf(op.channel, slot, full);
      const Channel &ring = protocol.channels[op.channel];
      text += "for slot " + std::to_string(slot) + " of '" + ring.name +
              "' to be " + (full ? "filled" : "released");
      std::string missing;
      uint32_t arrivers = full ? ring.producers : ring.consumers;
      for (int other = 0; other < numRoles; ++other)
        if ((arrivers & ~state.barriers[barrier].arrived) >> other & 1)
          missing += (missing.empty() ? "" : ", ") + quoted(other);
      if (!missing.empty())
        text += "; missing: " + missing;
    }
    notes.push_back({role, op.site, text});
  }
  const Note &first = notes.front();
  const Instruction &op =
      protocol.roles[first.role].code[state.roles[first.role].pc];
  int slot = op.channel >= 0 ? slotOf(state, first.role, op) : -1;
  fail(Property::Deadlock, first.message, first.role, first.site, op.channel,
       slot, op.barrier);
  // Who is stuck as well, then what the others did there.
  uint32_t stuck = 0;
  for (const Note &note : notes)
    stuck |= 1u << note.role;
  for (const Note &note : finding->notes)
    if (!(stuck >> note.role & 1))
      notes.push_back(note);
  finding->notes.assign(notes.begin() + 1, notes.end());
}

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

bool Machine::fail(Property property, std::string message, int role, Site site,
                   int channel, int slot, int barrier) {
  finding.emplace();
  finding->property = property;
  finding->message = std::move(message);
  finding->role = role;
  finding->site = site;
  finding->channel = channel;
  if (tracing)
    slice(channel, slot, barrier);
  return false;
}

void Machine::record(MachineState &state, int role, const Instruction &op,
                     int slot, bool more) {
  if (op.step == Step::Jump || op.step == Step::CloseGroup ||
      op.step == Step::Advance || op.step == Step::Move ||
      op.step == Step::Start)
    return;
  Recorded event;
  event.step = op.step;
  event.channel = op.channel;
  event.slot = slot;
  event.barrier = op.barrier;
  event.event.role = role;
  event.event.site = op.site;
  std::string text = stepName(op.step);
  if (op.step == Step::Next) {
    uint8_t cursor = state.cursors[op.trip * numRoles + role];
    bool known = cursor < state.trips[op.trip].length;
    bool taken = known ? state.trips[op.trip].bits >> cursor & 1 : more;
    if (!known) {
      event.trip = op.trip;
      event.more = more;
    }
    text = "'" + protocol.trips[op.trip] + (taken ? "' goes on" : "' ends");
  } else if (slot >= 0) {
    text += " slot " + std::to_string(slot) + " of '" +
            protocol.channels[op.channel].name + "'";
  } else if (op.barrier >= 0) {
    text += " '" + protocol.barriers[op.barrier].name + "'";
  }
  event.event.text = text;
  events.push_back(event);
}

/// Keeps the events at the place in question, and each other role's last one
/// there as a note.
void Machine::slice(int channel, int slot, int barrier) {
  finding->length = static_cast<int64_t>(events.size());
  std::vector<std::vector<std::string>> counts(protocol.trips.size());
  std::vector<int> running(protocol.trips.size(), -1);
  std::vector<const Recorded *> kept;
  for (const Recorded &event : events) {
    if (event.trip >= 0) {
      int &count = running[event.trip];
      count = std::max(count, 0) + (event.more ? 1 : 0);
      if (!event.more) {
        counts[event.trip].push_back(std::to_string(count));
        count = -1;
      }
    }
    bool here = channel >= 0 && event.channel == channel &&
                (slot < 0 || event.slot == slot);
    here |= barrier >= 0 && event.barrier == barrier;
    if (here)
      kept.push_back(&event);
  }
  for (size_t trip = 0; trip < counts.size(); ++trip) {
    if (running[trip] >= 0)
      counts[trip].push_back(std::to_string(running[trip]) + " or more");
    if (counts[trip].empty())
      continue;
    if (counts[trip].size() > 4)
      counts[trip].erase(counts[trip].begin(), counts[trip].end() - 4);
    finding->trips += finding->trips.empty() ? "" : "; ";
    finding->trips += protocol.trips[trip] + " = ";
    for (size_t i = 0; i < counts[trip].size(); ++i)
      finding->trips += (i ? ", " : "") + counts[trip][i];
  }
  // The last event is the one that fails; it needs no note.
  if (finding->site == kNoSite && !kept.empty()) {
    finding->site = kept.back()->event.site;
    if (finding->role < 0)
      finding->role = kept.back()->event.role;
  }
  uint32_t seen = 0;
  for (size_t i = kept.size(); i-- > 0;) {
    int role = kept[i]->event.role;
    if (seen >> role & 1 || kept[i]->event.site == finding->site)
      continue;
    seen |= 1u << role;
    finding->notes.push_back({role, kept[i]->event.site,
                              "the last step of " + quoted(role) +
                                  " there: " + kept[i]->event.text});
  }
  size_t first = kept.size() > static_cast<size_t>(options.maxTrace)
                     ? kept.size() - options.maxTrace
                     : 0;
  for (size_t i = first; i < kept.size(); ++i)
    finding->trace.push_back(kept[i]->event);
}

} // namespace tracea::analysis
