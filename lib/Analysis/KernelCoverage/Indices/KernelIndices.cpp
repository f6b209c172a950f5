//===- KernelIndices.cpp - Sizes of a kernel ------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IndexContext.h"
#include <set>

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

KernelIndices::KernelIndices(KernelOp kernel, cov::Space &space)
    : kernel(kernel), type(kernel.getFunctionType()), math(space),
      facts(getLaunchFacts(kernel)) {
  // What the host has checked of other sizes as well is left out.
  if (!facts.host)
    return;
  auto look = [&](const Expr &expr, bool isAsked) {
    bool isForeign = false;
    for (Term term : facts.host->variables(expr)) {
      bool isKnown = facts.symbols.count(term) || facts.values.count(term) ||
                     facts.inverses.count(term) || isRatio(term);
      isAsked |= isKnown;
      isForeign |= !isKnown;
    }
    facts.isComplete &= !(isAsked && isForeign);
  };
  for (const cov::Constraint &check : facts.checks)
    look(check.expr, false);
  for (auto &[number, size] : facts.computed)
    look(size, true);
}

std::string mlir::tracea::getSizeName(SizeKey key) {
  std::string argument = std::to_string(key.first);
  return key.second < 0 ? "arg" + argument
                        : "dim" + argument + "_" + std::to_string(key.second);
}

Expr KernelIndices::getSize(unsigned argument, int64_t dim) {
  auto it = facts.classes.find({argument, dim});
  return it == facts.classes.end() ? Expr::invalid() : getClassSize(it->second);
}

Expr KernelIndices::getClassSize(unsigned number) {
  auto [size, inserted] = sizes.try_emplace(number, Expr());
  if (!inserted)
    return size->second;
  if (auto known = facts.constants.find(number); known != facts.constants.end())
    return size->second = known->second;
  auto first = llvm::find_if(
      facts.classes, [&](const auto &entry) { return entry.second == number; });
  auto [argument, dim] = first->first;
  // An integer may be negative; extents are not.
  bool isExtent = dim >= 0;
  Term symbol = math.space.symbol(getSizeName(first->first),
                                  isExtent ? cov::Range()
                                           : cov::Range::from(INT64_MIN / 4));
  names[symbol] = isExtent ? "dimension " + std::to_string(dim) +
                                 " of argument #" + std::to_string(argument)
                           : "argument #" + std::to_string(argument);
  symbolArguments[symbol] = argument;
  return size->second = symbol;
}

bool KernelIndices::isRatio(Term hostTerm) const {
  return llvm::any_of(facts.ratios, [&](const LaunchFacts::Ratio &ratio) {
    return ratio.symbol == hostTerm;
  });
}

/// What a size of the host is in the kernel; nothing for one that no argument
/// brings.
std::optional<Expr> KernelIndices::fromHost(Term hostTerm) {
  if (auto known = facts.get(
          hostTerm, [&](unsigned number) { return getClassSize(number); }))
    return known;
  if (!isRatio(hostTerm))
    return std::nullopt;
  auto [it, inserted] = ratios.try_emplace(hostTerm, Expr());
  if (inserted) {
    Term symbol = math.space.symbol("ratio", cov::Range());
    names[symbol] = "the ratio of two sizes";
    it->second = symbol;
  }
  return it->second;
}

std::optional<Expr> KernelIndices::getRatio(const Expr &numerator,
                                            const Expr &divisor) {
  for (const LaunchFacts::Ratio &ratio : facts.ratios) {
    auto replace = [&](Term term) { return fromHost(term); };
    if (transfer(ratio.numerator, *facts.host, math, replace) == numerator &&
        transfer(ratio.divisor, *facts.host, math, replace) == divisor)
      return fromHost(ratio.symbol);
  }
  return std::nullopt;
}

void KernelIndices::requireSize(const Expr &size) {
  if (math.getInterval(size).lower.value_or(0) < 1 &&
      !llvm::is_contained(required, cov::atLeast(size, 1)))
    required.push_back(cov::atLeast(size, 1));
}

/// By zero nothing is divided: it stops the program. So where there is a
/// quotient its divisor was at least 1.
Expr KernelIndices::atLeastOne(const Expr &divisor) {
  if (!math.getConstant(divisor) &&
      math.getInterval(divisor).lower.value_or(0) < 1)
    divisors.insert(divisor);
  return divisor;
}

void KernelIndices::requireDivisors(ArrayRef<Expr> exprs,
                                    SmallVectorImpl<cov::Constraint> &guard) {
  if (divisors.empty())
    return;
  const cov::Space &space = math.space;
  std::set<Term> seen;
  SmallVector<Expr> open(exprs);
  for (const cov::Constraint &constraint : guard)
    open.push_back(constraint.expr);
  SmallVector<Expr> found;
  while (!open.empty()) {
    Expr next = open.pop_back_val();
    for (auto [term, coefficient] : next.terms()) {
      if (!seen.insert(term).second || space.isVariable(term))
        continue;
      if (space.kind(term) == cov::TermKind::Product) {
        for (Term factor : space.factors(term))
          open.push_back(factor);
        continue;
      }
      open.push_back(space.operand(term, 0));
      open.push_back(space.operand(term, 1));
      if (space.kind(term) == cov::TermKind::Quotient)
        if (divisors.count(space.operand(term, 1)))
          found.push_back(space.operand(term, 1) - 1);
    }
  }
  for (const Expr &positive : found)
    math.require(positive, guard);
}

std::vector<cov::Constraint> KernelIndices::getAssumptions() {
  std::vector<cov::Constraint> result = required;
  if (!facts.host)
    return result;
  auto add = [&](const Expr &left, const Expr &right, bool equality,
                 bool isDefinition = false) {
    // Only what is about a size that is asked for.
    bool isAsked = false, isForeign = false;
    auto replace = [&](Term term) -> std::optional<Expr> {
      bool isSize = facts.host->isVariable(term);
      // How a size is computed is not said in its own terms.
      if (!isSize && isDefinition)
        return std::nullopt;
      auto known = facts.symbols.find(term);
      auto inverse = facts.inverses.find(term);
      isAsked |= ratios.count(term) ||
                 (known != facts.symbols.end() && sizes.count(known->second)) ||
                 (inverse != facts.inverses.end() &&
                  sizes.count(inverse->second.number));
      std::optional<Expr> size = fromHost(term);
      isForeign |= isSize && !size;
      return size;
    };
    Expr difference = transfer(left, *facts.host, math, replace) - right;
    if (isForeign || !isAsked)
      return;
    if (!difference.isValid() || difference.isConstant() ||
        (!equality && math.isNonNegative(difference)))
      return;
    cov::Constraint constraint{difference, equality};
    if (!llvm::is_contained(result, constraint))
      result.push_back(constraint);
  };
  for (const cov::Constraint &check : facts.checks)
    add(check.expr, 0, check.equality);
  // What no argument brings is a size as well, and no less than 0.
  for (auto &[term, inverse] : facts.inverses)
    if (facts.host->isVariable(term))
      add(term, facts.host->range(term).lower, false);
  for (auto &[number, size] : facts.computed)
    if (sizes.count(number))
      add(size, getClassSize(number), true, /*isDefinition=*/true);
  return result;
}

unsigned Choices::choose(const void *key, unsigned count) {
  for (Choice &choice : stack)
    if (choice.key == key)
      return choice.current;
  stack.push_back({key, count, 0});
  return 0;
}

bool Choices::advance() {
  while (!stack.empty()) {
    if (++stack.back().current < stack.back().count)
      return true;
    stack.pop_back();
  }
  return false;
}
