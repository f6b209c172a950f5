//===- PlanStores.cpp - Which results pass through shared memory ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Within the pipeline level. Decides for each store of an epilogue whether it
// is staged, which rows a copy out of shared memory takes, and their swizzle.

#include "PlanStores.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// A store that writes whole sectors of memory needs no detour.
static constexpr int64_t kSectorBytes = 32;
/// The widest store of a lane.
static constexpr int64_t kVectorBytes = 16;

/// The dimension of the tile whose neighbours are neighbours in memory.
static std::optional<int64_t> getColumnDim(StoreOp store) {
  AffineMap map = store.getMap();
  // A bulk copy moves boxes; what walks is none.
  if (!store.getAlong().empty() || map.getNumDims() != 2 ||
      map.getNumResults() == 0)
    return std::nullopt;
  LinearForm last = getLinearForm(map.getResults().back(), 2);
  for (int64_t dim : {1, 0}) {
    if (last.coefficients[dim] != 1 || last.coefficients[1 - dim] != 0)
      continue;
    for (AffineExpr expr : map.getResults().drop_back())
      if (getLinearForm(expr, 2).coefficients[dim] != 0)
        return std::nullopt;
    return dim;
  }
  return std::nullopt;
}

/// Bytes that the lanes of a warp write side by side, a vector of registers
/// each.
static int64_t getRunBytes(StagedStore &staged) {
  LanesAttr lanes = getLanes(staged.getTile());
  int64_t bytes = staged.getTile().getElementTypeBitWidth() / 8;
  int64_t run = 1;
  auto extend = [&](DenseI64ArrayAttr vector) {
    bool isNext = vector[staged.columnDim] == run && vector[staged.rowDim] == 0;
    if (isNext)
      run *= 2;
    return isNext;
  };
  for (DenseI64ArrayAttr vector : lanes.getReg())
    if (run * bytes >= kVectorBytes || !extend(vector))
      break;
  for (DenseI64ArrayAttr vector : lanes.getLane())
    extend(vector);
  return run * bytes;
}

std::optional<StagedStore> mlir::tracea_pipe::planStore(StoreOp store,
                                                        int64_t most) {
  StagedStore staged;
  staged.store = store;
  RankedTensorType tile = staged.getTile();
  int64_t bits = tile.getElementTypeBitWidth();
  std::optional<int64_t> dim = getColumnDim(store);
  if (!dim || bits % 8 || tile.getRank() != 2)
    return std::nullopt;
  // A tile that several lanes hold alike is small, and not worth a way through
  // shared memory.
  auto isReplica = [](DenseI64ArrayAttr vector) {
    return llvm::all_of(vector.asArrayRef(), [](int64_t x) { return x == 0; });
  };
  LanesAttr lanes = getLanes(tile);
  if (llvm::any_of(lanes.getLane(), isReplica) ||
      llvm::any_of(lanes.getWarp(), isReplica))
    return std::nullopt;
  staged.columnDim = *dim;
  staged.rowDim = 1 - *dim;
  int64_t bytes = bits / 8, columns = staged.getColumns();
  staged.isDirect = getRunBytes(staged) >= kSectorBytes;
  if (staged.getRows() % 8)
    return std::nullopt;
  // What lies past the end of a row in every tile does not leave at all. A tile
  // begins at a column of the result, or after it.
  int64_t extent =
      cast<MemRefType>(store.getDest().getType()).getShape().back();
  for (int64_t at = 0; at < columns;) {
    if (at && !ShapedType::isDynamic(extent) && at >= extent)
      break;
    int64_t width = 0;
    int64_t left = std::min(columns - at, most);
    int64_t row = kSwizzledRows[0].first / bytes;
    if (left >= row)
      width = left - left % row;
    else
      for (auto [rowBytes, bitsMoved] : kSwizzledRows)
        if (!width && left * bytes >= rowBytes)
          width = rowBytes / bytes;
    while (width > row && !getPartType(staged, width))
      width -= row;
    if (!width || at % width || !getPartType(staged, width))
      return std::nullopt;
    staged.parts.push_back({at, width});
    at += width;
  }
  return staged;
}

bool mlir::tracea_pipe::isLong(StoreOp store) {
  auto type =
      dyn_cast<FloatType>(getElementTypeOrSelf(store.getValue().getType()));
  constexpr unsigned mostDigitsOfUnit = 8;
  if (!type || type.getFPMantissaWidth() <= mostDigitsOfUnit)
    return false;
  bool hasFunction = false;
  int loads = 0;
  SmallVector<Value> list{store.getValue()};
  SmallPtrSet<Operation *, 16> seen;
  while (!list.empty()) {
    Operation *op = list.pop_back_val().getDefiningOp();
    if (!op || op->getNumRegions() || !seen.insert(op).second)
      continue;
    hasFunction |= isa<math::ErfOp, math::TanhOp>(op);
    loads += isa<LoadOp>(op);
    for (Value operand : op->getOperands())
      if (isRegisterTile(operand.getType()))
        list.push_back(operand);
  }
  return hasFunction && loads > 1;
}
