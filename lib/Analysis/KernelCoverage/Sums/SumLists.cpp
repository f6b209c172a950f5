//===- SumLists.cpp - Sums of the terms in blocks that memory lists ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a list in memory says which blocks of terms a sum has, nothing is
// assumed of its numbers. The claim is about places of the list: number t of
// the row stands for the block that is there, so that the terms of block t are
// [t width, (t + 1) width), and each of them up to the end of the list is there
// once. That a tile reads the row which its elements need, up to the end that
// memory says, is claimed apart.

#include "SumExtraction.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

static unsigned getArgument(ReadOp read) {
  return cast<BlockArgument>(read.getSource()).getArgNumber();
}

/// The place of a number, as its row and the place in it.
static std::pair<SmallVector<Expr>, Expr> getPlace(ReadOp read,
                                                   IndexContext &context) {
  SmallVector<Expr> row;
  for (Value index : read.getIndices())
    row.push_back(context.get(index));
  Expr place = row.pop_back_val();
  return {row, place};
}

Expr SumExtraction::getLastPlace(int64_t list) {
  return context.getDim(kernel.getBody().getArgument(list),
                        ListedTerms::kRank - 1) -
         1;
}

bool SumExtraction::isHeld(Term term) const {
  return llvm::any_of(held,
                      [&](const auto &known) { return known.second == term; });
}

Expr SumExtraction::hold(const Expr &expr) {
  std::map<Term, Expr> names;
  for (Term term : space.variables(expr)) {
    auto read = indices.reads.find(term);
    if (read == indices.reads.end())
      continue;
    auto [it, inserted] = held.try_emplace(term, Term());
    if (inserted) {
      it->second = space.id("held", space.range(term));
      indices.names[it->second] =
          "a number of argument " + std::to_string(getArgument(read->second));
    }
    names[term] = it->second;
  }
  return names.empty() ? expr : space.substitute(expr, names);
}

/// Takes the place in a list for the block that is there, which may be any.
void SumExtraction::followList(SumSource &source) {
  std::optional<ListedTerms> listed = ListedTerms::get(kernel);
  for (auto [dim, index] : llvm::enumerate(source.indices)) {
    if (source.list || !listed)
      break;
    for (auto [term, width] : index.terms()) {
      auto found = indices.reads.find(term);
      if (found == indices.reads.end() ||
          getArgument(found->second) != listed->blocks)
        continue;
      auto [row, place] = getPlace(found->second, context);
      // Where a place is cut to the last one, which is behind all blocks, there
      // is no term, cut or not.
      Expr last = getLastPlace(listed->blocks);
      SmallVector<Expr> pieces = indices.math.splitMinima(place);
      llvm::erase(pieces, last);
      if (pieces.size() == 1)
        place = pieces.front();
      bool isCounted = llvm::all_of(getVariables(place), [&](Term variable) {
        return isTerm(source, variable);
      });
      if (!isCounted)
        continue;
      // Whether there is such a term in the argument is for the list to say.
      SmallVector<cov::Constraint> exists;
      indices.math.require(index, exists);
      indices.math.require(context.getDim(source.buffer, dim) - 1 - index,
                           exists);
      llvm::erase_if(source.guard, [&](const cov::Constraint &constraint) {
        return llvm::is_contained(exists, constraint);
      });
      source.list = SumList{getArgument(found->second), row, width,
                            static_cast<int64_t>(dim)};
      index += indices.math.product(width, place) - width * Expr(term);
      break;
    }
  }
  for (cov::Constraint &constraint : source.guard)
    constraint.expr = hold(constraint.expr);
}

/// Why a sum does not take the blocks of its row of the list, one place after
/// the other up to the end that memory says; empty: it does.
std::string SumExtraction::getListFault(const SumSource &source,
                                        const ListedTerms &listed,
                                        scf::ForOp loop) {
  auto argument = [](int64_t number) {
    return "argument " + std::to_string(number);
  };
  if (!source.list || !loop ||
      source.list->dim != listed.getDim(source.buffer.getArgNumber()))
    return "it does not take the blocks that " + argument(listed.blocks) +
           " lists";
  if (source.list->width != listed.columns)
    return "its blocks have " + std::to_string(source.list->width) +
           " terms, those of " + argument(listed.blocks) + " " +
           std::to_string(listed.columns);
  Expr places = getLastPlace(listed.blocks);
  Expr end = context.get(loop.getUpperBound());
  bool isToEnd = false;
  for (Term term : getVariables(end)) {
    auto read = indices.reads.find(term);
    if (read == indices.reads.end() ||
        getArgument(read->second) != listed.counts)
      continue;
    auto [row, place] = getPlace(read->second, context);
    Expr wanted = indices.math.product(indices.math.min(Expr(term), places),
                                       listed.columns);
    isToEnd |= row == source.list->row && place == places && end == wanted;
  }
  if (!isToEnd || context.get(loop.getLowerBound()) != Expr(0))
    return "it does not go through the blocks up to the end that " +
           argument(listed.counts) + " says";
  return "";
}

/// The row of the list is that of the tile's elements.
void SumExtraction::addListClaims(const SumSource &source,
                                  ArrayRef<int64_t> dims, scf::ForOp loop) {
  std::optional<ListedTerms> listed = ListedTerms::get(kernel);
  std::optional<int64_t> dim =
      listed ? listed->getDim(source.buffer.getArgNumber()) : std::nullopt;
  if (!dim || !llvm::is_contained(dims, *dim))
    return;
  BlockArgument result = kernel.getBody().getArgument(listed->result);
  BlockArgument lists = kernel.getBody().getArgument(listed->blocks);
  ContentClaim content;
  content.part.kind = CoveragePart::Band;
  content.part.buffer = source.buffer;
  content.name = "blocks of argument " +
                 std::to_string(source.buffer.getArgNumber()) +
                 " are those that are listed";
  content.undecided = getListFault(source, *listed, loop);
  if (!content.undecided.empty()) {
    content.part.ops = {source.operand->product};
    coverage.contents.push_back(std::move(content));
    return;
  }
  kernel.walk([&](StoreOp store) {
    TileAccess access = getAccesses(store, context).front();
    Place place = resolve(access.memory, access.indices, context);
    if (place.buffer != result)
      return;
    ContentClaim own = content;
    own.part.ops = {store};
    own.part.notes = {loop};
    own.undecided = place.unknown;
    cov::Claim claim;
    claim.name = own.name;
    SmallVector<cov::Constraint> conclusions;
    const SmallVector<Expr> &row = source.list->row;
    auto getIndex = [&](int64_t number) {
      return place.indices[listed->resultDims[number]];
    };
    for (int64_t number : {0, 1})
      indices.math.requireZero(
          row[number] - indices.math.min(getIndex(number),
                                         context.getDim(lists, number) - 1),
          conclusions);
    Expr behind = getIndex(2) - listed->rows * row[2];
    indices.math.require(behind, conclusions);
    indices.math.require(listed->rows - 1 - behind, conclusions);
    std::set<Term> ids;
    for (const cov::Constraint &conclusion : conclusions)
      for (Term term : getVariables(conclusion.expr))
        ids.insert(term);
    for (const cov::Constraint &constraint : access.guard)
      if (llvm::all_of(getVariables(constraint.expr),
                       [&](Term term) { return ids.count(term) > 0; }))
        claim.premises.push_back(constraint);
    claim.forAll.assign(ids.begin(), ids.end());
    claim.conclusions.assign(conclusions.begin(), conclusions.end());
    own.claim = std::move(claim);
    coverage.finish(own);
    coverage.contents.push_back(std::move(own));
  });
}
