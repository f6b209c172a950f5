//===- Declarations.cpp - Rings and registers that a kernel declares ----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

using namespace mlir;
using namespace mlir::tracea;
namespace ta = ::tracea::analysis;
using ta::Property;

void Assembler::declareChannels() {
  for (const BarrierArray &array : arrays) {
    if (array.channel >= static_cast<int>(result.protocol.channels.size())) {
      result.protocol.channels.resize(array.channel + 1);
      result.channels.resize(array.channel + 1);
    }
    ta::Channel &channel = result.protocol.channels[array.channel];
    channel.name = "ring " + std::to_string(array.channel);
    channel.slots = array.slots;
    (array.full ? channel.producers : channel.consumers) |= array.arrivers;
    (array.full ? channel.consumers : channel.producers) |= array.waiters;
    auto it = inits.find(array.base);
    if (it != inits.end() && (array.full || !result.channels[array.channel]))
      result.channels[array.channel] = it->second.op;
  }
  for (ta::Channel &channel : result.protocol.channels) {
    channel.fullCount = llvm::popcount(channel.producers);
    channel.emptyCount = llvm::popcount(channel.consumers);
    channel.readers.clear();
    channel.parts = 0;
  }
  for (const BarrierArray &array : arrays) {
    ta::Channel &channel = result.protocol.channels[array.channel];
    (array.full ? channel.fullCount : channel.emptyCount) =
        static_cast<int>(array.count);
  }
  for (ta::Channel &channel : result.protocol.channels)
    channel.inTurns = channel.emptyCount == 1 && passTurns(channel.consumers);
}

/// Whether each of several roles arrives at a named barrier that another one
/// waits at: where an item has one reader, they say whose turn it is. What is
/// taken for turns and is none fails the check.
bool Assembler::passTurns(uint32_t roles) const {
  if (llvm::popcount(roles) < 2)
    return false;
  auto barriersOf = [&](unsigned role, Event::Kind kind) {
    llvm::SmallDenseSet<int64_t> found;
    for (const Event &event : programs[role].events)
      if (event.kind == kind)
        found.insert(event.id);
    return found;
  };
  for (unsigned role = 0; role < programs.size(); ++role) {
    if (!(roles >> role & 1))
      continue;
    bool passes = false;
    for (int64_t barrier : barriersOf(role, Event::NamedArrive))
      for (unsigned other = 0; other < programs.size(); ++other)
        passes |= other != role && (roles >> other & 1) &&
                  barriersOf(other, Event::NamedSync).contains(barrier);
    if (!passes)
      return false;
  }
  return true;
}

/// Registers move between warpgroups within what the block got at launch.
void Assembler::budgetRegisters() {
  int64_t blocks = context.target.getBlocksAtOnce(context.kernel);
  int64_t launched = std::min<int64_t>(
      options.registerFile / (blocks * context.threads) / 8 * 8, 255);
  bool budgets = false;
  llvm::DenseMap<unsigned, std::pair<int64_t, Operation *>> groups;
  for (auto [number, program] : llvm::enumerate(programs)) {
    if (program.isPeer)
      continue;
    int64_t registers = launched;
    Operation *last = nullptr;
    for (const Event &event : program.events)
      if (event.kind == Event::Registers) {
        registers = event.count;
        last = event.op;
        budgets = true;
        if (registers < 24 || registers > 256 || registers % 8)
          fault(Property::Roles,
                "a budget of " + Twine(registers) +
                    " registers is not a multiple of 8 from 24 to 256",
                event.op);
      }
    auto [it, inserted] = groups.try_emplace(program.threads.first / 128,
                                             std::pair{registers, last});
    if (!inserted && it->second.first != registers)
      fault(Property::Roles, "warps of one warpgroup have different budgets",
            last ? last : it->second.second);
    result.protocol.roles[number].registers = static_cast<int>(registers);
  }
  if (!budgets)
    return;
  result.protocol.registerFile = launched * context.threads;
  int64_t sum = 0;
  Operation *most = nullptr;
  int64_t largest = 0;
  for (const ta::Role &role : result.protocol.roles)
    sum += int64_t(role.threads) * role.registers;
  for (auto &[group, budget] : groups)
    if (budget.second && budget.first > largest) {
      largest = budget.first;
      most = budget.second;
    }
  if (sum > result.protocol.registerFile)
    fault(Property::Roles,
          "the budgets of all warps are " + Twine(sum) +
              " registers, the block got " +
              Twine(result.protocol.registerFile) + " at launch",
          most);
}
