//===- TraceaPipeRagged.cpp - Tiles of ragged groups ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the operations that find the rows of a tile where memory says
// how many rows each group has.

#include "Verifiers.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

bool mlir::tracea_pipe::isRaggedEnds(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || memref.getRank() != 1 || !memref.getLayout().isIdentity())
    return false;
  Type element = memref.getElementType();
  return element.isSignlessInteger(32) || element.isSignlessInteger(64);
}

static LogicalResult verifyRagged(Operation *op, Value ends, int64_t tile) {
  if (tile < 1 || tile > (int64_t(1) << 30))
    return op->emitOpError()
           << "expects tiles of 1 to 2^30 rows, found " << tile;
  return verifiers::verifyUnchanged(op, ends, "ends");
}

LogicalResult RaggedCountOp::verify() {
  return verifyRagged(*this, getEnds(), getTile());
}

LogicalResult RaggedTileOp::verify() {
  return verifyRagged(*this, getEnds(), getTile());
}
