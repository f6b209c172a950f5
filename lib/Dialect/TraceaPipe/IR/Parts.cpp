//===- Parts.cpp - Parts of register tiles --------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/TraceaPipe/IR/Parts.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

LanesAttr mlir::tracea_pipe::getPartLanes(LanesAttr lanes, unsigned dim,
                                          int64_t width) {
  int64_t extent = lanes.getTileShape()[dim];
  if (width == extent)
    return lanes;
  if (width < 1 || width > extent)
    return {};
  SmallVector<int64_t> outer(lanes.getOuter());
  int64_t piece = extent / outer[dim];
  if (width % piece == 0) {
    outer[dim] = width / piece;
    return LanesAttr::get(lanes.getContext(), lanes.getReg(), lanes.getLane(),
                          lanes.getWarp(), outer);
  }
  if (piece % width || !llvm::isPowerOf2_64(width))
    return {};
  outer[dim] = 1;
  auto isBeyond = [&](DenseI64ArrayAttr vector) {
    return vector[dim] >= width;
  };
  if (llvm::any_of(lanes.getLane(), isBeyond) ||
      llvm::any_of(lanes.getWarp(), isBeyond))
    return {};
  SmallVector<DenseI64ArrayAttr> reg;
  llvm::copy_if(lanes.getReg(), std::back_inserter(reg),
                [&](DenseI64ArrayAttr vector) { return !isBeyond(vector); });
  return LanesAttr::get(lanes.getContext(), reg, lanes.getLane(),
                        lanes.getWarp(), outer);
}
