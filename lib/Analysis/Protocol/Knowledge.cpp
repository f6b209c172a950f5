//===- Knowledge.cpp - Who knows what -----------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machine.h"

#include <algorithm>

namespace tracea::analysis {

template <typename T>
static void append(std::string &key, const std::vector<T> &values) {
  key.append(reinterpret_cast<const char *>(values.data()),
             values.size() * sizeof(T));
}

std::string MachineState::key() const {
  std::string key;
  append(key, roles);
  append(key, positions);
  append(key, variables);
  append(key, waits);
  append(key, barriers);
  append(key, buffers);
  append(key, named);
  append(key, trips);
  append(key, cursors);
  append(key, lastItem);
  append(key, initialized);
  append(key, sets);
  append(key, groups);
  return key;
}

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
         holds(state, warpsHolder(role), fact) ||
         holds(state, lanesHolder(role), fact);
}

/// What the lanes that arrive bring along: all of them everything, an elected
/// one only what it knows itself, one of each warp what warps know together.
void Machine::tell(MachineState &state, int holder, int role,
                   Lanes lanes) const {
  join(state, holder, roleHolder(role));
  if (lanes != Lanes::PerWarp)
    join(state, holder, electedHolder(role));
  if (lanes != Lanes::One)
    join(state, holder, warpsHolder(role));
  if (lanes == Lanes::All)
    join(state, holder, lanesHolder(role));
}

Machine::Lanes Machine::lanesOf(int role, const Instruction &op) const {
  if (!protocol.roles[role].divergent)
    return Lanes::All;
  return op.elected ? Lanes::One : op.perWarp ? Lanes::PerWarp : Lanes::All;
}

int Machine::learnerOf(int role, Lanes lanes) const {
  return lanes == Lanes::All       ? roleHolder(role)
         : lanes == Lanes::PerWarp ? lanesHolder(role)
                                   : electedHolder(role);
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
  for (const Role &role : protocol.roles)
    for (const Variable &variable : role.variables)
      state.variables.push_back(static_cast<int32_t>(variable.initial));
  state.waits.resize(protocol.channels.size() * 2 * numRoles);
  state.barriers.resize(numBarriers);
  state.buffers.resize(numBuffers);
  state.named.resize(namedFact.size());
  state.trips.resize(protocol.trips.size());
  state.cursors.resize(protocol.trips.size() * numRoles);
  state.lastItem.resize(numBarriers * numRoles);
  state.initialized.resize(protocol.channels.size());
  state.sets.resize(numRoles * kSets * setWords);
  state.groups.resize(numGroups * groupWords);
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
  for (int fact : turnFact)
    known(fact);
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

} // namespace tracea::analysis
