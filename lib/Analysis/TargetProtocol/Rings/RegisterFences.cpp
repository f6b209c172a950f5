//===- RegisterFences.cpp - Registers that multiplies take over -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Multiplies of a warpgroup access registers by themselves. `wgmma.fence` lies
// between the first of them, or what other instructions do to their registers,
// and the multiply that takes these registers next. It is one bit for each set
// of registers, on every path.

#include "Assembler.h"

using namespace mlir;
using namespace mlir::tracea;
using ::tracea::analysis::Property;

namespace {
/// Who has touched a set of registers since the last fence.
constexpr int kNobody = -1, kStart = -2;

using State = std::vector<int>;
} // namespace

/// Adds what is known on another path; whether that is new.
static bool join(State &into, const State &from) {
  bool changed = into.empty() && !from.empty();
  if (changed)
    into.assign(from.size(), kNobody);
  for (size_t i = 0; i < from.size(); ++i)
    if (into[i] == kNobody && from[i] != kNobody) {
      into[i] = from[i];
      changed = true;
    }
  return changed;
}

static void step(State &state, const Event &event, int at) {
  if (event.kind == Event::FenceRegisters)
    state.assign(state.size(), kNobody);
  if (event.kind == Event::TouchRegisters)
    state[event.number] = at;
}

void Assembler::checkRegisterFences() {
  for (const RoleProgram &program : programs) {
    const std::vector<Event> &events = program.events;
    if (llvm::none_of(events, [](const Event &event) {
          return event.kind == Event::FeedRegisters;
        }))
      continue;
    std::vector<State> before(events.size());
    before[0].assign(context.accumulators.numRegisters(), kStart);
    std::vector<size_t> work = {0};
    while (!work.empty()) {
      size_t at = work.back();
      work.pop_back();
      const Event &event = events[at];
      State state = before[at];
      step(state, event, static_cast<int>(at));
      auto flow = [&](size_t to) {
        if (to < events.size() && join(before[to], state))
          work.push_back(to);
      };
      if (event.target >= 0)
        flow(event.target);
      if (event.kind != Event::Jump && event.kind != Event::Exit)
        flow(at + 1);
    }
    for (auto [at, event] : llvm::enumerate(events)) {
      if (event.kind != Event::FeedRegisters || before[at].empty())
        continue;
      int touched = before[at][event.number];
      if (touched == kStart)
        fault(Property::PendingValue,
              "it multiplies before any 'wgmma.fence': the registers that it "
              "takes may still be written",
              event.op);
      else if (touched != kNobody)
        fault(Property::PendingValue,
              "no 'wgmma.fence' lies between another access to registers that "
              "it takes and this multiply",
              event.op, events[touched].op, "they are accessed here");
    }
  }
}
