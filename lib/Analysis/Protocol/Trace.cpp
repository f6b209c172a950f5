//===- Trace.cpp - Findings and their runs ------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machine.h"

#include <algorithm>
#include <utility>

namespace tracea::analysis {

bool Machine::fail(Property property, std::string message, int role, Site site,
                   int channel, int slot, int barrier) {
  finding.emplace();
  finding->property = property;
  finding->message = std::move(message);
  finding->role = role;
  finding->site = site;
  finding->channel = channel;
  if (tracing)
    slice(channel, slot, barrier);
  return false;
}

void Machine::record(MachineState &state, int role, const Instruction &op,
                     int slot, bool more) {
  if (op.step == Step::Jump || op.step == Step::CloseGroup ||
      op.step == Step::Advance || op.step == Step::Move ||
      op.step == Step::Start || op.step == Step::Set || op.step == Step::Test ||
      op.step == Step::Converge)
    return;
  Recorded event;
  event.step = op.step;
  event.channel = op.channel;
  event.slot = slot;
  event.barrier = op.barrier;
  event.event.role = role;
  event.event.site = op.site;
  std::string text = stepName(op.step);
  if (op.step == Step::Next) {
    uint8_t cursor = state.cursors[op.trip * numRoles + role];
    bool known = cursor < state.trips[op.trip].length;
    bool taken = known ? state.trips[op.trip].bits >> cursor & 1 : more;
    if (!known) {
      event.trip = op.trip;
      event.more = more;
    }
    text = "'" + protocol.trips[op.trip] + (taken ? "' goes on" : "' ends");
  } else if (slot >= 0) {
    text += " slot " + std::to_string(slot) + " of '" +
            protocol.channels[op.channel].name + "'";
  } else if (op.value >= 0) {
    text += " '" + protocol.roles[role].values[op.value] + "'";
  } else if (op.barrier >= 0) {
    text += " '" + protocol.barriers[op.barrier].name + "'";
  }
  event.event.text = text;
  events.push_back(event);
}

/// Keeps the events at the place in question, and each other role's last one
/// there as a note.
void Machine::slice(int channel, int slot, int barrier) {
  finding->length = static_cast<int64_t>(events.size());
  std::vector<std::vector<std::string>> counts(protocol.trips.size());
  std::vector<int> running(protocol.trips.size(), -1);
  std::vector<const Recorded *> kept;
  for (const Recorded &event : events) {
    if (event.trip >= 0) {
      int &count = running[event.trip];
      count = std::max(count, 0) + (event.more ? 1 : 0);
      if (!event.more) {
        counts[event.trip].push_back(std::to_string(count));
        count = -1;
      }
    }
    bool here = channel >= 0 && event.channel == channel &&
                (slot < 0 || event.slot == slot);
    here |= barrier >= 0 && event.barrier == barrier;
    // A value in flight: what its role starts and waits for.
    here |= finding->property == Property::PendingValue &&
            event.event.role == finding->role &&
            (event.step == Step::Issue || event.step == Step::WaitGroup ||
             event.step == Step::Use);
    if (here)
      kept.push_back(&event);
  }
  for (size_t trip = 0; trip < counts.size(); ++trip) {
    if (running[trip] >= 0)
      counts[trip].push_back(std::to_string(running[trip]) + " or more");
    if (counts[trip].empty())
      continue;
    if (counts[trip].size() > 4)
      counts[trip].erase(counts[trip].begin(), counts[trip].end() - 4);
    finding->trips += finding->trips.empty() ? "" : "; ";
    finding->trips += protocol.trips[trip] + " = ";
    for (size_t i = 0; i < counts[trip].size(); ++i)
      finding->trips += (i ? ", " : "") + counts[trip][i];
  }
  // The last event is the one that fails; it needs no note.
  if (finding->site == kNoSite && !kept.empty()) {
    finding->site = kept.back()->event.site;
    if (finding->role < 0)
      finding->role = kept.back()->event.role;
  }
  uint32_t seen = 0;
  for (size_t i = kept.size(); i-- > 0;) {
    int role = kept[i]->event.role;
    if (seen >> role & 1 || kept[i]->event.site == finding->site)
      continue;
    seen |= 1u << role;
    finding->notes.push_back({role, kept[i]->event.site,
                              "the last step of " + quoted(role) +
                                  " there: " + kept[i]->event.text});
  }
  size_t first = kept.size() > static_cast<size_t>(options.maxTrace)
                     ? kept.size() - options.maxTrace
                     : 0;
  for (size_t i = first; i < kept.size(); ++i)
    finding->trace.push_back(kept[i]->event);
}

} // namespace tracea::analysis
