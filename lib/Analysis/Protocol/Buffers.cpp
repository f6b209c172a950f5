//===- Buffers.cpp - Fills and reads of buffers -------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machine.h"

namespace tracea::analysis {

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
    // Lanes that overwrite what they have read themselves need not meet.
    if (reader == role && lanesOf(role, op) == Lanes::All &&
        (holds(state, lanesHolder(role), fact) ||
         holds(state, warpsHolder(role), fact))) {
      reason = "lanes of " + quoted(role) + " read and then overwrite " +
               bufferName(buffer) +
               " without meeting; whether each overwrites only what it has "
               "read itself is not known";
      return true;
    }
    std::string why;
    if (isInFlight(state, reader, buffer))
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
  for (int other = 0; other < numRoles; ++other)
    mark(set(state, other, Unread), buffer, false);
  state.buffers[buffer].item = static_cast<uint8_t>(itemOf(state, role, op));
  state.buffers[buffer].filled = 1;
}

bool Machine::copy(MachineState &state, int role, const Instruction &op,
                   int slot) {
  int barrier = barrierOf(op.channel, slot, true);
  bool alone = op.elected || !protocol.roles[role].divergent;
  for (int part = 0; part < protocol.channels[op.channel].parts; ++part) {
    if (!(op.parts >> part & 1))
      continue;
    int buffer = bufferOf(op.channel, slot, part);
    if (!checkOverwrite(state, role, op, buffer))
      return false;
    if (!(state.barriers[barrier].arrived >> role & 1) &&
        !knows(state, role, alone, arriveFact[barrier][role]))
      return fail(Property::Bytes,
                  quoted(role) + " copies into " + bufferName(buffer) +
                      " while the phase before may still be open: the "
                      "bytes are counted there",
                  role, op.site, op.channel, slot);
    fill(state, role, op, buffer);
    // Copies land at once: the phase completes when the last byte lands,
    // and bytes of one phase are never counted in another (checked above).
    tell(state, pendingHolder(barrier), role, Lanes::One);
    // A copy that counts no bytes holds nothing up: nobody knows its end.
    if (op.bytes > 0)
      learn(state, pendingHolder(barrier), fillFact[buffer]);
  }
  state.barriers[barrier].copied += op.bytes;
  const BarrierState &b = state.barriers[barrier];
  return b.pending || b.expected != b.copied || complete(state, barrier);
}

bool Machine::write(MachineState &state, int role, const Instruction &op,
                    int slot) {
  for (int part = 0; part < protocol.channels[op.channel].parts; ++part) {
    if (!(op.parts >> part & 1))
      continue;
    int buffer = bufferOf(op.channel, slot, part);
    // What it has not fenced yet nobody can have read: the same fill goes on,
    // and so it does while the group is open.
    bool isLanding = test(set(state, role, Landing), buffer);
    bool continues =
        op.async ? isLanding && test(group(state, role, op.queue, 0), buffer)
                 : test(set(state, role, Unfenced), buffer);
    if (!continues && !checkOverwrite(state, role, op, buffer))
      return false;
    if (isLanding && !(op.async && continues))
      return fail(Property::Overwrite,
                  quoted(role) + " writes " + bufferName(buffer) +
                      " while its own asynchronous write is in flight",
                  role, op.site, op.channel, slot);
    fill(state, role, op, buffer);
    mark(set(state, role, Unfenced), buffer, !op.async);
    mark(set(state, role, Landing), buffer, op.async);
    if (op.async)
      mark(group(state, role, op.queue, 0), buffer, true);
  }
  return true;
}

bool Machine::read(MachineState &state, int role, const Instruction &op,
                   int slot) {
  const Channel &ring = protocol.channels[op.channel];
  bool elected = op.elected && protocol.roles[role].divergent;
  for (int part = 0; part < ring.parts; ++part) {
    if (!(op.parts >> part & 1))
      continue;
    int buffer = bufferOf(op.channel, slot, part);
    if (test(set(state, partyOf(op.channel, role), Released),
             slotBase[op.channel] + slot))
      return fail(Property::ReadAfterRelease,
                  quoted(role) + " reads " + bufferName(buffer) +
                      " after it has released the slot",
                  role, op.site, op.channel, slot);
    if (!isOwner(state, role, op, slot))
      return fail(Property::UnfilledRead,
                  quoted(role) + " reads " + bufferName(buffer) +
                      " in another's turn: it has not waited for it",
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
    if (op.fresh && anyLaneKnows(state, role, readFact[buffer][role]))
      return fail(Property::UnfilledRead,
                  quoted(role) + " reads " + bufferName(buffer) +
                      " again before it is filled anew",
                  role, op.site, op.channel, slot);
    mark(set(state, partyOf(op.channel, role), Unread), buffer, false);
    int fact = readFact[buffer][role];
    bool inFlight = isInFlight(state, role, buffer);
    bool scattered = protocol.roles[role].divergent &&
                     (inFlight ? !op.async
                               : !holds(state, roleHolder(role), fact) &&
                                     anyLaneKnows(state, role, fact));
    if (scattered || !inFlight)
      mark(set(state, role, Scattered), buffer, scattered);
    forget(state, readFact[buffer][role]);
    if (op.async)
      mark(group(state, role, op.queue, 0), buffer, true);
    else if (!inFlight)
      retire(state, role, op, buffer);
  }
  return true;
}

/// To wait is to look: who gives back a slot that it has waited for and not
/// read, in a loop without iterations say, is behind all of its reads.
void Machine::passUnread(MachineState &state, int role, const Instruction &op,
                         int slot) {
  int pending = pendingHolder(barrierOf(op.channel, slot, false));
  for (int part = 0; part < protocol.channels[op.channel].parts; ++part) {
    int buffer = bufferOf(op.channel, slot, part);
    if (int fact = readFact[buffer][role];
        fact >= 0 &&
        test(set(state, partyOf(op.channel, role), Unread), buffer))
      learn(state, pending, fact);
  }
}

} // namespace tracea::analysis
