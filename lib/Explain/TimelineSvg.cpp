//===- TimelineSvg.cpp - One run of a protocol as a drawing ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Explain/Svg.h"
#include "tracea/Explain/Timeline.h"

#include <algorithm>

using namespace tracea::explain;

namespace {
constexpr double kLeft = 12, kTop = 64, kRow = 26, kSlot = 16;

/// Where things stand.
struct Layout {
  double head = 0, cell = 0;
  double x(int column) const { return kLeft + head + column * cell; }
};
} // namespace

static void drawRoles(Svg &svg, const Timeline &timeline, const Layout &at,
                      double y, const std::vector<size_t> &firstSlot,
                      size_t numSlots) {
  double right = at.x(timeline.columns);
  for (size_t role = 0; role < timeline.roles.size(); ++role) {
    double top = y + double(role) * kRow;
    svg.text(kLeft, top + kRow / 2 + 4, timeline.roles[role],
             {12, kBlack, "start", true});
    svg.line(kLeft, top + kRow, right, top + kRow, kLight);
    for (int column : timeline.blocked[role])
      svg.line(at.x(column) + 4, top + kRow / 2, at.x(column + 1) - 4,
               top + kRow / 2, kLine, 1, /*dashed=*/true);
  }
  for (const TimelineEvent &event : timeline.events) {
    double top = y + event.role * kRow + 3;
    Color fill =
        event.slot < 0
            ? kLight
            : paleColor(firstSlot[event.channel] + event.slot, numSlots);
    svg.beginHint("column " + std::to_string(event.column) + ": " +
                  timeline.roles[event.role] + ": " + event.label);
    svg.box(at.x(event.column) + 1, top, at.cell - 2, kRow - 6, fill);
    svg.text(at.x(event.column) + at.cell / 2, top + kRow / 2 + 1, event.label,
             {10, kBlack, "middle"});
    svg.endHint();
  }
}

static void drawSlots(Svg &svg, const Timeline &timeline, const Layout &at,
                      double y, const std::vector<size_t> &firstSlot,
                      size_t numSlots) {
  double right = at.x(timeline.columns);
  auto topOf = [&](int channel, int slot) {
    return y + double(firstSlot[channel] + slot) * kSlot + channel * 10;
  };
  for (size_t channel = 0; channel < timeline.rings.size(); ++channel)
    for (int slot = 0; slot < timeline.rings[channel].slots; ++slot) {
      double top = topOf(channel, slot);
      svg.text(kLeft, top + kSlot - 4,
               timeline.rings[channel].letter + std::to_string(slot) +
                   (slot == 0 ? "  " + timeline.rings[channel].name : ""),
               {11, kGray});
      svg.line(at.x(0), top + kSlot / 2, right, top + kSlot / 2, kLight);
    }
  for (const TimelineSpan &span : timeline.spans) {
    double top = topOf(span.channel, span.slot) + 2;
    Color color = paleColor(firstSlot[span.channel] + span.slot, numSlots);
    double x = at.x(span.begin), width = (span.end - span.begin) * at.cell;
    bool isRead = span.kind == TimelineSpan::Read;
    svg.box(x + 1, top, width - 2, kSlot - 4,
            span.kind == TimelineSpan::Filling ? Color(kWhite) : color,
            isRead ? kBlack : kLine, isRead ? 1.5 : 0.8);
    const char *word = span.kind == TimelineSpan::Filling ? "being filled"
                       : isRead                           ? "read"
                                                          : "full";
    if (textWidth(word, 9) < width - 4)
      svg.text(x + width / 2, top + kSlot - 7, word, {9, kBlack, "middle"});
  }
}

std::string tracea::explain::timelineSvg(const Timeline &timeline) {
  Svg svg;
  Layout at;
  at.cell = 46;
  for (const std::string &role : timeline.roles)
    at.head = std::max(at.head, textWidth(role, 12) + 20);
  for (const Timeline::Ring &ring : timeline.rings)
    at.head =
        std::max(at.head, textWidth(ring.letter + "0  " + ring.name) + 20);
  for (const TimelineEvent &event : timeline.events)
    at.cell = std::max(at.cell, textWidth(event.label, 10) + 8);
  std::vector<size_t> firstSlot;
  size_t numSlots = 0;
  for (const Timeline::Ring &ring : timeline.rings) {
    firstSlot.push_back(numSlots);
    numSlots += ring.slots;
  }
  svg.text(kLeft, 24, "Pipeline of " + timeline.name,
           {16, kBlack, "start", true});
  svg.text(kLeft, 42,
           "One run with " + std::to_string(timeline.iterations) +
               " iterations of each loop" +
               (timeline.isComplete ? "" : ", its beginning") +
               "; colours are slots, dashes are waiting",
           {11, kGray});
  for (int column = 0; column < timeline.columns; column += 5)
    svg.text(at.x(column) + at.cell / 2, kTop - 4, std::to_string(column),
             {9, kGray, "middle"});
  drawRoles(svg, timeline, at, kTop, firstSlot, numSlots);
  double slots = kTop + double(timeline.roles.size()) * kRow + 18;
  drawSlots(svg, timeline, at, slots, firstSlot, numSlots);
  return svg.str("Pipeline of " + timeline.name);
}
