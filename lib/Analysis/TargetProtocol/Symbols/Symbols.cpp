//===- Symbols.cpp - Integers of a kernel as shared expressions ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SymbolRanges.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::tracea;
using ::tracea::analysis::Operator;

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
  // Operands of commutative operators get one order, so that equal values are
  // one symbol.
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
