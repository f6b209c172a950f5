//===- Assertions.cpp - What an assertion is about ------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/TraceaPipe/Utils/Assertions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

std::pair<Value, Value> mlir::tracea_pipe::getCompared(Value condition) {
  SmallVector<Value> left = {condition};
  std::pair<Value, Value> compared;
  while (!left.empty()) {
    Operation *op = left.pop_back_val().getDefiningOp();
    if (auto both = dyn_cast_if_present<arith::AndIOp>(op))
      llvm::append_range(left, both.getOperands());
    auto compare = dyn_cast_if_present<arith::CmpIOp>(op);
    if (!compare)
      continue;
    bool swaps = llvm::is_contained(
        {arith::CmpIPredicate::sgt, arith::CmpIPredicate::ugt,
         arith::CmpIPredicate::sle, arith::CmpIPredicate::ule},
        compare.getPredicate());
    // An index is compared with both ends of its range; the message names the
    // upper end, which says more than zero.
    if (!compared.first || !matchPattern(compare.getRhs(), m_Zero()))
      compared = swaps ? std::pair(compare.getRhs(), compare.getLhs())
                       : std::pair(compare.getLhs(), compare.getRhs());
  }
  return compared;
}

Value mlir::tracea_pipe::getAssertedWord(OpBuilder &builder, Location loc,
                                         Value number) {
  Type word = builder.getI64Type();
  if (!number)
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI64IntegerAttr(0));
  if (isa<IndexType>(number.getType()))
    return arith::IndexCastOp::create(builder, loc, word, number);
  unsigned width = number.getType().getIntOrFloatBitWidth();
  if (width < 64)
    return arith::ExtSIOp::create(builder, loc, word, number);
  return width == 64 ? number
                     : arith::TruncIOp::create(builder, loc, word, number);
}
