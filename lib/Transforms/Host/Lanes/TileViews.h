//===- TileViews.h - Tiles of views are tiles of buffers --------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_LANES_TILEVIEWS_H
#define TRACEA_LIB_TRANSFORMS_HOST_LANES_TILEVIEWS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tracea {

/// Where the elements of a tile are in memory: at `indices`, and along each
/// dimension so much further as `steps` says, linear in the tile's coordinates.
struct TilePlace {
  Value memory;
  SmallVector<Value> indices;
  SmallVector<AffineExpr> steps;

  AffineMap getMap() const {
    return AffineMap::get(/*dimCount=*/2, /*symbolCount=*/0, steps,
                          memory.getContext());
  }
};

/// Whether tiles can be followed through a view: a window, dimensions that are
/// split or in another order, of extents that are known.
bool isTileView(Operation *view);

/// Has `place` be one in the buffer behind all such views.
void followTileViews(ImplicitLocOpBuilder &builder, TilePlace &place);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_LANES_TILEVIEWS_H
