//===- Designs.h - Index maps of kernels, right and wrong -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function builds the problem of one kind of kernel. Its faults are named;
// without one the kernel is right for all sizes.

#ifndef TRACEA_UNITTESTS_ANALYSIS_COVERAGE_DESIGNS_H
#define TRACEA_UNITTESTS_ANALYSIS_COVERAGE_DESIGNS_H

#include "tracea/Analysis/Coverage/Decide.h"

namespace tracea::coverage::designs {

/// One dimension of a tiled box.
struct Tiles {
  int64_t tile = 128, stride = 128;
  enum Mask { None, Less, AtMost } mask = Less;
  enum Grid { Ceil, Floor, OneMore, OneLess } grid = Ceil;
};

/// Tiles in every dimension; `aligned`: sizes are multiples of the tiles.
Problem tiles(const std::vector<Tiles> &dimensions, bool aligned = false);

/// A tile size that is itself a symbol, by the lemma or as products.
Problem symbolicTiles(bool byLemma, bool masked = true, int64_t extra = 0);

enum class RasterFault {
  None,
  /// Rows of a group are never clipped.
  FullGroups,
  /// Groups start every group − 1 rows.
  Overlap,
  /// Quotient and remainder are exchanged.
  Swapped,
  /// No writer for the last, partial group.
  NoLastGroup
};
/// Grouped raster with a group of a constant number of rows, one writer for
/// each number of rows that the last group may have.
Problem rasterByCases(int64_t group, RasterFault fault = RasterFault::None);
/// The same as a stage of its own, for any group.
Problem raster(bool symbolicGroup, int64_t extra = 0);

struct Persistent {
  int64_t ctas = 132, stride = 132, start = 0;
  bool atMost = false;
};
Problem persistent(const Persistent &design = {});
Problem persistentSymbolic(bool byLemma);

enum class SplitFault { None, FloorChunk, InclusiveEnd, NoClip, LostTail };
/// The k-blocks of 64 in `splits` chunks.
Problem splitK(int64_t splits, SplitFault fault = SplitFault::None);
Problem splitKSymbolic();

enum class PixelFault { None, Divisor, NoMask, Stride };
/// Pixels of images of P × Q in tiles of 128.
Problem pixels(int64_t p, int64_t q, PixelFault fault = PixelFault::None);
Problem pixelsSymbolic(bool swapped = false);

struct ConvInput {
  int64_t stride = 1, pad = 1, dilation = 1, taps = 3;
  int64_t extraOutputs = 0, wrongDilation = 0;
};
/// Input coordinates of a convolution, in [-pad, H + pad).
Problem convInput(const ConvInput &design);

/// The same with a symbolic stride and dilation, as products; `extra` outputs.
Problem convInputSymbolic(int64_t extra = 0);

/// Row-major offsets with a symbolic leading dimension, at least the row plus
/// `slack`, within a buffer of (rows − missing) · leading elements.
Problem rowMajor(int64_t slack = 0, int64_t missing = 0);

struct Halo {
  int64_t tile = 8, stride = 1, taps = 3, pad = 1;
  int64_t window = 10, tileStride = 8;
  enum Mask { None, Exact, AtMost } mask = Exact;
};
/// A staged window with overhang: contains all taps, is loaded in bounds.
Problem halo(const Halo &design);

enum class AttentionFault {
  None,
  NoLastTile,
  OffsetSign,
  WindowEnd,
  FreeByEnd,
  OneMore
};
/// Lists of key tiles for a causal mask with a window.
Problem attention(AttentionFault fault = AttentionFault::None);

enum class VectorFault { None, Head, BodyEnd, TailStart, HeadUnclipped };
/// Stores of 8 with a scalar head and tail, by alignment.
Problem vectorStores(VectorFault fault = VectorFault::None);

enum class FragmentFault {
  None,
  DoubledRegister,
  SwappedBasis,
  UnguardedReplicas,
  GuardTooTight,
  /// Right: replicas with a guard.
  GuardedReplicas
};
/// tile × warpgroup × fragment, with lanes by rank.
Problem fragments(FragmentFault fault = FragmentFault::None);
/// The fragment by divisions of lane and register.
Problem fragmentByDivision(int64_t columns, int64_t rowStep = 8,
                           int64_t columnStep = 2);

/// All of a persistent matrix product: cta, step → tile → (m, n), lanes →
/// (row, column).
Problem wholeGemm(int64_t rowTile = 128, bool maskRows = true,
                  bool clipLoop = true);

} // namespace tracea::coverage::designs

#endif // TRACEA_UNITTESTS_ANALYSIS_COVERAGE_DESIGNS_H
