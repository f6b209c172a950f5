//===- Steps.cpp - What one instruction does ----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machine.h"

#include <algorithm>

namespace tracea::analysis {

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
    learn(state, learnerOf(role, lanesOf(role, op)), initFact[op.channel]);
    return true;
  case Step::Acquire:
  case Step::Wait:
    return wait(state, role, op, slot);
  case Step::Copy:
    return copy(state, role, op, slot);
  case Step::Write:
    return write(state, role, op, slot);
  case Step::Fence: {
    uint64_t *unfenced = set(state, role, Unfenced);
    // Each lane fences its own writes: together they know, alone none does.
    int holder = !protocol.roles[role].divergent ? roleHolder(role)
                 : op.elected                    ? electedHolder(role)
                                                 : lanesHolder(role);
    for (int buffer = 0; buffer < numBuffers; ++buffer)
      if (test(unfenced, buffer) &&
          (op.channel < 0 || channelOfBuffer[buffer] == op.channel)) {
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
    if (!isOwner(state, role, op, slot))
      return fail(Property::ArrivalCount,
                  quoted(role) + " releases slot " + std::to_string(slot) +
                      " of '" + protocol.channels[op.channel].name +
                      "', which it has not waited for",
                  role, op.site, op.channel, slot);
    mark(set(state, partyOf(op.channel, role), Released),
         slotBase[op.channel] + slot, true);
    state.barriers[barrierOf(op.channel, slot, true)].owner = 0;
    passUnread(state, role, op, slot);
    return arrive(state, role, op, barrierOf(op.channel, slot, false));
  case Step::Read:
    return read(state, role, op, slot);
  case Step::CloseGroup:
    return closeGroup(state, role, op);
  case Step::WaitGroup:
    return waitGroup(state, role, op);
  case Step::Issue:
    return issue(state, role, op);
  case Step::Use:
    return use(state, role, op);
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
  case Step::Next:
    return this->next(state, role, op, more, next);
  case Step::Set: {
    int64_t value = evaluate(state, role, op.expression);
    if (value < 0 || value > kMaxVariable) {
      reason = "'" + protocol.roles[role].variables[op.variable].name +
               "' of " + quoted(role) + " grows without bound";
      return true;
    }
    state.variables[variableBase[role] + op.variable] =
        static_cast<int32_t>(value);
    return true;
  }
  case Step::Test:
    if (!evaluate(state, role, op.expression))
      next = op.target;
    return true;
  case Step::Jump:
    next = op.target;
    return true;
  case Step::Sync:
  case Step::Arrive:
    return meet(state, role, op, next);
  case Step::Converge:
    if (op.perWarp && protocol.roles[role].divergent) {
      join(state, warpsHolder(role), lanesHolder(role));
      return true;
    }
    join(state, roleHolder(role), electedHolder(role));
    join(state, roleHolder(role), warpsHolder(role));
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

/// Reads one decision of a trip count, a new one if nobody has.
bool Machine::next(MachineState &state, int role, const Instruction &op,
                   bool more, int &next) {
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

} // namespace tracea::analysis
