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

void KernelCoverage::joinParts(ContentClaim &content) {
  cov::Space &space = problem.space;
  if (content.stage->writers.size() != 1)
    return;
  cov::Writer &writer = content.stage->writers.front();
  // The product of a part and a share, in sizes.
  std::optional<Term> product, part, step;
  Expr share;
  for (const Expr &index : writer.map)
    for (auto [term, coefficient] : index.terms())
      if (space.kind(term) == cov::TermKind::Product &&
          space.factors(term).size() == 2)
        for (unsigned number : {0, 1}) {
          Term factor = space.factors(term)[number];
          Expr other = space.factors(term)[1 - number];
          if (!llvm::is_contained(writer.ids, factor) ||
              !space.isSymbolic(other))
            continue;
          product = term;
          part = factor;
          share = other;
        }
  if (!product)
    return;
  for (Term id : writer.ids)
    if (space.range(id).upper && *space.range(id).upper == share &&
        space.range(id).lower == Expr(0))
      step = id;
  if (!step)
    return;
  const Expr joined = Expr(*product) + Expr(*step);
  std::optional<Expr> end;
  for (const cov::Constraint &constraint : writer.guard)
    if (!constraint.equality && space.isSymbolic(constraint.expr + joined))
      end = constraint.expr + joined + 1;
  if (!end)
    return;
  // Of an empty share there is no step.
  Expr divisor = indices.math.max(share, 1);
  Term whole = space.coordinate("step", cov::Range(*end));
  Term rest = space.id("rest", cov::Range(divisor));
  indices.names[whole] = "step of all parts";
  indices.names[rest] = "step of the part";
  auto rejoin = [&](const Expr &expr) {
    int64_t factor = expr.coefficient(*product);
    return expr - factor * joined + factor * Expr(whole);
  };
  cov::Writer changed = writer;
  llvm::erase_if(changed.guard, [&](const cov::Constraint &constraint) {
    return constraint.expr == *end - 1 - joined;
  });
  for (Expr &index : changed.map)
    index = rejoin(index);
  for (cov::Constraint &constraint : changed.guard)
    constraint.expr = rejoin(constraint.expr);
  llvm::erase_if(changed.ids,
                 [&](Term id) { return id == *part || id == *step; });
  changed.ids.push_back(whole);
  // Nothing else may know the part.
  SmallVector<Expr> all(changed.map.begin(), changed.map.end());
  for (const cov::Constraint &constraint : changed.guard)
    all.push_back(constraint.expr);
  for (const Expr &expr : all)
    for (Term term : space.variables(expr))
      if (term == *part || term == *step)
        return;
  writer = std::move(changed);
  content.before.push_back(
      {"parts", cov::EuclidStage{cov::EuclidStage::Join, whole, *part, rest,
                                 divisor, /*masked=*/true}});
}

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
    for (Term coordinate : content.stage->coordinates)
      exprs.push_back(*problem.space.range(coordinate).upper);
    joinParts(content);
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
  llvm::append_range(problem.stages, content.before);
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
