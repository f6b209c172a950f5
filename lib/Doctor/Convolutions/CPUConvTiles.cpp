//===- CPUConvTiles.cpp - Tiles of convolutions on CPUs -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CPUConvTiles.h"
#include "../Numbers.h"

#include <algorithm>

namespace tracea::doctor {

double patchArea(const Problem &problem, int64_t height, int64_t width) {
  // A filter of one tap passes over what a stride leaves out, but for columns
  // of images with channels first, which are staged by their remainders.
  bool passesRows = problem.filterHeight == 1;
  bool passesColumns = problem.filterWidth == 1 && problem.channelsLast;
  return static_cast<double>(
             patchExtent(height, passesRows ? 1 : problem.strideHeight,
                         problem.filterHeight, problem.dilationHeight)) *
         static_cast<double>(
             patchExtent(width, passesColumns ? 1 : problem.strideWidth,
                         problem.filterWidth, problem.dilationWidth));
}

Reason refuseHuge(const Problem &problem) {
  if (problem.filterHeight == kUnknownExtent ||
      problem.filterWidth == kUnknownExtent)
    return "the filter's height or width is not static";
  constexpr int64_t most = 1 << 12;
  for (int64_t value :
       {problem.filterHeight, problem.filterWidth, problem.strideHeight,
        problem.strideWidth, problem.dilationHeight, problem.dilationWidth})
    if (value > most)
      return "a filter extent, stride or dilation of " + std::to_string(value) +
             " is above " + std::to_string(most);
  return "";
}

std::vector<int64_t> extentsToTry(int64_t extent, int64_t factor,
                                  int64_t whenUnknown) {
  if (extent == kUnknownExtent)
    return {roundUp(whenUnknown, factor)};
  std::vector<int64_t> extents;
  for (int64_t pieces = 1;; ++pieces) {
    int64_t share =
        roundUp(ceilDiv(std::max<int64_t>(1, extent), pieces), factor);
    share = std::min(share, roundDown(kMaxTileExtent, factor));
    if (extents.empty() || extents.back() != share)
      extents.push_back(share);
    if (share <= factor || pieces >= 128)
      break;
  }
  if (extents.back() != factor)
    extents.push_back(factor);
  return extents;
}

bool staysInImage(const Problem &problem) {
  auto stays = [](int64_t image, int64_t output, int64_t before, int64_t stride,
                  int64_t filter, int64_t dilation) {
    return image != kUnknownExtent && output != kUnknownExtent && before == 0 &&
           patchExtent(output, stride, filter, dilation) <= image;
  };
  return stays(problem.imageHeight, problem.outputHeight, problem.padTop,
               problem.strideHeight, problem.filterHeight,
               problem.dilationHeight) &&
         stays(problem.imageWidth, problem.outputWidth, problem.padLeft,
               problem.strideWidth, problem.filterWidth, problem.dilationWidth);
}

double gridTiles(const Problem &problem, int64_t channels, int64_t height,
                 int64_t width, int64_t depth) {
  auto count = [](int64_t extent, int64_t tile, int64_t typical) {
    return static_cast<double>(
        ceilDiv(std::max<int64_t>(1, assumed(extent, typical)), tile));
  };
  return static_cast<double>(assumed(problem.images, 1)) *
         count(problem.outputHeight, height, 56) *
         count(problem.outputWidth, width, 56) * count(channels, depth, 64);
}

PixelTile orient(const Problem &problem, MicroTile micro) {
  if (problem.channelsLast)
    return {micro.rows, micro.columns};
  return {micro.columns, micro.rows};
}

MicroTile chooseOriented(const Problem &problem, const CPUModel &model,
                         int64_t channels, bool anyRows) {
  int64_t width = problem.outputWidth;
  if (problem.channelsLast)
    return model.chooseMicroTile(width, channels, /*anyRows=*/true);
  return model.chooseMicroTile(channels, width, anyRows);
}

double pixelCycles(const Problem &problem, const CPUModel &model,
                   MicroTile micro, int64_t width, int64_t channels,
                   int64_t depth) {
  if (problem.channelsLast)
    return model.multiplyCycles(micro, width, channels, depth);
  return model.multiplyCycles(micro, channels, width, depth);
}

double registerTiles(const Problem &problem, MicroTile micro, int64_t width,
                     int64_t channels) {
  PixelTile tile = orient(problem, micro);
  return static_cast<double>(ceilDiv(width, tile.width) *
                             ceilDiv(channels, tile.channels));
}

} // namespace tracea::doctor
