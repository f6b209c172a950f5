//===- Warpgroups.h - Schedules of products by warpgroups -------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_SCHEDULE_WARPGROUPS_H
#define TRACEA_SCHEDULE_WARPGROUPS_H

#include "tracea/Schedule/RegisterTile.h"

namespace mlir::tracea::schedule {

/// What families share whose workgroups have a team that copies and teams of
/// four warps that multiply. What is in registers follows from the unit.
struct WarpgroupRing {
  int64_t slots = 1;     // of the ring between copies and multiplies
  int64_t producers = 0; // teams that copy
  int64_t consumers = 0; // teams that multiply
  int64_t group = 0;     // height of a raster group of tiles; 0: row by row
  /// Workgroups that share a multiprocessor: while one finishes its tile, the
  /// others multiply.
  int64_t residents = 1;
  /// Groups of multiplies in flight when a slot is given back: 1 and the unit
  /// never waits, or 0 and copies get the slot a step earlier.
  int64_t pending = 1;

  void list(Fields &fields) {
    fields.add("slots", slots, 1, kMostSlots);
    fields.add("producers", producers, 0, 1);
    fields.add("consumers", consumers, 0, 8);
    fields.add("group", group, 0, kAny);
    fields.add("residents", residents, 1, 2);
    fields.add("pending", pending, 0, 1);
  }
  std::string check() const {
    if ((producers == 0) != (consumers == 0))
      return "expected 'producers' and 'consumers' both 0 or both positive, "
             "found " +
             std::to_string(producers) + " and " + std::to_string(consumers);
    return "";
  }
};

/// "grouped.warpgroup": sums are whole, and operands read where they are.
struct WarpgroupGrouped : WarpgroupRing {
  static constexpr std::string_view kFamily = "warpgroup_grouped";
};

/// "gemm.warpgroup", "gemm.skinny".
struct WarpgroupGemm : WarpgroupRing {
  static constexpr std::string_view kFamily = "warpgroup_gemm";
  int64_t split = 1; // parts of the sum over k, which another kernel adds up
  /// Workgroups that add the parts up themselves, in their memories; 1: another
  /// kernel does.
  int64_t cluster = 1;
  /// Operands whose rows are copied first, to begin at multiples of a cache
  /// line: 1 the first, 2 the second, 3 both.
  int64_t lines = 0;
  /// Teams that take tiles in turn, out of one ring: while one finishes its
  /// tile, the other multiplies.
  int64_t pingPong = 1;

  void list(Fields &fields) {
    WarpgroupRing::list(fields);
    fields.add("split", split, 1, 64);
    fields.add("cluster", cluster, 1, 16);
    fields.add("lines", lines, 0, 3);
    fields.add("ping_pong", pingPong, 1, 2);
  }
  std::string check() const {
    if (cluster & (cluster - 1))
      return "expected a 'cluster' of 1, 2, 4, 8 or 16, found " +
             std::to_string(cluster);
    if (cluster > 1 && cluster != split)
      return "expected a 'cluster' of one workgroup for each of the " +
             std::to_string(split) + " parts of 'split', found " +
             std::to_string(cluster);
    return WarpgroupRing::check();
  }
};

} // namespace mlir::tracea::schedule

#endif // TRACEA_SCHEDULE_WARPGROUPS_H
