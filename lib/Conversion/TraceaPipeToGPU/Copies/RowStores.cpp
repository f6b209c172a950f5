//===- RowStores.cpp - Tiles that end before the memory does --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copy unit clips at the end of the memory alone. A tile whose rows may end
// before, because others follow that belong to somebody else, leaves through
// the unit where all of its rows are there; otherwise lanes carry its rows out,
// as wide as they can.

#include "Lanes/LaneCoordinates.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Conversion/TraceaPipeToGPU/LaneStores.h"
#include "tracea/Conversion/TraceaPipeToGPU/Windows.h"
#include <numeric>

using namespace mlir;
using namespace mlir::tracea_pipe;

/// The bytes of a row that a lane may move at a time; 0 where rows are not for
/// this. Pieces lie below the end of the memory's rows or behind it.
static int64_t getPieceBytes(CopyOutOp op, const StagedWindow &source,
                             const GlobalWindow &dest,
                             const GlobalBuffer &memory) {
  auto type = cast<MemRefType>(op.getSource().getType());
  int64_t bytes = source.layout.elementBytes;
  if (type.getRank() != 2 || !runsAlongLast(source.dims) ||
      !runsAlongLast(dest) || source.hasTerms() ||
      memory.type.getElementType() != type.getElementType() ||
      memory.type.getRank() < 2)
    return 0;
  // Where pieces begin in memory; rows begin where the buffer's alignment says.
  int64_t column = dest.dims.back().form.constant;
  for (const WindowDim::Term &term : dest.dims.back().terms)
    column = std::gcd(column, term.factor * term.divisor);
  int64_t piece = std::gcd(memory.alignment, kWidestAccess);
  if (column)
    piece = std::gcd(piece, std::gcd(column, kWidestAccess) * bytes);
  // A piece lies in one chunk of a swizzled row.
  piece = std::gcd(piece, type.getDimSize(1) * bytes);
  piece = std::gcd(piece, source.layout.getRowBytes());
  return piece >= bytes ? piece : 0;
}

LogicalResult mlir::tracea_pipe::emitRowStores(Emitter &b, CopyOutOp op,
                                               const StagedWindow &source,
                                               const GlobalWindow &dest,
                                               Value buffer,
                                               ValueRange limits) {
  const GlobalBuffer &memory = b.context.getBuffer(dest);
  auto type = cast<MemRefType>(op.getSource().getType());
  int64_t piece = getPieceBytes(op, source, dest, memory);
  if (!piece || !b.team.thread)
    return failure();
  int64_t elements = piece / source.layout.elementBytes;
  int64_t perRow = type.getDimSize(1) / elements;
  int64_t count = type.getDimSize(0) * perRow;
  int64_t threads = b.team.getNumThreads();
  if (count % threads)
    return failure();
  // Nothing but their bits matters.
  Type word = piece <= 8 ? Type(b.getIntegerType(8 * piece))
                         : VectorType::get(piece / 4, b.getI32Type());
  for (int64_t round = 0; round < count; round += threads) {
    Value number = b.add(b.team.thread, round);
    Value row = arith::DivUIOp::create(b, number, b.i32(perRow));
    Value place = arith::RemUIOp::create(b, number, b.i32(perRow));
    Value column = b.mul(place, elements);
    // All of the tile is there to be read.
    Value value = b.load(word, b.staged(source, buffer, {row, column}), piece);
    Value at[] = {b.toIndexUnsigned(row), b.toIndexUnsigned(column)};
    Value inside = isBelow(b, at, limits);
    b.onlyIf(inside, [&]() { b.store(value, b.global(dest, at), piece); });
  }
  return success();
}
