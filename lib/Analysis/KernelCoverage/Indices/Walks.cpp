//===- Walks.cpp - Coordinates that a dimension walks through -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of what is read the coordinates are quotients of the number, or any numbers
// in their extents where only the run knows these. Of what is written they have
// to be one to one: the stores make the numbers, in one stage, and Euclid's
// lemma takes these apart, so that extents that only the run knows are divisors
// as good as any. A number of a table is any that its type holds, or the one of
// places that the table has not.

#include "IndexContext.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

SmallVector<Expr> IndexContext::getWalk(Value walk, const Expr &element,
                                        std::optional<Expr> limit) {
  if (GatherOp gather = getGather(walk))
    return {getGathered(gather, element)};
  DelinearizeOp op = getDelinearize(walk);
  Expr first = get(op.getFirst());
  Expr number = nonNegative(op, first) + element;
  SmallVector<Expr> basis;
  for (Value extent : op.getBasis()) {
    basis.push_back(get(extent));
    divisor(op, basis.back());
  }
  // The end of all numbers is one of sizes alone.
  std::optional<Expr> end;
  if (limit)
    for (const Expr &upper : math.splitMinima(first + *limit))
      if (math.space.isSymbolic(upper))
        end = upper;
  return delinearize(op, number, basis, end);
}

Expr IndexContext::getGathered(GatherOp op, const Expr &element) {
  // Whether a table names a place twice nobody knows.
  if (forOutput)
    return Expr::invalid();
  Term id = math.space.id("gathered", getNumberRange(op.getTable().getType()));
  describe(id, op, "the number that the table holds");
  kernel.abstractions[id] = "a number that memory holds";
  kernel.origins[id] =
      math.space.variables(get(op.getIndices().back()) + element);
  return id;
}

SmallVector<Expr> IndexContext::delinearize(Operation *op, const Expr &number,
                                            ArrayRef<Expr> basis,
                                            std::optional<Expr> end) {
  SmallVector<Expr> coordinates;
  if (forOutput) {
    if (!end)
      return SmallVector<Expr>(basis.size() + 1, Expr::invalid());
    Walked &known = getWalked(op, basis, *end);
    known.number = number;
    return known.coordinates;
  }
  if (llvm::all_of(basis, [&](const Expr &extent) {
        return math.getConstant(extent).has_value();
      })) {
    Expr rest = number;
    for (const Expr &extent : llvm::reverse(basis)) {
      coordinates.push_back(math.mod(rest, extent));
      rest = math.floorDiv(rest, extent);
    }
    coordinates.push_back(rest);
    std::reverse(coordinates.begin(), coordinates.end());
    return coordinates;
  }
  // Each by itself, in its extent: L2 says so of numbers below the end.
  Expr below = 1;
  for (const Expr &extent : basis)
    below = math.product(below, extent);
  cov::Range range = cov::Range::from(0);
  if (end && math.product(math.getQuotientExtent(*end, below), below) == *end)
    range = cov::Range(math.getQuotientExtent(*end, below));
  for (size_t i = 0; i <= basis.size(); ++i) {
    Term id = math.space.id("walk", i == 0 ? range : cov::Range(basis[i - 1]));
    describe(id, op, "coordinate " + Twine(i) + " of the walk");
    kernel.origins[id] = math.space.variables(number);
    coordinates.push_back(id);
  }
  return coordinates;
}

/// The numbers that a store walks through next: those of the stores before it
/// where their ends and bases are the same.
IndexContext::Walked &
IndexContext::getWalked(Operation *op, ArrayRef<Expr> basis, const Expr &end) {
  for (Walked &known : walked)
    if (!known.number && known.basis == basis && known.end == end)
      return known;
  Term whole = math.space.coordinate("number", cov::Range(end));
  describe(whole, op, "the number that is walked");
  Walked known{whole, end, SmallVector<Expr>(basis), {}, {}, std::nullopt};
  size_t before = stages.size();
  Expr left = whole;
  for (size_t number = 0; number < basis.size(); ++number) {
    Expr below = 1;
    for (const Expr &extent : basis.drop_front(number))
      below = math.product(below, extent);
    std::optional<Term> term = getSingleTerm(left);
    // A remainder below 1 is 0, and so is what it is divided into.
    if (!term) {
      known.coordinates.push_back(0);
      continue;
    }
    auto [quotient, rest] = split(op, *term, below, below);
    known.coordinates.push_back(quotient);
    left = rest;
  }
  known.coordinates.push_back(left);
  known.stages.assign(std::make_move_iterator(stages.begin() + before),
                      std::make_move_iterator(stages.end()));
  stages.resize(before);
  walked.push_back(std::move(known));
  return walked.back();
}
