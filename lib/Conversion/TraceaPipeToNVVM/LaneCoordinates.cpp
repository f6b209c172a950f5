//===- LaneCoordinates.cpp - Where the elements of a lane are -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LaneCoordinates.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

LaneCoordinates::LaneCoordinates(Emitter &b, LanesAttr lanes)
    : b(b), lanes(lanes) {
  base.assign(lanes.getRank(), Value());
  auto addBits = [&](Value number, ArrayRef<DenseI64ArrayAttr> basis) {
    for (auto [bit, vector] : llvm::enumerate(basis)) {
      Value isSet;
      for (auto [dim, step] : llvm::enumerate(vector.asArrayRef())) {
        if (!step)
          continue;
        if (!isSet)
          isSet = arith::AndIOp::create(
              b, arith::ShRUIOp::create(b, number, b.i32(bit)), b.i32(1));
        Value part = b.mul(isSet, step);
        base[dim] = base[dim]
                        ? arith::XOrIOp::create(b, base[dim], part).getResult()
                        : part;
      }
    }
  };
  addBits(b.team.lane, lanes.getLane());
  addBits(b.team.warp, lanes.getWarp());
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
    Value wide = arith::IndexCastOp::create(b, b.getIndexType(), x);
    Value one =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, wide, limit);
    below = below ? arith::AndIOp::create(b, below, one).getResult() : one;
  }
  return below;
}

Value mlir::tracea_pipe::isWhole(Emitter &b, ValueRange limits,
                                 ArrayRef<int64_t> shape) {
  Value whole;
  for (auto [limit, extent] : llvm::zip(limits, shape)) {
    std::optional<int64_t> known = getConstantIntValue(limit);
    if (known && *known >= extent)
      continue;
    Value one = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, limit,
                                      b.index(extent));
    whole = whole ? arith::AndIOp::create(b, whole, one).getResult() : one;
  }
  return whole;
}

SmallVector<Value> mlir::tracea_pipe::toIndices(Emitter &b, ValueRange values) {
  SmallVector<Value> indices;
  for (Value value : values)
    indices.push_back(arith::IndexCastOp::create(b, b.getIndexType(), value));
  return indices;
}
