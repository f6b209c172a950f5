//===- Fold.cpp - The normal form of sequential sums ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels write "the first block begins the sum" and "the last block finishes
// it" as choices inside of a loop, or as code around it. Both become one form:
// rounds that differ stand outside of the fold.

#include "Term.h"

using namespace mlir::tracea::numerics;
using llvm::DenseMap;
using llvm::DenseSet;
using llvm::SmallVector;

/// Drops states that the first one does not need.
void TermSpace::prune(FoldParts &parts) {
  DenseSet<unsigned> needed;
  SmallVector<unsigned> open = {0};
  DenseSet<unsigned> visited = {0};
  while (!open.empty()) {
    unsigned i = open.pop_back_val();
    for (unsigned j = 0; j < parts.states.size(); ++j)
      if (uses(parts.updates[i], parts.states[j]) && visited.insert(j).second)
        open.push_back(j);
  }
  FoldParts kept{parts.variable, parts.low, parts.high, {}, {}};
  for (unsigned i = 0; i < parts.states.size(); ++i) {
    if (!visited.contains(i))
      continue;
    kept.states.push_back(parts.states[i]);
    kept.updates.push_back(parts.updates[i]);
  }
  parts = std::move(kept);
}

struct TermSpace::Match {
  unsigned state = 0;
  TermRef found = nullptr;
  IndexSpace::Replacement variables;
  DenseMap<unsigned, unsigned> states;
  SmallVector<unsigned> bound;
};

bool TermSpace::match(TermRef pattern, TermRef term, Match &match) {
  if (pattern->kind == TermKind::State && pattern->bound[0] == match.state) {
    if (llvm::any_of(match.bound, [&](unsigned id) { return uses(term, id); }))
      return false;
    if (!match.found)
      match.found = term;
    return match.found == term;
  }
  if (pattern == term && llvm::none_of(getFree(pattern), [&](unsigned id) {
        return id == match.state || match.variables.contains(id) ||
               match.states.contains(id);
      }))
    return true;
  if (pattern->kind != term->kind || pattern->symbol != term->symbol ||
      pattern->operands.size() != term->operands.size() ||
      pattern->forms.size() != term->forms.size() ||
      pattern->bound.size() != term->bound.size())
    return false;
  if (pattern->kind == TermKind::State) {
    auto it = match.states.find(pattern->bound[0]);
    return (it == match.states.end() ? pattern->bound[0] : it->second) ==
           term->bound[0];
  }
  for (auto [i, own, other] : llvm::enumerate(pattern->bound, term->bound)) {
    if (i == 0)
      match.variables[own] = index.form(other);
    else
      match.states[own] = other;
    match.bound.push_back(other);
  }
  for (auto [own, other] : llvm::zip(pattern->forms, term->forms))
    if (index.substitute(own, match.variables, nullptr) != other)
      return false;
  for (auto [own, other] : llvm::zip(pattern->operands, term->operands))
    if (!this->match(own, other, match))
      return false;
  return true;
}

/// Where a fold begins with what one more round before its first would give,
/// it has that round: a loop whose first round was taken out of it.
bool TermSpace::extend(FoldParts &parts, TermRef &begin, Facts facts) {
  if (!index.prove(index.sub(parts.high, parts.low), facts))
    return false;
  IndexSpace::Replacement before;
  before[parts.variable] = index.sub(parts.low, Form(1));
  TermRef update = substitute(parts.updates[0], before,
                              DenseMap<unsigned, TermRef>(), Map(), nullptr);
  Match found;
  found.state = parts.states[0];
  if (!uses(update, parts.states[0]) || !match(update, begin, found) ||
      !found.found)
    return false;
  parts.low = index.sub(parts.low, Form(1));
  begin = found.found;
  return true;
}

/// The fold of state `wanted`, without looking for rounds that differ.
TermRef TermSpace::finish(const FoldParts &given, unsigned wanted,
                          llvm::function_ref<TermRef(unsigned)> init,
                          Facts facts) {
  FoldParts parts = given;
  SmallVector<unsigned> order;
  for (unsigned i = 0; i < parts.states.size(); ++i)
    order.push_back(i);
  std::swap(parts.states[0], parts.states[wanted]);
  std::swap(parts.updates[0], parts.updates[wanted]);
  DenseMap<unsigned, unsigned> original;
  for (unsigned i = 0; i < given.states.size(); ++i)
    original[given.states[i]] = i;
  prune(parts);
  Form rounds = index.sub(parts.high, parts.low);
  if (rounds.isConstant() && rounds.constant <= 0)
    return init(original[parts.states[0]]);
  // A state that no round changes.
  if (parts.updates[0]->kind == TermKind::State &&
      parts.updates[0]->bound[0] == parts.states[0])
    return init(original[parts.states[0]]);
  SmallVector<TermRef> begins;
  for (unsigned state : parts.states)
    begins.push_back(init(original[state]));
  constexpr unsigned kMaxRounds = 8;
  for (unsigned i = 0; i < kMaxRounds && parts.states.size() == 1 &&
                       extend(parts, begins[0], facts);
       ++i)
    ;
  // All folds begin with round zero.
  if (parts.low != Form(0)) {
    auto [it, inserted] = moved.try_emplace({parts.variable, parts.low}, 0);
    if (inserted)
      it->second = index.newVariable(0, std::nullopt);
    IndexSpace::Replacement shift;
    shift[parts.variable] = index.add(index.form(it->second), parts.low);
    for (TermRef &update : parts.updates)
      update = substitute(update, shift, DenseMap<unsigned, TermRef>(), Map(),
                          nullptr);
    parts.variable = it->second;
    parts.high = index.sub(parts.high, parts.low);
    parts.low = Form(0);
  }
  Term result{
      TermKind::Fold, "", {}, {parts.low, parts.high}, {parts.variable}};
  for (unsigned i = 0; i < parts.states.size(); ++i) {
    result.bound.push_back(parts.states[i]);
    result.operands.push_back(begins[i]);
  }
  for (TermRef update : parts.updates)
    result.operands.push_back(update);
  return make(std::move(result));
}

namespace {
/// Conditions on the round that hold in one round alone, or in all but one.
struct OddRound {
  TermSpace::Map there, elsewhere;
};
} // namespace

TermRef TermSpace::fold(FoldParts parts,
                        llvm::function_ref<TermRef(unsigned)> init,
                        Facts facts) {
  using States = DenseMap<unsigned, TermRef>;
  Form n = index.form(parts.variable);
  Form rounds = index.sub(parts.high, parts.low);
  size_t count = parts.states.size();
  IndexSpace::Replacement atFirst, atLast;
  atFirst[parts.variable] = parts.low;
  atLast[parts.variable] = index.sub(parts.high, Form(1));
  auto beginOf = [&](TermRef update) {
    States before;
    for (unsigned i = 0; i < count; ++i)
      if (uses(update, parts.states[i]))
        before[parts.states[i]] = init(i);
    return substitute(update, atFirst, before, Map(), facts);
  };
  if (rounds.isConstant() && rounds.constant <= 0)
    return init(0);
  if (rounds.isConstant() && rounds.constant == 1)
    return beginOf(parts.updates[0]);
  if (!index.prove(index.sub(rounds, Form(1)), facts))
    return finish(parts, 0, init, facts);
  bool runsTwice = index.prove(index.sub(rounds, Form(2)), facts);

  OddRound first, last;
  DenseSet<TermRef> seen;
  SmallVector<TermRef> conditions;
  for (TermRef update : parts.updates)
    collectConditions(update, parts.variable, seen, conditions);
  auto sort = [&](OddRound &odd, const Form &place, const Form &away) {
    Facts inside = index.assume(facts, index.sub(n, parts.low));
    inside = index.assume(inside, index.sub(atLast[parts.variable], n));
    Facts there = index.assume(index.assume(inside, index.sub(n, place)),
                               index.sub(place, n));
    Facts elsewhere = index.assume(inside, away);
    for (TermRef condition : conditions) {
      bool here, other;
      if (decide(condition, there, here) &&
          decide(condition, elsewhere, other) && here != other) {
        odd.there[condition] = truth(here);
        odd.elsewhere[condition] = truth(other);
      }
    }
  };
  if (!conditions.empty()) {
    sort(first, parts.low, index.sub(index.sub(n, parts.low), Form(1)));
    sort(last, atLast[parts.variable],
         index.sub(index.sub(parts.high, Form(2)), n));
  }
  if (first.there.empty() && last.there.empty())
    return finish(parts, 0, init, facts);
  auto with = [](const Map &x, const Map &y) {
    Map both = x;
    both.insert(y.begin(), y.end());
    return both;
  };

  // What a round does in the middle, and in the first one if that differs.
  // Of two rounds at most all but the first are the last.
  bool runsThrice = !index.prove(index.sub(Form(2), rounds), facts);
  const Map &usual = runsThrice ? last.elsewhere : last.there;
  FoldParts middle = parts;
  SmallVector<TermRef> firsts;
  for (unsigned i = 0; i < count; ++i) {
    middle.updates[i] = replace(parts.updates[i], with(first.elsewhere, usual));
    firsts.push_back(
        replace(parts.updates[i], with(first.there, last.elsewhere)));
  }
  bool firstDiffers = firsts != middle.updates;
  if (firstDiffers)
    middle.low = index.add(parts.low, Form(1));
  auto middleBegin = [&](unsigned i) {
    return firstDiffers ? beginOf(firsts[i]) : init(i);
  };
  TermRef end = replace(parts.updates[0], with(first.elsewhere, last.there));
  TermRef only = replace(parts.updates[0], with(first.there, last.there));
  bool mayBeOne = !runsTwice && (firstDiffers || only != end);
  if (end == middle.updates[0] && (!mayBeOne || only == firsts[0]))
    return finish(middle, 0, middleBegin, facts);

  // Where the last round does to a state what every round does, it is one more
  // round of the fold.
  Map marks, firstMarks, folds;
  for (unsigned i = 0; i < count; ++i) {
    TermRef update = middle.updates[i];
    if (update->kind == TermKind::State || update->kind == TermKind::Constant)
      continue;
    TermRef mark = constant("the sum of state " + std::to_string(i));
    marks[update] = firstMarks[firsts[i]] = mark;
  }
  TermRef marked = replace(end, marks);
  bool usesStates = llvm::any_of(
      parts.states, [&](unsigned state) { return uses(marked, state); });
  // A first round that is the last one as well must give the same.
  if (mayBeOne && (usesStates || replace(only, firstMarks) != marked))
    return finish(parts, 0, init, facts);
  FoldParts shorter = middle;
  shorter.high = atLast[parts.variable];
  States before;
  for (unsigned i = 0; i < count; ++i)
    if (uses(marked, parts.states[i]))
      before[parts.states[i]] = finish(shorter, i, middleBegin, facts);
  TermRef result = substitute(marked, atLast, before, Map(), facts);
  Map sums;
  for (auto &[update, mark] : marks)
    for (unsigned i = 0; i < count; ++i)
      if (middle.updates[i] == update && !sums.count(mark) &&
          contains(result, mark))
        sums[mark] = finish(middle, i, middleBegin, facts);
  return replace(result, sums);
}
