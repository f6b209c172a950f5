//===- Index.cpp - Integer expressions with facts about them --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Index.h"
#include "Feasible.h"
#include "mlir/Analysis/Presburger/Simplex.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::tracea::numerics;
using llvm::ArrayRef;
using llvm::DenseMap;
using llvm::SmallVector;

int64_t Form::coefficient(unsigned atom) const {
  for (auto [id, factor] : terms)
    if (id == atom)
      return factor;
  return 0;
}

//===----------------------------------------------------------------------===//
// Atoms
//===----------------------------------------------------------------------===//

void mlir::tracea::numerics::appendKey(std::string &key, const Form &form) {
  for (auto [id, factor] : form.terms)
    key += std::to_string(id) + "*" + std::to_string(factor) + "+";
  key += std::to_string(form.constant) + ",";
}

unsigned IndexSpace::intern(Atom atom) {
  std::string key = std::to_string(int(atom.kind)) + atom.symbol + "/" +
                    std::to_string(atom.divisor) + "(";
  for (const Form &form : atom.forms)
    appendKey(key, form);
  auto [it, inserted] = known.try_emplace(key, atoms.size());
  if (inserted)
    atoms.push_back(std::move(atom));
  return it->second;
}

unsigned IndexSpace::newVariable(std::optional<int64_t> low,
                                 std::optional<int64_t> high) {
  atoms.push_back({AtomKind::Variable, "", {}, 0, low, high});
  return atoms.size() - 1;
}

Form IndexSpace::form(unsigned atom) const {
  Form result;
  result.terms.push_back({atom, 1});
  return result;
}

Form IndexSpace::extent(unsigned argument, unsigned dim) {
  return form(intern({AtomKind::Extent,
                      std::to_string(argument) + "." + std::to_string(dim),
                      {},
                      0,
                      0,
                      std::nullopt}));
}

Form IndexSpace::argument(unsigned number) {
  return form(intern({AtomKind::Argument,
                      std::to_string(number),
                      {},
                      0,
                      std::nullopt,
                      std::nullopt}));
}

Form IndexSpace::function(std::string name, ArrayRef<Form> operands,
                          std::optional<int64_t> low) {
  return form(intern({AtomKind::Function, std::move(name),
                      SmallVector<Form, 2>(operands), 0, low, std::nullopt}));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Form IndexSpace::combine(const Form &x, int64_t factor, const Form &y) {
  Form result;
  bool overflow = false;
  auto scaled = [&](int64_t value) {
    int64_t product = 0;
    overflow |= llvm::MulOverflow(value, factor, product) != 0;
    return product;
  };
  auto push = [&](unsigned id, int64_t value) {
    if (value != 0)
      result.terms.push_back({id, value});
  };
  size_t i = 0, j = 0;
  while (i < x.terms.size() || j < y.terms.size()) {
    if (j == y.terms.size() ||
        (i < x.terms.size() && x.terms[i].first < y.terms[j].first)) {
      push(x.terms[i].first, x.terms[i].second);
      ++i;
    } else if (i == x.terms.size() || y.terms[j].first < x.terms[i].first) {
      push(y.terms[j].first, scaled(y.terms[j].second));
      ++j;
    } else {
      int64_t sum = 0;
      overflow |= llvm::AddOverflow(x.terms[i].second,
                                    scaled(y.terms[j].second), sum) != 0;
      push(x.terms[i].first, sum);
      ++i, ++j;
    }
  }
  overflow |=
      llvm::AddOverflow(x.constant, scaled(y.constant), result.constant) != 0;
  if (overflow)
    fail("an index leaves 64 bits");
  return result;
}

Form IndexSpace::mul(const Form &x, const Form &y) {
  if (x.isConstant())
    return scale(y, x.constant);
  if (y.isConstant())
    return scale(x, y.constant);
  bool swap = y < x;
  Interval ix = interval(x), iy = interval(y);
  bool positive = ix.low && iy.low && *ix.low >= 0 && *iy.low >= 0;
  return function("mul", {swap ? y : x, swap ? x : y},
                  positive ? std::optional<int64_t>(0) : std::nullopt);
}

/// A quotient beside its own number, so many times that together they are a
/// remainder, but for a multiple of `divisor`: 15 (k div 3) + k is
/// 18 (k div 3) + k mod 3. What such multiples are divided by it, and the rest.
std::pair<Form, Form> IndexSpace::splitQuotients(const Form &x,
                                                 int64_t divisor) {
  Form quotients, rest = x;
  for (auto [id, factor] : x.terms) {
    const Atom &quotient = atom(id);
    if (quotient.kind != AtomKind::Quotient || quotient.forms[0].terms.empty())
      continue;
    auto [number, times] = quotient.forms[0].terms.front();
    int64_t taken = x.coefficient(number);
    if (taken == 0 || taken % times)
      continue;
    int64_t left = factor + taken / times * quotient.divisor;
    if (left % divisor)
      continue;
    rest = sub(rest, scale(form(id), left));
    quotients = add(quotients, scale(form(id), left / divisor));
  }
  return {quotients, rest};
}

Form IndexSpace::floorDiv(const Form &x, int64_t divisor, Facts facts) {
  if (divisor == 1)
    return x;
  // (d q + r) div d = q + r div d.
  Form whole, rest;
  for (auto [id, factor] : x.terms) {
    int64_t quotient = llvm::divideFloorSigned(factor, divisor);
    // Only exact multiples: a split coefficient would hide the fact that the
    // quotient depends on the sum alone.
    if (factor % divisor == 0)
      whole.terms.push_back({id, quotient});
    else
      rest.terms.push_back({id, factor});
  }
  whole.constant = llvm::divideFloorSigned(x.constant, divisor);
  rest.constant = x.constant - whole.constant * divisor;
  if (rest.isConstant())
    return whole;
  auto isRemainder = [&](const Form &form) {
    return prove(form, facts) && prove(sub(Form(divisor - 1), form), facts);
  };
  if (isRemainder(rest))
    return whole;
  auto [quotients, remainders] = splitQuotients(rest, divisor);
  if (!quotients.isConstant() && isRemainder(remainders))
    return add(whole, quotients);
  Interval range = interval(rest);
  Atom atom{AtomKind::Quotient, "", {rest}, divisor, {}, {}};
  if (range.low)
    atom.low = llvm::divideFloorSigned(*range.low, divisor);
  if (range.high)
    atom.high = llvm::divideFloorSigned(*range.high, divisor);
  return add(whole, form(intern(std::move(atom))));
}

Form IndexSpace::floorDiv(const Form &x, const Form &divisor, Facts facts) {
  if (divisor.isConstant() && divisor.constant > 0)
    return floorDiv(x, divisor.constant, facts);
  return function("arith.floordivsi", {x, divisor}, int64_t(0));
}

Form IndexSpace::extremum(AtomKind kind, const Form &x, const Form &y,
                          Facts facts) {
  bool isMin = kind == AtomKind::Min;
  if (prove(sub(y, x), facts))
    return isMin ? x : y;
  if (prove(sub(x, y), facts))
    return isMin ? y : x;
  Interval ix = interval(x), iy = interval(y);
  Atom atom{kind, "", {x, y}, 0, {}, {}};
  if (y < x)
    std::swap(atom.forms[0], atom.forms[1]);
  auto either = [](std::optional<int64_t> a, std::optional<int64_t> b,
                   bool smaller) -> std::optional<int64_t> {
    if (!a || !b)
      return a ? a : b;
    return smaller ? std::min(*a, *b) : std::max(*a, *b);
  };
  auto both = [](std::optional<int64_t> a, std::optional<int64_t> b,
                 bool smaller) -> std::optional<int64_t> {
    if (!a || !b)
      return std::nullopt;
    return smaller ? std::min(*a, *b) : std::max(*a, *b);
  };
  atom.low = isMin ? both(ix.low, iy.low, true) : either(ix.low, iy.low, false);
  atom.high =
      isMin ? either(ix.high, iy.high, true) : both(ix.high, iy.high, false);
  return form(intern(std::move(atom)));
}

Form IndexSpace::min(const Form &x, const Form &y, Facts facts) {
  return extremum(AtomKind::Min, x, y, facts);
}

Form IndexSpace::max(const Form &x, const Form &y, Facts facts) {
  return extremum(AtomKind::Max, x, y, facts);
}

Form IndexSpace::substitute(const Form &form, const Replacement &by,
                            Facts facts) {
  Form result(form.constant);
  for (auto [id, factor] : form.terms) {
    if (auto it = by.find(id); it != by.end()) {
      result = combine(result, factor, it->second);
      continue;
    }
    Atom atom = atoms[id];
    if (atom.forms.empty()) {
      result = combine(result, factor, this->form(id));
      continue;
    }
    SmallVector<Form, 2> forms;
    bool changed = false;
    for (const Form &inner : atom.forms) {
      forms.push_back(substitute(inner, by, facts));
      changed |= forms.back() != inner;
    }
    Form replaced = this->form(id);
    if (changed) {
      switch (atom.kind) {
      case AtomKind::Quotient:
        replaced = floorDiv(forms[0], atom.divisor, facts);
        break;
      case AtomKind::Min:
        replaced = min(forms[0], forms[1], facts);
        break;
      case AtomKind::Max:
        replaced = max(forms[0], forms[1], facts);
        break;
      default:
        replaced = atom.symbol == "mul"
                       ? mul(forms[0], forms[1])
                       : function(atom.symbol, forms, atom.low);
      }
    }
    result = combine(result, factor, replaced);
  }
  return result;
}

void IndexSpace::forEachVariable(
    const Form &form, llvm::function_ref<void(unsigned)> visit) const {
  for (auto [id, factor] : form.terms) {
    if (atoms[id].kind == AtomKind::Variable)
      visit(id);
    for (const Form &inner : atoms[id].forms)
      forEachVariable(inner, visit);
  }
}

bool IndexSpace::uses(const Form &form, unsigned variable) const {
  bool found = false;
  forEachVariable(form, [&](unsigned id) { found |= id == variable; });
  return found;
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

Facts IndexSpace::assume(Facts facts, const Form &notNegative) {
  if (notNegative.isConstant() && notNegative.constant >= 0)
    return facts;
  // A fact that is known already would only make a new list of an old one.
  for (Facts fact = facts; fact; fact = fact->rest)
    if (fact->form == notNegative)
      return facts;
  auto [it, inserted] = lists.try_emplace({facts, notNegative}, nullptr);
  if (!inserted)
    return it->second;
  factStore.push_back({notNegative, facts});
  return it->second = &factStore.back();
}

Interval IndexSpace::interval(const Form &form) const {
  Interval result{form.constant, form.constant};
  auto accumulate = [](std::optional<int64_t> &sum,
                       std::optional<int64_t> bound, int64_t factor) {
    int64_t product = 0, next = 0;
    if (!sum || !bound || llvm::MulOverflow(*bound, factor, product) ||
        llvm::AddOverflow(*sum, product, next))
      sum = std::nullopt;
    else
      sum = next;
  };
  for (auto [id, factor] : form.terms) {
    const Atom &atom = atoms[id];
    accumulate(result.low, factor > 0 ? atom.low : atom.high, factor);
    accumulate(result.high, factor > 0 ? atom.high : atom.low, factor);
  }
  return result;
}

bool IndexSpace::prove(const Form &notNegative, Facts facts) {
  Interval range = interval(notNegative);
  if (range.low && *range.low >= 0)
    return true;
  if (range.high && *range.high < 0 && !facts)
    return false;
  auto [it, inserted] = proved.try_emplace({facts, notNegative}, false);
  if (!inserted)
    return it->second;
  for (Facts fact = facts; fact; fact = fact->rest) {
    Interval rest = interval(sub(notNegative, fact->form));
    if (rest.low && *rest.low >= 0)
      return it->second = true;
  }
  SmallVector<unsigned> split;
  bool result = proveBySimplex(notNegative, facts, split);
  return proved[{facts, notNegative}] = result;
}

/// Whether no rational values of the atoms, each within its interval, make all
/// of `rows` not negative.
bool IndexSpace::hasNoSolution(ArrayRef<Form> rows, ArrayRef<unsigned> ids) {
  size_t width = ids.size() + 1;
  DenseMap<unsigned, unsigned> columns;
  SmallVector<bool, 32> isNatural;
  SmallVector<unsigned, 32> bounded;
  for (auto [index, id] : llvm::enumerate(ids)) {
    columns[id] = index + 1;
    isNatural.push_back(atoms[id].low.has_value());
    if (atoms[id].high)
      bounded.push_back(id);
  }
  // An atom is its least value and a number that is not negative.
  SmallVector<int64_t, 512> system((rows.size() + bounded.size()) * width);
  int64_t *row = system.data();
  bool overflow = false;
  for (const Form &form : rows) {
    row[0] = form.constant;
    for (auto [id, factor] : form.terms) {
      row[columns.lookup(id)] = factor;
      int64_t shift = 0;
      overflow |=
          llvm::MulOverflow(factor, atoms[id].low.value_or(0), shift) != 0;
      overflow |= llvm::AddOverflow(row[0], shift, row[0]) != 0;
    }
    row += width;
  }
  for (unsigned id : bounded) {
    row[columns.lookup(id)] = -1;
    overflow |= llvm::SubOverflow(*atoms[id].high, atoms[id].low.value_or(0),
                                  row[0]) != 0;
    row += width;
  }
  if (overflow)
    return false;
  if (std::optional<bool> feasible = isFeasible(system, isNatural))
    return !*feasible;
  mlir::presburger::Simplex simplex(ids.size());
  SmallVector<llvm::DynamicAPInt> coefficients(width);
  auto addRow = [&](ArrayRef<int64_t> numbers) {
    for (size_t i = 0; i < width; ++i)
      coefficients[i == 0 ? width - 1 : i - 1] = llvm::DynamicAPInt(numbers[i]);
    simplex.addInequality(coefficients);
  };
  for (size_t i = 0; i < system.size(); i += width)
    addRow(ArrayRef<int64_t>(system).slice(i, width));
  for (size_t i = 1; i < width; ++i) {
    SmallVector<int64_t> natural(width, 0);
    natural[i] = 1;
    if (isNatural[i - 1])
      addRow(natural);
  }
  return simplex.isEmpty();
}

/// Whether the facts and `goal < 0` have no rational solution.
bool IndexSpace::proveBySimplex(const Form &goal, Facts facts,
                                llvm::SmallVectorImpl<unsigned> &splits) {
  constexpr size_t kMaxAtoms = 48, kMaxFacts = 96, kMaxSplits = 1;
  llvm::SmallSetVector<unsigned, 16> used;
  SmallVector<Form> rows;
  rows.push_back(sub(Form(-1), goal));
  for (auto [id, factor] : goal.terms)
    used.insert(id);
  // Facts that share an atom with what is asked, and so on.
  SmallVector<const Fact *> open;
  for (Facts fact = facts; fact && open.size() < kMaxFacts; fact = fact->rest)
    open.push_back(fact);
  std::optional<unsigned> split;
  size_t defined = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (; defined < used.size() && defined < kMaxAtoms; ++defined) {
      const Atom &atom = atoms[used[defined]];
      Form self = form(used[defined]);
      auto relate = [&](Form row) {
        for (auto [id, factor] : row.terms)
          used.insert(id);
        rows.push_back(std::move(row));
      };
      if (atom.kind == AtomKind::Quotient) {
        Form rest = combine(atom.forms[0], -atom.divisor, self);
        relate(rest);
        relate(sub(Form(atom.divisor - 1), rest));
      } else if (atom.kind == AtomKind::Min || atom.kind == AtomKind::Max) {
        for (const Form &side : atom.forms)
          relate(atom.kind == AtomKind::Min ? sub(side, self)
                                            : sub(self, side));
        if (!split && !llvm::is_contained(splits, used[defined]))
          split = used[defined];
      }
      changed = true;
    }
    for (const Fact *&fact : open) {
      if (!fact || llvm::none_of(fact->form.terms, [&](const auto &term) {
            return used.contains(term.first);
          }))
        continue;
      rows.push_back(fact->form);
      for (auto [id, factor] : fact->form.terms)
        used.insert(id);
      fact = nullptr;
      changed = true;
    }
  }
  if (used.size() > kMaxAtoms || !failure.empty())
    return false;
  if (hasNoSolution(rows, used.getArrayRef()))
    return true;
  if (!split || splits.size() == kMaxSplits)
    return false;
  splits.push_back(*split);
  // An extremum is one of its sides.
  Form self = form(*split);
  SmallVector<Form, 2> sides = atoms[*split].forms;
  bool isMin = atoms[*split].kind == AtomKind::Min;
  for (unsigned side : {0u, 1u}) {
    Form gap = sub(sides[1 - side], sides[side]);
    Facts with = assume(facts, isMin ? gap : scale(gap, -1));
    with = assume(with, sub(self, sides[side]));
    with = assume(with, sub(sides[side], self));
    if (!proveBySimplex(goal, with, splits))
      return false;
  }
  splits.pop_back();
  return true;
}
