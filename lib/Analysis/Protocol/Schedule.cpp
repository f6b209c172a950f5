//===- Schedule.cpp - The laggard first ---------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machine.h"

#include <algorithm>

namespace tracea::analysis {

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
           (state.barriers[barrier].ready >> partyOf(op.channel, role) & 1);
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
      return fail(
          Property::SlotRange,
          quoted(role) + " indexes slot " +
              (slot < kMaxVariable ? std::to_string(slot) : std::string("?")) +
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

} // namespace tracea::analysis
