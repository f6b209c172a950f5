//===- TileParts.h - Stored tiles and their parts ---------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_DIALECT_TRACEAPIPE_TRANSFORMS_TILEPARTS_H
#define TRACEA_LIB_DIALECT_TRACEAPIPE_TRANSFORMS_TILEPARTS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea_pipe {

/// Columns [offset, offset + width) of a stored tile; columns run along the
/// last dimension of the destination.
struct Part {
  int64_t offset = 0, width = 0;
  unsigned buffer = 0;
  /// Groups that may be pending when the buffer is written.
  int64_t pending = 0;
};

/// A store of a result, and how it leaves through shared memory.
struct StagedStore {
  StoreOp store;
  /// Lanes write to memory themselves.
  bool isDirect = false;
  /// The dimension of the tile that columns are, and the other one.
  int64_t columnDim = 1, rowDim = 0;
  SmallVector<Part> parts;

  RankedTensorType getTile() {
    return cast<RankedTensorType>(store.getValue().getType());
  }
  int64_t getRows() { return getTile().getDimSize(rowDim); }
  int64_t getColumns() { return getTile().getDimSize(columnDim); }
};

/// The tile of `width` columns of a store: registers that reach beyond them are
/// left out. Null where lanes or warps do.
RankedTensorType getPartType(StagedStore &staged, int64_t width);

/// Computes columns of tiles from columns of what the whole tiles are computed
/// from, element by element. Tiles are those with the shape and the lanes of
/// one of them.
class PartBuilder {
public:
  PartBuilder(ImplicitLocOpBuilder &b, RankedTensorType tile,
              unsigned columnDim, int64_t offset, int64_t width);

  /// Whether lanes load 16 bytes of a row at a time where they can.
  void setWide(bool on) { isWide = on; }
  /// The loads from memory that `value` is computed from.
  SmallVector<LoadOp> getLoads(Value value);
  /// Loads what the part of `value` takes from memory that nothing writes.
  void prefetch(Value value);
  /// The part of `value`, a tile of the shape.
  Value get(Value value);

private:
  RankedTensorType getType(Value value);
  Operation *getAlike(Value value);
  Value compute(Value value);
  Value clone(Operation *op);
  Value load(LoadOp op);
  RankedTensorType getLoadedType(LoadOp op);

  ImplicitLocOpBuilder &b;
  RankedTensorType tile;
  unsigned columnDim;
  int64_t offset, width;
  LanesAttr lanes;
  bool isWide = false;
  DenseMap<Value, Value> parts;
  /// What was loaded ahead, in the lanes that it was loaded with.
  DenseMap<Value, Value> loaded;
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_DIALECT_TRACEAPIPE_TRANSFORMS_TILEPARTS_H
