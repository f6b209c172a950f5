//===- Groups.cpp - Groups of asynchronous steps, in queues -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machine.h"

#include <algorithm>

namespace tracea::analysis {

bool Machine::isInFlight(MachineState &state, int role, int bit) const {
  for (int queue = 0; queue < numQueues[role]; ++queue)
    for (int n = 0; n <= state.roles[role].groups[queue]; ++n)
      if (test(group(state, role, queue, n), bit))
        return true;
  return false;
}

/// What was in flight is over: a read, or an asynchronous write that a fence
/// may now make visible.
void Machine::retire(MachineState &state, int role, const Instruction &op,
                     int bit) const {
  if (bit >= numBuffers)
    return;
  if (test(set(state, role, Landing), bit)) {
    mark(set(state, role, Landing), bit, false);
    mark(set(state, role, Unfenced), bit, true);
    return;
  }
  // Each lane knows of its own part only, unless they read as one.
  Lanes lanes = lanesOf(role, op);
  bool together = !protocol.roles[role].divergent ||
                  (op.collective && !test(set(state, role, Scattered), bit));
  int holder = lanes == Lanes::One ? electedHolder(role)
               : together          ? roleHolder(role)
                                   : lanesHolder(role);
  learn(state, holder, readFact[bit][role]);
  // Lanes that have read as one have all waited before.
  if (together)
    passObservation(state, role, bit);
  if (protocol.channels[channelOfBuffer[bit]].inTurns)
    learn(state, anyHolder(), readFact[bit][role]);
}

void Machine::passObservation(MachineState &state, int role, int buffer) const {
  int channel = channelOfBuffer[buffer];
  int slot = (buffer - bufferBase[channel]) / protocol.channels[channel].parts;
  int fact = observeFact[barrierOf(channel, slot, true)][role];
  if (fact >= 0 && holds(state, lanesHolder(role), fact))
    learn(state, roleHolder(role), fact);
}

bool Machine::closeGroup(MachineState &state, int role, const Instruction &op) {
  uint8_t &groups = state.roles[role].groups[op.queue];
  if (groups >= kMaxGroups) {
    reason = quoted(role) + " has more than " + std::to_string(kMaxGroups) +
             " pending groups of asynchronous steps";
    return true;
  }
  uint64_t *open = group(state, role, op.queue, 0);
  ++groups;
  std::copy_n(open, groupWords, group(state, role, op.queue, groups));
  std::fill_n(open, groupWords, 0);
  return true;
}

bool Machine::waitGroup(MachineState &state, int role, const Instruction &op) {
  if (op.queue >= numQueues[role])
    return true;
  uint8_t &groups = state.roles[role].groups[op.queue];
  std::vector<uint64_t> over(groupWords);
  // A negative count asks for the same as zero: that no group is pending.
  while (groups > std::max(op.count, 0)) {
    for (int w = 0; w < groupWords; ++w)
      over[w] |= group(state, role, op.queue, 1)[w];
    for (int n = 1; n < groups; ++n)
      std::copy_n(group(state, role, op.queue, n + 1), groupWords,
                  group(state, role, op.queue, n));
    std::fill_n(group(state, role, op.queue, groups), groupWords, 0);
    --groups;
  }
  for (int bit = 0; bit < numBuffers; ++bit)
    if (test(over.data(), bit) && !isInFlight(state, role, bit))
      retire(state, role, op, bit);
  return true;
}

bool Machine::issue(MachineState &state, int role, const Instruction &op) {
  // Writes of one queue are in order, those of two are not.
  for (int queue = 0; queue < numQueues[role]; ++queue)
    for (int n = 0; n <= state.roles[role].groups[queue]; ++n)
      if (queue != op.queue &&
          test(group(state, role, queue, n), valueBit(op.value)))
        return fail(Property::PendingValue,
                    quoted(role) + " writes '" +
                        protocol.roles[role].values[op.value] +
                        "' while another queue's write of it is in flight",
                    role, op.site);
  mark(group(state, role, op.queue, 0), valueBit(op.value), true);
  return true;
}

bool Machine::use(MachineState &state, int role, const Instruction &op) {
  if (!isInFlight(state, role, valueBit(op.value)))
    return true;
  return fail(Property::PendingValue,
              quoted(role) + " uses '" + protocol.roles[role].values[op.value] +
                  "' before the group that writes it was waited for",
              role, op.site);
}

} // namespace tracea::analysis
