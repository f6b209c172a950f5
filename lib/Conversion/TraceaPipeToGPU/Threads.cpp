//===- Threads.cpp - Where a thread stands, and linear maps of it ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Threads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

uint64_t ThreadMap::getSupport() const {
  uint64_t support = 0;
  for (const alg::F2Vectors *columns : {&byLane, &byWarp})
    for (uint64_t column : *columns)
      support |= column;
  return support;
}

Value mlir::tracea_pipe::getI32(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantOp::create(
      b, b.getI32IntegerAttr(static_cast<int32_t>(value)));
}

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

Value Threads::applyTo(Value x, const alg::F2Vectors &columns) {
  // Bits that move by one distance move together.
  std::map<int64_t, uint64_t> movedBy;
  for (auto [bit, column] : llvm::enumerate(columns))
    for (uint64_t rest = column; rest; rest &= rest - 1)
      movedBy[llvm::countr_zero(rest) - static_cast<int64_t>(bit)] |=
          uint64_t(1) << bit;
  Value result;
  for (auto [distance, mask] : movedBy) {
    Value term = x;
    // A lane has no bits but its own.
    if (x != lane || mask + 1 != uint64_t(context.getSubgroupSize()))
      term = arith::AndIOp::create(b, term, getI32(b, int64_t(mask)));
    if (distance > 0)
      term = arith::ShLIOp::create(b, term, getI32(b, distance));
    else if (distance < 0)
      term = arith::ShRUIOp::create(b, term, getI32(b, -distance));
    result = result ? Value(arith::XOrIOp::create(b, result, term)) : term;
  }
  return result;
}

Value Threads::apply(const ThreadMap &map, uint64_t constant) {
  auto isZero = [](const alg::F2Vectors &columns) {
    return llvm::all_of(columns, [](uint64_t column) { return !column; });
  };
  Value result;
  auto add = [&](Value term, bool isDisjoint) {
    if (!result)
      result = term;
    else
      // Sums that carry nothing fold into the addresses of instructions.
      result = isDisjoint ? Value(arith::AddIOp::create(b, result, term))
                          : Value(arith::XOrIOp::create(b, result, term));
  };
  if (!isZero(map.byLane))
    add(applyTo(getLane(), map.byLane), false);
  if (!isZero(map.byWarp))
    add(applyTo(getWarp(), map.byWarp),
        (ThreadMap{map.byLane, {}}.getSupport() &
         ThreadMap{{}, map.byWarp}.getSupport()) == 0);
  if (constant || !result)
    add(getI32(b, int64_t(constant)), (map.getSupport() & constant) == 0);
  return result;
}

Value Threads::applyIndex(const ThreadMap &map, uint64_t constant) {
  if (map.isZero())
    return arith::ConstantIndexOp::create(b, int64_t(constant));
  // One base for all constants that carry nothing.
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

void Threads::sync() {
  // How the warps of a role meet is the target's business.
  if (op->getParentOfType<RoleOp>())
    SyncOp::create(b);
  else
    gpu::BarrierOp::create(b);
}
