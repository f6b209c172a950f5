//===- Defined.cpp - Sums that a definition names -------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every element that a sum reads is at the place that the definition's map
// gives, for the coordinates of the result and for what the sum walks along.
// The latter is where the maps of the factors have it by itself.

#include "../Numerics/Evaluator.h"
#include "ClosedSum.h"

using namespace mlir;
using namespace mlir::tracea::meaning;
using namespace mlir::tracea::numerics;

Form SumFinder::evaluate(AffineExpr expr, ArrayRef<Form> walked) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Form(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    unsigned position = dim.getPosition();
    return position < coordinates.size()
               ? coordinates[position]
               : walked[position - coordinates.size()];
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    unsigned position = symbol.getPosition();
    for (int64_t factor = 0; factor < definition.getFactors(); ++factor) {
      unsigned rank = definition.getMap(factor).getNumResults();
      if (position < rank)
        return extent(definition.getOperands()[factor], position);
      position -= rank;
    }
    SmallVector<Form> place;
    for (AffineExpr result : definition.getPlace(position).getResults())
      place.push_back(evaluate(result, walked));
    return index.gathered(definition.getTables()[position], place);
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Form x = evaluate(binary.getLHS(), walked),
       y = evaluate(binary.getRHS(), walked);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return index.add(x, y);
  case AffineExprKind::Mul:
    return index.mul(x, y);
  case AffineExprKind::FloorDiv:
  case AffineExprKind::Mod:
    if (!y.isConstant() || y.constant > 0) {
      Form quotient = index.floorDiv(x, y, nullptr);
      return expr.getKind() == AffineExprKind::FloorDiv
                 ? quotient
                 : index.sub(x, index.mul(quotient, y));
    }
    break;
  default:
    break;
  }
  index.fail("a definition has a map that is not followed");
  return Form(0);
}

/// How a place differs from that of an operand, or nothing.
std::string SumFinder::compare(const Place &place, int operand,
                               ArrayRef<Form> walked, ClosedSum &sum) {
  Form wanted =
      evaluate(definition.getMap(operand).getResult(place.dim), walked);
  if (wanted == place.form)
    return "";
  // Sums of multiples of counters are equal only if they are the same.
  Form difference = index.sub(wanted, place.form);
  sum.isRefuted = llvm::all_of(difference.terms, [&](const auto &term) {
    return index.atom(term.first).kind == AtomKind::Variable;
  });
  return "index " + std::to_string(place.dim) + " of argument " +
         std::to_string(place.argument) + " is " +
         describeForm(place.form, index, at) + ", where the operation has " +
         describeForm(wanted, index, at);
}

/// Of factors of several extents, one of which is padded, the shortest says how
/// far a sum goes: past its end there are zeros.
bool SumFinder::isShorter(unsigned argument, unsigned dim,
                          const WalkedDim &other) const {
  Form end = extent(argument, dim), last = extent(other.argument, other.dim);
  return end.isConstant() && last.isConstant() && end.constant < last.constant;
}

bool SumFinder::isDigit(const Place &place) const {
  if (!definition)
    return false;
  for (int64_t factor = 0; factor < definition.getFactors(); ++factor) {
    if (definition.getOperands()[factor] != place.argument)
      continue;
    auto expr = dyn_cast<AffineBinaryOpExpr>(
        definition.getMap(factor).getResult(place.dim));
    bool isPart = expr && (expr.getKind() == AffineExprKind::Mod ||
                           expr.getKind() == AffineExprKind::FloorDiv);
    for (unsigned dim = coordinates.size(); dim < definition.getNumDims();
         ++dim)
      if (isPart && expr.isFunctionOfDim(dim))
        return true;
  }
  return false;
}

/// Compares what is read with the operands that are chosen for it, and finds
/// what is walked along. Why that is not what the definition says, or nothing.
std::string SumFinder::compare(ArrayRef<PlacedPiece> pieces,
                               ArrayRef<int> chosen, ClosedSum &sum) {
  unsigned rank = coordinates.size();
  unsigned walked = definition.getNumDims() - rank;
  sum.dims.assign(walked, WalkedDim());
  std::vector<bool> isFound(walked, false);
  auto forEachPlace = [&](auto visit) {
    for (auto [number, place] : llvm::enumerate(pieces.front().places))
      if (place.argument >= 0)
        visit(number, place, chosen[place.read]);
  };
  forEachPlace([&](size_t number, const Place &place, int operand) {
    auto dim = dyn_cast<AffineDimExpr>(
        definition.getMap(operand).getResult(place.dim));
    if (!dim || dim.getPosition() < rank || operand >= definition.getFactors())
      return;
    size_t walk = dim.getPosition() - rank;
    WalkedDim &found = sum.dims[walk];
    if (isFound[walk] && !isShorter(place.argument, place.dim, found))
      return;
    isFound[walk] = true;
    found = {static_cast<unsigned>(place.argument), place.dim, {}};
    for (const PlacedPiece &piece : pieces)
      found.forms.push_back(piece.places[number].form);
  });
  if (llvm::is_contained(isFound, false))
    return "a factor is missing";
  std::string reason;
  forEachPlace([&](size_t number, const Place &place, int operand) {
    for (size_t p = 0; p < pieces.size() && reason.empty(); ++p) {
      SmallVector<Form> here;
      for (const WalkedDim &dim : sum.dims)
        here.push_back(dim.forms[p]);
      reason = compare(pieces[p].places[number], operand, here, sum);
    }
  });
  return reason;
}

bool SumFinder::addDefinedDims(ArrayRef<PlacedPiece> pieces, ClosedSum &sum) {
  // What each element that is read may be in the definition.
  SmallVector<SmallVector<int>> candidates;
  for (const Place &place : pieces.front().places) {
    candidates.resize(place.read + 1);
    if (place.argument < 0 || !candidates[place.read].empty())
      continue;
    for (auto [number, operand] : llvm::enumerate(definition.getOperands()))
      if (operand == place.argument)
        candidates[place.read].push_back(number);
    if (candidates[place.read].empty()) {
      sum.undecided = "it reads argument " + std::to_string(place.argument) +
                      ", of which the definition says nothing";
      return false;
    }
  }
  // All choices, of which there are few: an argument rarely serves twice.
  size_t combinations = 1;
  for (const SmallVector<int> &choices : candidates)
    combinations *= std::max<size_t>(choices.size(), 1);
  std::string first;
  for (size_t number = 0; number < std::min<size_t>(combinations, 64);
       ++number) {
    SmallVector<int> chosen;
    size_t rest = number;
    for (const SmallVector<int> &choices : candidates) {
      size_t count = std::max<size_t>(choices.size(), 1);
      chosen.push_back(choices.empty() ? -1 : choices[rest % count]);
      rest /= count;
    }
    SmallVector<int64_t> uses(definition.getFactors(), 0);
    for (int operand : chosen)
      if (operand >= 0 && operand < definition.getFactors())
        ++uses[operand];
    // A term without a factor of the product is one that an epilogue adds.
    bool isOther = llvm::all_of(uses, [](int64_t count) { return !count; });
    // A sum of one term may come to a power, as in a cube that an epilogue
    // computes.
    if (!isOther &&
        (llvm::count(uses, uses.front()) != definition.getFactors() ||
         (uses.front() > 1 && !pieces.front().piece.variables.empty())))
      continue;
    std::string reason;
    if (isOther) {
      // It is not summed over, so that its places name no walked dimension.
      SmallVector<Form> none(definition.getNumDims() - coordinates.size());
      for (const PlacedPiece &piece : pieces)
        for (const Place &place : piece.places)
          if (place.argument >= 0 && reason.empty())
            reason = compare(place, chosen[place.read], none, sum);
      if (reason.empty())
        return false;
    } else {
      sum.dims.clear();
      reason = compare(pieces, chosen, sum);
      if (reason.empty()) {
        sum.isDefined = true;
        addSplit(sum);
        addBorders(sum);
        return true;
      }
    }
    if (first.empty())
      first = reason;
  }
  sum.mismatch =
      first.empty() ? "its factors are not those of the operation" : first;
  return false;
}

/// A dimension that no operand has chooses a part of the sum.
void SumFinder::addSplit(ClosedSum &sum) {
  for (auto [dim, id] : llvm::enumerate(at)) {
    bool isNamed = coordinates[dim].isConstant();
    for (auto map : definition.getMaps().getAsRange<AffineMapAttr>())
      isNamed |= map.getValue().isFunctionOfDim(dim);
    for (size_t table = 0; table < definition.getTables().size(); ++table)
      isNamed |= definition.getPlace(table).isFunctionOfDim(dim);
    if (isNamed)
      continue;
    if (sum.split)
      sum.undecided =
          "several dimensions of the result are those of no operand";
    sum.split = id;
  }
}

/// Whether a factor, whose extent the run knows, may end before the one that
/// the sum is said to go along, whose type has it: a padded copy has more.
bool SumFinder::mayEndFirst(AffineExpr expr, const Form &end,
                            const ClosedSum &sum) const {
  auto dim = dyn_cast<AffineDimExpr>(expr);
  if (!dim || dim.getPosition() < coordinates.size() || end.isConstant())
    return false;
  const WalkedDim &along = sum.dims[dim.getPosition() - coordinates.size()];
  return extent(along.argument, along.dim).isConstant();
}

/// Windows of factors end at the borders of what they look into.
void SumFinder::addBorders(ClosedSum &sum) {
  unsigned rank = coordinates.size();
  SmallVector<Form> walked;
  Facts facts = nullptr;
  auto addRange = [&](unsigned variable, const Form &end) {
    Form form = index.form(variable);
    facts = index.assume(facts, form);
    facts = index.assume(facts, index.sub(index.sub(end, form), Form(1)));
  };
  for (const WalkedDim &dim : sum.dims) {
    sum.walked.push_back(index.newVariable(0, std::nullopt));
    walked.push_back(index.form(sum.walked.back()));
    addRange(sum.walked.back(), extent(dim.argument, dim.dim));
  }
  for (auto [dim, id] : llvm::enumerate(at))
    addRange(id, extent(definition.getResult(), dim));
  auto require = [&](const Form &form) {
    Condition condition{form};
    if (!index.prove(form, facts) && !llvm::is_contained(sum.scope, condition))
      sum.scope.push_back(condition);
  };
  for (int64_t factor = 0; factor < definition.getFactors(); ++factor)
    for (auto [dim, expr] :
         llvm::enumerate(definition.getMap(factor).getResults())) {
      Form end = extent(definition.getOperands()[factor], dim);
      // A copy that looks past its source has zeros there.
      bool isWindow =
          definition.getNumDims() == rank && !isa<AffineDimExpr>(expr);
      for (unsigned k = rank; k < definition.getNumDims(); ++k)
        isWindow |= !isa<AffineDimExpr>(expr) && expr.isFunctionOfDim(k);
      if (!isWindow && !mayEndFirst(expr, end, sum))
        continue;
      Form place = evaluate(expr, walked);
      require(place);
      require(index.sub(index.sub(end, place), Form(1)));
    }
}

ClosedSum SumFinder::findNothing() {
  ClosedSum sum;
  sum.isDefined = true;
  addSplit(sum);
  unsigned rank = coordinates.size();
  sum.dims.resize(definition.getNumDims() - rank);
  std::vector<bool> isFound(sum.dims.size(), false);
  for (int64_t factor = 0; factor < definition.getFactors(); ++factor) {
    unsigned argument = definition.getOperands()[factor];
    sum.arguments.push_back(argument);
    for (auto [dim, expr] :
         llvm::enumerate(definition.getMap(factor).getResults()))
      if (auto walk = dyn_cast<AffineDimExpr>(expr);
          walk && walk.getPosition() >= rank) {
        WalkedDim &found = sum.dims[walk.getPosition() - rank];
        if (!isFound[walk.getPosition() - rank] ||
            isShorter(argument, dim, found))
          found = {argument, static_cast<unsigned>(dim), {}};
        isFound[walk.getPosition() - rank] = true;
      }
  }
  addBorders(sum);
  llvm::sort(sum.arguments);
  return sum;
}
