//===- SimplifySymbols.cpp - Expressions that are simpler ones ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SymbolRanges.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::tracea;
using ::tracea::analysis::Operator;

/// Whether the symbol is a sum with the address of shared memory in it.
static bool isAddress(const Symbol *symbol, unsigned shift) {
  if (symbol->kind == Symbol::Base)
    return symbol->value == shift;
  if (symbol->kind != Symbol::Apply || !symbol->onBase)
    return false;
  switch (symbol->op) {
  case Operator::Add:
    return isAddress(symbol->operands[0], shift) !=
           isAddress(symbol->operands[1], shift);
  case Operator::Sub:
    return isAddress(symbol->operands[0], shift) &&
           !symbol->operands[1]->onBase;
  default:
    return false;
  }
}

const Symbol *SymbolTable::simplify(Operator op, unsigned bits,
                                    llvm::ArrayRef<const Symbol *> operands) {
  const Symbol *a = operands[0], *b = operands[1];
  bool all =
      llvm::all_of(operands, [](const Symbol *s) { return s->isConstant(); });
  if (all) {
    uint64_t values[3] = {}, result = 0;
    for (auto [i, operand] : llvm::enumerate(operands))
      values[i] = operand->value;
    if (::tracea::analysis::applyOperator(op, bits, values, result))
      return constant(result, bits);
    return nullptr;
  }
  switch (op) {
  case Operator::Add:
    if (b->isConstant(0))
      return a;
    if (a->isConstant(0))
      return b;
    // A large constant is a negative one.
    if (b->isConstant() && b->value >> (bits - 1))
      return apply(Operator::Sub, bits,
                   {a, constant(-b->value & maskOf(bits), bits)});
    // (x + c) + d and (x - c) + d
    if (b->isConstant() && a->kind == Symbol::Apply && a->bits == bits &&
        a->operands[1] && a->operands[1]->isConstant()) {
      if (a->op == Operator::Add)
        return apply(
            op, bits,
            {a->operands[0], constant(a->operands[1]->value + b->value, bits)});
      if (a->op == Operator::Sub)
        return apply(
            op, bits,
            {a->operands[0], constant(b->value - a->operands[1]->value, bits)});
    }
    break;
  case Operator::Sub:
    if (b->isConstant(0))
      return a;
    if (a == b)
      return constant(0, bits);
    break;
  case Operator::Mul:
    if (a->isConstant(0) || b->isConstant(1))
      return a;
    if (b->isConstant(0) || a->isConstant(1))
      return b;
    break;
  case Operator::Div:
    if (b->isConstant(1))
      return a;
    break;
  case Operator::Rem:
    if (b->isConstant() && b->value && a->high < b->value)
      return a;
    break;
  case Operator::And: {
    if (a->isConstant())
      std::swap(a, b);
    if (b->isConstant(0))
      return b;
    if (!b->isConstant())
      break;
    bool low = llvm::isMask_64(b->value);
    if (low && a->high <= b->value)
      return a;
    if (low && b->value >= kWindow - 1 && isAddress(a, 0))
      return a;
    if (low && b->value >= (kWindow >> 4) - 1 && isAddress(a, 4))
      return a;
    break;
  }
  case Operator::Or:
    if (a->isConstant())
      std::swap(a, b);
    if (b->isConstant(0))
      return a;
    // Disjoint bits add up.
    if (b->isConstant()) {
      unsigned zeros = llvm::countr_zero(b->value);
      bool field = zeros >= 14 && isAddress(a, 4);
      if (field || (zeros < 64 && a->high >> zeros == 0))
        return apply(Operator::Add, std::max(bits, 64u), {a, b});
    }
    break;
  case Operator::Xor:
    if (b->isConstant(0))
      return a;
    if (a->isConstant(0))
      return b;
    break;
  case Operator::ShiftLeft:
    if (b->isConstant() && b->value < bits)
      return apply(Operator::Mul, bits,
                   {a, constant(uint64_t(1) << b->value, bits)});
    break;
  case Operator::ShiftRight: {
    if (b->isConstant(0))
      return a;
    if (!b->isConstant() || b->value > 10 || !a->onBase)
      break;
    // Shared memory is aligned to more than that.
    int64_t unit = int64_t(1) << b->value;
    Linear linear = linearize(a), shifted;
    bool exact = linear.constant % unit == 0;
    shifted.constant = linear.constant / unit;
    for (auto [symbol, coefficient] : linear.terms) {
      if (symbol->kind == Symbol::Base && coefficient == 1 &&
          symbol->value == 0) {
        shifted.terms[base(b->value)] = 1;
        continue;
      }
      exact &= coefficient % unit == 0;
      shifted.terms[symbol] = coefficient / unit;
    }
    if (exact)
      return sum(shifted, bits);
    break;
  }
  case Operator::Equal:
  case Operator::NotEqual:
    if (a == b && !a->onThread)
      return constant(op == Operator::Equal, 1);
    if (a->high < b->low || b->high < a->low)
      return constant(op == Operator::NotEqual, 1);
    break;
  case Operator::Less:
  case Operator::LessEqual: {
    bool strict = op == Operator::Less;
    if (strict ? a->high < b->low : a->high <= b->low)
      return constant(1, 1);
    if (strict ? a->low >= b->high : a->low > b->high)
      return constant(0, 1);
    break;
  }
  case Operator::Select:
    if (a->isConstant())
      return operands[a->value ? 1 : 2];
    if (operands[1] == operands[2])
      return operands[1];
    break;
  default:
    break;
  }
  return nullptr;
}
