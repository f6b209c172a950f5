//===- Exit.cpp - What is left when roles exit, or nobody can go on -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decided here, in a state from which no step leads on: whether all roles have
// ended and left nothing behind, or who waits for whom.

#include "Machine.h"

namespace tracea::analysis {

bool Machine::leave(MachineState &state, int role, const Instruction &op) {
  for (int queue = 0; queue < numQueues[role]; ++queue) {
    bool open = state.roles[role].groups[queue] != 0;
    for (int w = 0; w < groupWords; ++w)
      open |= group(state, role, queue, 0)[w] != 0;
    if (open)
      return fail(Property::Drain,
                  quoted(role) + " exits with asynchronous reads or writes "
                                 "that it has not waited for",
                  role, op.site);
  }
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

/// Whether a reader, or who had the turn in its place, has read what is in a
/// buffer. Who that was may differ from run to run.
bool Machine::isRead(const MachineState &state, int buffer, int role) const {
  int fact = readFact[buffer][role];
  return anyLaneKnows(state, role, fact) || holds(state, anyHolder(), fact);
}

bool Machine::checkExit(MachineState &state) {
  for (int buffer = 0; buffer < numBuffers; ++buffer)
    for (int role = 0; role < numRoles; ++role) {
      int fact = readFact[buffer][role];
      int channel = channelOfBuffer[buffer];
      if (state.buffers[buffer].filled && fact >= 0 &&
          !protocol.channels[channel].ahead && !isRead(state, buffer, role) &&
          !test(set(state, partyOf(channel, role), Unread), buffer))
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

} // namespace tracea::analysis
