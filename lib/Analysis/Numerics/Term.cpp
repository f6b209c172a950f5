//===- Term.cpp - How one element is computed -----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Term.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir::tracea::numerics;
using llvm::ArrayRef;
using llvm::DenseMap;
using llvm::DenseSet;
using llvm::SmallVector;

TermRef TermSpace::make(Term term) {
  std::string key = std::to_string(int(term.kind)) + ":" +
                    std::to_string(term.symbol.size()) + term.symbol + "(";
  for (TermRef operand : term.operands)
    key += std::to_string(reinterpret_cast<uintptr_t>(operand)) + ",";
  for (const Form &form : term.forms) {
    key += "[";
    for (auto [id, factor] : form.terms)
      key += std::to_string(id) + "*" + std::to_string(factor) + "+";
    key += std::to_string(form.constant);
  }
  for (unsigned id : term.bound)
    key += "b" + std::to_string(id);
  TermRef &slot = known[key];
  if (!slot) {
    terms.push_back(std::move(term));
    slot = &terms.back();
  }
  return slot;
}

TermRef TermSpace::input(unsigned argument, ArrayRef<Form> at,
                         std::string type) {
  return make({TermKind::Input,
               std::to_string(argument) + " " + type,
               {},
               SmallVector<Form, 4>(at),
               {}});
}

TermRef TermSpace::operation(std::string symbol, ArrayRef<TermRef> operands) {
  return make({TermKind::Operation,
               std::move(symbol),
               SmallVector<TermRef, 3>(operands),
               {},
               {}});
}

TermRef TermSpace::condition(Form form, bool isEquality, Facts facts) {
  if (!form.isConstant()) {
    int64_t divisor = 0;
    for (auto [id, factor] : form.terms)
      divisor = std::gcd(divisor, factor);
    if (isEquality && form.constant % divisor)
      return truth(false);
    if (divisor != 1) {
      for (auto &[id, factor] : form.terms)
        factor /= divisor;
      form.constant = llvm::divideFloorSigned(form.constant, divisor);
    }
    // x = 0 and -x = 0 are one equality; the first coefficient is made
    // positive.
    if (isEquality && form.terms.front().second < 0)
      form = index.scale(form, -1);
  }
  TermRef result =
      make({TermKind::Condition, isEquality ? "eq" : "ge", {}, {form}, {}});
  bool value;
  return decide(result, facts, value) ? truth(value) : result;
}

bool TermSpace::decide(TermRef condition, Facts facts, bool &value) {
  const Form &form = condition->forms[0];
  bool notNegative = index.prove(form, facts);
  if (condition->symbol == "ge") {
    value = notNegative;
    return notNegative || index.prove(index.sub(Form(-1), form), facts);
  }
  bool notPositive = index.prove(index.scale(form, -1), facts);
  value = notNegative && notPositive;
  return value || index.prove(index.sub(form, Form(1)), facts) ||
         index.prove(index.sub(Form(-1), form), facts);
}

Facts TermSpace::assume(Facts facts, TermRef condition, bool value) {
  if (condition->kind != TermKind::Condition)
    return facts;
  const Form &form = condition->forms[0];
  if (condition->symbol == "ge")
    return index.assume(facts, value ? form : index.sub(Form(-1), form));
  if (value)
    return index.assume(index.assume(facts, form), index.scale(form, -1));
  // Not zero: on the one side where the other is excluded.
  if (index.prove(form, facts))
    return index.assume(facts, index.sub(form, Form(1)));
  if (index.prove(index.scale(form, -1), facts))
    return index.assume(facts, index.sub(Form(-1), form));
  return facts;
}

/// Whether `condition` says that a variable has a value, for which `general` is
/// `instance`.
bool TermSpace::isInstance(TermRef condition, TermRef general,
                           TermRef instance) {
  const Form &zero = condition->forms[0];
  if (condition->symbol != "eq")
    return false;
  for (auto [atom, factor] : zero.terms) {
    if (index.atom(atom).kind != AtomKind::Variable || std::abs(factor) != 1 ||
        !uses(general, atom))
      continue;
    Form value = index.sub(index.form(atom), index.scale(zero, factor));
    if (!index.uses(value, atom) &&
        substitute(general, {{atom, value}},
                   llvm::DenseMap<unsigned, TermRef>(), Map(),
                   nullptr) == instance)
      return true;
  }
  return false;
}

TermRef TermSpace::select(TermRef condition, TermRef then, TermRef otherwise) {
  if (condition == truth(true) || then == otherwise)
    return then;
  if (condition == truth(false))
    return otherwise;
  // A sum of nothing is what it begins with.
  if (condition->kind == TermKind::Condition) {
    auto isEmpty = [&](TermRef fold, TermRef begin, bool value) {
      return fold->kind == TermKind::Fold && fold->operands[0] == begin &&
             index.prove(index.sub(fold->forms[0], fold->forms[1]),
                         assume(nullptr, condition, value));
    };
    if (isEmpty(then, otherwise, false))
      return then;
    if (isEmpty(otherwise, then, true))
      return otherwise;
    if (isInstance(condition, otherwise, then))
      return otherwise;
  }
  return make({TermKind::Select, "", {condition, then, otherwise}, {}, {}});
}

//===----------------------------------------------------------------------===//
// Traversals
//===----------------------------------------------------------------------===//

const DenseSet<unsigned> &TermSpace::getFree(TermRef term) {
  if (auto it = freeOf.find(term); it != freeOf.end())
    return it->second;
  DenseSet<unsigned> result;
  for (TermRef operand : term->operands) {
    const DenseSet<unsigned> &inner = getFree(operand);
    result.insert(inner.begin(), inner.end());
  }
  // What a fold begins with and its bounds lie outside of it, but its variable
  // is used nowhere else: taking it away from all is the same.
  for (unsigned id : term->bound)
    result.erase(id);
  if (term->kind == TermKind::State)
    result.insert(term->bound[0]);
  for (const Form &form : term->forms)
    index.forEachVariable(form, [&](unsigned id) { result.insert(id); });
  return freeOf[term] = std::move(result);
}

bool TermSpace::contains(TermRef root, TermRef wanted) {
  DenseSet<TermRef> seen;
  SmallVector<TermRef> open = {root};
  while (!open.empty()) {
    TermRef term = open.pop_back_val();
    if (term == wanted)
      return true;
    if (seen.insert(term).second)
      llvm::append_range(open, term->operands);
  }
  return false;
}

bool TermSpace::hasUndefined(TermRef root) {
  return contains(root, undefined());
}

TermRef TermSpace::substitute(TermRef term,
                              const IndexSpace::Replacement &variables,
                              const DenseMap<unsigned, TermRef> &states,
                              const Map &map, Facts facts) {
  Map done = map;
  std::function<TermRef(TermRef)> visit = [&](TermRef old) -> TermRef {
    if (auto it = done.find(old); it != done.end())
      return it->second;
    TermRef result = old;
    if (old->kind == TermKind::State) {
      if (auto it = states.find(old->bound[0]); it != states.end())
        result = it->second;
      return done[old] = result;
    }
    Term copy = *old;
    bool changed = false;
    for (TermRef &operand : copy.operands) {
      TermRef replaced = visit(operand);
      changed |= replaced != operand;
      operand = replaced;
    }
    for (Form &form : copy.forms) {
      Form replaced = index.substitute(form, variables, facts);
      changed |= replaced != form;
      form = std::move(replaced);
    }
    if (changed) {
      if (copy.kind == TermKind::Select)
        result = select(copy.operands[0], copy.operands[1], copy.operands[2]);
      else if (copy.kind == TermKind::Condition)
        result = condition(copy.forms[0], copy.symbol == "eq", facts);
      else
        result = make(std::move(copy));
    }
    return done[old] = result;
  };
  return visit(term);
}

/// Conditions that depend on `variable`, and on nothing that is bound inside.
void TermSpace::collectConditions(TermRef term, unsigned variable,
                                  DenseSet<TermRef> &seen,
                                  llvm::SmallVectorImpl<TermRef> &conditions) {
  if (!uses(term, variable) || !seen.insert(term).second)
    return;
  if (term->kind == TermKind::Condition)
    conditions.push_back(term);
  for (TermRef operand : term->operands)
    collectConditions(operand, variable, seen, conditions);
}
