//===- Raster.h - Tiles in grouped order ------------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_CONVERSION_TRACEAPIPETOGPU_RASTER_H
#define TRACEA_CONVERSION_TRACEAPIPETOGPU_RASTER_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tracea_pipe {

/// Row and column of tile `number` of rows * columns; see
/// `tracea_pipe.raster`. Numbers are not negative.
std::pair<Value, Value> emitRaster(ImplicitLocOpBuilder &b, Value number,
                                   Value rows, Value columns, int64_t group);

/// The indices of iteration `number` of a grid with the given bounds, the last
/// one fastest; with a group, the last two are in grouped order.
SmallVector<Value> emitGridIndices(ImplicitLocOpBuilder &b, Value number,
                                   ValueRange bounds, int64_t group);

} // namespace mlir::tracea_pipe

#endif // TRACEA_CONVERSION_TRACEAPIPETOGPU_RASTER_H
