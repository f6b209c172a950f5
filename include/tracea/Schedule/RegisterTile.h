//===- RegisterTile.h - What schedules with register tiles share -*- C++ -*-==//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_SCHEDULE_REGISTERTILE_H
#define TRACEA_SCHEDULE_REGISTERTILE_H

#include "tracea/Schedule/Fields.h"

namespace mlir::tracea::schedule {

/// Far beyond what any shared memory or workspace holds.
constexpr int64_t kMostSlots = 64;

/// The tile held in registers at a time: of a thread of a CPU, a warp or a
/// lane.
struct RegisterTile {
  static constexpr int64_t kMostElements = 4096;

  Extents registers = {0, 0}; // rows, columns; has to be given

  void list(Fields &fields) {
    fields.add("registers", registers, 1, kMostElements);
  }
  std::string check() const {
    if (registers[0] * registers[1] > kMostElements)
      return "expected 'registers' of at most " +
             std::to_string(kMostElements) + " elements, found " +
             std::to_string(registers[0] * registers[1]);
    return "";
  }
};

} // namespace mlir::tracea::schedule

#endif // TRACEA_SCHEDULE_REGISTERTILE_H
