//===- LaunchDivisors.cpp - Divisors that the launch knows ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// [GM94] T. Granlund, P. L. Montgomery, Division by Invariant Integers using
// Multiplication, PLDI 1994: figure 4.1, for 64 bits.
//
//===----------------------------------------------------------------------===//

#include "tracea/Conversion/TraceaPipeToGPU/LaunchDivisors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Divisors are products of a few sums; what is deeper is left to the lanes.
static constexpr unsigned kMostDepth = 12;

/// The number in terms of parameters in front of `end`; null where something
/// else takes part.
static AffineExpr getLaunchExpr(Value number, unsigned end, unsigned depth) {
  MLIRContext *context = number.getContext();
  APInt constant;
  if (matchPattern(number, m_ConstantInt(&constant)))
    return getAffineConstantExpr(constant.getSExtValue(), context);
  if (auto parameter = dyn_cast<BlockArgument>(number)) {
    Block *block = parameter.getOwner();
    bool isParameter = block->isEntryBlock() &&
                       isa<FunctionOpInterface>(block->getParentOp()) &&
                       parameter.getArgNumber() < end;
    return isParameter && number.getType().isInteger(64)
               ? getAffineSymbolExpr(parameter.getArgNumber(), context)
               : AffineExpr();
  }
  Operation *op = number.getDefiningOp();
  if (!op || depth == kMostDepth)
    return AffineExpr();
  SmallVector<AffineExpr> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(getLaunchExpr(operand, end, depth + 1));
    if (!operands.back())
      return AffineExpr();
  }
  // Of numbers of 64 bits alone, which the host's are.
  auto isWide = [](Type type) { return type.isIndex() || type.isInteger(64); };
  if (!llvm::all_of(op->getOperandTypes(), isWide) ||
      !llvm::all_of(op->getResultTypes(), isWide))
    return AffineExpr();
  auto isPositiveConstant = [](AffineExpr expr) {
    auto known = dyn_cast<AffineConstantExpr>(expr);
    return known && known.getValue() > 0;
  };
  return llvm::TypeSwitch<Operation *, AffineExpr>(op)
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>(
          [&](Operation *) { return operands[0]; })
      .Case([&](arith::AddIOp) { return operands[0] + operands[1]; })
      .Case([&](arith::SubIOp) { return operands[0] - operands[1]; })
      .Case([&](arith::MulIOp) { return operands[0] * operands[1]; })
      .Case([&](arith::FloorDivSIOp) {
        return isPositiveConstant(operands[1])
                   ? operands[0].floorDiv(operands[1])
                   : AffineExpr();
      })
      .Case([&](arith::CeilDivSIOp) {
        return isPositiveConstant(operands[1])
                   ? operands[0].ceilDiv(operands[1])
                   : AffineExpr();
      })
      .Default([](Operation *) { return AffineExpr(); });
}

namespace {
/// What the host passes for a divisor, both i64.
struct Constants {
  Value multiplier, shift;
};
} // namespace

/// [GM94] n / d = (t + ((n - t) >> min(l, 1))) >> max(l - 1, 0) where t is the
/// high word of m n; l is the logarithm of d, rounded up, and m = 1 + the
/// quotient of 2^64 (2^l - d) by d.
static Value emitQuotient(ImplicitLocOpBuilder &b, Value dividend,
                          const Constants &by) {
  Type i64 = b.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
  };
  Value number = b.createOrFold<arith::IndexCastUIOp>(i64, dividend);
  Value high =
      arith::MulUIExtendedOp::create(b, by.multiplier, number).getHigh();
  Value one = constant(1);
  Value first = arith::MinUIOp::create(b, by.shift, one);
  Value rest = arith::SubIOp::create(b, by.shift, first);
  Value half =
      arith::ShRUIOp::create(b, arith::SubIOp::create(b, number, high), first);
  Value quotient =
      arith::ShRUIOp::create(b, arith::AddIOp::create(b, high, half), rest);
  return arith::IndexCastUIOp::create(b, b.getIndexType(), quotient);
}

AffineMap
mlir::tracea_pipe::passDivisors(FunctionOpInterface function, unsigned position,
                                function_ref<Value(unsigned)> addParameter) {
  llvm::MapVector<AffineExpr, SmallVector<Operation *>> divisions;
  function->walk([&](Operation *op) {
    if (!isa<arith::DivUIOp, arith::RemUIOp>(op) ||
        !op->getResult(0).getType().isIndex())
      return;
    AffineExpr divisor = getLaunchExpr(op->getOperand(1), position, 0);
    if (divisor && !isa<AffineConstantExpr>(divisor))
      divisions[divisor].push_back(op);
  });
  SmallVector<AffineExpr> divisors;
  unsigned next = position;
  for (auto &[divisor, ops] : divisions) {
    Constants constants;
    constants.multiplier = addParameter(next++);
    constants.shift = addParameter(next++);
    divisors.push_back(divisor);
    for (Operation *op : ops) {
      ImplicitLocOpBuilder b(op->getLoc(), op);
      Value result = emitQuotient(b, op->getOperand(0), constants);
      if (isa<arith::RemUIOp>(op))
        result = arith::SubIOp::create(
            b, op->getOperand(0),
            arith::MulIOp::create(b, result, op->getOperand(1)));
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
  }
  return divisors.empty()
             ? AffineMap()
             : AffineMap::get(0, position, divisors, function->getContext());
}
