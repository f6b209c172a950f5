//===- ImagePatch.h - The staged part of an image a tile sees -----*- C++
//-*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the variants of conv2d that stage a patch: its extents, the copy
// that fills it, and where the element under a filter tap lies in it.

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_IMAGEPATCH_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_IMAGEPATCH_H

#include "KernelBuilder.h"

namespace mlir::tracea {

/// One grid tile of output pixels and a block of input channels.
struct PixelBlock {
  Value image;             // index of the image in the batch
  Value row, column;       // first output pixel
  Value rows, columns;     // output pixels of the tile
  Value channel, channels; // first input channel, and how many
};

/// With channels last the patch is [h, w, c]. With channels first, where lanes
/// lie along pixels, it is [h, c, remainder, w]: image column w * stride +
/// remainder, so that the pixels that one tap sees are neighbours for every
/// stride.
class ImagePatch {
public:
  /// `tile` is the most rows, columns and channels of a block; its columns are
  /// rounded up to whole register tiles of `registerColumns` pixels.
  ImagePatch(KernelBuilder &kb, Conv2DOp op, ArrayRef<int64_t> tile,
             int64_t registerColumns);

  bool lanesAlongPixels() const { return pixelLanes; }
  int64_t getTileColumns() const { return tileColumns; }

  /// Stages the patch of `block`, zeros where it leaves the image. With
  /// `wholeChannels` channels up to the tile's extent are defined: zeros past
  /// the image's last one.
  void stage(const PixelBlock &block, bool wholeChannels = false);

  Value get() const { return patch; }

  /// Place in the patch of what output pixel (p, q) of the block sees under tap
  /// (r, s) in channel c.
  SmallVector<Value> at(Value p, Value q, Value r, Value s, Value c);

  /// From a tile's (pixel, channel) coordinates, or (channel, pixel) with lanes
  /// along pixels, to the patch.
  AffineMap getTileMap();

private:
  KernelBuilder &kb;
  IndexMath &ix;
  Conv2DOp op;
  bool pixelLanes;
  int64_t tileRows, tileColumns, tileChannels, registerColumns;
  int64_t filterHeight, filterWidth;
  int64_t strideH, strideW, dilationH, dilationW;
  Value patch;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_IMAGEPATCH_H
