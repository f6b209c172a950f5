//===- LaneBits.cpp - Numbers that the bits of lane and warp add ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bits in a row whose steps double are one field, times the first step.
//
//===----------------------------------------------------------------------===//

#include "Lanes/LaneBits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

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

Value mlir::tracea_pipe::addBits(ImplicitLocOpBuilder &b,
                                 const ThreadNumbers &thread,
                                 ArrayRef<int64_t> byLane,
                                 ArrayRef<int64_t> byWarp, BitSum sum) {
  Value result;
  // The bits that the sum so far may set.
  uint64_t taken = 0;
  auto addNumber = [&](function_ref<Value()> number, ArrayRef<int64_t> steps) {
    for (size_t bit = 0; bit < steps.size();) {
      // Bits whose steps double are one field; over F2 where no step reaches
      // into another one.
      auto support = static_cast<uint64_t>(steps[bit]);
      size_t end = bit + 1;
      while (end < steps.size() && steps[end] == 2 * steps[end - 1] &&
             (sum == BitSum::Integers ||
              !(support & static_cast<uint64_t>(steps[end]))))
        support |= static_cast<uint64_t>(steps[end++]);
      if (steps[bit]) {
        Value field = emitField(b, number(), bit, end, steps[bit]);
        // Sums that carry nothing fold into the addresses of instructions.
        if (!result)
          result = field;
        else if (sum == BitSum::Integers || !(taken & support))
          result = b.createOrFold<arith::AddIOp>(result, field);
        else
          result = arith::XOrIOp::create(b, result, field);
        taken |= support;
      }
      bit = end;
    }
  };
  addNumber(thread.lane, byLane);
  addNumber(thread.warp, byWarp);
  return result;
}

SmallVector<Value> mlir::tracea_pipe::applyBits(ImplicitLocOpBuilder &b,
                                                const ThreadNumbers &thread,
                                                ArrayRef<ThreadMap> maps) {
  SmallVector<Value> results(maps.size());
  auto addNumber = [&](function_ref<Value()> number,
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
  addNumber(thread.lane, &ThreadMap::byLane);
  addNumber(thread.warp, &ThreadMap::byWarp);
  return results;
}
