//===- Sums.cpp - Sums over products -------------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SumExtraction.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

SumExtraction::SumExtraction(KernelCoverage &coverage, KernelOp kernel,
                             const Sum &sum)
    : coverage(coverage), kernel(kernel), sum(sum),
      context(coverage.getContext()), indices(coverage.indices),
      space(coverage.problem.space) {
  for (Operation *product : sum.products) {
    for (auto [depth, loop] : llvm::enumerate(getLoopsAround(product)))
      if (sum.loops.contains(loop))
        depths.insert(depth);
    for (Operation *outer = product->getParentOp(); outer != kernel;
         outer = outer->getParentOp())
      if (auto branch = dyn_cast<scf::IfOp>(outer))
        for (Region &region : branch->getRegions())
          if (!region.isAncestor(product->getParentRegion()))
            region.walk([&](Operation *op) {
              hasAlternatives |= isa<MmaOp, MmaAsyncOp>(op);
            });
  }
}

std::vector<Term> SumExtraction::getVariables(const Expr &expr) const {
  std::vector<Term> found;
  for (Term term : space.variables(expr))
    if (space.kind(term) != cov::TermKind::Symbol)
      found.push_back(term);
  return found;
}

std::string SumExtraction::nameOf(Term term) const {
  auto it = indices.names.find(term);
  return it == indices.names.end() ? space.name(term) : it->second;
}

void SumExtraction::run() {
  SumSide sides[2];
  for (unsigned number : {0, 1}) {
    SumSide &side = sides[number];
    for (Operation *product : sum.products)
      addOperand(product, number, side);
    for (const SumOperand &operand : side.operands)
      addSources(operand, side);
  }
  // Where the sum is split, both operands of a part have to begin where the
  // part does.
  for (Term id : coverage.getSplitIds()) {
    bool isNamed = !sides[0].sources.empty() && !sides[1].sources.empty();
    for (const SumSide &side : sides)
      for (const SumSource &source : side.sources)
        isNamed &= llvm::any_of(source.indices, [&](const Expr &index) {
          std::vector<Term> terms = getVariables(index);
          return llvm::is_contained(terms, id) &&
                 llvm::any_of(terms, [&](Term term) {
                   return isContracted(source, term);
                 });
        });
    if (isNamed)
      splits.insert(id);
  }
  // Multiplies of which only one runs would count twice.
  std::string alternatives;
  for (Operation *a : sum.products)
    for (Operation *b : sum.products)
      if (a != b && a->getBlock() != b->getBlock())
        for (Operation *outer = a->getParentOp(); outer;
             outer = outer->getParentOp())
          if (auto branch = dyn_cast<scf::IfOp>(outer);
              branch && branch->isProperAncestor(b) &&
              branch.getThenRegion().findAncestorBlockInRegion(
                  *a->getBlock()) &&
              !branch.getThenRegion().findAncestorBlockInRegion(*b->getBlock()))
            alternatives = "a condition chooses between its multiplies";
  std::set<size_t> unnamed = depths;
  for (const SumSide &side : sides)
    for (size_t depth : getNamedDepths(side))
      unnamed.erase(depth);
  for (unsigned number : {0, 1}) {
    SumSide &side = sides[number];
    const SumSide &other = sides[1 - number];
    if (side.sources.empty())
      continue;
    // Part of it is computed: which part is not known.
    if (side.isComputed)
      side.undecided = "some of its terms are computed";
    if (side.undecided.empty())
      side.undecided = alternatives;
    bool isRemote = side.sources.front().isRemote;
    for (const SumSource &source : side.sources)
      if (source.isRemote != isRemote && side.undecided.empty())
        side.undecided = "some of its terms are copied at another place";
    // Without a loop that adds all multiplies take from one slot, which any of
    // the copies may have filled: each copy is a sum.
    bool isOneSlot =
        llvm::all_of(side.operands, [&](const SumOperand &operand) {
          return operand.staged && operand.staged == side.operands[0].staged;
        });
    bool isByCopy =
        isRemote && depths.empty() && (isOneSlot || sum.products.size() == 1);
    llvm::MapVector<std::pair<size_t, Operation *>,
                    SmallVector<const SumSource *>>
        groups;
    for (const SumSource &source : side.sources)
      groups[{source.operand->origin, isByCopy ? source.op : nullptr}]
          .push_back(&source);
    for (const auto &[key, sources] : groups)
      addTerms(side, other, sources, unnamed);
  }
  addPairs(sides[0], sides[1]);
}

void KernelCoverage::extractSums() {
  // A grid index that is an index of the result by itself: a part of its own.
  for (Value value : kernel.getTiles().getIndices()) {
    Expr index = context.get(value);
    if (index.isConstant() || index.terms().size() != 1)
      continue;
    Term term = index.terms().front().first;
    for (const Site &site : sites) {
      std::vector<TileAccess> accesses = getAccesses(site.op, context);
      if (site.number >= accesses.size())
        continue;
      Place place = resolve(accesses[site.number].memory,
                            accesses[site.number].indices, context);
      if (llvm::is_contained(place.indices, index) &&
          !llvm::is_contained(splitIds, term))
        splitIds.push_back(term);
    }
  }
  // A number in the cluster, where all of the cluster is added up.
  if (isClusterSum()) {
    Expr index = context.get(kernel.getTiles().getIndices().front());
    if (!index.isConstant() && index.terms().size() == 1)
      splitIds.push_back(index.terms().front().first);
  }
  for (const Sum &sum : getSums(kernel)) {
    SumExtraction(*this, kernel, sum).run();
    if (!choices.isEmpty())
      for (ContentClaim &content : contents)
        if (content.undecided.empty() &&
            llvm::is_contained(content.part.notes, sum.products.front()))
          content.undecided = "it depends on a choice of cases";
    choices = Choices();
  }
}
