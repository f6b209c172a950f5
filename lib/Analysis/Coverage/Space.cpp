//===- Space.cpp - Named integers and what is computed from them ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Coverage/Space.h"
#include "Evaluator.h"
#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>

using namespace tracea::coverage;

namespace {
/// Products of sums grow beyond any use; such an expression is invalid.
constexpr size_t kMaxSummands = 256;
constexpr size_t kMaxFactors = 8;

int64_t floorOf(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return quotient - (a % b < 0 ? 1 : 0);
}

/// The product, or nothing beyond 64 bits.
std::optional<int64_t> times(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result))
    return std::nullopt;
  return result;
}
} // namespace

//===----------------------------------------------------------------------===//
// Expr
//===----------------------------------------------------------------------===//

Expr Expr::invalid() {
  Expr result;
  result.valid = false;
  return result;
}

int64_t Expr::coefficient(Term term) const {
  for (const Summand &summand : summands)
    if (summand.first == term)
      return summand.second;
  return 0;
}

Expr &Expr::add(const Expr &other, int64_t factor) {
  if (!valid || !other.valid)
    return *this = invalid();
  if (factor == 0)
    return *this;
  int64_t scaled;
  if (__builtin_mul_overflow(other.constantPart, factor, &scaled) ||
      __builtin_add_overflow(constantPart, scaled, &scaled))
    return *this = invalid();
  std::vector<Summand> merged;
  merged.reserve(summands.size() + other.summands.size());
  auto left = summands.begin(), leftEnd = summands.end();
  auto right = other.summands.begin(), rightEnd = other.summands.end();
  while (left != leftEnd || right != rightEnd) {
    if (right == rightEnd || (left != leftEnd && left->first < right->first)) {
      merged.push_back(*left++);
      continue;
    }
    int64_t sum = 0;
    if (__builtin_mul_overflow(right->second, factor, &sum))
      return *this = invalid();
    Term term = right->first;
    if (left != leftEnd && left->first == term)
      if (__builtin_add_overflow(left++->second, sum, &sum))
        return *this = invalid();
    ++right;
    if (sum)
      merged.emplace_back(term, sum);
  }
  // Keeps -2^63 out, so that every coefficient can be negated.
  if (merged.size() > kMaxSummands || scaled == INT64_MIN ||
      std::any_of(merged.begin(), merged.end(),
                  [](const Summand &s) { return s.second == INT64_MIN; }))
    return *this = invalid();
  summands = std::move(merged);
  constantPart = scaled;
  return *this;
}

namespace tracea::coverage {
bool operator<(const Expr &a, const Expr &b) {
  return std::tie(a.valid, a.constantPart, a.summands) <
         std::tie(b.valid, b.constantPart, b.summands);
}
} // namespace tracea::coverage

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

Term Space::variable(TermKind kind, std::string name, Range range) {
  // Names can be read back from a model.
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.' &&
        c != '\'')
      c = '_';
  if (!name.empty() && !std::isalpha(static_cast<unsigned char>(name[0])) &&
      name[0] != '_')
    name = "_" + name;
  if (name.empty())
    name = kind == TermKind::Symbol ? "s" : kind == TermKind::Id ? "i" : "x";
  std::string unique = name;
  for (unsigned number = 1; names.count(unique); ++number)
    unique = name + "." + std::to_string(number);
  Term term{uint32_t(nodes.size())};
  names[unique] = term;
  nodes.push_back({kind, unique, std::move(range), {}, {}, {}});
  return term;
}

Term Space::symbol(std::string name, Range range) {
  return variable(TermKind::Symbol, std::move(name), std::move(range));
}

Term Space::id(std::string name, Range range) {
  return variable(TermKind::Id, std::move(name), std::move(range));
}

Term Space::coordinate(std::string name, Range range) {
  return variable(TermKind::Coordinate, std::move(name), std::move(range));
}

std::optional<Term> Space::find(const std::string &name) const {
  auto found = names.find(name);
  if (found == names.end())
    return std::nullopt;
  return found->second;
}

Expr Space::intern(Node node) {
  auto key = std::make_tuple(node.kind, node.first, node.second, node.factors);
  auto [place, isNew] = interned.try_emplace(key, Term{uint32_t(nodes.size())});
  if (isNew)
    nodes.push_back(std::move(node));
  return place->second;
}

std::optional<std::pair<int64_t, int64_t>> Space::bounds(const Expr &expr,
                                                         int depth) const {
  // Deep nests are not worth the time.
  if (depth > 8 || expr.terms().size() > 8)
    return std::nullopt;
  __int128 low = expr.constant(), high = expr.constant();
  for (auto [term, coefficient] : expr.terms()) {
    std::optional<std::pair<int64_t, int64_t>> part;
    const Node &node = nodes[term.index];
    if (isVariable(term)) {
      if (node.range.upper && node.range.lower.isConstant() &&
          node.range.upper->isConstant())
        part = {node.range.lower.constant(), node.range.upper->constant() - 1};
    } else if (node.kind == TermKind::Quotient && node.second.isConstant()) {
      if ((part = bounds(node.first, depth + 1)))
        part = {floorOf(part->first, node.second.constant()),
                floorOf(part->second, node.second.constant())};
    }
    if (!part || part->first > part->second)
      return std::nullopt;
    bool positive = coefficient > 0;
    low += __int128(coefficient) * (positive ? part->first : part->second);
    high += __int128(coefficient) * (positive ? part->second : part->first);
  }
  if (low < INT64_MIN || high > INT64_MAX)
    return std::nullopt;
  return std::make_pair(int64_t(low), int64_t(high));
}

/// Takes the part that the divisor divides out of the numerator: the quotient
/// of that part.
static Expr takeMultiples(Expr &numerator, int64_t divisor) {
  Expr taken = floorOf(numerator.constant(), divisor);
  for (auto [term, coefficient] : numerator.terms())
    if (coefficient % divisor == 0)
      taken += (coefficient / divisor) * Expr(term);
  numerator -= divisor * taken;
  return taken;
}

Expr Space::floorDiv(const Expr &a, const Expr &divisor) {
  if (!a.isValid() || !divisor.isValid())
    return Expr::invalid();
  if (divisor.isConstant()) {
    int64_t d = divisor.constant();
    if (d <= 0)
      return Expr::invalid();
    Expr rest = a, whole = takeMultiples(rest, d);
    if (!rest.isValid() || rest.isConstant())
      return rest.isValid() ? whole : Expr::invalid();
    if (auto between = bounds(rest))
      if (int64_t low = floorOf(between->first, d);
          low == floorOf(between->second, d))
        return whole + low;
    // ⌊(g·e + c) / (g·d)⌋ = ⌊(e + ⌊c/g⌋) / d⌋
    int64_t gcd = d;
    for (auto [term, coefficient] : rest.terms())
      gcd = std::gcd(gcd, coefficient);
    if (gcd > 1) {
      Expr smaller = floorOf(rest.constant(), gcd);
      for (auto [term, coefficient] : rest.terms())
        smaller += (coefficient / gcd) * Expr(term);
      rest = smaller;
      d /= gcd;
    }
    // ⌊(a + ⌊e/b⌋) / d⌋ = ⌊(b·a + e) / (b·d)⌋ for an integer a.
    for (auto [inner, coefficient] : rest.terms()) {
      if (coefficient != 1 || kind(inner) != TermKind::Quotient ||
          !nodes[inner.index].second.isConstant())
        continue;
      int64_t b = nodes[inner.index].second.constant();
      std::optional<int64_t> product = times(b, d);
      Expr numerator = b * (rest - inner) + nodes[inner.index].first;
      if (product && numerator.isValid())
        return whole + floorDiv(numerator, *product);
    }
    return whole + intern({TermKind::Quotient, "", {}, rest, d, {}});
  }
  // Multiples of a divisor that is one term.
  Expr rest = a, whole;
  if (divisor.terms().size() == 1 && divisor.constant() == 0 &&
      divisor.terms()[0].second == 1) {
    Term term = divisor.terms()[0].first;
    std::vector<Term> wanted = kind(term) == TermKind::Product
                                   ? factors(term)
                                   : std::vector<Term>{term};
    for (auto [summand, coefficient] : a.terms()) {
      std::vector<Term> parts = kind(summand) == TermKind::Product
                                    ? factors(summand)
                                    : std::vector<Term>{summand};
      if (!std::includes(parts.begin(), parts.end(), wanted.begin(),
                         wanted.end()))
        continue;
      std::vector<Term> left;
      std::set_difference(parts.begin(), parts.end(), wanted.begin(),
                          wanted.end(), std::back_inserter(left));
      Expr quotient = 1;
      for (Term factor : left)
        quotient = product(quotient, factor);
      whole += coefficient * quotient;
      rest -= coefficient * Expr(summand);
    }
  }
  if (rest == Expr(0))
    return whole;
  return whole + intern({TermKind::Quotient, "", {}, rest, divisor, {}});
}

Expr Space::ceilDiv(const Expr &a, const Expr &divisor) {
  Expr by = divisor;
  return floorDiv(a + by - 1, by);
}

Expr Space::mod(const Expr &a, const Expr &divisor) {
  // Copies: new terms may move what the references refer to.
  Expr value = a, by = divisor;
  return value - product(by, floorDiv(value, by));
}

Expr Space::min(const Expr &a, const Expr &b) {
  Expr difference = a - b;
  if (!difference.isValid())
    return Expr::invalid();
  if (difference.isConstant())
    return difference.constant() <= 0 ? a : b;
  if (auto between = bounds(difference)) {
    if (between->second <= 0)
      return a;
    if (between->first >= 0)
      return b;
  }
  bool ordered = a < b;
  return intern(
      {TermKind::Minimum, "", {}, ordered ? a : b, ordered ? b : a, {}});
}

Expr Space::max(const Expr &a, const Expr &b) { return -min(-a, -b); }

Expr Space::truth(const Constraint &constraint) {
  const Expr &expr = constraint.expr;
  if (!constraint.equality || !expr.isValid())
    return expr;
  // What is never negative is 0 where it is at most 0.
  return isSumOfSizes(expr) ? -expr : min(expr, -expr);
}

bool Space::isSumOfSizes(const Expr &expr) const {
  bool result = expr.isValid() && expr.constant() >= 0;
  for (auto [term, coefficient] : expr.terms())
    result &= coefficient > 0 && isVariable(term) &&
              range(term).lower.isConstant() &&
              range(term).lower.constant() >= 0;
  return result;
}

Expr Space::multiply(Term a, Term b) {
  std::vector<Term> all;
  for (Term term : {a, b}) {
    if (kind(term) == TermKind::Product)
      all.insert(all.end(), factors(term).begin(), factors(term).end());
    else
      all.push_back(term);
  }
  if (all.size() > kMaxFactors)
    return Expr::invalid();
  std::sort(all.begin(), all.end());
  return intern({TermKind::Product, "", {}, {}, {}, std::move(all)});
}

Expr Space::product(const Expr &a, const Expr &b) {
  if (!a.isValid() || !b.isValid() ||
      a.terms().size() * b.terms().size() > kMaxSummands)
    return Expr::invalid();
  Expr result = a.constant() * b;
  result += b.constant() * a;
  std::optional<int64_t> twice = times(a.constant(), b.constant());
  if (!twice || !result.isValid())
    return Expr::invalid();
  result -= *twice;
  for (auto [left, leftCoefficient] : a.terms())
    for (auto [right, rightCoefficient] : b.terms()) {
      std::optional<int64_t> factor = times(leftCoefficient, rightCoefficient);
      if (!factor)
        return Expr::invalid();
      result += *factor * multiply(left, right);
    }
  return result;
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

Expr Space::substitute(const Expr &expr, const std::map<Term, Expr> &values) {
  // A local recursion with its own cache.
  struct Rebuilder {
    Space &space;
    std::map<Term, Expr> done;
    Expr term(Term t) {
      auto found = done.find(t);
      if (found != done.end())
        return found->second;
      Node node = space.nodes[t.index];
      Expr result = t;
      switch (node.kind) {
      case TermKind::Quotient:
        result = space.floorDiv(sum(node.first), sum(node.second));
        break;
      case TermKind::Minimum:
        result = space.min(sum(node.first), sum(node.second));
        break;
      case TermKind::Product:
        result = 1;
        for (Term factor : node.factors)
          result = space.product(result, term(factor));
        break;
      default:
        break;
      }
      done.emplace(t, result);
      return result;
    }
    Expr sum(const Expr &e) {
      if (!e.isValid())
        return e;
      Expr result = e.constant();
      for (auto [t, coefficient] : e.terms())
        result += coefficient * term(t);
      return result;
    }
  };
  return Rebuilder{*this, values}.sum(expr);
}

std::vector<Term> Space::variables(const Expr &expr) const {
  std::set<Term> seen, found;
  std::vector<Term> work;
  auto push = [&](const Expr &e) {
    for (auto [term, coefficient] : e.terms())
      if (seen.insert(term).second)
        work.push_back(term);
  };
  push(expr);
  while (!work.empty()) {
    Term term = work.back();
    work.pop_back();
    if (isVariable(term)) {
      found.insert(term);
      continue;
    }
    const Node &node = nodes[term.index];
    push(node.first);
    push(node.second);
    for (Term factor : node.factors)
      if (seen.insert(factor).second)
        work.push_back(factor);
  }
  return {found.begin(), found.end()};
}

bool Space::isSymbolic(const Expr &expr) const {
  for (Term variable : variables(expr))
    if (kind(variable) != TermKind::Symbol)
      return false;
  return true;
}

std::optional<int64_t>
Space::evaluate(const Expr &expr, const std::map<Term, int64_t> &values) const {
  Evaluator evaluator(*this);
  for (auto [term, value] : values)
    evaluator.set(term, value);
  return evaluator.value(expr);
}

std::optional<bool> Space::holds(const Constraint &constraint,
                                 const std::map<Term, int64_t> &values) const {
  std::optional<int64_t> value = evaluate(constraint.expr, values);
  if (!value)
    return std::nullopt;
  return constraint.equality ? *value == 0 : *value >= 0;
}
