//===- LaneBits.cpp - Numbers that the bits of lane and warp add ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps over F2 become masks and shifts, one for each distance that bits move
// by; steps that are no bits of their own become products of fields.
//
//===----------------------------------------------------------------------===//

#include "Lanes/LaneBits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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

/// Bits `begin` to `end` of `number` as a number, times `step`.
static Value emitField(ImplicitLocOpBuilder &b, Value number, size_t begin,
                       size_t end, int64_t step) {
  Value field = number;
  if (begin)
    field = arith::ShRUIOp::create(b, field, getI32(b, int64_t(begin)));
  field = arith::AndIOp::create(b, field,
                                getI32(b, (int64_t(1) << (end - begin)) - 1));
  return step == 1 ? field
                   : b.createOrFold<arith::MulIOp>(field, getI32(b, step));
}

Value mlir::tracea_pipe::moveBits(ImplicitLocOpBuilder &b,
                                  function_ref<Value()> number,
                                  size_t knownBits,
                                  const alg::F2Vectors &columns) {
  std::map<int64_t, uint64_t> movedBy;
  for (auto [bit, column] : llvm::enumerate(columns))
    for (uint64_t rest = column; rest; rest &= rest - 1)
      movedBy[llvm::countr_zero(rest) - static_cast<int64_t>(bit)] |=
          uint64_t(1) << bit;
  Value result;
  for (auto [distance, mask] : movedBy) {
    Value term = number();
    if (mask + 1 != uint64_t(1) << knownBits)
      term = arith::AndIOp::create(b, term, getI32(b, int64_t(mask)));
    if (distance > 0)
      term = arith::ShLIOp::create(b, term, getI32(b, distance));
    else if (distance < 0)
      term = arith::ShRUIOp::create(b, term, getI32(b, -distance));
    result = result ? Value(arith::XOrIOp::create(b, result, term)) : term;
  }
  return result;
}

SmallVector<Value> mlir::tracea_pipe::applyBits(ImplicitLocOpBuilder &b,
                                                function_ref<Value()> lane,
                                                function_ref<Value()> warp,
                                                ArrayRef<ThreadMap> maps) {
  SmallVector<Value> results(maps.size());
  auto addBits = [&](function_ref<Value()> number,
                     alg::F2Vectors ThreadMap::*columns) {
    size_t most = 0;
    for (const ThreadMap &map : maps)
      most = std::max(most, (map.*columns).size());
    for (size_t bit = 0; bit < most; ++bit)
      for (auto [map, result] : llvm::zip_equal(maps, results)) {
        const alg::F2Vectors &steps = map.*columns;
        if (bit >= steps.size() || !steps[bit])
          continue;
        Value term = emitField(b, number(), bit, bit + 1,
                               static_cast<int64_t>(steps[bit]));
        result =
            result ? arith::XOrIOp::create(b, result, term).getResult() : term;
      }
  };
  addBits(lane, &ThreadMap::byLane);
  addBits(warp, &ThreadMap::byWarp);
  return results;
}

Value mlir::tracea_pipe::sumBits(ImplicitLocOpBuilder &b, Value number,
                                 ArrayRef<int64_t> steps, Value sum) {
  for (size_t bit = 0; bit < steps.size();) {
    // Bits whose steps double are one field.
    size_t end = bit + 1;
    while (end < steps.size() && steps[end] == 2 * steps[end - 1])
      ++end;
    if (steps[bit]) {
      Value field = emitField(b, number, bit, end, steps[bit]);
      sum = sum ? b.createOrFold<arith::AddIOp>(sum, field) : field;
    }
    bit = end;
  }
  return sum;
}
