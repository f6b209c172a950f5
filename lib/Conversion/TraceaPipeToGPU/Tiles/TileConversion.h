//===- TileConversion.h - A tile moves between two lane maps ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The class of the conversion (lib/Algebra/Conversion) decides what it takes:
// registers are renamed, selected by lane and warp, exchanged by the proved
// number of shuffles, or pass through the workgroup's memory in a layout
// without bank conflicts on either side.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_TILES_TILECONVERSION_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_TILES_TILECONVERSION_H

#include "Lanes/Threads.h"
#include "Tiles/LaneMaps.h"
#include "tracea/Algebra/Conversion.h"
#include "tracea/Algebra/SharedConversion.h"

namespace mlir::tracea_pipe {

class TileConversion {
public:
  /// Fails on maps of different tiles, on elements that no memory holds, on
  /// more lanes than a subgroup has, and on values that `from` does not hold.
  static ::tracea::algebra::Expected<TileConversion>
  get(const ::tracea::algebra::LaneMap &from,
      const ::tracea::algebra::LaneMap &to, Type elementType,
      const GPULoweringContext &context);

  /// What it does, which may be more than the class: shuffles of sources with
  /// replicas may have no schedule and go through memory.
  ::tracea::algebra::ConversionClass getClass() const;
  /// Shuffle instructions, one for each 32-bit word.
  int64_t getNumShuffles() const;
  /// Cycles of a warp's accesses to memory.
  int64_t getMemoryCycles() const;
  /// Bytes of workgroup memory, 0 for none.
  int64_t getExchangeBytes() const;

  /// From the registers of the one map to those of the other. `exchange` is
  /// the team's memory, bytes in the workgroup's address space, or null.
  SmallVector<Value> emit(Threads &threads, ArrayRef<Value> registers,
                          Value exchange) const;

private:
  TileConversion(OddLaneMap from, OddLaneMap to, Type elementType,
                 ::tracea::algebra::Conversion conversion)
      : from(std::move(from)), to(std::move(to)), elementType(elementType),
        conversion(std::move(conversion)) {}

  SmallVector<Value> emitSelects(Threads &threads,
                                 ArrayRef<Value> registers) const;
  SmallVector<Value> emitShuffles(Threads &threads,
                                  ArrayRef<Value> registers) const;
  SmallVector<Value> emitExchange(Threads &threads, ArrayRef<Value> registers,
                                  Value exchange) const;
  int64_t getNumRepeats() const;
  /// Repeats that lie in memory together.
  int64_t getRepeatsAtOnce() const;

  OddLaneMap from, to;
  Type elementType;
  ::tracea::algebra::Conversion conversion;
  /// When values go through memory.
  std::optional<::tracea::algebra::SharedConversion> shared;
};

/// The team's part of the memory that planExchanges gave to the code around
/// `op`, or null.
Value getExchange(Threads &threads);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_TILES_TILECONVERSION_H
