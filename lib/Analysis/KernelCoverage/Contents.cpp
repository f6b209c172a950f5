//===- Contents.cpp - Claims about what the data are ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelCoverage.h"
#include <set>

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

void KernelCoverage::finish(ContentClaim &content) {
  SmallVector<Expr> exprs;
  SmallVector<cov::Constraint> guard;
  if (content.claim) {
    llvm::append_range(guard, content.claim->premises);
    llvm::append_range(guard, content.claim->conclusions);
  }
  if (content.stage) {
    // An id belongs to one stage.
    std::set<Term> shared;
    for (const cov::Writer &writer : content.stage->writers)
      shared.insert(writer.ids.begin(), writer.ids.end());
    std::map<Term, Expr> own;
    for (Term id : shared) {
      cov::Range range = problem.space.range(id);
      range.lower = problem.space.substitute(range.lower, own);
      if (range.upper)
        range.upper = problem.space.substitute(*range.upper, own);
      Term copy = problem.space.id(problem.space.name(id), range);
      for (auto *words : {&indices.names, &indices.abstractions})
        if (auto it = words->find(id); it != words->end())
          (*words)[copy] = it->second;
      if (auto it = indices.owners.find(id); it != indices.owners.end())
        indices.owners[copy] = it->second;
      own[id] = copy;
    }
    for (cov::Writer &writer : content.stage->writers) {
      for (Term &id : writer.ids)
        id = own.at(id).terms().front().first;
      for (cov::Constraint &constraint : writer.guard)
        constraint = problem.space.substitute(constraint, own);
      for (Expr &index : writer.map)
        index = problem.space.substitute(index, own);
      llvm::append_range(exprs, writer.map);
      llvm::append_range(guard, writer.guard);
    }
    // Numbers of 64 bits have no end that is told.
    for (Term coordinate : content.stage->coordinates)
      if (std::optional<Expr> upper = problem.space.range(coordinate).upper)
        exprs.push_back(*upper);
  }
  for (const Expr &expr : exprs)
    if (!expr.isValid() && content.undecided.empty())
      content.undecided = "an index has no expression";
  content.part.doubt = getDoubt(exprs, guard, IndexScope());
}

void KernelCoverage::add(cov::Problem &problem, const ContentClaim &content) {
  if (content.claim)
    problem.claims.push_back(*content.claim);
  if (!content.stage)
    return;
  problem.stages.push_back({content.name, *content.stage});
  llvm::append_range(problem.outputs, content.stage->coordinates);
}

cov::Problem KernelCoverage::getProblem(const ContentClaim &content) const {
  cov::Problem single;
  single.name = problem.name;
  single.space = problem.space;
  single.assumptions = problem.assumptions;
  add(single, content);
  addOtherIds(single);
  return single;
}
