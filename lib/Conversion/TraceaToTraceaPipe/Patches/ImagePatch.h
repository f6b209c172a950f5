//===- ImagePatch.h - The staged part of an image a tile sees ---*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the variants of conv2d that stage a patch: its extents, the copy
// that fills it, and where the element under a filter tap lies in it.

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_PATCHES_IMAGEPATCH_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_PATCHES_IMAGEPATCH_H

#include "tracea/Conversion/TraceaToTraceaPipe/KernelBuilder.h"

namespace mlir::tracea {

/// Rows of the image in a register tile: several on a tile unit where the
/// schedule has more pixels in it than a grid tile is wide.
int64_t getRegisterRows(ScheduleAttr schedule);

/// The tiles of a convolution's result that its schedule says. Lanes lie along
/// the result's contiguous dimension: a register tile is pixels of a row by
/// channels where channels are last, and channels by pixels where they are not.
struct ConvolutionTiles {
  ConvolutionTiles(KernelBuilder &kb, Conv2DOp op);

  /// What belongs to a register tile's pixels and channels, in its order.
  template <typename T>
  SmallVector<T> inOrder(T ofPixels, T ofChannels) const {
    if (pixelLanes)
      std::swap(ofPixels, ofChannels);
    return {ofPixels, ofChannels};
  }
  /// The register tile from output pixel (p, q) and channel `c` of image `n`.
  TileAddress getAddress(Value n, Value p, Value q, Value c) const;

  KernelBuilder &kb;
  mutable Conv2DOp op;
  bool pixelLanes;
  /// Extents of a register tile: its rows of the image, and pixels of each.
  int64_t registerRows, registerPixels, registerChannels;
  /// Extents of a grid tile, rounded up to whole register tiles.
  int64_t rows, columns, channels;
  int64_t filterHeight, filterWidth;
  RankedTensorType accumulator;
};

/// One grid tile of output pixels and a block of input channels.
struct PixelBlock {
  Value image;             // index of the image in the batch
  Value row, column;       // first output pixel
  Value rows, columns;     // output pixels of the tile
  Value channel, channels; // first input channel, and how many
};

/// With channels last the patch is [h, w, c], or [h, w, c / word, word] by
/// words of a dot product. With channels first, where lanes lie along pixels,
/// it is [h, c, remainder, w]: image column w * stride + remainder, so that the
/// pixels that one tap sees are neighbours for every stride. Of a filter with
/// one tap the patch has those rows, and with channels last those columns, that
/// the stride leads to. Where the taps of a row are one run it is [h, w].
class ImagePatch {
public:
  /// What a grid tile sees of `channels` input channels, as `element` and in
  /// words of `word` channels, of which a tile holds whole ones: multiples of
  /// `joined`, which are added up together. `joinsTaps`: there is one channel,
  /// and a tile holds what the taps of a row see.
  ImagePatch(const ConvolutionTiles &tiles, int64_t channels, Type element,
             int64_t word = 1, int64_t joined = 1, bool joinsTaps = false);

  /// Stages the patch of `block`, zeros where it leaves the image. With
  /// `wholeChannels` channels up to the tile's extent are defined: zeros past
  /// the image's last one.
  void stage(const PixelBlock &block, bool wholeChannels = false);

  Value get() const { return patch; }

  /// Place in the patch of what output pixel (p, q) of the block sees under tap
  /// (r, s) in channel c.
  SmallVector<Value> at(Value p, Value q, Value r, Value s, Value c);

  /// From a tile's (pixel, channel) coordinates, (pixel, step, place in a word)
  /// by words, or (channel, pixel) with lanes
  /// along pixels, to the patch. Where taps are joined these are the channels.
  AffineMap getTileMap();

private:
  KernelBuilder &kb;
  IndexMath &ix;
  Conv2DOp op;
  ConvolutionTiles tiles;
  int64_t tileChannels;
  Type element;
  int64_t word, joined;
  bool joinsTaps;
  int64_t strideH, strideW, dilationH, dilationW;
  /// Steps from one row or column of the image that is copied to the next. A
  /// filter of one tap passes over those that a stride leaves out.
  int64_t copiedH, copiedW;
  Value patch;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_PATCHES_IMAGEPATCH_H
