//===- GlobalTile.h - Register tiles in global memory -----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_MEMORY_GLOBALTILE_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_MEMORY_GLOBALTILE_H

#include "Lanes/LaneCoordinates.h"

namespace mlir::tracea_pipe {

/// The lanes' accesses to a tile in global memory. Where no limit cuts the
/// tile, which the team finds out once, neighbours are accessed as one vector
/// if memory is known to be aligned, and each element once however many
/// registers hold it. Otherwise every element has its own condition.
class GlobalTile {
public:
  GlobalTile(Emitter &b, const GlobalWindow &window, RankedTensorType tile,
             ValueRange limits);

  /// Accesses of a whole tile, and the bytes of the widest.
  std::pair<int64_t, int64_t> getAccesses(bool isLoad) const;
  /// The registers of a lane; `padding`, a scalar, beyond the limits.
  Value load(Value padding);
  void store(Value registers);

private:
  /// Neighbours in memory: for each, the registers that hold it.
  struct Piece {
    SmallVector<int64_t> coordinate;
    SmallVector<SmallVector<int64_t>> registers;
  };

  std::optional<unsigned> getColumnDim() const;
  int64_t getColumnAlignment() const;
  int64_t getLimitDivisor(unsigned column) const;
  SmallVector<Piece> getPieces(bool whole, bool share) const;
  Address getPlace(const Piece &piece);
  Value access(bool whole, Value padding, Value registers);
  VectorType getPackedType();
  Value pack(ValueRange elements);
  Value unpack(Value registers);

  Emitter &b;
  const GlobalWindow &window;
  const GlobalBuffer &buffer;
  RankedTensorType tile;
  LanesAttr lanes;
  SmallVector<Value> limits;
  LaneCoordinates coordinates;
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_MEMORY_GLOBALTILE_H
