//===- SumBands.cpp - Sums of the terms in a band -------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an operation says that an element needs the terms of a band alone, a
// tile may visit those that its elements need. Each term that it visits is
// there once (as in any sum, tile by tile), and what it visits holds all that
// is needed.

#include "SumExtraction.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

bool SumExtraction::isBandDim(const SumSource &source, int64_t dim) const {
  KernelOp own = kernel;
  BandAttr band = own.getBandAttr();
  if (!band)
    return false;
  for (auto [operand, terms] : llvm::zip(band.getOperands(), band.getDims()))
    if (operand == source.buffer.getArgNumber() && terms == dim)
      return true;
  return false;
}

bool SumExtraction::isTile(Term term) const {
  auto owner = indices.owners.find(term);
  return owner != indices.owners.end() && isa<TilesOp>(owner->second) &&
         !splits.count(term);
}

std::optional<SumBand> SumExtraction::getBand(const SumSource &source,
                                              ArrayRef<int64_t> dims) {
  const auto *found = llvm::find_if(dims, [&](int64_t dim) {
    return isBandDim(source, dim) || isListDim(source, dim);
  });
  if (found == dims.end())
    return std::nullopt;
  // The loop that counts blocks of them. Without one there is a single step,
  // which visits all.
  scf::ForOp counted;
  for (size_t depth : depths) {
    auto loop =
        dyn_cast<scf::ForOp>(getLoopsAround(source.operand->product)[depth]);
    auto isOwn = [&](Term term) {
      auto owner = indices.owners.find(term);
      return owner != indices.owners.end() && owner->second == loop;
    };
    // A loop of one step counts nothing, but memory may say that there is none.
    bool mayBeEmpty =
        loop &&
        llvm::none_of(getVariables(context.get(loop.getInductionVar())),
                      isOwn) &&
        llvm::any_of(getVariables(context.get(loop.getUpperBound())),
                     [&](Term term) { return indices.reads.count(term) > 0; });
    bool counts = source.isRemote || mayBeEmpty ||
                  llvm::any_of(getVariables(source.indices[*found]), isOwn);
    if (loop && counts) {
      if (counted)
        return std::nullopt;
      counted = loop;
    }
  }
  if (!counted)
    return std::nullopt;
  // Parts begin one after the other; together they visit what one would.
  std::map<Term, Expr> first;
  for (Term split : splits)
    first[split] = 0;
  auto get = [&](Value bound) {
    return hold(space.substitute(context.get(bound), first));
  };
  return SumBand{static_cast<size_t>(found - dims.begin()), counted,
                 get(counted.getLowerBound()), get(counted.getUpperBound())};
}

std::vector<Term> SumExtraction::getTiles(const SumBand &band,
                                          std::set<Term> ids) const {
  for (const Expr &bound : {band.begin, band.end})
    for (Term term : getVariables(bound))
      ids.insert(term);
  std::set<Term> found;
  auto add = [&](Term term) {
    if (isTile(term) || isHeld(term))
      found.insert(term);
  };
  for (Term id : ids) {
    add(id);
    const cov::Range range = space.range(id);
    for (const Expr &end : {range.lower, range.upper.value_or(Expr(0))})
      for (Term term : getVariables(end))
        add(term);
  }
  return std::vector<Term>(found.begin(), found.end());
}

void SumExtraction::addBandClaims(const SumSource &source,
                                  const SumBand &band) {
  BandAttr attr = kernel.getBandAttr();
  BlockArgument result = kernel.getBody().getArgument(attr.getResult());
  int64_t operandDim = 0;
  while (!isBandDim(source, operandDim))
    ++operandDim;
  Expr rows = context.getDim(result, attr.getDim());
  Expr terms = context.getDim(source.buffer, operandDim);
  kernel.walk([&](StoreOp store) {
    TileAccess access = getAccesses(store, context).front();
    Place place = resolve(access.memory, access.indices, context);
    if (place.buffer != result)
      return;
    ContentClaim content;
    content.part.kind = CoveragePart::Band;
    content.part.ops = {store};
    content.part.notes = {band.loop};
    content.part.buffer = source.buffer;
    content.dims = {operandDim};
    content.name = "what is needed of argument " +
                   std::to_string(source.buffer.getArgNumber()) + " is visited";
    content.undecided = place.unknown;
    const Expr &row = place.indices[attr.getDim()];
    Term needed = space.id("needed", cov::Range(terms));
    indices.names[needed] = "index of the term";
    cov::Claim claim;
    claim.name = content.name;
    std::set<Term> ids = {needed};
    for (const Expr &expr : {row, band.begin, band.end})
      for (Term term : getVariables(expr))
        ids.insert(term);
    SmallVector<cov::Constraint> premises, conclusions;
    for (const cov::Constraint &constraint : access.guard)
      if (llvm::all_of(getVariables(constraint.expr),
                       [&](Term term) { return ids.count(term) > 0; }))
        premises.push_back(constraint);
    indices.math.require(rows - 1 - row, premises);
    Expr distance = Expr(needed) - row - (terms - rows);
    if (attr.getAfter() >= 0)
      indices.math.require(Expr(attr.getAfter()) - distance, premises);
    if (attr.getBefore() >= 0)
      indices.math.require(distance + attr.getBefore(), premises);
    // What memory says of where the terms of the element end.
    std::optional<EndedTerms> ended = EndedTerms::get(kernel);
    for (const auto &[number, own] : held) {
      ReadOp read = indices.reads.at(number);
      if (ended &&
          cast<BlockArgument>(read.getSource()).getArgNumber() ==
              ended->lengths &&
          context.get(read.getIndices().front()) ==
              place.indices[ended->sequence])
        indices.math.require(Expr(own) - 1 - needed, premises);
    }
    indices.math.require(Expr(needed) - band.begin, conclusions);
    indices.math.require(band.end - 1 - needed, conclusions);
    claim.forAll.assign(ids.begin(), ids.end());
    claim.premises.assign(premises.begin(), premises.end());
    claim.conclusions.assign(conclusions.begin(), conclusions.end());
    content.claim = std::move(claim);
    coverage.finish(content);
    coverage.contents.push_back(std::move(content));
  });
}
