//===- Structure.cpp - Places, facts and positions of a protocol --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machine.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tracea::analysis {

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
    if (channel.inTurns && (channel.producers & channel.consumers)) {
      reason = "a role fills ring '" + channel.name +
               "', whose items it also takes in turn with others";
      return;
    }
    slotBase.push_back(numSlots);
    bufferBase.push_back(numBuffers);
    initFact.push_back(fact());
    // What those who take items in turns do is one fact.
    auto ofParty = [&](const std::vector<int> &facts, int role) {
      int party = partyOf(static_cast<int>(c), role);
      return party < role && facts[party] >= 0 ? facts[party] : fact();
    };
    for (int slot = 0; slot < channel.slots; ++slot) {
      channelOfSlot.push_back(static_cast<int>(c));
      turnFact.push_back(channel.inTurns ? fact() : -1);
      for (int part = 0; part < channel.parts; ++part) {
        channelOfBuffer.push_back(static_cast<int>(c));
        fillFact.push_back(fact());
        std::vector<int> readers(numRoles, -1);
        for (int role = 0; role < numRoles; ++role)
          if (channel.readers[part] >> role & 1)
            readers[role] = ofParty(readers, role);
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
            arrives[role] = ofParty(arrives, role);
          if (observers >> role & 1)
            observes[role] = ofParty(observes, role);
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
      4 * numRoles + 2 * numBarriers + static_cast<int>(namedFact.size()) + 1;
  factWords = (numFacts + 63) / 64;
  setWords = std::max(1, (std::max(numBuffers, numSlots) + 63) / 64);

  size_t values = 0;
  int queues = 0;
  for (const Role &role : protocol.roles) {
    values = std::max(values, role.values.size());
    queueBase.push_back(queues * (kMaxGroups + 1));
    numQueues.push_back(0);
    for (const Instruction &op : role.code)
      if (op.step == Step::CloseGroup || op.step == Step::Issue || op.async)
        numQueues.back() = std::max(numQueues.back(), op.queue + 1);
    queues += numQueues.back();
    if (numQueues.back() > kMaxQueues && reason.empty())
      reason = "'" + role.name + "' has more than " +
               std::to_string(kMaxQueues) + " queues of asynchronous groups";
  }
  numGroups = queues * (kMaxGroups + 1);
  groupWords = std::max(1, (numBuffers + static_cast<int>(values) + 63) / 64);
  // One state of a large protocol would fill the memory.
  if ((int64_t(numHolders) * factWords + int64_t(numGroups) * groupWords) >
          (int64_t(1) << 21) &&
      reason.empty())
    reason = "the protocol has too many slots and roles";

  readersOfTrip.assign(protocol.trips.size(), 0);
  int positions = 0, variables = 0;
  for (int role = 0; role < numRoles; ++role) {
    positionBase.push_back(positions);
    positions += static_cast<int>(protocol.roles[role].positions.size());
    variableBase.push_back(variables);
    variables += static_cast<int>(protocol.roles[role].variables.size());
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
  for (size_t c = 0; c < protocol.channels.size(); ++c) {
    uint32_t acquire = 0, wait = 0;
    for (int role = 0; role < numRoles; ++role)
      for (const Instruction &op : protocol.roles[role].code) {
        if (op.channel != static_cast<int>(c))
          continue;
        if (op.step == Step::Acquire)
          acquire |= 1u << role;
        if (op.step == Step::Wait)
          wait |= 1u << role;
      }
    const Channel &channel = protocol.channels[c];
    countsItems.push_back(acquire == channel.producers &&
                          wait == channel.consumers);
  }
  for (const Role &role : protocol.roles) {
    plans.emplace_back();
    for (size_t i = 0; i < role.expressions.size(); ++i) {
      std::vector<int> &plan = plans.back().emplace_back();
      const Expression &expression = role.expressions[i];
      for (int n = 0; n < numOperands(expression.op); ++n) {
        const std::vector<int> &needed = plans.back()[expression.operands[n]];
        std::vector<int> both;
        std::set_union(plan.begin(), plan.end(), needed.begin(), needed.end(),
                       std::back_inserter(both));
        plan = std::move(both);
      }
      plan.push_back(static_cast<int>(i));
    }
  }
  checkLoops();
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

/// A cycle that reads no decision may run for ever without a choice.
void Machine::checkLoops() {
  for (const Role &role : protocol.roles) {
    // Depth first: 0 unseen, 1 on the path, 2 done.
    std::vector<uint8_t> mark(role.code.size());
    std::vector<std::pair<int, int>> path;
    for (size_t root = 0; root < role.code.size(); ++root) {
      if (mark[root])
        continue;
      path.push_back({static_cast<int>(root), 0});
      mark[root] = 1;
      while (!path.empty()) {
        auto [pc, edge] = path.back();
        ++path.back().second;
        const Instruction &op = role.code[pc];
        bool ends = op.step == Step::Exit || op.step == Step::Next;
        int to = op.step == Step::Jump || edge > 0 ? op.target : pc + 1;
        int edges = op.step == Step::Test ? 2 : 1;
        if (edge >= edges || ends || to >= static_cast<int>(role.code.size())) {
          mark[pc] = 2;
          path.pop_back();
          continue;
        }
        if (mark[to] == 1 && reason.empty())
          reason = "'" + role.name + "' has a loop that nothing ends";
        if (!mark[to]) {
          mark[to] = 1;
          path.push_back({to, 0});
        }
      }
    }
  }
}

/// Backward over each program: states that differ only in positions that are
/// never used again are one state.
void Machine::computeLiveness() {
  live.resize(numRoles);
  for (int r = 0; r < numRoles; ++r) {
    const Role &role = protocol.roles[r];
    int positions = static_cast<int>(role.positions.size());
    int words = (positions + static_cast<int>(role.variables.size()) + 63) / 64;
    // The variables that each expression reads.
    std::vector<std::vector<uint64_t>> reads;
    for (const Expression &expression : role.expressions) {
      std::vector<uint64_t> set(words);
      if (expression.op == Operator::Variable)
        mark(set.data(), positions + static_cast<int>(expression.value), true);
      for (int i = 0; i < numOperands(expression.op); ++i)
        for (int w = 0; w < words; ++w)
          set[w] |= reads[expression.operands[i]][w];
      reads.push_back(std::move(set));
    }
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
        if (op.step == Step::Next || op.step == Step::Jump ||
            op.step == Step::Test)
          from(op.target);
        if (op.variable >= 0)
          mark(now.data(), positions + op.variable, false);
        for (int expression : {op.slot, op.parity, op.expression})
          if (expression >= 0)
            for (int w = 0; w < words; ++w)
              now[w] |= reads[expression][w];
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
    for (size_t i = 0; i < protocol.roles[role].variables.size(); ++i)
      if (state.roles[role].exited ||
          !test(used.data(), static_cast<int>(count + i)))
        state.variables[variableBase[role] + i] = 0;
  }
}

} // namespace tracea::analysis
