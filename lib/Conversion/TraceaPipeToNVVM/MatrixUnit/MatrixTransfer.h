//===- MatrixTransfer.h - Fragments to and from memory by matrices -*- C++ ===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `ldmatrix` and `stmatrix` move matrices of eight rows of 16 bytes. Lane l has
// the word (l mod 4) of row l div 4 of each, or with 16-bit elements of the
// transposed matrix; addresses of rows come from lanes.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_MATRIXUNIT_MATRIXTRANSFER_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_MATRIXUNIT_MATRIXTRANSFER_H

#include "Lowering.h"

namespace mlir::tracea_pipe {

/// How a tile moves between registers and a window by four matrices at a time.
struct MatrixTransfer {
  /// Matrices that one instruction moves, and so words of a lane.
  static constexpr int64_t kMatrices = 4;

  bool transposed = false;
  /// What the bits of a lane add to the address it gives: the first three are
  /// the row's, the other two the matrix's. Then those of the warp, and where
  /// each group of four words begins.
  SmallVector<int64_t> laneSteps, warpSteps, groups;

  /// Whether the tile's lane map is the one of the instructions over the
  /// window.
  static std::optional<MatrixTransfer> get(const StagedWindow &window,
                                           RankedTensorType tile,
                                           const GPUTarget &target);

  /// The addresses that this lane gives, one for each group.
  SmallVector<Address> getPlaces(Emitter &b, const StagedWindow &window,
                                 Value buffer) const;
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_MATRIXUNIT_MATRIXTRANSFER_H
