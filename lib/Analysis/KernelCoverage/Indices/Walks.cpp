//===- Walks.cpp - Coordinates that a dimension walks through -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of what is read the coordinates are quotients of the number, or any numbers
// in their extents where only the run knows these. Of what is
// written they have to be one to one: tiles and their elements make a number,
// in a stage of its own, and Euclid's lemma takes it apart, so that extents
// that only the run knows are divisors as good as any.

#include "IndexContext.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

SmallVector<Expr> IndexContext::getWalk(Value walk, const Expr &element,
                                        std::optional<Expr> limit) {
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
  SmallVector<Expr> coordinates;
  bool isConstant = llvm::all_of(
      basis, [&](const Expr &extent) { return math.getConstant(extent); });
  if (!forOutput && !isConstant) {
    // Each by itself, in its extent: L2 says so of numbers below the end.
    Expr below = 1;
    for (const Expr &extent : basis)
      below = math.product(below, extent);
    cov::Range range = cov::Range::from(0);
    if (end && math.product(math.getQuotientExtent(*end, below), below) == *end)
      range = cov::Range(math.getQuotientExtent(*end, below));
    for (size_t i = 0; i <= basis.size(); ++i) {
      Term id =
          math.space.id("walk", i == 0 ? range : cov::Range(basis[i - 1]));
      describe(id, op, "coordinate " + Twine(i) + " of the walk");
      kernel.origins[id] = math.space.variables(number);
      coordinates.push_back(id);
    }
    return coordinates;
  }
  if (!forOutput) {
    Expr rest = number;
    for (const Expr &extent : llvm::reverse(basis)) {
      coordinates.push_back(math.mod(rest, extent));
      rest = math.floorDiv(rest, extent);
    }
    coordinates.push_back(rest);
    std::reverse(coordinates.begin(), coordinates.end());
    return coordinates;
  }
  if (!end)
    return SmallVector<Expr>(basis.size() + 1, Expr::invalid());
  Term whole = math.space.coordinate("number", cov::Range(*end));
  describe(whole, op, "the number that is walked");
  Walked known{walk, number, whole, {}};
  for (Term term : math.space.variables(number))
    if (math.space.kind(term) != cov::TermKind::Symbol) {
      known.ids.push_back(term);
      consume(term);
    }
  stages.push_back({"numbers", cov::AffineStage{{whole}, {}}});
  walked.push_back(std::move(known));
  Expr left = whole;
  for (size_t number = 0; number < basis.size(); ++number) {
    Expr below = 1;
    for (const Expr &extent : ArrayRef(basis).drop_front(number))
      below = math.product(below, extent);
    std::optional<Term> term = getSingleTerm(left);
    // A remainder below 1 is 0, and so is what it is divided into.
    if (!term) {
      coordinates.push_back(0);
      continue;
    }
    auto [quotient, rest] = split(op, *term, below, below);
    coordinates.push_back(quotient);
    left = rest;
  }
  coordinates.push_back(left);
  return coordinates;
}
