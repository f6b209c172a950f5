//===- LanePatch.h - The staged pixels that a GPU's tile sees ---*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What convolutions in groups share on GPUs: a workgroup has the pixels of a
// rectangle of the result in neighbouring channels, and stages all pixels of
// the image that these see, once for all taps.

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_GROUPS_LANEPATCH_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_GROUPS_LANEPATCH_H

#include "tracea/Conversion/TraceaToTraceaPipe/KernelBuilder.h"

namespace mlir::tracea {

/// What a tile has, and sees of an image, along one of its dimensions.
struct PatchSide {
  PatchSide(Conv2DOp op, unsigned axis);

  /// Rows or columns of the image that the pixels of the tile see.
  int64_t getExtent() const {
    return (pixels - 1) * stride + (taps - 1) * dilation + 1;
  }

  int64_t pixels, taps, stride, dilation, pad;
};

/// The grid of tiles [height, width, channels] of a schedule, and the patch of
/// the current one: pixel (h, w) of it is row h * pitch + w of a tile of
/// channels, zeros where it leaves the image.
class LanePatch {
public:
  LanePatch(KernelBuilder &kb, Conv2DOp op);

  /// Opens the grid. Neighbouring workgroups share lines of memory.
  void beginTiles();
  /// Stages the patch, with the XOR terms of its buffer's swizzle.
  void stage(ArrayRef<int64_t> swizzle = {});

  /// The row of the patch that the tile's pixel (`row`, `column`) sees under
  /// tap (r, s).
  Value at(Value row, Value column, Value r, int64_t s);
  Value get() const { return patch; }

  /// From a tile whose inputs are `inputs` (height or none, width, channels) to
  /// the result, where it begins at (`row`, `column`, `channel`) of the grid's
  /// tile; and what the result leaves of it.
  TileAddress getAddress(Value row, Value column, Value channel,
                         bool hasHeight);
  SmallVector<Value> getLimits(Value row, Value column, Value channel,
                               bool hasHeight);

  PatchSide height, width;
  int64_t channels, pitch;
  /// Where the tile begins.
  Value n, p, q, c;

private:
  Value getSize(int64_t dim) { return kb.getDim(op.getInit(), dim); }

  KernelBuilder &kb;
  IndexMath &ix;
  Conv2DOp op;
  Value patch;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_GROUPS_LANEPATCH_H
