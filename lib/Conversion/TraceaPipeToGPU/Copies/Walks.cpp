//===- Walks.cpp - Coordinates that a dimension walks through -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The coordinates of an element along a dimension that walks, by divisions
// where the code asks for them.
//
//===----------------------------------------------------------------------===//

#include "tracea/Conversion/TraceaPipeToGPU/Walks.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

SmallVector<Value> mlir::tracea_pipe::getWalkCoordinates(Emitter &b, Value walk,
                                                         Value at) {
  DelinearizeOp op = getDelinearize(walk);
  Value rest = b.add(b.remap(op.getFirst()), at);
  SmallVector<Value> coordinates;
  // No number is negative and no extent zero, so that all divisions agree.
  for (Value extent : llvm::reverse(op.getBasis())) {
    Value divisor = b.remap(extent);
    coordinates.push_back(b.createOrFold<arith::RemUIOp>(rest, divisor));
    rest = b.createOrFold<arith::DivUIOp>(rest, divisor);
  }
  coordinates.push_back(rest);
  std::reverse(coordinates.begin(), coordinates.end());
  return coordinates;
}

SmallVector<Value> mlir::tracea_pipe::getMapInputs(Emitter &b, CopyOp op,
                                                   ValueRange at) {
  SmallVector<Value> coordinates(at);
  return getMapInputs<Value>(
      *getTileTransfer(op), coordinates,
      [&](Value walk, Value one) { return getWalkCoordinates(b, walk, one); });
}
