//===- CPUConvTiles.h - Tiles of convolutions on CPUs -----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_DOCTOR_CONVOLUTIONS_CPUCONVTILES_H
#define TRACEA_LIB_DOCTOR_CONVOLUTIONS_CPUCONVTILES_H

#include "PatchModel.h"
#include "tracea/Doctor/CPUModel.h"

namespace tracea::doctor {

/// Values of the schedules' field `staged`.
constexpr int64_t kInPlace = 0, kStaged = 1;

/// A register tile by what its sides mean. Its columns, the lanes' side, lie
/// along the result's contiguous dimension: channels when they are last, else
/// pixels of a row.
struct PixelTile {
  int64_t width;
  int64_t channels;
};

/// Elements of the patch under a tile of outputs, for one channel. Sizes are
/// floating-point numbers: a tile written by hand may overflow integers.
double patchArea(const Problem &problem, int64_t height, int64_t width);

/// A filter, stride or dilation so large that sizes may overflow is refused
/// before any are computed.
Reason refuseHuge(const Problem &problem);

/// Heights and widths of output tiles worth trying: all of it, and halves, down
/// to `factor`; unknown extents get one fixed size.
std::vector<int64_t> extentsToTry(int64_t extent, int64_t factor,
                                  int64_t whenUnknown);

/// Whether no tap of any output pixel is known to leave the image.
bool staysInImage(const Problem &problem);

/// Tiles of the grid, with an unknown number of images taken as one.
double gridTiles(const Problem &problem, int64_t channels, int64_t height,
                 int64_t width, int64_t depth);

/// What the sides of `micro` mean for the problem's layout.
PixelTile orient(const Problem &problem, MicroTile micro);

/// The model's register tile of pixels of a row by `channels`, of which with
/// channels first any number are its rows where none are transposed in a run.
MicroTile chooseOriented(const Problem &problem, const CPUModel &model,
                         int64_t channels, bool anyRows = false);

/// Cycles of `width` pixels times `channels`, each a sum of `depth` products.
double pixelCycles(const Problem &problem, const CPUModel &model,
                   MicroTile micro, int64_t width, int64_t channels,
                   int64_t depth);

/// Register tiles of `width` pixels times `channels`.
double registerTiles(const Problem &problem, MicroTile micro, int64_t width,
                     int64_t channels);

/// The variant "conv2d.depthwise".
std::unique_ptr<Variant> makeDepthwiseConv();

} // namespace tracea::doctor

#endif // TRACEA_LIB_DOCTOR_CONVOLUTIONS_CPUCONVTILES_H
