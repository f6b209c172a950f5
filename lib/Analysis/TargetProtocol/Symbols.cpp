//===- Symbols.cpp - Integers of a kernel as shared expressions -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/TargetProtocol/Symbols.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::tracea;
using ::tracea::analysis::Operator;

/// Shared memory of a block lies within this window of addresses.
static constexpr uint64_t kWindow = 1 << 18;

void Symbol::Profile(llvm::FoldingSetNodeID &id) const {
  id.AddInteger(static_cast<unsigned>(kind));
  id.AddInteger(static_cast<unsigned>(op));
  id.AddInteger(bits);
  id.AddInteger(value);
  for (unsigned i = 0; i < numOperands; ++i)
    id.AddPointer(operands[i]);
}

void Linear::add(const Linear &other, int64_t factor) {
  constant += other.constant * factor;
  for (auto [symbol, coefficient] : other.terms)
    terms[symbol] += coefficient * factor;
  terms.remove_if([](const auto &term) { return term.second == 0; });
}

static uint64_t maskOf(unsigned bits) {
  return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
}

const Symbol *SymbolTable::unique(const Symbol &prototype) {
  llvm::FoldingSetNodeID id;
  prototype.Profile(id);
  void *place = nullptr;
  if (Symbol *found = symbols.FindNodeOrInsertPos(id, place))
    return found;
  Symbol *symbol = new (allocator.Allocate()) Symbol(prototype);
  symbols.InsertNode(symbol, place);
  return symbol;
}

const Symbol *SymbolTable::constant(uint64_t value, unsigned bits) {
  Symbol symbol;
  symbol.value = symbol.low = symbol.high = value & maskOf(bits);
  symbol.zeros =
      symbol.value ? std::min(31, llvm::countr_zero(symbol.value)) : 31;
  symbol.bits = bits;
  return unique(symbol);
}

const Symbol *SymbolTable::thread(uint64_t first, uint64_t last) {
  if (first == last)
    return constant(first);
  Symbol symbol;
  symbol.kind = Symbol::Thread;
  symbol.value = first << 32 | last;
  symbol.low = first;
  symbol.high = last;
  symbol.onThread = true;
  return unique(symbol);
}

const Symbol *SymbolTable::elected() {
  Symbol symbol;
  symbol.kind = Symbol::Elected;
  symbol.bits = 1;
  symbol.high = 1;
  symbol.onThread = true;
  return unique(symbol);
}

const Symbol *SymbolTable::base(unsigned shift) {
  Symbol symbol;
  symbol.kind = Symbol::Base;
  symbol.value = shift;
  symbol.high = (kWindow - 1) >> shift;
  symbol.onBase = true;
  return unique(symbol);
}

const Symbol *SymbolTable::walk(unsigned number, unsigned bits) {
  Symbol symbol;
  symbol.kind = Symbol::Walk;
  symbol.value = number;
  symbol.bits = bits;
  symbol.high = maskOf(bits);
  symbol.onWalk = true;
  return unique(symbol);
}

const Symbol *SymbolTable::opaque(llvm::StringRef key, unsigned bits,
                                  bool isPrivate, bool varies, uint64_t low,
                                  uint64_t high, bool onThread) {
  std::string name =
      key.empty() ? "#" + std::to_string(keys.size()) : key.str();
  Symbol symbol;
  symbol.kind = Symbol::Opaque;
  symbol.value = keys.try_emplace(name, keys.size()).first->second;
  symbol.bits = bits;
  symbol.low = low;
  symbol.high = std::min(high, maskOf(bits));
  symbol.onOpaque = true;
  symbol.isPrivate = isPrivate;
  symbol.varies = varies;
  symbol.onThread = onThread;
  return unique(symbol);
}

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

/// Unsigned bounds of a result that does not wrap; all values otherwise.
static void setRange(Symbol &symbol) {
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
static unsigned zerosOf(const Symbol &symbol) {
  const Symbol *a = symbol.operands[0], *b = symbol.operands[1];
  unsigned zeros = 0;
  switch (symbol.op) {
  case Operator::Add:
  case Operator::Sub:
  case Operator::Or:
  case Operator::Xor:
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

const Symbol *SymbolTable::apply(Operator op, unsigned bits,
                                 llvm::ArrayRef<const Symbol *> operands) {
  if (const Symbol *simple = simplify(op, bits, operands))
    return simple;
  Symbol symbol;
  symbol.kind = Symbol::Apply;
  symbol.op = op;
  symbol.bits = bits;
  symbol.numOperands = operands.size();
  for (auto [i, operand] : llvm::enumerate(operands)) {
    symbol.operands[i] = operand;
    symbol.onThread |= operand->onThread;
    symbol.onWalk |= operand->onWalk;
    symbol.onOpaque |= operand->onOpaque;
    symbol.onBase |= operand->onBase;
    symbol.isPrivate |= operand->isPrivate;
    symbol.varies |= operand->varies;
  }
  // One order for what commutes.
  if (op == Operator::Add || op == Operator::Mul)
    if (symbol.operands[0]->isConstant())
      std::swap(symbol.operands[0], symbol.operands[1]);
  symbol.zeros = zerosOf(symbol);
  setRange(symbol);
  if (symbol.low == symbol.high)
    return constant(symbol.low, bits);
  return unique(symbol);
}

Linear SymbolTable::linearize(const Symbol *symbol) {
  Linear linear;
  if (symbol->isConstant()) {
    linear.constant = static_cast<int64_t>(symbol->value);
    return linear;
  }
  if (symbol->kind == Symbol::Apply) {
    const Symbol *a = symbol->operands[0], *b = symbol->operands[1];
    if (symbol->op == Operator::Add || symbol->op == Operator::Sub) {
      linear = linearize(a);
      linear.add(linearize(b), symbol->op == Operator::Add ? 1 : -1);
      return linear;
    }
    if (symbol->op == Operator::Mul && b->isConstant()) {
      linear.add(linearize(a), static_cast<int64_t>(b->value));
      return linear;
    }
  }
  linear.terms[symbol] = 1;
  return linear;
}

const Symbol *SymbolTable::sum(const Linear &linear, unsigned bits) {
  const Symbol *result = nullptr;
  for (auto [symbol, coefficient] : linear.terms) {
    uint64_t factor = static_cast<uint64_t>(coefficient);
    bool negative = coefficient < 0 && result;
    const Symbol *term =
        apply(Operator::Mul, bits,
              {symbol, constant(negative ? -factor : factor, bits)});
    result = !result ? term
                     : apply(negative ? Operator::Sub : Operator::Add, bits,
                             {result, term});
  }
  const Symbol *rest = constant(static_cast<uint64_t>(linear.constant), bits);
  return result ? apply(Operator::Add, bits, {result, rest}) : rest;
}

std::optional<uint64_t> mlir::tracea::evaluateForThread(const Symbol *symbol,
                                                        uint64_t thread,
                                                        bool elects) {
  switch (symbol->kind) {
  case Symbol::Constant:
    return symbol->value;
  case Symbol::Thread:
    return thread;
  case Symbol::Elected:
    return elects;
  case Symbol::Apply: {
    uint64_t values[3] = {}, result = 0;
    for (unsigned i = 0; i < symbol->numOperands; ++i) {
      std::optional<uint64_t> value =
          evaluateForThread(symbol->operands[i], thread, elects);
      if (!value)
        return std::nullopt;
      values[i] = *value;
    }
    if (!::tracea::analysis::applyOperator(symbol->op, symbol->bits, values,
                                           result))
      return std::nullopt;
    return result;
  }
  default:
    return std::nullopt;
  }
}
