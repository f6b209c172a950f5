//===- TileTransfer.cpp - What moves between tiles and memory -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

std::optional<TileTransfer> mlir::tracea_pipe::getTileTransfer(Operation *op) {
  auto shapeOf = [](Value tile) {
    return cast<ShapedType>(tile.getType()).getShape();
  };
  TileTransfer transfer;
  auto fill = [&](auto access, Value memory, ArrayRef<int64_t> shape,
                  TileTransfer::Kind kind) {
    transfer.kind = kind;
    transfer.memory = memory;
    transfer.shape = shape;
    transfer.indices = access.getIndices();
    transfer.limits = access.getLimits();
    transfer.map = access.getMap();
    return true;
  };
  auto walk = [&](auto access) {
    transfer.along = access.getAlong();
    transfer.walks = access.getWalks();
  };
  using Kind = TileTransfer::Kind;
  bool isTransfer = llvm::TypeSwitch<Operation *, bool>(op)
                        .Case([&](LoadOp load) {
                          walk(load);
                          transfer.padded = load.getPadded();
                          return fill(load, load.getSource(),
                                      shapeOf(load.getResult()), Kind::In);
                        })
                        .Case([&](StoreOp store) {
                          walk(store);
                          return fill(store, store.getDest(),
                                      shapeOf(store.getValue()), Kind::Out);
                        })
                        .Case([&](PrefetchOp prefetch) {
                          return fill(prefetch, prefetch.getSource(),
                                      prefetch.getShape(), Kind::Hint);
                        })
                        .Case([&](StageOp stage) {
                          walk(stage);
                          transfer.padded = stage.getPadded();
                          return fill(stage, stage.getSource(),
                                      shapeOf(stage.getResult()), Kind::In);
                        })
                        .Case([&](CopyOp copy) {
                          walk(copy);
                          transfer.padded = copy.getPadded();
                          transfer.tile = copy.getDest();
                          return fill(copy, copy.getSource(),
                                      shapeOf(copy.getDest()), Kind::In);
                        })
                        .Case([&](CopyOutOp copy) {
                          transfer.tile = copy.getSource();
                          return fill(copy, copy.getDest(),
                                      shapeOf(copy.getSource()), Kind::Out);
                        })
                        .Default([](Operation *) { return false; });
  if (!isTransfer)
    return std::nullopt;
  return transfer;
}

SmallVector<MapInput>
mlir::tracea_pipe::getMapInputs(const TileTransfer &transfer) {
  SmallVector<MapInput> inputs;
  int number = 0;
  for (unsigned dim = 0; dim < transfer.shape.size(); ++dim) {
    if (!llvm::is_contained(transfer.along, int64_t(dim))) {
      inputs.push_back({dim});
      continue;
    }
    unsigned coordinates =
        cast<WalkType>(transfer.walks[number].getType()).getCoordinates();
    for (unsigned coordinate = 0; coordinate < coordinates; ++coordinate)
      inputs.push_back({dim, number, coordinate});
    ++number;
  }
  return inputs;
}

bool mlir::tracea_pipe::haveSamePlaces(const TileTransfer &one,
                                       const TileTransfer &other) {
  return one.memory == other.memory && one.map == other.map &&
         one.indices == other.indices && one.along == other.along &&
         one.walks == other.walks;
}

int64_t mlir::tracea_pipe::clipLimit(int64_t limit, int64_t extent) {
  return std::max<int64_t>(0, std::min(limit, extent));
}

Value mlir::tracea_pipe::clipLimit(OpBuilder &builder, Location loc,
                                   Value limit, int64_t extent) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  if (std::optional<int64_t> known =
          getConstantIntValue(getAsOpFoldResult(limit)))
    return constant(clipLimit(*known, extent));
  Value most = arith::MinSIOp::create(builder, loc, limit, constant(extent));
  return arith::MaxSIOp::create(builder, loc, most, constant(0));
}
