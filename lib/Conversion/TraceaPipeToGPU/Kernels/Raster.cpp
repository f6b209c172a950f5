//===- Raster.cpp - Tiles in grouped order --------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the number of a workgroup to the coordinates of its tile: groups of rows
// of tiles are walked column by column, so that tiles that run at once share
// operands in the cache.

#include "tracea/Conversion/TraceaPipeToGPU/Raster.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Quotient and remainder.
static std::pair<Value, Value> divide(ImplicitLocOpBuilder &b, Value x,
                                      Value y) {
  Value quotient = b.createOrFold<arith::DivUIOp>(x, y);
  Value product = b.createOrFold<arith::MulIOp>(quotient, y);
  return {quotient, b.createOrFold<arith::SubIOp>(x, product)};
}

std::pair<Value, Value> mlir::tracea_pipe::emitRaster(ImplicitLocOpBuilder &b,
                                                      Value number, Value rows,
                                                      Value columns,
                                                      int64_t group) {
  Value height = arith::ConstantIndexOp::create(b, group);
  Value size = b.createOrFold<arith::MulIOp>(height, columns);
  auto [band, rest] = divide(b, number, size);
  Value first = b.createOrFold<arith::MulIOp>(band, height);
  Value below = b.createOrFold<arith::SubIOp>(rows, first);
  height = b.createOrFold<arith::MinSIOp>(below, height);
  auto [column, row] = divide(b, rest, height);
  return {b.createOrFold<arith::AddIOp>(first, row), column};
}

SmallVector<Value> mlir::tracea_pipe::emitGridIndices(ImplicitLocOpBuilder &b,
                                                      Value number,
                                                      ValueRange bounds,
                                                      int64_t group) {
  SmallVector<Value> indices(bounds.size());
  int64_t dim = bounds.size() - 1;
  if (group && dim > 0) {
    Value tiles = b.createOrFold<arith::MulIOp>(bounds[dim - 1], bounds[dim]);
    Value tile = number;
    if (dim > 1)
      std::tie(number, tile) = divide(b, number, tiles);
    std::tie(indices[dim - 1], indices[dim]) =
        emitRaster(b, tile, bounds[dim - 1], bounds[dim], group);
    dim -= 2;
  }
  for (; dim > 0; --dim)
    std::tie(number, indices[dim]) = divide(b, number, bounds[dim]);
  if (dim == 0)
    indices[0] = number;
  return indices;
}
