//===- TimelineText.cpp - One run of a protocol as text -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Explain/Timeline.h"

#include <algorithm>
#include <functional>
#include <map>

using namespace tracea::explain;

/// A run of up to so many bands is shown as it is.
static constexpr int kBandsShownWhole = 4;

static std::string padded(const std::string &text, size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ')
                             : text;
}

static std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

namespace {
/// The cells of a table: what roles do, and what slots hold.
class Table {
public:
  explicit Table(const Timeline &timeline);
  std::string band(int first, int last);

private:
  std::string row(const std::string &head, int first, int last,
                  const std::function<std::string(int)> &cellAt) const;

  const Timeline &timeline;
  /// [role, column].
  std::map<std::pair<int, int>, std::string> cells;
  /// [ring, slot], a character a column.
  std::map<std::pair<int, int>, std::string> slots;
  size_t headWidth = 6, cellWidth = 5;
};
} // namespace

Table::Table(const Timeline &timeline) : timeline(timeline) {
  for (const TimelineEvent &event : timeline.events) {
    cells[{event.role, event.column}] = event.label;
    cellWidth = std::max(cellWidth, event.label.size());
  }
  for (size_t role = 0; role < timeline.blocked.size(); ++role)
    for (int column : timeline.blocked[role])
      cells.emplace(std::make_pair(static_cast<int>(role), column), "...");
  for (const TimelineSpan &span : timeline.spans) {
    std::string &line = slots[{span.channel, span.slot}];
    line.resize(timeline.columns, ' ');
    std::fill(line.begin() + span.begin, line.begin() + span.end,
              span.kind == TimelineSpan::Filling ? '+'
              : span.kind == TimelineSpan::Full  ? '='
                                                 : '#');
  }
  for (const std::string &role : timeline.roles)
    headWidth = std::max(headWidth, role.size());
}

std::string Table::row(const std::string &head, int first, int last,
                       const std::function<std::string(int)> &cellAt) const {
  std::string line = padded(head, headWidth);
  for (int column = first; column < last; ++column)
    line += " | " + padded(cellAt(column), cellWidth);
  return trimmed(line);
}

std::string Table::band(int first, int last) {
  std::string text = row("column", first, last,
                         [](int column) { return std::to_string(column); });
  for (size_t role = 0; role < timeline.roles.size(); ++role)
    text += row(timeline.roles[role], first, last, [&](int column) {
      auto at = cells.find({static_cast<int>(role), column});
      return at == cells.end() ? std::string() : at->second;
    });
  for (size_t ring = 0; ring < timeline.rings.size(); ++ring)
    for (int slot = 0; slot < timeline.rings[ring].slots; ++slot) {
      std::string &states = slots[{static_cast<int>(ring), slot}];
      states.resize(timeline.columns, ' ');
      text += row("  " + timeline.rings[ring].letter + std::to_string(slot),
                  first, last, [&](int column) {
                    return std::string(cellWidth, states[column]);
                  });
    }
  return text;
}

std::string tracea::explain::timelineText(const Timeline &timeline,
                                          int columnsOfBand) {
  if (timeline.columns == 0)
    return "nobody waits for anybody\n";
  std::string text = "one run with " + std::to_string(timeline.iterations) +
                     " iterations of each loop" +
                     (timeline.isComplete ? "" : ", its beginning") + ": ";
  for (const Timeline::Ring &ring : timeline.rings)
    text += (&ring == &timeline.rings.front() ? "" : ", ") + ring.letter +
            " = " + ring.name;
  text += "; ... is waiting; + filled, = full, # read\n";
  Table table(timeline);
  for (const TimelinePiece &piece :
       foldTimeline(timeline, columnsOfBand * kBandsShownWhole)) {
    for (int first = piece.begin; first < piece.end; first += columnsOfBand)
      text += (first > 0 ? "\n" : "") +
              table.band(first, std::min(first + columnsOfBand, piece.end));
    if (piece.repeats)
      text += describeRepeats(piece) + "\n";
  }
  return text;
}
