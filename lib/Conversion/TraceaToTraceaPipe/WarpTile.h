//===- WarpTile.h - Tiles as warps multiply them ----------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels share whose warps multiply fragments in their registers: which
// lanes hold what, and how blocks lie in shared memory.

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_WARPTILE_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_WARPTILE_H

#include "tracea/Algebra/Fragments.h"
#include "tracea/Conversion/TraceaToTraceaPipe/KernelBuilder.h"

namespace mlir::tracea {

/// Bytes of k that one instruction multiplies.
constexpr int64_t kDepthBytes = 32;

/// The elements of k that one instruction multiplies.
inline int64_t getDepth(Type element) {
  return kDepthBytes * 8 / element.getIntOrFloatBitWidth();
}

/// How the warps of a workgroup share its tile: `fragment` instructions along
/// rows and columns, the largest power of two of them beside one another,
/// `outer` times.
struct WarpGrid {
  WarpGrid(ArrayRef<int64_t> tile, ArrayRef<int64_t> warpTile);

  int64_t getNumWarps() const { return warps[0] * warps[1]; }

  /// A tile of an operand, of elements `type`, for products of `multiplied` by
  /// instructions as deep as they are, or of a `depth`.
  RankedTensorType getTile(::tracea::algebra::MatrixOperand operand,
                           ArrayRef<int64_t> extents, Type type,
                           Type multiplied, int64_t depth = 0) const;

  /// Extents of an instruction's result.
  static constexpr int64_t fragment[2] = {16, 8};
  int64_t power[2], outer[2], warps[2];

private:
  tracea_pipe::LanesAttr getLanes(MLIRContext *context,
                                  ::tracea::algebra::MatrixOperand operand,
                                  const ::tracea::algebra::LaneMap &map) const;
};

/// A block as it is staged. Rows of up to 128 bytes are swizzled so that eight
/// pieces of 16 bytes, one below the other, lie in all banks; or where lanes
/// read words across rows, four pieces of 32 bytes. Shorter rows need less of
/// it, since several are beside one another in the banks. Null where rows are
/// no multiples of `kDepthBytes`, or are not in eights.
RankedTensorType getWarpBlock(int64_t rows, int64_t columns, Type element,
                              bool readsAcross);

/// Rows and columns of a tile of parts of a sum in single precision that are
/// added up: a row a warp, and four neighbours, 16 bytes, a lane.
constexpr int64_t kPartRows = 4, kPartColumns = 128;
tracea_pipe::LanesAttr getPartLanes(MLIRContext *context);

/// A result as rows: of each lane as many neighbours as 16 bytes hold, where
/// the lane has so many columns. Lanes of four exchange what they hold.
Value relayoutToRows(ImplicitLocOpBuilder &b, Value tile);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_WARPTILE_H
