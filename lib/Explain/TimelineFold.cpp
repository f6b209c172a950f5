//===- TimelineFold.cpp - The steady state of a run, once -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A persistent kernel does the same for every tile, and for every step of a
// tile, but in other slots of its rings. Two columns are alike when the roles
// take the same steps, and turning each ring by some number of slots makes the
// slots of the one those of the other. A stretch is left out where all of its
// columns are like those one period earlier, by the same turns.
//
//===----------------------------------------------------------------------===//

#include "tracea/Explain/Timeline.h"

#include <algorithm>
#include <cstdint>

using namespace tracea::explain;

namespace {
/// Leaving out less is not worth the words that say so.
constexpr int kLeastLeftOut = 6;
/// Turns of larger rings are not looked for.
constexpr int kMostSlots = 64;

/// [begin, begin + period) comes `repeats` times in all.
struct SteadyState {
  int begin = 0, period = 0, repeats = 1;
  int leftOut() const { return period * (repeats - 1); }
};

class Folder {
public:
  explicit Folder(const Timeline &timeline);
  void fold(int begin, int end);

  std::vector<TimelinePiece> pieces;

private:
  SteadyState findSteadyState(int begin, int end) const;
  uint64_t turnsOf(size_t ring, int column, int other) const;

  /// The steps of all roles in each column, without the slots, by which columns
  /// are compared.
  std::vector<std::string> steps;
  /// What a slot holds, and who does what with it: [ring][slot][column].
  std::vector<std::vector<std::vector<std::string>>> slots;
};
} // namespace

Folder::Folder(const Timeline &timeline) : steps(timeline.columns) {
  for (const Timeline::Ring &ring : timeline.rings)
    slots.emplace_back(ring.slots, std::vector<std::string>(timeline.columns));
  for (const TimelineEvent &event : timeline.events) {
    std::string role = std::to_string(event.role) + ":";
    if (event.slot < 0) {
      steps[event.column] += role + event.label + ";";
      continue;
    }
    std::string step = role + std::to_string(static_cast<int>(event.step)) +
                       "/" + std::to_string(event.channel) + ";";
    steps[event.column] += step;
    slots[event.channel][event.slot][event.column] += step;
  }
  for (size_t role = 0; role < timeline.blocked.size(); ++role)
    for (int column : timeline.blocked[role])
      steps[column] += std::to_string(role) + ":waits;";
  for (const TimelineSpan &span : timeline.spans)
    for (int column = span.begin; column < span.end; ++column)
      slots[span.channel][span.slot][column] +=
          static_cast<char>('0' + span.kind);
}

/// The turns of a ring that make its slots in `column` those in `other`, a bit
/// each.
uint64_t Folder::turnsOf(size_t ring, int column, int other) const {
  const std::vector<std::vector<std::string>> &cells = slots[ring];
  size_t count = cells.size();
  uint64_t turns = 0;
  for (size_t turn = 0; turn < count && turn < kMostSlots; ++turn) {
    bool isAlike = true;
    for (size_t slot = 0; slot < count && isAlike; ++slot)
      isAlike = cells[slot][column] == cells[(slot + turn) % count][other];
    turns |= uint64_t(isAlike) << turn;
  }
  return turns;
}

/// What leaves out most; of two that leave out about as much, the one with the
/// shorter period.
SteadyState Folder::findSteadyState(int begin, int end) const {
  SteadyState best;
  for (int period = 1; 2 * period <= end - begin; ++period) {
    int first = begin;
    std::vector<uint64_t> turns(slots.size(), ~uint64_t(0));
    for (int column = begin; column + period <= end; ++column) {
      bool isAlike =
          column + period < end && steps[column] == steps[column + period];
      for (size_t ring = 0; ring < slots.size() && isAlike; ++ring) {
        turns[ring] &= turnsOf(ring, column, column + period);
        isAlike = turns[ring] != 0;
      }
      if (isAlike)
        continue;
      SteadyState found{first, period, 1 + (column - first) / period};
      if (found.leftOut() * 10 > best.leftOut() * 11)
        best = found;
      first = column + 1;
      turns.assign(slots.size(), ~uint64_t(0));
    }
  }
  return best;
}

void Folder::fold(int begin, int end) {
  SteadyState steady = findSteadyState(begin, end);
  if (steady.leftOut() < kLeastLeftOut) {
    if (begin < end)
      pieces.push_back({begin, end, 0, 0});
    return;
  }
  int once = steady.begin + steady.period;
  fold(begin, steady.begin);
  fold(steady.begin, once);
  // A stretch inside may itself repeat up to here: then its words come first.
  if (pieces.back().repeats)
    pieces.push_back({once, once, 0, 0});
  pieces.back().repeats = steady.repeats - 1;
  pieces.back().repeatsFrom = steady.begin;
  fold(steady.begin + steady.period * steady.repeats, end);
}

std::vector<TimelinePiece>
tracea::explain::foldTimeline(const Timeline &timeline, int shownWhole) {
  if (timeline.columns <= shownWhole)
    return {{0, timeline.columns, 0, 0}};
  Folder folder(timeline);
  folder.fold(0, timeline.columns);
  return std::move(folder.pieces);
}

std::string tracea::explain::describeRepeats(const TimelinePiece &piece) {
  if (!piece.repeats)
    return "";
  return "columns " + std::to_string(piece.repeatsFrom) + " to " +
         std::to_string(piece.end - 1) + " come " +
         std::to_string(piece.repeats) + " more time" +
         (piece.repeats > 1 ? "s" : "") + ", in the slots that follow";
}
