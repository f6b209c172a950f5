//===- TimelineText.cpp - One run of a protocol as text -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Explain/Timeline.h"

#include <algorithm>
#include <map>

using namespace tracea::explain;

static std::string padded(const std::string &text, size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ')
                             : text;
}

static std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string tracea::explain::timelineText(const Timeline &timeline,
                                          int columnsOfBand) {
  if (timeline.columns == 0)
    return "nobody waits for anybody\n";
  std::map<std::pair<int, int>, std::string> cells;
  size_t cell = 5;
  for (const TimelineEvent &event : timeline.events) {
    cells[{event.role, event.column}] = event.label;
    cell = std::max(cell, event.label.size());
  }
  for (size_t role = 0; role < timeline.blocked.size(); ++role)
    for (int column : timeline.blocked[role])
      cells.emplace(std::make_pair(static_cast<int>(role), column), "...");
  // What each slot holds in each column.
  std::map<std::pair<int, int>, std::string> slots;
  for (const TimelineSpan &span : timeline.spans) {
    std::string &line = slots[{span.channel, span.slot}];
    line.resize(timeline.columns, ' ');
    std::fill(line.begin() + span.begin, line.begin() + span.end,
              span.kind == TimelineSpan::Filling ? '+'
              : span.kind == TimelineSpan::Full  ? '='
                                                 : '#');
  }
  size_t head = 6;
  for (const std::string &role : timeline.roles)
    head = std::max(head, role.size());
  std::string text = "one run with " + std::to_string(timeline.iterations) +
                     " iterations of each loop" +
                     (timeline.isComplete ? "" : ", its beginning") + ": ";
  for (const Timeline::Ring &ring : timeline.rings)
    text += (&ring == &timeline.rings.front() ? "" : ", ") + ring.letter +
            " = " + ring.name;
  text += "; ... is waiting; + filled, = full, # read\n";
  for (int first = 0; first < timeline.columns; first += columnsOfBand) {
    int last = std::min(first + columnsOfBand, timeline.columns);
    std::string line = padded("column", head);
    for (int column = first; column < last; ++column)
      line += " | " + padded(std::to_string(column), cell);
    text += trimmed(line);
    for (size_t role = 0; role < timeline.roles.size(); ++role) {
      line = padded(timeline.roles[role], head);
      for (int column = first; column < last; ++column) {
        auto at = cells.find({static_cast<int>(role), column});
        line += " | " + padded(at == cells.end() ? "" : at->second, cell);
      }
      text += trimmed(line);
    }
    for (size_t channel = 0; channel < timeline.rings.size(); ++channel)
      for (int slot = 0; slot < timeline.rings[channel].slots; ++slot) {
        line = padded(
            "  " + timeline.rings[channel].letter + std::to_string(slot), head);
        const std::string &states = slots[{static_cast<int>(channel), slot}];
        for (int column = first; column < last; ++column) {
          char state =
              column < static_cast<int>(states.size()) ? states[column] : ' ';
          line += " | " + std::string(cell, state);
        }
        text += trimmed(line);
      }
    if (last < timeline.columns)
      text += "\n";
  }
  return text;
}
