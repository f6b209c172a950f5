//===- TimelineSvg.cpp - One run of a protocol as a drawing ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The run is wrapped into bands below each other, so that a drawing is as wide
// as a screen, and its steady state is there once: a cell between two columns
// says how often those before it come again.
//
//===----------------------------------------------------------------------===//

#include "tracea/Explain/Svg.h"
#include "tracea/Explain/Timeline.h"

#include <algorithm>

using namespace tracea::explain;

namespace {
constexpr double kLeft = 12, kTop = 64, kRow = 26, kSlot = 16, kRingGap = 10,
                 kRolesGap = 14, kBandGap = 24;
/// The width of a drawing: what a screen shows side by side, in pixels.
constexpr double kWidth = 1600;
/// A run of up to so many bands is shown as it is.
constexpr int kBandsShownWhole = 2;

/// Columns side by side in one band.
struct Stretch {
  int begin = 0, end = 0;
  /// Cells of the band before them.
  int cell = 0;
};

class Drawing {
public:
  explicit Drawing(const Timeline &timeline);
  std::string draw();

private:
  void nextBand();
  void drawNames();
  void drawPiece(const TimelinePiece &piece);
  void drawRepeats(const TimelinePiece &piece);
  void drawRoles(const Stretch &at);
  void drawSlots(const Stretch &at);
  double x(const Stretch &at, int column) const {
    return kLeft + head + (at.cell + column - at.begin) * cell;
  }
  double topOf(int ring, int slot) const {
    return top + double(timeline.roles.size()) * kRow + kRolesGap +
           double(firstSlot[ring] + slot) * kSlot + ring * kRingGap;
  }
  Color colorOf(int ring, int slot) const {
    return paleColor(firstSlot[ring] + slot, numSlots);
  }

  const Timeline &timeline;
  Svg svg;
  double head = 0, cell = 46;
  int cellsOfBand = 0;
  /// Where the band begins, and how many of its cells are taken.
  double top = kTop;
  int taken = 0;
  std::vector<size_t> firstSlot;
  size_t numSlots = 0;
};
} // namespace

Drawing::Drawing(const Timeline &timeline) : timeline(timeline) {
  for (const std::string &role : timeline.roles)
    head = std::max(head, textWidth(role, 12) + 20);
  for (const Timeline::Ring &ring : timeline.rings) {
    head = std::max(head, textWidth(ring.letter + "0  " + ring.name) + 20);
    firstSlot.push_back(numSlots);
    numSlots += ring.slots;
  }
  for (const TimelineEvent &event : timeline.events)
    cell = std::max(cell, textWidth(event.label, 10) + 8);
}

/// What stands at the left of a band, and its lines.
void Drawing::drawNames() {
  double right = kLeft + head + cellsOfBand * cell;
  for (size_t role = 0; role < timeline.roles.size(); ++role) {
    double y = top + double(role) * kRow;
    svg.text(kLeft, y + kRow / 2 + 4, timeline.roles[role],
             {12, kBlack, "start", true});
    svg.line(kLeft, y + kRow, right, y + kRow, kLight);
  }
  for (size_t ring = 0; ring < timeline.rings.size(); ++ring)
    for (int slot = 0; slot < timeline.rings[ring].slots; ++slot) {
      double y = topOf(ring, slot);
      svg.text(kLeft, y + kSlot - 4,
               timeline.rings[ring].letter + std::to_string(slot) +
                   (slot == 0 ? "  " + timeline.rings[ring].name : ""),
               {11, kGray});
      svg.line(kLeft + head, y + kSlot / 2, right, y + kSlot / 2, kLight);
    }
}

void Drawing::drawRoles(const Stretch &at) {
  for (size_t role = 0; role < timeline.roles.size(); ++role)
    for (int column : timeline.blocked[role])
      if (column >= at.begin && column < at.end) {
        double y = top + double(role) * kRow + kRow / 2;
        svg.line(x(at, column) + 4, y, x(at, column + 1) - 4, y, kLine, 1,
                 /*dashed=*/true);
      }
  for (const TimelineEvent &event : timeline.events) {
    if (event.column < at.begin || event.column >= at.end)
      continue;
    double y = top + event.role * kRow + 3, left = x(at, event.column);
    svg.beginHint("column " + std::to_string(event.column) + ": " +
                  timeline.roles[event.role] + ": " + event.label);
    svg.box(left + 1, y, cell - 2, kRow - 6,
            event.slot < 0 ? Color(kLight)
                           : colorOf(event.channel, event.slot));
    svg.text(left + cell / 2, y + kRow / 2 + 1, event.label,
             {10, kBlack, "middle"});
    svg.endHint();
  }
}

void Drawing::drawSlots(const Stretch &at) {
  for (const TimelineSpan &span : timeline.spans) {
    int begin = std::max(span.begin, at.begin),
        end = std::min(span.end, at.end);
    if (begin >= end)
      continue;
    double y = topOf(span.channel, span.slot) + 2;
    double left = x(at, begin), width = (end - begin) * cell;
    bool isRead = span.kind == TimelineSpan::Read;
    svg.box(left + 1, y, width - 2, kSlot - 4,
            span.kind == TimelineSpan::Filling
                ? Color(kWhite)
                : colorOf(span.channel, span.slot),
            isRead ? kBlack : kLine, isRead ? 1.5 : 0.8);
    const char *word = span.kind == TimelineSpan::Filling ? "being filled"
                       : isRead                           ? "read"
                                                          : "full";
    if (textWidth(word, 9) < width - 4)
      svg.text(left + width / 2, y + kSlot - 7, word, {9, kBlack, "middle"});
  }
}

void Drawing::nextBand() {
  if (taken) {
    top = timeline.rings.empty()
              ? top + double(timeline.roles.size()) * kRow
              : topOf(static_cast<int>(timeline.rings.size()) - 1,
                      timeline.rings.back().slots);
    top += kBandGap;
  }
  taken = 0;
  drawNames();
}

void Drawing::drawRepeats(const TimelinePiece &piece) {
  if (taken == cellsOfBand)
    nextBand();
  double left = kLeft + head + taken * cell;
  svg.beginHint(describeRepeats(piece));
  svg.box(left + 3, top, cell - 6, double(timeline.roles.size()) * kRow, kWhite,
          kBlack, 0.8);
  svg.text(left + cell / 2, top + 12, std::to_string(piece.repeatsFrom) + "–",
           {10, kBlack, "middle"});
  svg.text(left + cell / 2, top + 24, std::to_string(piece.end - 1),
           {10, kBlack, "middle"});
  svg.text(left + cell / 2, top + 38, "× " + std::to_string(piece.repeats + 1),
           {11, kBlack, "middle", true});
  svg.endHint();
  ++taken;
}

void Drawing::drawPiece(const TimelinePiece &piece) {
  for (int begin = piece.begin; begin < piece.end;) {
    if (taken == cellsOfBand)
      nextBand();
    Stretch at{begin, std::min(begin + cellsOfBand - taken, piece.end), taken};
    for (int column = at.begin; column < at.end; ++column)
      if (column % 5 == 0 || column == at.begin)
        svg.text(x(at, column) + cell / 2, top - 4, std::to_string(column),
                 {9, kGray, "middle"});
    drawRoles(at);
    drawSlots(at);
    taken += at.end - at.begin;
    begin = at.end;
  }
  if (piece.repeats)
    drawRepeats(piece);
}

std::string Drawing::draw() {
  cellsOfBand = std::max(4, int((kWidth - 2 * kLeft - head) / cell));
  std::vector<TimelinePiece> pieces =
      foldTimeline(timeline, cellsOfBand * kBandsShownWhole);
  if (pieces.size() == 1)
    cellsOfBand = std::min(cellsOfBand, timeline.columns);
  svg.text(kLeft, 24, "Pipeline of " + timeline.name,
           {16, kBlack, "start", true});
  svg.text(kLeft, 42,
           "One run with " + std::to_string(timeline.iterations) +
               " iterations of each loop" +
               (timeline.isComplete ? "" : ", its beginning") +
               "; colours are slots, dashes are waiting" +
               (pieces.size() == 1 ? ""
                                   : ", \"4–9 × 3\" are columns that come "
                                     "three times"),
           {11, kGray});
  nextBand();
  for (const TimelinePiece &piece : pieces)
    drawPiece(piece);
  return svg.str("Pipeline of " + timeline.name);
}

std::string tracea::explain::timelineSvg(const Timeline &timeline) {
  return Drawing(timeline).draw();
}
