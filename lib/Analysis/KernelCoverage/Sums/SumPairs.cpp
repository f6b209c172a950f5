//===- SumPairs.cpp - Both operands are at one place of the sum ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SumExtraction.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

void SumExtraction::addPair(const SumSource &a, const SumSource &b) {
  std::string undecided;
  TermPlace placeA = getTermPlace(a), placeB = getTermPlace(b);
  if (placeA.dims.empty() || placeB.dims.empty())
    return;
  int64_t dimA = placeA.dims.front(), dimB = placeB.dims.front();
  // Loops of two roles are one if they are as deep and run as often.
  std::map<Term, Expr> same;
  const Expr &k = a.operand->contracted, &other = b.operand->contracted;
  if (k.terms().size() == other.terms().size())
    rename(other, k, same);
  else if (!other.isConstant())
    same[other.terms().front().first] = k;
  for (auto [mine, other] : llvm::zip(a.loops, b.loops)) {
    if (mine == other)
      continue;
    auto x = dyn_cast<scf::ForOp>(mine), y = dyn_cast<scf::ForOp>(other);
    if (!x || !y)
      return;
    auto counter = [&](scf::ForOp loop) -> std::optional<Term> {
      for (Term term : getVariables(context.get(loop.getInductionVar())))
        if (auto it = indices.owners.find(term);
            it != indices.owners.end() && it->second == loop)
          return term;
      return std::nullopt;
    };
    std::optional<Term> s = counter(x), t = counter(y);
    if (s && t && space.range(*s).upper && space.range(*t).upper &&
        *space.range(*s).upper == *space.range(*t).upper)
      same[*t] = *s;
  }
  const Expr &indexA = placeA.index;
  Expr indexB = space.substitute(placeB.index, same);
  std::set<Term> ids;
  for (const Expr &index : {indexA, indexB})
    for (Term term : getVariables(index))
      ids.insert(term);
  // Which terms of a band there are depends on the tile.
  if (std::optional<SumBand> band = getBand(a, {dimA}))
    for (Term tile : getTiles(*band, ids))
      ids.insert(tile);
  ContentClaim content;
  content.part.kind = CoveragePart::Pairing;
  content.name = "operands have the same terms";
  content.part.ops = {a.operand->product};
  content.part.notes = {a.op, b.op};
  content.part.buffer = a.buffer;
  content.dims = {dimA, dimB};
  cov::Claim claim;
  claim.name = content.name;
  SmallVector<cov::Constraint> premises, conclusions;
  SumSource renamed = b;
  for (cov::Constraint &constraint : renamed.guard)
    constraint = space.substitute(constraint, same);
  if (!addGuard(a, ids, premises, content.context, undecided) ||
      !addGuard(renamed, ids, premises, content.context, undecided))
    content.undecided = undecided;
  conclusions.push_back(cov::equal(indexA, indexB));
  // Places say the same of digits that are some.
  for (auto [source, place] : {std::pair(&a, &placeA), std::pair(&b, &placeB)})
    for (int64_t dim : ArrayRef(place->dims).drop_front()) {
      Expr digit = space.substitute(source->indices[dim], same);
      indices.math.require(digit, conclusions);
      indices.math.require(context.getDim(source->buffer, dim) - 1 - digit,
                           conclusions);
    }
  if (!placeA.extent || !placeB.extent)
    content.undecided = "how many places a word has is not known";
  bool isListed = isListDim(a, dimA);
  if (isListed != isListDim(b, dimB) || (isListed && !(a.list == b.list)))
    content.undecided = "they take their terms from different lists";
  // Past the end both are zero.
  if (!isListed)
    for (int64_t dim : placeA.dims)
      indices.math.require(context.getDim(a.buffer, dim) - 1 - a.indices[dim],
                           premises);
  claim.forAll.assign(ids.begin(), ids.end());
  claim.premises.assign(premises.begin(), premises.end());
  claim.conclusions.assign(conclusions.begin(), conclusions.end());
  content.claim = std::move(claim);
  coverage.finish(content);
  coverage.contents.push_back(std::move(content));
}

/// Which one of the copies into its ring a source is, how many there are, and
/// the ring's slots.
static std::tuple<size_t, size_t, int64_t> getTurn(const SumSide &side,
                                                   const SumSource &source) {
  size_t number = 0, count = 0;
  for (const SumSource &other : side.sources)
    if (other.operand == source.operand) {
      number += &other < &source;
      ++count;
    }
  auto copy = dyn_cast<CopyOp>(source.op);
  auto acquire = copy ? copy.getDest().getDefiningOp<AcquireOp>() : AcquireOp();
  return {number, count,
          acquire ? acquire.getChannel().getType().getSlots() : 0};
}

void SumExtraction::addPairs(const SumSide &lhs, const SumSide &rhs) {
  std::set<std::pair<Operation *, Operation *>> seen;
  auto namesLoop = [&](const SumSource &source) {
    std::string ignored;
    for (int64_t dim : getDims(source, ignored))
      for (Term term : getVariables(source.indices[dim]))
        if (!isContracted(source, term))
          return true;
    return false;
  };
  for (const SumSource &a : lhs.sources)
    for (const SumSource &b : rhs.sources) {
      if (a.operand->product != b.operand->product)
        continue;
      auto acquired = [](const SumSource &source) -> Operation * {
        auto copy = dyn_cast<CopyOp>(source.op);
        return copy ? copy.getDest().getDefiningOp() : nullptr;
      };
      // What is copied into one slot meets; so do the only copies of two rings.
      bool isSlot = acquired(a) && acquired(a) == acquired(b);
      bool isOnly = lhs.sources.size() == lhs.operands.size() &&
                    rhs.sources.size() == rhs.operands.size();
      bool isLocal = !a.isRemote && !b.isRemote;
      // Two rings that are filled ahead in as many places, in one order.
      auto turnOfA = getTurn(lhs, a), turnOfB = getTurn(rhs, b);
      bool isRemote = a.isRemote && b.isRemote;
      bool isInTurn = isRemote && turnOfA == turnOfB;
      bool isOther = isRemote && std::get<0>(turnOfA) != std::get<0>(turnOfB) &&
                     std::get<1>(turnOfA) == std::get<1>(turnOfB);
      bool isAny = !namesLoop(a) && !namesLoop(b) && !isOther;
      if (!isSlot && !isOnly && !isLocal && !isAny && !isInTurn)
        continue;
      if (seen.insert({a.op, b.op}).second)
        addPair(a, b);
    }
}
