//===- IndexArithmetic.cpp - Simplified expressions -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Coverage/IndexArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace tracea::coverage;
using llvm::SmallVector;

/// Conjunctions and minima are taken apart into at most so many pieces.
static constexpr size_t kMaxPieces = 16;
/// Minima inside of a division.
static constexpr unsigned kMaxDepth = 3;

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

static std::optional<int64_t> add(std::optional<int64_t> a,
                                  std::optional<int64_t> b) {
  int64_t sum;
  if (!a || !b || llvm::AddOverflow(*a, *b, sum))
    return std::nullopt;
  return sum;
}

static std::optional<int64_t> multiply(std::optional<int64_t> a,
                                       std::optional<int64_t> b) {
  int64_t product;
  if (!a || !b || llvm::MulOverflow(*a, *b, product))
    return std::nullopt;
  return product;
}

IndexInterval IndexArithmetic::getInterval(Term term) {
  if (auto it = intervals.find(term); it != intervals.end())
    return it->second;
  IndexInterval result;
  switch (space.kind(term)) {
  case TermKind::Symbol:
  case TermKind::Id:
  case TermKind::Coordinate: {
    const Range range = space.range(term);
    result.lower = getInterval(range.lower).lower;
    if (range.upper)
      result.upper = add(getInterval(*range.upper).upper, -1);
    break;
  }
  case TermKind::Quotient: {
    IndexInterval a = getInterval(space.operand(term, 0));
    IndexInterval b = getInterval(space.operand(term, 1));
    int64_t least = std::max<int64_t>(b.lower.value_or(1), 1);
    if (a.lower && *a.lower >= 0) {
      result.lower = b.upper && *b.upper >= 1 ? *a.lower / *b.upper : 0;
      if (a.upper)
        result.upper = *a.upper / least;
    } else if (b.lower && b.upper && *b.lower == *b.upper && *b.lower >= 1) {
      if (a.lower)
        result.lower = llvm::divideFloorSigned(*a.lower, *b.lower);
      if (a.upper)
        result.upper = llvm::divideFloorSigned(*a.upper, *b.lower);
    } else if (a.upper && *a.upper < 0) {
      result.upper = -1;
    }
    break;
  }
  case TermKind::Minimum: {
    IndexInterval a = getInterval(space.operand(term, 0));
    IndexInterval b = getInterval(space.operand(term, 1));
    if (a.lower && b.lower)
      result.lower = std::min(*a.lower, *b.lower);
    if (a.upper && b.upper)
      result.upper = std::min(*a.upper, *b.upper);
    else
      result.upper = a.upper ? a.upper : b.upper;
    break;
  }
  case TermKind::Product: {
    std::optional<int64_t> lower = 1, upper = 1;
    for (Term factor : space.factors(term)) {
      IndexInterval interval = getInterval(factor);
      if (!interval.lower || *interval.lower < 0)
        return intervals[term] = IndexInterval();
      lower = multiply(lower, interval.lower);
      upper = multiply(upper, interval.upper);
    }
    result.lower = lower ? *lower : 0;
    result.upper = upper;
    break;
  }
  }
  return intervals[term] = result;
}

IndexInterval IndexArithmetic::getInterval(const Expr &expr) {
  if (!expr.isValid())
    return {};
  IndexInterval result{expr.constant(), expr.constant()};
  for (auto [term, coefficient] : expr.terms()) {
    IndexInterval part = getInterval(term);
    if (coefficient < 0)
      std::swap(part.lower, part.upper);
    result.lower = add(result.lower, multiply(part.lower, coefficient));
    result.upper = add(result.upper, multiply(part.upper, coefficient));
  }
  return result;
}

bool IndexArithmetic::isNonNegative(const Expr &expr) {
  IndexInterval interval = getInterval(expr);
  return interval.lower && *interval.lower >= 0;
}

bool IndexArithmetic::hasProduct(const Expr &expr) const {
  return llvm::any_of(expr.terms(), [&](const Expr::Summand &summand) {
    Term term = summand.first;
    return space.kind(term) == TermKind::Product ||
           (!space.isVariable(term) && (hasProduct(space.operand(term, 0)) ||
                                        hasProduct(space.operand(term, 1))));
  });
}

std::optional<int64_t> IndexArithmetic::getConstant(const Expr &expr) {
  IndexInterval interval = getInterval(expr);
  if (interval.lower && interval.upper && *interval.lower == *interval.upper)
    return interval.lower;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Minima and quotients
//===----------------------------------------------------------------------===//

Expr IndexArithmetic::min(const Expr &a, const Expr &b) {
  if (isNonNegative(b - a))
    return a;
  if (isNonNegative(a - b))
    return b;
  return space.min(a, b);
}

std::pair<Expr, Expr> IndexArithmetic::splitAt(const Expr &expr, Term term,
                                               int64_t coefficient) {
  Expr rest = expr - coefficient * Expr(term);
  return {rest + coefficient * space.operand(term, 0),
          rest + coefficient * space.operand(term, 1)};
}

Expr IndexArithmetic::floorDiv(const Expr &a, const Expr &divisor) {
  if (std::optional<int64_t> constant = getConstant(divisor))
    return *constant >= 1 ? floorDiv(a, *constant, 0) : Expr::invalid();
  if (a == divisor)
    return 1;
  // ⌈d / d⌉ = 1.
  if (a == divisor + divisor - 1)
    return 1;
  if (a == Expr(0))
    return 0;
  return space.floorDiv(a, divisor);
}

std::optional<Expr> IndexArithmetic::divideTerm(const Expr::Summand &term,
                                                const Expr::Summand &by) {
  auto getFactors = [&](Term product) {
    return space.kind(product) == TermKind::Product
               ? space.factors(product)
               : std::vector<Term>{product};
  };
  if (term.second % by.second)
    return std::nullopt;
  std::vector<Term> left = getFactors(term.first);
  for (Term factor : getFactors(by.first)) {
    auto known = llvm::find(left, factor);
    if (known == left.end())
      return std::nullopt;
    left.erase(known);
  }
  Expr quotient = term.second / by.second;
  for (Term factor : left)
    quotient = product(quotient, factor);
  return quotient;
}

Expr IndexArithmetic::getQuotientExtent(const Expr &extent,
                                        const Expr &divisor) {
  if (!extent.isValid() || divisor.isConstant())
    return ceilDiv(extent, divisor);
  // Sums of products are divided as polynomials are, by the term of the divisor
  // that has the most factors.
  auto degree = [&](const Expr::Summand &summand) {
    return space.kind(summand.first) == TermKind::Product
               ? space.factors(summand.first).size()
               : 1;
  };
  const Expr::Summand *first = nullptr;
  for (const Expr::Summand &summand : divisor.terms())
    if (!first || degree(summand) > degree(*first))
      first = &summand;
  Expr quotient, rest = extent;
  for (size_t step = 0; step < kMaxPieces && rest != Expr(0); ++step) {
    std::optional<Expr> part;
    for (const Expr::Summand &summand : rest.terms())
      if (!part)
        part = divideTerm(summand, *first);
    if (!part)
      break;
    quotient += *part;
    rest = rest - product(*part, divisor);
  }
  return rest == Expr(0) ? quotient : ceilDiv(extent, divisor);
}

Expr IndexArithmetic::floorDiv(const Expr &a, int64_t divisor, unsigned depth) {
  if (divisor == 1)
    return a;
  // Division is monotonic: ⌊min(p, q) / d⌋ = min(⌊p / d⌋, ⌊q / d⌋).
  for (auto [term, coefficient] : a.terms()) {
    if (space.kind(term) != TermKind::Minimum || depth >= kMaxDepth)
      continue;
    auto [first, second] = splitAt(a, term, coefficient);
    Expr p = floorDiv(first, divisor, depth + 1);
    Expr q = floorDiv(second, divisor, depth + 1);
    return coefficient > 0 ? min(p, q) : max(p, q);
  }
  // Terms that the divisor divides are taken out of the quotient.
  Expr whole, rest = a.constant();
  if (!a.isValid())
    return a;
  for (auto [term, coefficient] : a.terms()) {
    if (coefficient % divisor == 0)
      whole += coefficient / divisor * Expr(term);
    else
      rest += coefficient * Expr(term);
  }
  int64_t constant = llvm::divideFloorSigned(rest.constant(), divisor);
  whole += constant;
  rest -= constant * divisor;
  IndexInterval interval = getInterval(rest);
  if (interval.lower && interval.upper) {
    int64_t lower = llvm::divideFloorSigned(*interval.lower, divisor);
    if (lower == llvm::divideFloorSigned(*interval.upper, divisor))
      return whole + lower;
  }
  return whole + space.floorDiv(rest, divisor);
}

//===----------------------------------------------------------------------===//
// Conjunctions
//===----------------------------------------------------------------------===//

SmallVector<Expr> IndexArithmetic::splitMinima(const Expr &expr) {
  SmallVector<Expr> done, open = {expr};
  while (!open.empty()) {
    Expr next = open.pop_back_val();
    bool isSplit = false;
    for (auto [term, coefficient] : next.terms()) {
      if (coefficient < 0 || space.kind(term) != TermKind::Minimum ||
          done.size() + open.size() >= kMaxPieces)
        continue;
      auto [first, second] = splitAt(next, term, coefficient);
      open.push_back(second);
      open.push_back(first);
      isSplit = true;
      break;
    }
    if (!isSplit)
      done.push_back(next);
  }
  return done;
}

void IndexArithmetic::require(const Expr &expr,
                              llvm::SmallVectorImpl<Constraint> &conjunction) {
  for (const Expr &part : splitMinima(expr)) {
    Constraint constraint{part, false};
    if (!isNonNegative(part) && !llvm::is_contained(conjunction, constraint))
      conjunction.push_back(constraint);
  }
}

void IndexArithmetic::requireZero(
    const Expr &expr, llvm::SmallVectorImpl<Constraint> &conjunction) {
  Constraint constraint{expr, true};
  if (expr != Expr(0) && !llvm::is_contained(conjunction, constraint))
    conjunction.push_back(constraint);
}

//===----------------------------------------------------------------------===//
// Other spaces
//===----------------------------------------------------------------------===//

Expr tracea::coverage::transfer(
    const Expr &expr, const Space &from, IndexArithmetic &to,
    llvm::function_ref<std::optional<Expr>(Term)> replace) {
  if (!expr.isValid())
    return expr;
  Expr result = expr.constant();
  for (auto [term, coefficient] : expr.terms()) {
    Expr part;
    if (std::optional<Expr> known = replace(term)) {
      result += coefficient * *known;
      continue;
    }
    switch (from.kind(term)) {
    case TermKind::Quotient:
      part = to.floorDiv(transfer(from.operand(term, 0), from, to, replace),
                         transfer(from.operand(term, 1), from, to, replace));
      break;
    case TermKind::Minimum:
      part = to.min(transfer(from.operand(term, 0), from, to, replace),
                    transfer(from.operand(term, 1), from, to, replace));
      break;
    case TermKind::Product:
      part = 1;
      for (Term factor : from.factors(term))
        part = to.product(part, transfer(factor, from, to, replace));
      break;
    default:
      part = Expr::invalid();
    }
    result += coefficient * part;
  }
  return result;
}
