//===- TileTransfer.h - What moves between tiles and memory -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads, stores, prefetches, stages and copies share their operands: indices,
// limits, a map, padded dimensions. What these mean the description of the
// dialect says; verifiers, proofs and lowerings read it here.

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_TILETRANSFER_H
#define TRACEA_DIALECT_TRACEAPIPE_IR_TILETRANSFER_H

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea_pipe {

/// Element t of the tile, and memory[indices + map(t)].
struct TileTransfer {
  enum class Kind {
    /// Memory is read.
    In,
    /// Memory is written.
    Out,
    /// Memory is asked for; it may as well not be.
    Hint
  };
  Kind kind = Kind::In;
  Value memory;
  ArrayRef<int64_t> shape;
  ValueRange indices;
  /// One for each dimension of the tile, or none: see `clipLimit`.
  ValueRange limits;
  AffineMap map;
  /// Dimensions of memory outside of which nothing is read: the element is
  /// zero.
  ArrayRef<int64_t> padded;
  /// The tile, where it lies in memory of its own; null for tiles in registers
  /// and for the result of a stage.
  Value tile;
};

/// The transfer of an operation; nothing for one that is none.
std::optional<TileTransfer> getTileTransfer(Operation *op);

/// How many coordinates of a dimension a limit leaves: those below it, none
/// below a negative one, and all of the extent below one that is larger.
Value clipLimit(OpBuilder &builder, Location loc, Value limit, int64_t extent);
/// The same of a limit that is known.
int64_t clipLimit(int64_t limit, int64_t extent);

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_IR_TILETRANSFER_H
