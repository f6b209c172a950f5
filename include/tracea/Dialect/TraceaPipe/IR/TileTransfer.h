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

/// Element t of the tile, and memory[indices + map(t)]; a dimension that walks
/// has its coordinates in place of its own among the inputs of the map.
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
  /// Dimensions of the tile, ascending, that walk through several coordinates;
  /// and through which.
  ArrayRef<int64_t> along;
  ValueRange walks;
  /// Dimensions of memory outside of which nothing is read: the element is
  /// zero.
  ArrayRef<int64_t> padded;
  /// The tile, where it lies in memory of its own; null for tiles in registers
  /// and for the result of a stage.
  Value tile;
};

/// The transfer of an operation; nothing for one that is none.
std::optional<TileTransfer> getTileTransfer(Operation *op);

/// An input of a transfer's map: a dimension of the tile, or one of the
/// coordinates that the dimension walks through.
struct MapInput {
  unsigned dim;
  /// The number of the walk; negative for a dimension of its own.
  int walk = -1;
  unsigned coordinate = 0;
};
SmallVector<MapInput> getMapInputs(const TileTransfer &transfer);

/// The inputs of the transfer's map for the element `at` of the tile: `walk`
/// gives the coordinates of an element along a dimension that walks.
template <typename T, typename Walk>
SmallVector<T> getMapInputs(const TileTransfer &transfer, ArrayRef<T> at,
                            Walk walk) {
  SmallVector<T> inputs;
  for (auto [dim, coordinate] : llvm::enumerate(at)) {
    const int64_t *found = llvm::find(transfer.along, int64_t(dim));
    if (found == transfer.along.end())
      inputs.push_back(coordinate);
    else
      llvm::append_range(
          inputs,
          walk(transfer.walks[found - transfer.along.begin()], coordinate));
  }
  return inputs;
}

/// Whether both have their elements at the same places, as far as values that
/// are one say.
bool haveSamePlaces(const TileTransfer &one, const TileTransfer &other);

/// The operation that says through which coordinates `walk` goes, if it is the
/// one that is named.
DelinearizeOp getDelinearize(Value walk);
GatherOp getGather(Value walk);

/// The walk that begins at element `offset` of `walk`: made at the builder,
/// which is behind what makes `walk`.
Value shiftWalk(OpBuilder &builder, Value walk, Value offset);

/// How many coordinates of a dimension a limit leaves: those below it, none
/// below a negative one, and all of the extent below one that is larger.
Value clipLimit(OpBuilder &builder, Location loc, Value limit, int64_t extent);
/// The same of a limit that is known.
int64_t clipLimit(int64_t limit, int64_t extent);

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_IR_TILETRANSFER_H
