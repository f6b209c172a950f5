//===- LaneView.cpp - Who holds which element of a tile -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Explain/LaneView.h"
#include "tracea/Explain/Svg.h"

#include <algorithm>

using namespace tracea::explain;
using namespace tracea::algebra;

namespace {
/// What is shown: the last two dimensions, the others at 0.
struct Window {
  explicit Window(const LaneMap &lanes) : shape(lanes.tileShape()) {
    constexpr int64_t most = 32;
    rows = shape.size() > 1 ? shape[shape.size() - 2] : 1;
    columns = shape.empty() ? 1 : shape.back();
    isCut = rows > most || columns > most;
    rows = std::min(rows, most);
    columns = std::min(columns, most);
    for (size_t d = 0; d + 2 < shape.size(); ++d)
      isCut |= shape[d] > 1;
  }
  TileCoord at(int64_t row, int64_t column) const {
    TileCoord coord(shape.size(), 0);
    if (!coord.empty())
      coord.back() = column;
    if (coord.size() > 1)
      coord[coord.size() - 2] = row;
    return coord;
  }
  std::string note() const {
    return isCut ? "the first " + std::to_string(rows) + "x" +
                       std::to_string(columns) +
                       " elements of the last two dimensions"
                 : "";
  }

  TileCoord shape;
  int64_t rows = 1, columns = 1;
  bool isCut = false;
};
} // namespace

static std::string cellOf(const LaneMap &lanes, const TileCoord &coord) {
  std::optional<Location> at = lanes.locate(coord);
  if (!at)
    return "-";
  std::string text = std::to_string(at->lane) + "." + std::to_string(at->reg);
  return lanes.numWarps() > 1 ? std::to_string(at->warp) + ":" + text : text;
}

std::string tracea::explain::describeLanes(const LaneMap &lanes) {
  std::string text;
  for (int64_t extent : lanes.tileShape())
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  auto count = [](int64_t number, const char *noun) {
    return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
  };
  text += " elements: " + count(lanes.numRegisters(), "register") + " of " +
          count(lanes.numLanes(), "lane");
  if (lanes.numWarps() > 1)
    text += " of " + count(lanes.numWarps(), "warp");
  if (!lanes.coversTile())
    return text + ", some elements nowhere";
  int64_t replicas = lanes.numReplicas();
  return text + ", each element " +
         (replicas == 1 ? "once" : std::to_string(replicas) + " times");
}

static std::string describeBasis(const LaneMap &lanes) {
  std::string text;
  for (LaneDim dim : {LaneDim::Reg, LaneDim::Lane, LaneDim::Warp}) {
    if (lanes.numBits(dim) == 0)
      continue;
    text += std::string("  ") + laneDimName(dim) + " bits move by";
    for (unsigned bit = 0; bit < lanes.numBits(dim); ++bit) {
      std::string vector;
      for (int64_t step : lanes.basis(dim, bit))
        vector += (vector.empty() ? "(" : ", ") + std::to_string(step);
      text += " " + (vector.empty() ? "()" : vector + ")");
    }
    text += "\n";
  }
  return text;
}

std::string tracea::explain::laneText(const LaneMap &lanes) {
  Window window(lanes);
  std::string text = describeLanes(lanes) + "\n" + describeBasis(lanes);
  text += std::string("  in each cell ") +
          (lanes.numWarps() > 1 ? "warp:lane.register" : "lane.register") +
          (window.isCut ? "; " + window.note() : "") + "\n";
  std::vector<std::vector<std::string>> cells;
  size_t width = 2;
  for (int64_t row = 0; row < window.rows; ++row) {
    cells.emplace_back();
    for (int64_t column = 0; column < window.columns; ++column) {
      cells.back().push_back(cellOf(lanes, window.at(row, column)));
      width = std::max(width, cells.back().back().size());
    }
  }
  auto put = [&](const std::string &cell) {
    text += " " + std::string(width - std::min(width, cell.size()), ' ') + cell;
  };
  text += "     ";
  for (int64_t column = 0; column < window.columns; ++column)
    put(std::to_string(column));
  text += "\n";
  for (int64_t row = 0; row < window.rows; ++row) {
    std::string head = std::to_string(row);
    text += std::string(5 - std::min<size_t>(5, head.size()), ' ') + head;
    for (const std::string &cell : cells[row])
      put(cell);
    text += "\n";
  }
  return text;
}

std::string tracea::explain::laneSvg(const LaneMap &lanes,
                                     const std::string &title) {
  Window window(lanes);
  Svg svg;
  constexpr double left = 40, top = 78, height = 30;
  double cell = lanes.numWarps() > 1 ? 42 : 32;
  svg.text(12, 24, title, {16, kBlack, "start", true});
  svg.text(12, 42, describeLanes(lanes), {11, kGray});
  svg.text(12, 56,
           std::string("colour and bold: ") +
               (lanes.numWarps() > 1 ? "warp:lane" : "lane") +
               "; below: register" + (window.isCut ? "; " + window.note() : ""),
           {11, kGray});
  for (int64_t column = 0; column < window.columns; ++column)
    svg.text(left + (double(column) + 0.5) * cell, top - 4,
             std::to_string(column), {9, kGray, "middle"});
  for (int64_t row = 0; row < window.rows; ++row) {
    double y = top + double(row) * height;
    svg.text(left - 6, y + height / 2 + 4, std::to_string(row),
             {9, kGray, "end"});
    for (int64_t column = 0; column < window.columns; ++column) {
      double x = left + double(column) * cell;
      std::optional<Location> at = lanes.locate(window.at(row, column));
      if (!at) {
        svg.box(x, y, cell, height, kWhite);
        continue;
      }
      std::string lane = std::to_string(at->lane);
      if (lanes.numWarps() > 1)
        lane = std::to_string(at->warp) + ":" + lane;
      svg.beginHint(
          "element (" + std::to_string(row) + ", " + std::to_string(column) +
          "): warp " + std::to_string(at->warp) + ", lane " +
          std::to_string(at->lane) + ", register " + std::to_string(at->reg));
      svg.box(x, y, cell, height,
              paleColor(static_cast<size_t>(at->lane),
                        static_cast<size_t>(lanes.numLanes())));
      svg.text(x + cell / 2, y + 14, lane, {11, kBlack, "middle", true});
      svg.text(x + cell / 2, y + 25, "r" + std::to_string(at->reg),
               {9, kGray, "middle"});
      svg.endHint();
    }
  }
  return svg.str(title);
}
