//===- Walks.cpp - Coordinates that a dimension walks through -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The coordinates of an element along a dimension that walks, by divisions or
// loads where the code asks for them.
//
//===----------------------------------------------------------------------===//

#include "tracea/Conversion/TraceaPipeToGPU/Walks.h"
#include "tracea/Conversion/TraceaPipeToGPU/KernelPlan.h"
#include "tracea/Conversion/TraceaPipeToGPU/KnownRange.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// The number of a table for element `at`, or what it is where there is none.
static Value getGathered(Emitter &b, GatherOp op, Value at) {
  const GlobalBuffer &table = b.context.arguments.find(op.getTable())->second;
  SmallVector<Value> indices;
  for (Value index : op.getIndices())
    indices.push_back(b.remap(index));
  indices.back() = b.add(indices.back(), at);
  Value isThere;
  // None is below zero and, without a sign, below the size as well.
  for (auto [index, size] : llvm::zip_equal(indices, table.sizes))
    isThere =
        b.conjoin(isThere, arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                                 index, size));
  Type element = table.type.getElementType();
  auto load = [&]() -> Value {
    Address place = b.target.getGlobal(
        b, table, [&](unsigned dim) { return indices[dim]; });
    Value number = b.target.loadUnchanged(b, element, place,
                                          element.getIntOrFloatBitWidth() / 8);
    return arith::IndexCastOp::create(b, b.getIndexType(), number);
  };
  return b.choose(b.getIndexType(), isThere, load,
                  [&]() { return b.index(GatherOp::kNowhere); });
}

void mlir::tracea_pipe::planWalks(KernelPlan &plan) {
  // Behind the first number there are no more than a block has elements, which
  // are far fewer.
  constexpr int64_t kMost = int64_t(1) << 30;
  plan.kernel.walk([&](DelinearizeOp op) {
    bool isNarrow = llvm::all_of(op->getOperands(), [](Value number) {
      std::optional<KnownRange> range = getKnownRange(number);
      return range && range->low >= 0 && range->high < kMost;
    });
    if (isNarrow)
      plan.narrowWalks.insert(op);
  });
}

SmallVector<Value> mlir::tracea_pipe::getWalkCoordinates(Emitter &b, Value walk,
                                                         Value at) {
  if (GatherOp gather = getGather(walk))
    return {getGathered(b, gather, at)};
  DelinearizeOp op = getDelinearize(walk);
  Value rest = b.add(b.remap(op.getFirst()), at);
  // Of 64 bits a division is many instructions, and lanes divide for each row
  // that they copy.
  bool narrow = b.context.plan.narrowWalks.contains(op);
  auto cast = [&](Type type, Value number) -> Value {
    return narrow ? b.createOrFold<arith::IndexCastUIOp>(type, number) : number;
  };
  rest = cast(b.getI32Type(), rest);
  SmallVector<Value> coordinates;
  // No number is negative and no extent zero, so that all divisions agree.
  for (Value extent : llvm::reverse(op.getBasis())) {
    Value divisor = cast(b.getI32Type(), b.remap(extent));
    coordinates.push_back(b.createOrFold<arith::RemUIOp>(rest, divisor));
    rest = b.createOrFold<arith::DivUIOp>(rest, divisor);
  }
  coordinates.push_back(rest);
  for (Value &coordinate : coordinates)
    coordinate = cast(b.getIndexType(), coordinate);
  std::reverse(coordinates.begin(), coordinates.end());
  return coordinates;
}

SmallVector<Value> mlir::tracea_pipe::getMapInputs(Emitter &b,
                                                   const GlobalWindow &window,
                                                   ValueRange at) {
  if (window.inputs.empty())
    return SmallVector<Value>(at);
  SmallVector<SmallVector<Value>> coordinates(window.walks.size());
  SmallVector<Value> inputs;
  for (const MapInput &input : window.inputs) {
    if (input.walk < 0) {
      inputs.push_back(at[input.dim]);
      continue;
    }
    SmallVector<Value> &all = coordinates[input.walk];
    if (all.empty())
      all = getWalkCoordinates(b, window.walks[input.walk], at[input.dim]);
    inputs.push_back(all[input.coordinate]);
  }
  return inputs;
}
