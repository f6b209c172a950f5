//===- SymbolRanges.cpp - Bounds of expressions -------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SymbolRanges.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::tracea;
using ::tracea::analysis::Operator;

/// Unsigned bounds of a result that does not wrap; all values otherwise.
void mlir::tracea::setRange(Symbol &symbol) {
  uint64_t mask = maskOf(symbol.bits);
  const Symbol *a = symbol.operands[0], *b = symbol.operands[1];
  uint64_t low = 0, high = mask;
  bool overflow = false;
  switch (symbol.op) {
  case Operator::Add:
    high = llvm::SaturatingAdd(a->high, b->high, &overflow);
    low = a->low + b->low;
    break;
  case Operator::Sub:
    overflow = a->low < b->high;
    low = a->low - b->high;
    high = a->high - b->low;
    break;
  case Operator::Mul:
    high = llvm::SaturatingMultiply(a->high, b->high, &overflow);
    low = a->low * b->low;
    break;
  case Operator::Div:
    if (!b->low)
      break;
    low = a->low / b->high;
    high = a->high / b->low;
    break;
  case Operator::Rem:
    if (!b->high)
      break;
    high = std::min(a->high, b->high - 1);
    // Within one period the rest is a difference.
    if (b->low == b->high && a->low / b->low == a->high / b->low) {
      low = a->low % b->low;
      high = a->high % b->low;
    }
    break;
  case Operator::And: {
    high = std::min(a->high, b->high);
    if (b->low == b->high && llvm::isMask_64(b->high) &&
        (a->low & ~b->high) == (a->high & ~b->high)) {
      low = a->low & b->high;
      high = a->high & b->high;
    }
    break;
  }
  case Operator::Or:
  case Operator::Xor:
    // The smaller one changes only bits that it may have.
    if (a->high < b->high)
      std::swap(a, b);
    high = b->high ? maskOf(64 - llvm::countl_zero(b->high)) : 0;
    low = a->low & ~high;
    high |= a->high;
    if (symbol.op == Operator::Or)
      low = std::max(a->low, b->low);
    break;
  case Operator::ShiftRight:
    if (b->low != b->high || b->low > 63)
      break;
    low = a->low >> b->low;
    high = a->high >> b->low;
    break;
  case Operator::Equal:
  case Operator::NotEqual:
  case Operator::Less:
  case Operator::LessEqual:
    high = 1;
    break;
  case Operator::Select: {
    const Symbol *c = symbol.operands[2];
    low = std::min(b->low, c->low);
    high = std::max(b->high, c->high);
    break;
  }
  default:
    break;
  }
  if (overflow || high > mask || low > high) {
    low = 0;
    high = mask;
  }
  // Rounded to what it is a multiple of.
  uint64_t rest = (uint64_t(1) << symbol.zeros) - 1;
  symbol.low = low + rest > low ? (low + rest) & ~rest : low;
  symbol.high = std::max(symbol.low, high & ~rest);
}

/// The low bits that are zero for all values.
unsigned mlir::tracea::zerosOf(const Symbol &symbol) {
  const Symbol *a = symbol.operands[0], *b = symbol.operands[1];
  unsigned zeros = 0;
  switch (symbol.op) {
  case Operator::Add:
  case Operator::Sub:
  case Operator::Or:
  case Operator::Xor:
  // The number less a multiple of the divisor.
  case Operator::Rem:
    zeros = std::min(a->zeros, b->zeros);
    break;
  case Operator::Mul:
    zeros = a->zeros + b->zeros;
    break;
  case Operator::And:
    zeros = std::max(a->zeros, b->zeros);
    break;
  case Operator::ShiftRight:
    if (b->isConstant() && a->zeros > b->value)
      zeros = a->zeros - b->value;
    break;
  case Operator::Select:
    zeros = std::min(b->zeros, symbol.operands[2]->zeros);
    break;
  default:
    break;
  }
  return std::min(zeros, 31u);
}
