//===- Inverse.cpp - Guesses the inverse of a writer's map ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quotients of one numerator by divisors that divide each other are read as
// digits of it: ⌊e/d⌋ is the sum of the digits above d. In digits and ids the
// map is a sum in which each unknown is smaller than the next coefficient, so
// that they are found by division from the largest coefficient down.

#include "Inverse.h"
#include <algorithm>
#include <set>

using namespace tracea::coverage;

namespace {
/// An unknown of a sum with its coefficient, a number or a product of symbols.
struct Place {
  Term unknown;
  Expr coefficient;
  unsigned degree = 0;
  int64_t factor = 0;
};

/// Quotients of one numerator: each is ⌊numerator / divisor⌋ − less.
struct Chain {
  struct Link {
    int64_t divisor;
    Term quotient;
    Expr less;
  };
  std::vector<Link> links;
};

class Inverter {
public:
  Inverter(Space &space, const Writer &writer,
           const std::vector<Term> &coordinates)
      : space(space), writer(writer), coordinates(coordinates) {}

  std::vector<Expr> run();

private:
  void readDigits();
  void addChain(const Expr &numerator, const Chain &chain);
  std::optional<std::vector<Place>> placesOf(const Expr &sum, Expr &known);
  bool isPositional(const std::vector<Place> &places) const;
  void solve(const std::vector<Place> &places, Expr rest);
  std::optional<int64_t> extentOf(Term unknown) const;
  std::optional<int64_t> largest(const Expr &expr, bool smallest) const;

  Space &space;
  const Writer &writer;
  const std::vector<Term> &coordinates;
  std::set<Term> ids;
  /// What stands for the ids and quotients that digits replace.
  std::map<Term, Expr> inDigits;
  std::map<Term, Expr> solved;
  /// Numerators of several ids, whose digits give one sum more.
  std::vector<std::pair<Expr, Expr>> sums;
};
} // namespace

/// Bounds of a sum of ids with constant ranges.
std::optional<int64_t> Inverter::largest(const Expr &expr,
                                         bool smallest) const {
  Expr sum = expr.constant();
  for (auto [term, coefficient] : expr.terms()) {
    if (!space.isVariable(term))
      return std::nullopt;
    const Range &range = space.range(term);
    if (!range.upper || !range.lower.isConstant() || !range.upper->isConstant())
      return std::nullopt;
    bool low = smallest == (coefficient > 0);
    sum += coefficient * (low ? range.lower : *range.upper - 1);
  }
  return sum.isValid() ? std::optional<int64_t>(sum.constant()) : std::nullopt;
}

std::optional<int64_t> Inverter::extentOf(Term unknown) const {
  const Range &range = space.range(unknown);
  if (!range.upper)
    return std::nullopt;
  Expr extent = *range.upper - range.lower;
  if (!extent.isValid() || !extent.isConstant())
    return std::nullopt;
  return extent.constant();
}

void Inverter::addChain(const Expr &numerator, const Chain &chain) {
  // The id that the digits replace.
  std::optional<Term> lead;
  for (auto [term, coefficient] : numerator.terms())
    if (coefficient == 1 && ids.count(term) && !inDigits.count(term))
      lead = term;
  if (!lead)
    return;
  std::optional<int64_t> low = largest(numerator, true),
                         high = largest(numerator, false);
  std::vector<std::pair<int64_t, Expr>> digits; // weight, digit
  int64_t weight = 1;
  std::set<int64_t> divisors;
  for (const Chain::Link &link : chain.links)
    divisors.insert(link.divisor);
  for (int64_t divisor : divisors) {
    if (divisor % weight != 0)
      return;
    digits.emplace_back(weight, space.coordinate("digit", divisor / weight));
    weight = divisor;
  }
  auto floorOf = [&](int64_t a) {
    return a / weight - (a % weight < 0 ? 1 : 0);
  };
  if (low && high && floorOf(*low) == floorOf(*high))
    digits.emplace_back(weight, floorOf(*low));
  else if (low && high)
    digits.emplace_back(
        weight,
        space.coordinate("digit", Range(floorOf(*low), floorOf(*high) + 1)));
  else
    digits.emplace_back(weight, space.coordinate("digit", Range()));
  Expr value;
  for (auto &[digitWeight, digit] : digits)
    value += digitWeight * digit;
  for (const Chain::Link &link : chain.links) {
    Expr above = -link.less;
    for (auto &[digitWeight, digit] : digits)
      if (digitWeight >= link.divisor)
        above += (digitWeight / link.divisor) * digit;
    inDigits[link.quotient] = above;
  }
  inDigits[*lead] = value - (numerator - Expr(*lead));
  sums.emplace_back(numerator, value);
}

void Inverter::readDigits() {
  // Quotients that the map mentions, anywhere.
  std::set<Term> seen;
  std::vector<Term> work;
  std::map<Expr, Chain> chains;
  auto push = [&](const Expr &expr) {
    for (auto [term, coefficient] : expr.terms())
      if (seen.insert(term).second)
        work.push_back(term);
  };
  for (const Expr &expr : writer.map)
    push(expr);
  while (!work.empty()) {
    Term term = work.back();
    work.pop_back();
    if (space.kind(term) == TermKind::Product) {
      for (Term factor : space.factors(term))
        push(factor);
    } else if (!space.isVariable(term)) {
      push(space.operand(term, 0));
      push(space.operand(term, 1));
      if (space.kind(term) == TermKind::Quotient &&
          space.operand(term, 1).isConstant())
        chains[space.operand(term, 0)].links.push_back(
            {space.operand(term, 1).constant(), term, 0});
    }
  }
  std::vector<std::pair<Expr, Chain>> order(chains.begin(), chains.end());
  std::sort(order.begin(), order.end(), [](const auto &a, const auto &b) {
    return std::make_pair(a.first.terms().size(), a.first) <
           std::make_pair(b.first.terms().size(), b.first);
  });
  // ⌊i/32⌋ of a tile of 128 is ⌊(128·t + i)/32⌋ − 4·t: multiples were taken out
  // of the quotient, and go back where a longer numerator is a chain as well.
  for (size_t part = 0; part < order.size(); ++part)
    for (size_t sum = part + 1; sum < order.size(); ++sum) {
      Expr more = order[sum].first - order[part].first;
      if (!more.isValid() ||
          more.terms().size() >= order[sum].first.terms().size())
        continue;
      bool divides = true;
      for (const Chain::Link &link : order[part].second.links) {
        divides &= more.constant() % link.divisor == 0;
        for (auto [term, coefficient] : more.terms())
          divides &= coefficient % link.divisor == 0;
      }
      if (!divides)
        continue;
      for (Chain::Link link : order[part].second.links) {
        link.less += space.floorDiv(more, link.divisor);
        order[sum].second.links.push_back(link);
      }
      order[part].second.links.clear();
      break;
    }
  // Numerators of one id first: the others are sums over those.
  for (const auto &[numerator, chain] : order)
    if (!chain.links.empty())
      addChain(numerator, chain);
}

/// The unknowns of a sum, largest coefficient first; `known` gets the rest.
std::optional<std::vector<Place>> Inverter::placesOf(const Expr &sum,
                                                     Expr &known) {
  std::map<Term, Expr> coefficients;
  known = sum.constant();
  auto isUnknown = [&](Term term) {
    return space.isVariable(term) && space.kind(term) != TermKind::Symbol &&
           std::find(coordinates.begin(), coordinates.end(), term) ==
               coordinates.end();
  };
  for (auto [term, coefficient] : sum.terms()) {
    std::vector<Term> unknowns;
    for (Term variable : space.variables(term))
      if (isUnknown(variable))
        unknowns.push_back(variable);
    if (unknowns.empty()) {
      known += coefficient * Expr(term);
      continue;
    }
    if (unknowns.size() > 1)
      return std::nullopt;
    Expr by = coefficient;
    if (space.kind(term) == TermKind::Product) {
      unsigned count = 0;
      for (Term factor : std::vector<Term>(space.factors(term))) {
        if (factor == unknowns[0])
          ++count;
        else
          by = space.product(by, factor);
      }
      if (count != 1)
        return std::nullopt;
    } else if (term != unknowns[0]) {
      return std::nullopt;
    }
    coefficients[unknowns[0]] += by;
  }
  std::vector<Place> places;
  for (auto &[unknown, coefficient] : coefficients) {
    if (coefficient == Expr(0))
      continue;
    Place place{unknown, coefficient, 0, coefficient.constant()};
    for (auto [term, factor] : coefficient.terms()) {
      unsigned degree = space.kind(term) == TermKind::Product
                            ? space.factors(term).size()
                            : 1;
      if (degree >= place.degree) {
        place.degree = degree;
        place.factor = factor;
      }
    }
    places.push_back(place);
  }
  auto key = [](const Place &place) {
    int64_t size = place.factor < 0 ? -place.factor : place.factor;
    return std::make_tuple(-int64_t(place.degree), -size, place.unknown);
  };
  std::sort(places.begin(), places.end(),
            [&](const Place &a, const Place &b) { return key(a) < key(b); });
  return places;
}

/// Whether each coefficient exceeds what the unknowns behind it can sum up to.
bool Inverter::isPositional(const std::vector<Place> &places) const {
  for (size_t i = 0; i + 1 < places.size(); ++i) {
    if (places[i].degree > places[i + 1].degree)
      continue; // a matter of symbols, left to the proof
    std::optional<int64_t> extent = extentOf(places[i + 1].unknown);
    __int128 a = places[i].factor, b = places[i + 1].factor;
    if (places[i].degree == 0 &&
        (!extent || (a < 0 ? -a : a) < (b < 0 ? -b : b) * *extent))
      return false;
  }
  return true;
}

/// Solves Σ coefficient · unknown = rest.
void Inverter::solve(const std::vector<Place> &places, Expr rest) {
  // Relative to where each summand is smallest.
  for (const Place &place : places) {
    const Range range = space.range(place.unknown);
    bool flipped = place.factor < 0 && range.upper.has_value();
    rest -= space.product(place.coefficient,
                          flipped ? *range.upper - 1 : range.lower);
  }
  for (const Place &place : places) {
    const Range range = space.range(place.unknown);
    bool negative = place.factor < 0;
    Expr size = negative ? -place.coefficient : place.coefficient;
    Expr digit = space.floorDiv(rest, size);
    rest -= space.product(size, digit);
    Expr value = range.lower + digit;
    if (negative)
      value = range.upper ? *range.upper - 1 - digit : range.lower - digit;
    solved[place.unknown] = value;
  }
}

std::vector<Expr> Inverter::run() {
  ids.insert(writer.ids.begin(), writer.ids.end());
  for (Term id : writer.ids)
    if (extentOf(id) == 1)
      solved[id] = space.range(id).lower;
  readDigits();
  // Each coordinate is one equation; so is each numerator of several ids.
  std::vector<std::pair<Expr, Expr>> equations; // sum, its value
  for (size_t i = 0; i < coordinates.size() && i < writer.map.size(); ++i) {
    Expr sum = space.substitute(writer.map[i], inDigits);
    equations.emplace_back(space.substitute(sum, inDigits), coordinates[i]);
  }
  for (auto &[numerator, value] : sums)
    equations.emplace_back(numerator, value);
  std::vector<bool> done(equations.size());
  bool forced = false;
  for (bool progress = true; progress || !forced;) {
    forced = !progress;
    progress = false;
    for (size_t i = 0; i < equations.size(); ++i) {
      if (done[i])
        continue;
      Expr known;
      Expr value = space.substitute(equations[i].second, solved);
      // A value that is itself unknown has to wait.
      Expr valueKnown;
      std::optional<std::vector<Place>> pending = placesOf(value, valueKnown);
      if (!pending || !pending->empty())
        continue;
      std::optional<std::vector<Place>> places =
          placesOf(space.substitute(equations[i].first, solved), known);
      if (!places || (!forced && !isPositional(*places)))
        continue;
      solve(*places, value - known);
      done[i] = progress = true;
    }
    if (progress)
      forced = false;
  }
  std::vector<Expr> result;
  for (Term id : writer.ids) {
    Expr value = id;
    auto digits = inDigits.find(id);
    if (!solved.count(id) && digits != inDigits.end())
      value = space.substitute(digits->second, inDigits);
    value = space.substitute(space.substitute(value, solved), solved);
    // What the map does not depend on: the first one.
    std::map<Term, Expr> first;
    for (Term variable : space.variables(value))
      if (space.kind(variable) != TermKind::Symbol &&
          std::find(coordinates.begin(), coordinates.end(), variable) ==
              coordinates.end())
        first[variable] = space.range(variable).lower;
    result.push_back(space.substitute(value, first));
  }
  return result;
}

std::vector<Expr>
tracea::coverage::guessInverse(Space &space, const Writer &writer,
                               const std::vector<Term> &coordinates) {
  return Inverter(space, writer, coordinates).run();
}
