//===- EntryExprs.cpp - Expressions of an entry, for proofs ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each operation of the manifest is to the library of coverage, and what a
// check says where it holds.
//
//===----------------------------------------------------------------------===//

#include "EntryExprs.h"

using namespace tracea::analysis;
namespace cov = tracea::coverage;
namespace rt = tracea::runtime;
using cov::Expr;
using cov::Term;

Expr EntryExprs::translate(const rt::Expr &node) {
  auto at = [&](int64_t number) { return values[number]; };
  switch (node.op) {
  case rt::ExprOp::Const:
    return node.a;
  case rt::ExprOp::Dim: {
    Dim dim = getLeader({node.a, node.b});
    auto [place, inserted] = dims.try_emplace(dim, Expr());
    if (inserted)
      place->second = space.symbol("in" + std::to_string(dim.first) + "_" +
                                   std::to_string(dim.second));
    return place->second;
  }
  case rt::ExprOp::Value: {
    // Symbols are at least 0; a number that the run is given is any.
    auto [place, inserted] = numbers.try_emplace(node.a, Expr());
    if (inserted) {
      std::string name = "in" + std::to_string(node.a);
      place->second = Expr(space.symbol(name + "_above")) -
                      Expr(space.symbol(name + "_below"));
    }
    return place->second;
  }
  case rt::ExprOp::Add:
    return at(node.a) + at(node.b);
  case rt::ExprOp::Sub:
    return at(node.a) - at(node.b);
  case rt::ExprOp::Mul:
    return math.product(at(node.a), at(node.b));
  case rt::ExprOp::Min:
    return math.min(at(node.a), at(node.b));
  case rt::ExprOp::Max:
    return math.max(at(node.a), at(node.b));
  case rt::ExprOp::FloorDiv:
  case rt::ExprOp::CeilDiv:
  case rt::ExprOp::Mod: {
    // What divides is at least 1: the run stops at 0, and the library asks for
    // a proof where it matters.
    Expr divisor = at(node.b);
    if (node.op == rt::ExprOp::Mod)
      return math.mod(at(node.a), divisor);
    return node.op == rt::ExprOp::CeilDiv ? math.ceilDiv(at(node.a), divisor)
                                          : math.floorDiv(at(node.a), divisor);
  }
  case rt::ExprOp::Select: {
    // A quotient that is rounded towards zero asks for the sign of a size.
    std::optional<cov::Constraint> condition =
        getConstraint(entry.exprs[node.a]);
    if (!condition || condition->equality)
      break;
    if (math.isNonNegative(condition->expr))
      return at(node.b);
    if (math.isNonNegative(-condition->expr - 1))
      return at(node.c);
    break;
  }
  case rt::ExprOp::Eq:
  case rt::ExprOp::Ne:
  case rt::ExprOp::Lt:
  case rt::ExprOp::Le:
  case rt::ExprOp::DivMultiplier:
  case rt::ExprOp::DivShift:
    break;
  }
  return Expr::invalid();
}

/// Extents that are equal, or a number, where a node is not zero.
void EntryExprs::unite(int64_t number) {
  const rt::Expr &node = entry.exprs[number];
  if (node.op == rt::ExprOp::Min) {
    unite(node.a);
    unite(node.b);
  }
  if (node.op != rt::ExprOp::Eq)
    return;
  const rt::Expr *a = &entry.exprs[node.a], *b = &entry.exprs[node.b];
  if (a->op == rt::ExprOp::Const)
    std::swap(a, b);
  if (a->op != rt::ExprOp::Dim)
    return;
  Dim first = getLeader({a->a, a->b});
  if (b->op == rt::ExprOp::Const) {
    dims.try_emplace(first, Expr(b->a));
  } else if (b->op == rt::ExprOp::Dim) {
    Dim second = getLeader({b->a, b->b});
    if (first == second || (dims.count(first) && dims.count(second)))
      return;
    if (dims.count(first))
      std::swap(first, second);
    leaders[first] = second;
  }
}

/// What a comparison says; nothing of a node that is none, or has an operand
/// that is no number of sizes.
std::optional<cov::Constraint>
EntryExprs::getConstraint(const rt::Expr &node) const {
  cov::Constraint constraint;
  switch (node.op) {
  case rt::ExprOp::Eq:
    constraint = cov::equal(values[node.a], values[node.b]);
    break;
  case rt::ExprOp::Le:
    constraint = cov::atMost(values[node.a], values[node.b]);
    break;
  case rt::ExprOp::Lt:
    constraint = cov::less(values[node.a], values[node.b]);
    break;
  default:
    return std::nullopt;
  }
  if (!constraint.expr.isValid())
    return std::nullopt;
  return constraint;
}

/// An expression that is at least 0 where a node is not zero; invalid where
/// that is not understood.
Expr EntryExprs::getTruth(int64_t number) {
  const rt::Expr &node = entry.exprs[number];
  if (node.op == rt::ExprOp::Const)
    return node.a != 0 ? 0 : -1;
  // Of truth values: both, and either.
  if (node.op == rt::ExprOp::Min || node.op == rt::ExprOp::Max) {
    Expr a = getTruth(node.a), b = getTruth(node.b);
    if (!a.isValid() || !b.isValid())
      return Expr::invalid();
    // What never holds is no alternative, and what always does no condition.
    bool isBoth = node.op == rt::ExprOp::Min;
    for (auto [one, other] : {std::pair(a, b), std::pair(b, a)}) {
      cov::IndexInterval interval = math.getInterval(one);
      if (isBoth ? interval.lower.value_or(-1) >= 0
                 : interval.upper.value_or(0) < 0)
        return other;
    }
    return isBoth ? math.min(a, b) : math.max(a, b);
  }
  std::optional<cov::Constraint> constraint = getConstraint(node);
  return constraint ? space.truth(*constraint) : Expr::invalid();
}

/// What holds where a node is not zero.
void EntryExprs::assume(int64_t number) {
  const rt::Expr &node = entry.exprs[number];
  if (node.op == rt::ExprOp::Min) {
    assume(node.a);
    assume(node.b);
    return;
  }
  if (node.op == rt::ExprOp::Max) {
    if (Expr truth = getTruth(number); truth.isValid())
      checks.push_back({truth, false});
    return;
  }
  if (std::optional<cov::Constraint> constraint = getConstraint(node)) {
    checks.push_back(*constraint);
    assumeMultiple(node);
  }
}

/// Where a mod max(y, 1) = 0 and y is at least 1 if a is, a is y times the
/// quotient: of a = 0 that is 0, whatever y is.
void EntryExprs::assumeMultiple(const rt::Expr &node) {
  auto at = [&](int64_t number) -> const rt::Expr & {
    return entry.exprs[number];
  };
  auto isConstant = [&](int64_t number, int64_t value) {
    return at(number).op == rt::ExprOp::Const && at(number).a == value;
  };
  if (node.op != rt::ExprOp::Eq || at(node.a).op != rt::ExprOp::Mod ||
      !isConstant(node.b, 0))
    return;
  const rt::Expr &rest = at(node.a), &most = at(rest.b);
  if (most.op != rt::ExprOp::Max || !isConstant(most.b, 1))
    return;
  Expr a = values[rest.a], y = values[most.a];
  if (math.isNonNegative(a) && math.isNonNegative(y) &&
      std::find(checks.begin(), checks.end(), cov::atMost(math.min(a, 1), y)) !=
          checks.end())
    checks.push_back(
        cov::equal(math.product(y, math.floorDiv(a, values[rest.b])), a));
}

Expr EntryExprs::transfer(const Expr &expr, const cov::Space &from,
                          const std::map<Term, Expr> &symbols) {
  return cov::transfer(expr, from, math, [&](Term term) -> std::optional<Expr> {
    auto found = symbols.find(term);
    if (found == symbols.end())
      return std::nullopt;
    return found->second;
  });
}
