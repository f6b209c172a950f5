//===- Rows.h - Schedules of row-wise operations by lanes -------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_SCHEDULE_ROWS_H
#define TRACEA_SCHEDULE_ROWS_H

#include "tracea/Schedule/Fields.h"

#include <utility>

namespace mlir::tracea::schedule {

/// Rows that lanes share: a workgroup has a tile of whole rows in registers, or
/// goes over the row tile by tile. A row that is cut has a workgroup for each
/// tile of it.
struct LaneRows {
  static constexpr std::string_view kFamily = "lane_rows";
  static constexpr int64_t kMostLanes = 1024, kMostVector = 16,
                           kMostParts = 4096;

  int64_t lanes = 1;     // side by side along a row
  int64_t vector = 1;    // neighbouring elements of a lane
  int64_t residents = 1; // workgroups that share a multiprocessor
  int64_t split = 1;     // parts of a row, which a second kernel combines

  void list(Fields &fields) {
    fields.add("lanes", lanes, 1, kMostLanes);
    fields.add("vector", vector, 1, kMostVector);
    fields.add("residents", residents, 1, 32);
    fields.add("split", split, 1, kMostParts);
  }
  std::string check() const {
    for (auto [name, value] : {std::pair("lanes", lanes), {"vector", vector}})
      if (value & (value - 1))
        return std::string("expected '") + name +
               "' of a power of two, found " + std::to_string(value);
    return "";
  }
};

} // namespace mlir::tracea::schedule

#endif // TRACEA_SCHEDULE_ROWS_H
