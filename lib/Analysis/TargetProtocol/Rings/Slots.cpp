//===- Slots.cpp - Slots and parities as arithmetic to execute ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

using namespace mlir;
using namespace mlir::tracea;
namespace ta = ::tracea::analysis;
using ta::Property;
using ta::Step;

int Assembler::expressionOf(const Symbol *symbol, Operation *op) {
  auto it = expressions.find(symbol);
  if (it != expressions.end())
    return it->second;
  ta::Expression expression;
  expression.bits = static_cast<uint8_t>(std::min(symbol->bits, 64u));
  switch (symbol->kind) {
  case Symbol::Constant:
  case Symbol::Walk:
    expression.op = symbol->kind == Symbol::Walk ? ta::Operator::Variable
                                                 : ta::Operator::Constant;
    expression.value = static_cast<int64_t>(symbol->value);
    break;
  case Symbol::Apply:
    expression.op = symbol->op;
    for (unsigned i = 0; i < symbol->numOperands; ++i)
      expression.operands[i] = expressionOf(symbol->operands[i], op);
    break;
  default:
    context.undecided(op, "a slot or parity depends on data");
    break;
  }
  std::vector<ta::Expression> &all = builder->role.expressions;
  if (all.size() > 500)
    context.undecided(op, "slots and parities take too many expressions");
  all.push_back(expression);
  int number = static_cast<int>(all.size()) - 1;
  expressions[symbol] = number;
  return number;
}

/// (address - base) / stride
int Assembler::slotOf(const Linear &address, int64_t base, int64_t stride,
                      Operation *op) {
  Linear slots;
  int64_t distance = address.constant - base;
  stride = std::max<int64_t>(stride, 1);
  // Bytes within a slot do not count.
  slots.constant =
      distance >= 0 ? distance / stride : -((-distance + stride - 1) / stride);
  for (auto [symbol, coefficient] : address.terms) {
    if (coefficient % stride)
      fault(Property::SlotRange,
            "an address steps by " + Twine(coefficient) +
                " bytes, but slots are " + Twine(stride) + " bytes apart",
            op);
    slots.terms[symbol] = coefficient / stride;
  }
  return expressionOf(context.symbols.sum(slots, 32), op);
}

/// Keeps the variables that slots, parities and tests are made of.
void Assembler::pruneVariables(ta::Role &role) {
  std::vector<bool> needed(role.expressions.size()),
      variables(role.variables.size());
  bool changed = true;
  auto need = [&](int expression) {
    if (expression >= 0 && !needed[expression])
      needed[expression] = changed = true;
  };
  while (changed) {
    changed = false;
    for (const ta::Instruction &op : role.code) {
      need(op.slot);
      need(op.parity);
      if (op.step == Step::Test ||
          (op.step == Step::Set && variables[op.variable]))
        need(op.expression);
    }
    for (size_t i = role.expressions.size(); i-- > 0;) {
      const ta::Expression &expression = role.expressions[i];
      if (!needed[i])
        continue;
      if (expression.op == ta::Operator::Variable &&
          !variables[expression.value])
        variables[expression.value] = changed = true;
      for (int n = 0; n < ta::numOperands(expression.op); ++n)
        need(expression.operands[n]);
    }
  }
  std::vector<int> moved(role.code.size() + 1), numbers(variables.size(), -1);
  std::vector<ta::Instruction> code;
  for (size_t pc = 0; pc < role.code.size(); ++pc) {
    moved[pc] = static_cast<int>(code.size());
    if (role.code[pc].step != Step::Set || variables[role.code[pc].variable])
      code.push_back(role.code[pc]);
  }
  std::vector<ta::Variable> kept;
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i]) {
      numbers[i] = static_cast<int>(kept.size());
      kept.push_back(role.variables[i]);
    }
  std::vector<int> renumbered(needed.size(), -1);
  std::vector<ta::Expression> used;
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i])
      continue;
    ta::Expression expression = role.expressions[i];
    for (int n = 0; n < ta::numOperands(expression.op); ++n)
      expression.operands[n] = renumbered[expression.operands[n]];
    if (expression.op == ta::Operator::Variable)
      expression.value = numbers[expression.value];
    renumbered[i] = static_cast<int>(used.size());
    used.push_back(expression);
  }
  for (ta::Instruction &op : code) {
    if (op.target >= 0)
      op.target = moved[op.target];
    for (int *expression : {&op.slot, &op.parity, &op.expression})
      if (*expression >= 0)
        *expression = renumbered[*expression];
    if (op.variable >= 0)
      op.variable = numbers[op.variable];
  }
  role.code = std::move(code);
  role.variables = std::move(kept);
  role.expressions = std::move(used);
}
