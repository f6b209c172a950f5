//===- IndexLimit.cpp - A limit of all index computations -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bounds of a launch guard as one polynomial of sizes with coefficients
// that are not negative: a quotient is below its numerator, with coefficients
// divided and rounded up, since a product of sizes is a whole number.

#include "tracea/Analysis/Coverage/Decide.h"
#include <algorithm>
#include <set>

using namespace tracea::coverage;

namespace {
/// Products of sizes -> factors of at most kMost; wider sums are cut there.
using Polynomial = std::map<std::vector<Term>, __int128>;

constexpr __int128 kMost = __int128(1) << 80;
constexpr size_t kMostSummands = 64;

class Limiter {
public:
  explicit Limiter(const Problem &given)
      : problem(given), space(problem.space), guard(launchGuard(problem)) {
    for (const std::vector<Term> &buffer : problem.buffers)
      sizes.insert(buffer.begin(), buffer.end());
    sizes.insert(problem.integers.begin(), problem.integers.end());
  }

  IndexLimit run();

private:
  Polynomial magnitude(const Expr &expr);
  Polynomial magnitude(Term term);
  void add(Polynomial &sum, const Polynomial &part, __int128 factor);
  bool isImplied(const IndexLimit &limit) const;
  void fail(std::string why) {
    if (reason.empty())
      reason = std::move(why);
  }

  Problem problem;
  const Space &space;
  LaunchGuard guard;
  std::set<Term> sizes;
  std::string reason;
};
} // namespace

static __int128 atMost(__int128 value) { return std::min(value, kMost); }

void Limiter::add(Polynomial &sum, const Polynomial &part, __int128 factor) {
  for (const auto &[product, coefficient] : part) {
    // The coefficient is at most 2^80 and the factor 2^64, so that 128 bits
    // hold a product that is not cut off.
    __int128 more = coefficient > kMost / factor ? kMost : coefficient * factor;
    __int128 &place = sum[product];
    place = atMost(place + more);
  }
  if (sum.size() > kMostSummands)
    fail("indices are sums of too many products of sizes");
}

Polynomial Limiter::magnitude(Term term) {
  switch (space.kind(term)) {
  case TermKind::Symbol: {
    if (sizes.count(term))
      return {{{term}, 1}};
    // Something between sizes, say an iteration.
    const Range &range = space.range(term);
    Polynomial result = magnitude(range.lower);
    if (range.upper)
      add(result, magnitude(*range.upper), 1);
    else
      fail("'" + space.name(term) + "' is no size of the launch");
    return result;
  }
  case TermKind::Quotient: {
    Polynomial result = magnitude(space.operand(term, 0));
    const Expr &divisor = space.operand(term, 1);
    if (divisor.isConstant() && divisor.constant() > 1)
      for (auto &[product, coefficient] : result)
        coefficient =
            (coefficient + divisor.constant() - 1) / divisor.constant();
    return result;
  }
  case TermKind::Minimum: {
    Polynomial result = magnitude(space.operand(term, 0));
    for (const auto &[product, coefficient] : magnitude(space.operand(term, 1)))
      result[product] = std::max(result[product], coefficient);
    return result;
  }
  case TermKind::Product: {
    Polynomial result{{{}, 1}};
    for (Term factor : space.factors(term)) {
      Polynomial wider;
      for (const auto &[product, coefficient] : magnitude(factor))
        for (const auto &[other, otherCoefficient] : result) {
          std::vector<Term> both = product;
          both.insert(both.end(), other.begin(), other.end());
          std::sort(both.begin(), both.end());
          add(wider, {{both, otherCoefficient}},
              std::max<__int128>(coefficient, 1));
        }
      if (!reason.empty())
        return {};
      result = std::move(wider);
    }
    return result;
  }
  default:
    fail("'" + space.name(term) + "' is no size of the launch");
    return {};
  }
}

Polynomial Limiter::magnitude(const Expr &expr) {
  if (!expr.isValid()) {
    fail("an expression is invalid");
    return {};
  }
  Polynomial sum;
  __int128 constant = expr.constant();
  if (constant != 0)
    sum[{}] = constant < 0 ? -constant : constant;
  for (auto [term, coefficient] : expr.terms()) {
    __int128 factor = coefficient;
    add(sum, magnitude(term), factor < 0 ? -factor : factor);
    if (!reason.empty())
      return {};
  }
  return sum;
}

/// One buffer's extents, each once, are at most 2^kLogElements together.
bool Limiter::isImplied(const IndexLimit &limit) const {
  __int128 sum = 0;
  for (const IndexLimit::Summand &summand : limit.summands) {
    auto isIn = [&](const std::vector<Term> &buffer) {
      std::vector<Term> open = buffer;
      for (Term size : summand.sizes) {
        auto found = std::find(open.begin(), open.end(), size);
        if (found == open.end())
          return false;
        open.erase(found);
      }
      return true;
    };
    if (summand.sizes.empty())
      sum += summand.factor;
    else if (std::any_of(problem.buffers.begin(), problem.buffers.end(), isIn))
      sum += __int128(summand.factor) << IndexLimit::kLogElements;
    else
      return false;
  }
  return sum <= INT64_MAX;
}

IndexLimit Limiter::run() {
  IndexLimit limit;
  if (!guard.reason.empty())
    fail(guard.reason);
  Polynomial all;
  for (const IndexBound &bound : guard.bounds)
    for (const Expr &end : {bound.smallest, bound.largest}) {
      if (!reason.empty())
        break;
      for (const auto &[product, coefficient] : magnitude(end))
        all[product] = std::max(all[product], coefficient);
    }
  for (const auto &[product, coefficient] : all) {
    if (coefficient > INT64_MAX)
      fail("an index is beyond 64 bits");
    limit.summands.push_back({int64_t(coefficient), product});
  }
  if (limit.summands.size() > kMostSummands)
    fail("indices are sums of too many products of sizes");
  if (!reason.empty()) {
    limit.summands.clear();
    limit.reason = reason;
    return limit;
  }
  limit.isImplied = isImplied(limit);
  return limit;
}

IndexLimit tracea::coverage::indexLimit(const Problem &problem) {
  return Limiter(problem).run();
}

std::string tracea::coverage::describe(const IndexLimit &limit,
                                       const Space &space) {
  std::string text;
  for (auto it = limit.summands.rbegin(); it != limit.summands.rend(); ++it) {
    std::string product;
    for (Term size : it->sizes)
      product += (product.empty() ? "" : "*") + space.name(size);
    if (product.empty() || it->factor != 1)
      product =
          std::to_string(it->factor) + (product.empty() ? "" : "*" + product);
    text += (text.empty() ? "" : " + ") + product;
  }
  return text.empty() ? "0" : text;
}
