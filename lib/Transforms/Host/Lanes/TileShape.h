//===- TileShape.h - Which lanes take which elements ------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_LANES_TILESHAPE_H
#define TRACEA_LIB_TRANSFORMS_HOST_LANES_TILESHAPE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea {

/// The loop along which neighbours of an operand are neighbours in memory.
std::optional<unsigned> getColumnLoop(AffineMap map);

/// The tile that a workgroup takes of a structured operation, whose rows and
/// columns are two of its loops, and the lanes that hold it.
class TileShape {
public:
  /// `extents` are those of the loops. With `isAligned` rows begin at multiples
  /// of 16 bytes.
  TileShape(linalg::LinalgOp op, ArrayRef<OpFoldResult> extents, bool isAligned,
            int64_t subgroup);

  /// How much of a loop a tile has.
  int64_t stepOf(unsigned loop) const {
    return loop == columnLoop ? columns : rowLoop == loop ? rows : 1;
  }
  bool isReduced(std::optional<unsigned> loop) const {
    return loop && iterators[*loop] == utils::IteratorType::reduction;
  }

  /// Why lanes lie as they do.
  StringRef describe() const;

  /// The loops that are the tile's dimensions, and whether an operand's
  /// neighbours lie along the rows.
  std::optional<unsigned> rowLoop;
  unsigned columnLoop = 0;
  bool isTransposed = false;
  int64_t rows = 1, columns = 1, threads = 1;
  /// Whether fewer columns than lanes could lie along are a tile, so that more
  /// workgroups share a reduction of short columns.
  bool isNarrow = false;
  /// The tile's lanes where they lie along columns, and along rows.
  tracea_pipe::LanesAttr alongColumns, alongRows;

private:
  /// Elements that a lane reads at a time.
  int64_t getVector(int64_t bytes) const;
  /// An extent that is known, or `open`.
  int64_t getExtent(std::optional<unsigned> loop, int64_t open) const;
  void chooseLoops();
  void chooseRowLoop(AffineMap result);
  void chooseTile();
  void chooseSquare();
  void chooseReduction();
  bool isShort(int64_t columns) const;
  tracea_pipe::LanesAttr makeLanes(unsigned fast, int64_t vector,
                                   int64_t lanes) const;

  linalg::LinalgOp op;
  SmallVector<OpFoldResult> extents;
  bool isAligned;
  int64_t subgroup;
  SmallVector<utils::IteratorType> iterators;
  int64_t vector = 1, transposedVector = 1;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_LANES_TILESHAPE_H
