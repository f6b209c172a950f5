//===- Divisors.cpp - What is known to divide an index --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How wide accesses may be follows from what divides the indices of a window.
// That is read off the arithmetic that makes an index; the run decides nothing.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tracea/Conversion/TraceaPipeToGPU/Windows.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Operations that are followed back, one behind the other. What is used twice
/// is looked at twice.
static constexpr unsigned kMostDepth = 12;

/// The factor of a power of two; that of zero is zero, which all divide.
static int64_t getPowerOfTwo(int64_t value) { return value & -value; }

static int64_t getDivisor(Value value, unsigned depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    int64_t known = constant.getSExtValue();
    return known == std::numeric_limits<int64_t>::min() ? 1 : std::abs(known);
  }
  if (depth == kMostDepth)
    return 1;
  auto of = [&](Value operand) { return getDivisor(operand, depth + 1); };
  if (auto loop = scf::getForInductionVarOwner(value))
    return std::gcd(of(loop.getLowerBound()), of(loop.getStep()));
  Operation *op = value.getDefiningOp();
  if (!op)
    return 1;
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp,
            arith::MinUIOp, arith::MaxUIOp>([&](Operation *) {
        return std::gcd(of(op->getOperand(0)), of(op->getOperand(1)));
      })
      .Case([&](arith::SelectOp select) {
        return std::gcd(of(select.getTrueValue()), of(select.getFalseValue()));
      })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtUIOp,
            arith::ExtSIOp>([&](Operation *) { return of(op->getOperand(0)); })
      .Case([&](arith::MulIOp multiply) -> int64_t {
        int64_t product;
        if (llvm::MulOverflow(of(multiply.getLhs()), of(multiply.getRhs()),
                              product))
          return 1;
        return product;
      })
      .Case([&](arith::ShLIOp shift) -> int64_t {
        int64_t divisor = of(shift.getLhs()), product;
        if (!matchPattern(shift.getRhs(), m_ConstantInt(&constant)) ||
            constant.uge(31) ||
            llvm::MulOverflow(divisor, int64_t(1) << constant.getZExtValue(),
                              product))
          return getPowerOfTwo(divisor);
        return product;
      })
      // Bits that are clear in both, or in one.
      .Case<arith::OrIOp, arith::XOrIOp>([&](Operation *) {
        return std::gcd(getPowerOfTwo(of(op->getOperand(0))),
                        getPowerOfTwo(of(op->getOperand(1))));
      })
      .Case<arith::AndIOp>([&](Operation *) -> int64_t {
        int64_t x = getPowerOfTwo(of(op->getOperand(0))),
                y = getPowerOfTwo(of(op->getOperand(1)));
        return x && y ? std::max(x, y) : 0;
      })
      .Default([](Operation *) { return 1; });
}

int64_t mlir::tracea_pipe::getKnownDivisor(Value value) {
  return getDivisor(value, 0);
}
