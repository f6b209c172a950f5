//===- BarrierArrays.cpp - Which barriers make up a ring ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

#include <numeric>

using namespace mlir;
using namespace mlir::tracea;
using ::tracea::analysis::Property;

int64_t mlir::tracea::strideOf(const Linear &address) {
  int64_t stride = 0;
  for (auto [symbol, coefficient] : address.terms)
    stride = std::gcd(stride, coefficient);
  return stride;
}

static bool usesBarrier(const Event &event) {
  return event.kind == Event::Arrive || event.kind == Event::Wait ||
         event.kind == Event::Copy;
}

/// Whether the event is in a loop, from whose end the program jumps back.
static bool isRepeated(const RoleProgram &program, size_t number) {
  for (size_t at = number + 1; at < program.events.size(); ++at) {
    const Event &event = program.events[at];
    if (event.kind == Event::Jump && event.target <= static_cast<int>(number))
      return true;
  }
  return false;
}

void Assembler::findArrays() {
  // A barrier that a variable selects is one of an array; what is selected
  // when all variables are zero is its first.
  std::map<int64_t, std::pair<int64_t, Operation *>> bases, constants;
  // Slots that the variables reach.
  std::map<int64_t, int> reached;
  for (const RoleProgram &program : programs)
    for (const Event &event : program.events) {
      if (event.kind == Event::BarrierInit) {
        Init &init = inits[event.barrier.constant];
        if (init.op || isRepeated(program, &event - &program.events[0]))
          fault(Property::Initialization,
                "the barrier at byte " + Twine(event.barrier.constant) +
                    " is initialised more than once (Rule A)",
                event.op, init.op ? init.op : event.op,
                "the other one is here");
        init.count = event.count;
        init.op = event.op;
        if (event.lanes != LaneSet::One)
          fault(Property::Initialization,
                "several threads initialise the barrier at byte " +
                    Twine(event.barrier.constant) + " (Rule A)",
                event.op);
      }
      if (!usesBarrier(event))
        continue;
      int64_t stride = strideOf(event.barrier);
      auto &table = stride ? bases : constants;
      table.try_emplace(event.barrier.constant, std::pair{stride, event.op});
      int &slots = reached[event.barrier.constant];
      if (stride)
        slots =
            std::max(slots, slotsOf(program, event.barrier, std::abs(stride)));
    }
  for (auto [base, info] : bases) {
    BarrierArray array;
    array.base = base;
    array.stride = std::abs(info.first);
    array.op = info.second;
    array.slots = 0;
    while (
        array.slots < reached[base] &&
        inits.count(base + array.slots * array.stride) &&
        (array.slots == 0 || !bases.count(base + array.slots * array.stride)))
      ++array.slots;
    if (array.slots == 0) {
      fault(Property::Initialization,
            "the barrier at byte " + Twine(base) +
                " is never initialised (Rule A)",
            info.second);
      array.slots = 1;
    }
    if (array.slots > 100)
      context.undecided(info.second, "more than 100 barriers in a ring");
    arrays.push_back(array);
  }
  for (auto [address, info] : constants) {
    Linear linear;
    linear.constant = address;
    if (arrayOf(linear) >= 0)
      continue;
    BarrierArray array;
    array.base = address;
    array.op = info.second;
    if (!inits.count(address))
      fault(Property::Initialization,
            "the barrier at byte " + Twine(address) +
                " is never initialised (Rule A)",
            info.second);
    arrays.push_back(array);
  }
  for (BarrierArray &array : arrays) {
    Operation *first = nullptr;
    for (int slot = 0; slot < array.slots; ++slot) {
      auto it = inits.find(array.base + slot * array.stride);
      if (it == inits.end())
        continue;
      if (first && it->second.count != array.count)
        fault(Property::ArrivalCount,
              "slot " + Twine(slot) + " of a ring counts " +
                  Twine(it->second.count) + " arrivals, others " +
                  Twine(array.count),
              it->second.op, first, "another slot is initialised here");
      array.count = it->second.count;
      first = it->second.op;
    }
  }
  for (auto [number, program] : llvm::enumerate(programs))
    for (const Event &event : program.events) {
      if (!usesBarrier(event))
        continue;
      BarrierArray &array = arrays[arrayOf(event.barrier)];
      if (event.kind == Event::Wait)
        array.waiters |= 1u << number;
      if (event.kind == Event::Arrive)
        array.arrivers |= 1u << number;
      array.counted |= event.kind == Event::Copy || event.bytes > 0;
    }
}

/// The array that a barrier is in, or -1.
int Assembler::arrayOf(const Linear &barrier) const {
  for (auto [number, array] : llvm::enumerate(arrays)) {
    int64_t distance = barrier.constant - array.base;
    if (!barrier.terms.empty()
            ? distance == 0
            : distance >= 0 && distance < array.slots * array.stride &&
                  distance % array.stride == 0)
      return static_cast<int>(number);
  }
  return -1;
}

/// The parity of the first wait at a ring, if a straight run tells.
std::optional<int64_t> Assembler::firstParity(int number) const {
  for (const RoleProgram &program : programs) {
    std::vector<uint64_t> values(program.variables.size());
    for (const Event &event : program.events) {
      auto evaluate = [&](auto &self, const Symbol *symbol) -> uint64_t {
        if (symbol->kind == Symbol::Walk)
          return values[symbol->value];
        if (symbol->kind != Symbol::Apply)
          return symbol->value;
        uint64_t operands[3] = {}, result = 0;
        for (unsigned i = 0; i < symbol->numOperands; ++i)
          operands[i] = self(self, symbol->operands[i]);
        ::tracea::analysis::applyOperator(symbol->op, symbol->bits, operands,
                                          result);
        return result;
      };
      if (event.kind == Event::Set)
        values[event.number] = evaluate(evaluate, event.expression);
      if (event.kind == Event::Wait && arrayOf(event.barrier) == number)
        return evaluate(evaluate, event.expression) & 1;
    }
  }
  return std::nullopt;
}

/// Barriers say that a slot is full, or that it is empty: those that copies
/// complete on are full; the others are the empty ones of a ring with which
/// they exchange arrivers and waiters, or start with the parity that passes.
void Assembler::pairArrays() {
  for (auto [number, array] : llvm::enumerate(arrays)) {
    array.full = array.counted;
    if (!array.counted)
      array.full = firstParity(number).value_or(0) == 0;
  }
  int channels = 0;
  auto fits = [&](const BarrierArray &full, const BarrierArray &empty) {
    return full.slots == empty.slots && full.arrivers == empty.waiters &&
           full.waiters == empty.arrivers && empty.channel < 0 &&
           !empty.counted;
  };
  // Among several, the one waited for last before the slot is filled.
  auto distance = [&](int full, int empty) {
    for (const RoleProgram &program : programs) {
      int64_t waited = -1;
      for (auto [at, event] : llvm::enumerate(program.events)) {
        if (event.kind == Event::Wait && arrayOf(event.barrier) == empty)
          waited = at;
        if (event.kind == Event::Arrive && arrayOf(event.barrier) == full &&
            waited >= 0)
          return static_cast<int64_t>(at) - waited;
      }
    }
    return INT64_MAX;
  };
  for (bool counted : {true, false})
    for (auto [number, array] : llvm::enumerate(arrays)) {
      if (array.channel >= 0 || !array.full || array.counted != counted)
        continue;
      int best = -1;
      int64_t nearest = INT64_MAX;
      for (auto [other, empty] : llvm::enumerate(arrays)) {
        if (other == number || !fits(array, empty) || (!counted && empty.full))
          continue;
        int64_t far = distance(number, other);
        if (best < 0 || far < nearest) {
          best = other;
          nearest = far;
        }
      }
      array.channel = channels;
      if (best >= 0) {
        arrays[best].channel = channels;
        arrays[best].full = false;
      }
      ++channels;
    }
  for (BarrierArray &array : arrays)
    if (array.channel < 0)
      array.channel = channels++;
}
