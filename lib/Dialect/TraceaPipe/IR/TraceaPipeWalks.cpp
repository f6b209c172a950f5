//===- TraceaPipeWalks.cpp - Coordinates that a dimension walks through ---===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Verifiers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

LogicalResult WalkType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t coordinates) {
  if (coordinates >= 1 && coordinates <= 8)
    return success();
  return emitError() << "a walk goes through 1 to 8 coordinates, found "
                     << coordinates;
}

static LogicalResult verifyTable(DelinearizeOp op) {
  Value table = op.getTable();
  auto type = cast<MemRefType>(table.getType());
  int64_t coordinates = op.getResult().getType().getCoordinates();
  if (type.getRank() != 2 || !type.hasStaticShape() ||
      type.getDimSize(0) != coordinates || !type.getElementType().isInteger(64))
    return op.emitOpError() << "expects a table of i64 with a row for each of "
                            << coordinates << " coordinates, found " << type;
  if (!table.getDefiningOp<ScratchOp>() || !table.hasOneUse())
    return op.emitOpError()
           << "expects a table in scratch memory that nothing else uses";
  return success();
}

LogicalResult DelinearizeOp::verify() {
  int64_t expected = getBasis().size() + 1;
  int64_t coordinates = getResult().getType().getCoordinates();
  if (coordinates != expected)
    return emitOpError() << "expects a walk through one coordinate more than "
                            "the basis has extents ("
                         << expected << "), found " << coordinates;
  for (auto [number, extent] : llvm::enumerate(getBasis()))
    if (std::optional<int64_t> known =
            getConstantIntValue(getAsOpFoldResult(extent));
        known && (*known < 1 || *known > INT32_MAX))
      return emitOpError() << "expects extents of 1 to 2^31 - 1 in its basis, "
                              "found "
                           << *known << " as extent " << number;
  return getTable() ? verifyTable(*this) : success();
}

LogicalResult GatherOp::verify() {
  MemRefType type = getTable().getType();
  int64_t coordinates = getResult().getType().getCoordinates();
  if (coordinates != 1)
    return emitOpError() << "expects a walk through 1 coordinate, found "
                         << coordinates;
  if (type.getRank() == 0)
    return emitOpError() << "expects a table of at least 1 dimension, found "
                         << type;
  if (static_cast<int64_t>(getIndices().size()) != type.getRank())
    return emitOpError() << "expects " << type.getRank() << " indices for "
                         << type << ", found " << getIndices().size();
  return verifiers::verifyUnchangedArgument(*this, getTable(), "a table");
}

DelinearizeOp mlir::tracea_pipe::getDelinearize(Value walk) {
  return walk.getDefiningOp<DelinearizeOp>();
}

GatherOp mlir::tracea_pipe::getGather(Value walk) {
  return walk.getDefiningOp<GatherOp>();
}

Value mlir::tracea_pipe::shiftWalk(OpBuilder &builder, Value walk,
                                   Value offset) {
  Location loc = walk.getLoc();
  auto shift = [&](Value first) -> Value {
    return arith::AddIOp::create(builder, loc, first, offset);
  };
  if (DelinearizeOp op = getDelinearize(walk))
    return DelinearizeOp::create(builder, loc, op.getResult().getType(),
                                 shift(op.getFirst()), op.getBasis());
  GatherOp op = getGather(walk);
  SmallVector<Value> indices(op.getIndices());
  indices.back() = shift(indices.back());
  return GatherOp::create(builder, loc, op.getResult().getType(), op.getTable(),
                          indices);
}
