//===- LaneCoordinates.cpp - Where the elements of a lane are -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lanes/LaneCoordinates.h"
#include "Lanes/LaneBits.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

LaneCoordinates::LaneCoordinates(Emitter &b, LanesAttr lanes)
    : b(b), lanes(lanes) {
  SmallVector<ThreadMap> maps(lanes.getRank());
  for (auto [dim, map] : llvm::enumerate(maps)) {
    for (DenseI64ArrayAttr vector : lanes.getLane())
      map.byLane.push_back(static_cast<uint64_t>(vector[dim]));
    for (DenseI64ArrayAttr vector : lanes.getWarp())
      map.byWarp.push_back(static_cast<uint64_t>(vector[dim]));
  }
  base = applyBits(
      b, {[&]() { return b.team.lane; }, [&]() { return b.team.warp; }}, maps);
}

SmallVector<Value> LaneCoordinates::get(int64_t reg) {
  return get(lanes.getCoordinate(reg, 0));
}

SmallVector<Value> LaneCoordinates::get(ArrayRef<int64_t> fixed) {
  SmallVector<Value> at;
  for (auto [x, offset] : llvm::zip(base, fixed)) {
    if (!x)
      at.push_back(b.i32(offset));
    else if (offset == 0)
      at.push_back(x);
    else if (lanes.hasSeparateLanes())
      at.push_back(b.add(x, offset));
    else
      at.push_back(arith::XOrIOp::create(b, x, b.i32(offset)));
  }
  return at;
}

Value mlir::tracea_pipe::isBelow(Emitter &b, ValueRange at, ValueRange limits,
                                 ArrayRef<int64_t> shape) {
  Value below;
  for (auto [x, limit, extent] : llvm::zip(at, limits, shape)) {
    std::optional<int64_t> known = getConstantIntValue(limit);
    if (known && *known >= extent)
      continue;
    below = b.conjoin(below, arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                                   b.toIndex(x), limit));
  }
  return below;
}

Value mlir::tracea_pipe::isBelow(Emitter &b, ValueRange at, ValueRange limits) {
  Value below;
  for (auto [x, limit] : llvm::zip(at, limits))
    below = b.conjoin(
        below, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, limit));
  return below;
}

Value mlir::tracea_pipe::isWhole(Emitter &b, ValueRange limits,
                                 ArrayRef<int64_t> shape) {
  Value whole;
  for (auto [limit, extent] : llvm::zip(limits, shape)) {
    std::optional<int64_t> known = getConstantIntValue(limit);
    if (known && *known >= extent)
      continue;
    whole = b.conjoin(whole, arith::CmpIOp::create(b, arith::CmpIPredicate::sge,
                                                   limit, b.index(extent)));
  }
  return whole;
}

SmallVector<Value> mlir::tracea_pipe::toIndices(Emitter &b, ValueRange values) {
  SmallVector<Value> indices;
  for (Value value : values)
    indices.push_back(b.toIndex(value));
  return indices;
}
