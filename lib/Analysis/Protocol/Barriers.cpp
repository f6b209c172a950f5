//===- Barriers.cpp - Phases of barriers, and named barriers --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machine.h"

#include <algorithm>

namespace tracea::analysis {

int64_t Machine::evaluate(const MachineState &state, int role,
                          int index) const {
  const std::vector<Expression> &expressions = protocol.roles[role].expressions;
  // Operands come first, so that what is shared is computed once.
  std::vector<int64_t> &values = scratch;
  values.resize(std::max(values.size(), expressions.size()));
  for (int at : plans[role][index]) {
    const Expression &expression = expressions[at];
    values[at] = -1;
    if (expression.op == Operator::Constant) {
      values[at] = expression.value;
    } else if (expression.op == Operator::Variable) {
      values[at] = state.variables[variableBase[role] + expression.value];
    } else if (expression.op == Operator::Select) {
      int64_t condition = values[expression.operands[0]];
      if (condition >= 0)
        values[at] = values[expression.operands[condition ? 1 : 2]];
    } else {
      uint64_t operands[3] = {}, result = 0;
      bool defined = true;
      for (int i = 0; i < numOperands(expression.op); ++i) {
        int64_t operand = values[expression.operands[i]];
        defined &= operand >= 0 || expression.bits == 64;
        operands[i] = static_cast<uint64_t>(operand);
      }
      if (defined &&
          applyOperator(expression.op, expression.bits, operands, result))
        values[at] = static_cast<int64_t>(result);
    }
  }
  return values[index];
}

int Machine::slotOf(MachineState &state, int role,
                    const Instruction &op) const {
  if (op.slot >= 0) {
    int64_t slot = evaluate(state, role, op.slot);
    return slot < 0 || slot > kMaxVariable ? static_cast<int>(kMaxVariable)
                                           : static_cast<int>(slot);
  }
  int modulus = protocol.roles[role].positions[op.position].modulus;
  int slot = (position(state, role, op.position).slot + op.offset) % modulus;
  return slot < 0 ? slot + modulus : slot;
}

int Machine::itemOf(MachineState &state, int role,
                    const Instruction &op) const {
  // Without a position, items are numbered by the waits of their role.
  if (op.slot >= 0) {
    if (!countsItems[op.channel])
      return 0;
    if (op.step == Step::Wait || op.step == Step::Acquire)
      return waitsOf(state, role, op);
    int barrier =
        barrierOf(op.channel, slotOf(state, role, op), op.step == Step::Read);
    return state.lastItem[barrier * numRoles + partyOf(op.channel, role)];
  }
  int period = 2 * protocol.channels[op.channel].slots;
  int item = (position(state, role, op.position).item + op.offset) % period;
  return item < 0 ? item + period : item;
}

/// Whether the parity that the code waits for is that of the phase it means.
/// The code's parity of an offset position follows the position of the slot.
bool Machine::parityMatches(MachineState &state, int role,
                            const Instruction &op, int slot) const {
  bool full = op.step == Step::Wait;
  int party = partyOf(op.channel, role);
  const BarrierState &barrier =
      state.barriers[barrierOf(op.channel, slot, full)];
  if (op.slot >= 0)
    return ((evaluate(state, role, op.parity) ^ (full ? 0 : 1)) & 1) ==
           (barrier.observed >> party & 1);
  const Position &walk = protocol.roles[role].positions[op.position];
  const PositionState &at = position(state, role, op.position);
  // Every wrap of the slot index towards the offset changes the parity.
  int shifted = at.slot + op.offset;
  int wraps = (shifted - slot) / walk.modulus;
  int parity = (at.parity ^ (wraps & 1)) & 1;
  int seen = barrier.observed >> party & 1;
  // Who fills waits for the phase before, so both sides compare alike.
  return parity == seen;
}

/// A wait for a phase that the role has already observed passes at once.
bool Machine::waitsAgain(MachineState &state, int role, const Instruction &op,
                         int slot) const {
  int barrier = barrierOf(op.channel, slot, op.step == Step::Wait);
  int party = partyOf(op.channel, role);
  if (op.step == Step::Wait && !isOwner(state, role, op, slot))
    return false;
  if (op.slot >= 0) {
    // The role has observed the phase of this slot, and has not yet given it
    // away.
    Set gone = op.step == Step::Wait ? Released : Committed;
    return !parityMatches(state, role, op, slot) &&
           !(state.barriers[barrier].ready >> party & 1) &&
           state.lastItem[barrier * numRoles + party] &&
           !(state.sets[(party * kSets + gone) * setWords +
                        (slotBase[op.channel] + slot) / 64] >>
                 ((slotBase[op.channel] + slot) % 64) &
             1);
  }
  return !parityMatches(state, role, op, slot) &&
         !(state.barriers[barrier].ready >> party & 1) &&
         state.lastItem[barrier * numRoles + party] ==
             itemOf(state, role, op) + 1;
}

/// Who takes items in turns must come after who took the one before.
bool Machine::checkTurn(MachineState &state, int role, const Instruction &op,
                        int slot) {
  int fact = turnFact[slotBase[op.channel] + slot];
  if (op.step != Step::Wait || fact < 0)
    return true;
  Lanes lanes = lanesOf(role, op);
  if (!knows(state, role, lanes == Lanes::One, fact))
    return fail(Property::ParityAliasing,
                quoted(role) + " waits at the " +
                    barrierName(barrierOf(op.channel, slot, true)) +
                    ", and nothing orders this after the wait of another "
                    "before it",
                role, op.site, op.channel, slot);
  forget(state, fact);
  learn(state, learnerOf(role, lanes), fact);
  state.barriers[barrierOf(op.channel, slot, true)].owner =
      static_cast<uint32_t>(role) + 1;
  return true;
}

bool Machine::wait(MachineState &state, int role, const Instruction &op,
                   int slot) {
  int barrier = barrierOf(op.channel, slot, op.step == Step::Wait);
  BarrierState &b = state.barriers[barrier];
  int fact = observeFact[barrier][role];
  Lanes lanes = lanesOf(role, op);
  int holder = learnerOf(role, lanes);
  // Each lane has seen the phase for itself: that others have, none knows.
  int observer = lanes == Lanes::All && protocol.roles[role].divergent
                     ? lanesHolder(role)
                     : holder;
  int flags = op.step == Step::Wait ? Released : Committed;
  if (waitsAgain(state, role, op, slot)) {
    forget(state, fact);
    learn(state, observer, fact);
    return true;
  }
  if (!parityMatches(state, role, op, slot))
    return fail(Property::ParityAliasing,
                quoted(role) + " waits at the " + barrierName(barrier) +
                    " with the parity of another phase",
                role, op.site, op.channel, slot);
  if (!checkTurn(state, role, op, slot))
    return false;
  int party = partyOf(op.channel, role);
  mark(set(state, party, flags), slotBase[op.channel] + slot, false);
  for (int part = 0; part < protocol.channels[op.channel].parts; ++part)
    if (int buffer = bufferOf(op.channel, slot, part); op.step == Step::Wait)
      mark(set(state, party, Unread), buffer, state.buffers[buffer].filled);
  b.ready &= ~(1u << party);
  b.observed ^= 1u << party;
  state.lastItem[barrier * numRoles + party] =
      static_cast<uint8_t>(itemOf(state, role, op) + 1);
  if (op.slot >= 0) {
    uint8_t &waits = waitsOf(state, role, op);
    int period = 2 * protocol.channels[op.channel].slots;
    waits = static_cast<uint8_t>((waits + 1) % period);
  }
  join(state, holder, doneHolder(barrier));
  learn(state, observer, fact);
  return true;
}

bool Machine::arrive(MachineState &state, int role, const Instruction &op,
                     int barrier) {
  Lanes lanes = lanesOf(role, op);
  int fact = arriveFact[barrier][role];
  int slot = barrier / 2 - slotBase[op.channel];
  BarrierState &b = state.barriers[barrier];
  if (!knows(state, role, lanes == Lanes::One, fact))
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
  tell(state, pendingHolder(barrier), role, lanes);
  b.arrived |= 1u << role;
  b.pending -= op.count;
  return b.pending || b.expected != b.copied || complete(state, barrier);
}

bool Machine::complete(MachineState &state, int barrier) {
  BarrierState &b = state.barriers[barrier];
  int channel = channelOfSlot[barrier / 2];
  const Channel &ring = protocol.channels[channel];
  bool full = barrier % 2 == 0;
  for (int role = 0; role < numRoles; ++role) {
    int fact = observeFact[barrier][role];
    if (fact < 0 || (full && partyOf(channel, role) != role))
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
  b.pending = full ? ring.fullCount : ring.emptyCount;
  return true;
}

bool Machine::meet(MachineState &state, int role, const Instruction &op,
                   int &next) {
  NamedState &named = state.named[op.barrier];
  const std::string &name = protocol.barriers[op.barrier].name;
  Lanes lanes = lanesOf(role, op);
  if (named.count && named.count != op.count)
    return fail(Property::NamedBarrier,
                quoted(role) + " arrives at the named barrier '" + name +
                    "' with the count " + std::to_string(op.count) +
                    ", others with " + std::to_string(named.count),
                role, op.site, -1, -1, op.barrier);
  int fact = namedFact[op.barrier][role];
  if (!knows(state, role, lanes == Lanes::One, fact))
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
  tell(state, namedHolder(op.barrier), role, lanes);
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

} // namespace tracea::analysis
