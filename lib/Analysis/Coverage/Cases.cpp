//===- Cases.cpp - Distinguishes cases of minima and products ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A point of the relaxation that does not fit the meaning of a term says which
// cases to distinguish.

#include "Prover.h"
#include <algorithm>

using namespace tracea::coverage;

/// So many minima are looked at for one that leaves a single case.
static constexpr size_t kMostMinima = 16;

/// Whether no sizes satisfy it: without the values and bounds of the search
/// that asks.
bool Prover::isImpossible(const Constraint &constraint) {
  LinearSystem::Point ignored;
  std::map<Term, Expr> values;
  std::optional<int64_t> noBound;
  std::swap(fixed, values);
  std::swap(bound, noBound);
  Constraints alone{constraint};
  int cases = 9;
  bool impossible = search(alone, {}, ignored, cases, /*tangents=*/0) == Empty;
  std::swap(fixed, values);
  std::swap(bound, noBound);
  return impossible;
}

int Prover::signOf(Term term) {
  // What is asked for in turn counts as not known meanwhile.
  auto [place, isNew] = signs.try_emplace(term, 0);
  if (!isNew)
    return place->second;
  // A maximum is the negative of a minimum.
  int sign = isImpossible(less(term, 0))               ? 1
             : space.kind(term) != TermKind::Minimum   ? 0
             : isImpossible(less(Expr(0), Expr(term))) ? -1
                                                       : 0;
  return signs[term] = sign;
}

bool Prover::isPositive(const Expr &divisor) {
  auto [place, isNew] = positive.try_emplace(divisor, false);
  if (!isNew)
    return place->second;
  bool holds = isImpossible(less(divisor, 1));
  return positive[divisor] = holds;
}

/// The value of a sum of terms at a point of the relaxation.
static std::optional<__int128> valueAt(const Expr &expr,
                                       const LinearSystem::Point &point) {
  __int128 sum = expr.constant();
  for (auto [term, coefficient] : expr.terms()) {
    auto found = point.find(term);
    if (found == point.end())
      return std::nullopt;
    sum += __int128(coefficient) * found->second;
  }
  return sum;
}

/// Monotony of multiplication with d >= 0, where the point violates it:
/// u > v gives u·d − v·d >= d, u = v equality, u < v the reverse. Of d <= 0 the
/// same is said of −d.
std::vector<Constraints>
Prover::casesOfProduct(const LinearSystem::Point &point, Term product,
                       const std::vector<Term> &terms, int &tangents) {
  std::vector<Term> factors = space.factors(product);
  auto rest = [&](const std::vector<Term> &of, Term without) {
    Expr result = 1;
    bool dropped = false;
    for (Term factor : of) {
      if (!dropped && factor == without)
        dropped = true;
      else
        result = space.product(result, factor);
    }
    return result;
  };
  auto violates = [&](const Expr &u, const Expr &v, const Expr &ud,
                      const Expr &vd, Term d, int sign) {
    std::optional<__int128> a = valueAt(u, point), b = valueAt(v, point),
                            p = valueAt(ud, point), q = valueAt(vd, point),
                            by = valueAt(d, point);
    if (!a || !b || !p || !q || !by)
      return false;
    __int128 more = sign * (*p - *q), least = sign * *by;
    return *a > *b ? more < least : *a == *b ? more != 0 : -more < least;
  };
  auto split = [&](const Expr &u, const Expr &v, const Expr &ud, const Expr &vd,
                   Term d, int sign) {
    Expr more = sign * (ud - vd), least = sign * Expr(d);
    return std::vector<Constraints>{{atLeast(u, v + 1), atLeast(more, least)},
                                    {equal(u, v), equal(ud, vd)},
                                    {atMost(u, v - 1), atLeast(-more, least)}};
  };
  std::set<Term> tried;
  for (Term d : factors) {
    int sign = 0;
    if (!tried.insert(d).second || !(sign = signOf(d)))
      continue;
    Expr u = rest(factors, d);
    for (Term other : terms) {
      if (other == product || space.kind(other) != TermKind::Product)
        continue;
      std::vector<Term> otherFactors = space.factors(other);
      if (std::find(otherFactors.begin(), otherFactors.end(), d) ==
          otherFactors.end())
        continue;
      Expr v = rest(otherFactors, d);
      if (violates(u, v, product, other, d, sign))
        return split(u, v, product, other, d, sign);
    }
    if (violates(u, 0, product, 0, d, sign))
      return split(u, 0, product, 0, d, sign);
  }
  // The tangent at the point.
  for (Term d : tried) {
    Expr u = rest(factors, d);
    std::optional<__int128> at = valueAt(u, point);
    int sign = signOf(d);
    if (tangents <= 0 || !sign || !at || *at > INT32_MAX || *at < INT32_MIN)
      continue;
    int64_t v = int64_t(*at);
    if (violates(u, v, product, v * Expr(d), d, sign)) {
      --tangents;
      return split(u, v, product, v * Expr(d), d, sign);
    }
  }
  return {};
}

/// The two cases of each minimum, of up to `most`, that is none at the point.
std::vector<std::vector<Constraints>>
Prover::casesOfMinima(const LinearSystem::Point &point,
                      const std::vector<Term> &terms, size_t most) {
  std::vector<std::vector<Constraints>> result;
  for (Term term : terms) {
    if (space.kind(term) != TermKind::Minimum || result.size() == most)
      continue;
    Expr a = space.operand(term, 0), b = space.operand(term, 1);
    std::optional<__int128> left = valueAt(a, point), right = valueAt(b, point);
    if (left && right && point.at(term) != std::min(*left, *right))
      result.push_back(
          {{atMost(a, b), equal(term, a)}, {less(b, a), equal(term, b)}});
  }
  return result;
}

/// Where there are many cases, those of a minimum of which one contradicts come
/// first: then there is one case. Alternatives that have nothing to do with the
/// question would multiply them.
std::vector<Constraints> Prover::singleCase(Constraints &constraints,
                                            const std::vector<Term> &mentioned,
                                            const LinearSystem::Point &point,
                                            const std::vector<Term> &terms) {
  for (const std::vector<Constraints> &split :
       casesOfMinima(point, terms, kMostMinima)) {
    std::vector<Constraints> possible;
    for (const Constraints &additional : split) {
      size_t before = constraints.size();
      constraints.insert(constraints.end(), additional.begin(),
                         additional.end());
      LinearSystem::Point ignored;
      LinearSystem::Answer answer =
          ask(close(constraints, mentioned).system, ignored);
      constraints.resize(before);
      if (answer != LinearSystem::Empty)
        possible.push_back(additional);
    }
    if (possible.size() == 1)
      return possible;
    if (possible.empty())
      return split;
  }
  return {};
}

std::vector<Constraints> Prover::casesOf(const LinearSystem::Point &point,
                                         const std::vector<Term> &terms,
                                         int &tangents) {
  if (std::vector<std::vector<Constraints>> minima =
          casesOfMinima(point, terms, /*most=*/1);
      !minima.empty())
    return minima.front();
  for (Term term : terms) {
    if (space.kind(term) != TermKind::Product)
      continue;
    std::vector<Constraints> cases =
        casesOfProduct(point, term, terms, tangents);
    if (!cases.empty())
      return cases;
  }
  return {};
}

/// Products become linear where symbols have values: enough for a
/// counterexample, not for a proof.
Prover::Answer Prover::specialize(Constraints &constraints,
                                  const std::vector<Term> &mentioned,
                                  LinearSystem::Point &point) {
  std::set<Term> symbols;
  for (Term term : close(constraints, mentioned).terms)
    if (space.kind(term) == TermKind::Product)
      for (Term factor : space.factors(term))
        for (Term variable : space.variables(factor))
          if (space.kind(variable) == TermKind::Symbol)
            symbols.insert(variable);
  if (symbols.empty() || symbols.size() > 8)
    return Unknown;
  static const int64_t kValues[] = {1, 2, 3, 5, 4, 8, 7, 16, 0, 32, 64, 128};
  const size_t numValues = std::size(kValues);
  for (size_t attempt = 0; attempt < 3 * numValues; ++attempt) {
    // The first attempts give all symbols one value, the later ones mix values.
    size_t position = 0;
    for (Term symbol : symbols) {
      size_t choice = attempt + (attempt / numValues) * position * 5;
      fixed[symbol] = kValues[choice % numValues];
      ++position;
    }
    if (symbols.size() == 1 && attempt >= numValues)
      break;
    int cases = options.maxCases;
    Answer answer = search(constraints, mentioned, point, cases, 0);
    if (answer == Found) {
      fixed.clear();
      return Found;
    }
  }
  fixed.clear();
  return Unknown;
}
