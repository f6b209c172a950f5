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
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"

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
    auto isNarrow = [](Value number) {
      std::optional<KnownRange> range = getKnownRange(number);
      return range && range->low >= 0 && range->high < kMost;
    };
    if (isNarrow(op.getFirst()) && llvm::all_of(op.getBasis(), isNarrow))
      plan.narrowWalks.insert(op);
  });
}

static SmallVector<Value> divide(Emitter &b, DelinearizeOp op, Value at) {
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

/// Where a coordinate of element `at` (an index) is.
static Address getPlace(Emitter &b, const WalkTable &table, size_t coordinate,
                        Value at) {
  constexpr int64_t kBytes = 8;
  at = b.add(at, static_cast<int64_t>(coordinate) * table.length);
  StagedWindow window;
  window.buffer = table.memory;
  return b.staged(window, b.add(table.start, b.toI32(b.mul(at, kBytes))));
}

SmallVector<Value> mlir::tracea_pipe::getWalkCoordinates(Emitter &b, Value walk,
                                                         Value at) {
  if (GatherOp gather = getGather(walk))
    return {getGathered(b, gather, at)};
  DelinearizeOp op = getDelinearize(walk);
  auto table = b.context.walkTables.find(op);
  if (table == b.context.walkTables.end())
    return divide(b, op, at);
  SmallVector<Value> coordinates;
  for (size_t i = 0; i <= op.getBasis().size(); ++i)
    coordinates.push_back(arith::IndexCastOp::create(
        b, b.getIndexType(),
        b.load(b.getI64Type(), getPlace(b, table->second, i, at))));
  return coordinates;
}

namespace {
/// The lanes of the team compute the coordinates of all elements, each those of
/// some. They meet before it as well where others may still read what the table
/// holds of the iteration before.
struct FillTable : KernelPattern<DelinearizeOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(DelinearizeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getTable())
      return failure();
    Emitter b(op, rewriter, context);
    int64_t length = op.getTableLength(), threads = b.team.getNumThreads();
    WalkTable table{op.getTable(), b.target.getStart(b, adaptor.getTable()),
                    length};
    if (op->getParentOfType<LoopLikeOpInterface>())
      b.meet();
    Value thread = b.toIndex(b.team.thread);
    for (int64_t first = 0; first < length; first += threads) {
      Value at = b.add(thread, first);
      Value some;
      if (first + threads > length)
        some = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at,
                                     b.index(length));
      b.onlyIf(some, [&]() {
        for (auto [number, coordinate] : llvm::enumerate(divide(b, op, at)))
          b.store(arith::IndexCastOp::create(b, b.getI64Type(), coordinate),
                  getPlace(b, table, number, at));
      });
    }
    b.meet();
    context.walkTables[op] = table;
    rewriter.modifyOpInPlace(op, [&]() { op.getTableMutable().clear(); });
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateWalkPatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns,
                                             KernelContext &context) {
  patterns.add<FillTable>(converter, patterns.getContext(), context);
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
