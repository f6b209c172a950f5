//===- Threads.cpp - Where a thread stands in code of no vendor -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lanes/Threads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

SmallVector<Value> mlir::tracea_pipe::getElements(ImplicitLocOpBuilder &b,
                                                  Value vector) {
  auto elements = vector::ToElementsOp::create(b, vector);
  return SmallVector<Value>(elements.getResults());
}

Value mlir::tracea_pipe::getVector(ImplicitLocOpBuilder &b, Type elementType,
                                   ArrayRef<Value> elements) {
  auto type =
      VectorType::get(static_cast<int64_t>(elements.size()), elementType);
  return vector::FromElementsOp::create(b, type, elements);
}

Value Threads::getLane() {
  if (!lane)
    lane = arith::IndexCastOp::create(b, b.getI32Type(),
                                      gpu::LaneIdOp::create(b, nullptr));
  return lane;
}

Value Threads::getWarp() {
  if (warp)
    return warp;
  warp = arith::IndexCastOp::create(b, b.getI32Type(),
                                    gpu::SubgroupIdOp::create(b, nullptr));
  auto role = op->getParentOfType<RoleOp>();
  if (!role)
    return warp;
  // Warps of a role count from its first, those of a team from the team's.
  int64_t first = role.getWarps()[0], end = role.getWarps()[1];
  if (first)
    warp = arith::SubIOp::create(b, warp, getI32(b, first));
  if (role.getCopies() > 1) {
    int64_t size = (end - first) / role.getCopies();
    warp = llvm::isPowerOf2_64(size)
               ? Value(arith::AndIOp::create(b, warp, getI32(b, size - 1)))
               : Value(arith::RemUIOp::create(b, warp, getI32(b, size)));
  }
  return warp;
}

Value Threads::apply(const ThreadMap &map, uint64_t constant) {
  auto toSteps = [](const alg::F2Vectors &columns) {
    return SmallVector<int64_t>(columns.begin(), columns.end());
  };
  Value result =
      addBits(b, {[&]() { return getLane(); }, [&]() { return getWarp(); }},
              toSteps(map.byLane), toSteps(map.byWarp), BitSum::F2);
  if (result && !constant)
    return result;
  Value number = getI32(b, int64_t(constant));
  if (!result)
    return number;
  if (map.getSupport() & constant)
    return arith::XOrIOp::create(b, result, number);
  return arith::AddIOp::create(b, result, number);
}

Value Threads::applyIndex(const ThreadMap &map, uint64_t constant) {
  if (map.isZero())
    return arith::ConstantIndexOp::create(b, int64_t(constant));
  // Where the constant's bits are none of the map's, adding it carries nothing,
  // and all such offsets share one base.
  bool isDisjoint = (map.getSupport() & constant) == 0;
  Value index = arith::IndexCastOp::create(
      b, b.getIndexType(), apply(map, isDisjoint ? 0 : constant));
  if (isDisjoint && constant)
    index = arith::AddIOp::create(
        b, index, arith::ConstantIndexOp::create(b, int64_t(constant)));
  return index;
}

SmallVector<Value> Threads::rotate(ArrayRef<Value> values,
                                   const ThreadMap &map) {
  SmallVector<Value> result(values);
  alg::F2Vectors columns = map.byLane;
  columns.insert(columns.end(), map.byWarp.begin(), map.byWarp.end());
  // Each direction is a reduced basis vector, whose leading bit tells whether a
  // column goes along it.
  for (uint64_t direction : alg::canonicalBasis(columns)) {
    unsigned lead = llvm::Log2_64(direction);
    auto along = [&](const alg::F2Vectors &columns) {
      alg::F2Vectors bits;
      for (uint64_t column : columns)
        bits.push_back(column >> lead & 1);
      return bits;
    };
    Value parity = apply({along(map.byLane), along(map.byWarp)});
    Value turns = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, parity,
                                        getI32(b, 0));
    SmallVector<Value> turned(result.size());
    for (auto [reg, value] : llvm::enumerate(result)) {
      if (!value)
        continue;
      Value other = result[reg ^ direction];
      if (other == value) {
        turned[reg] = value;
        continue;
      }
      turned[reg] = arith::SelectOp::create(b, turns, other, value);
      ++context.numSelects;
    }
    result = turned;
  }
  return result;
}

SmallVector<Value> Threads::shuffle(ArrayRef<Value> words, Value offset,
                                    gpu::ShuffleMode mode) {
  Value width = getI32(b, context.getSubgroupSize());
  SmallVector<Value> result;
  for (Value word : words) {
    ++context.numShuffles;
    result.push_back(gpu::ShuffleOp::create(b, word, offset, width, mode)
                         .getShuffleResult());
  }
  return result;
}

void Threads::sync() {
  // How the warps of a role meet is the target's business.
  if (op->getParentOfType<RoleOp>())
    SyncOp::create(b);
  else
    gpu::BarrierOp::create(b);
}
