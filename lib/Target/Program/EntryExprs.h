//===- EntryExprs.h - Expressions of an entry, for proofs -------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions of the manifest become expressions over the shapes of the inputs,
// its checks become assumptions.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_TARGET_PROGRAM_ENTRYEXPRS_H
#define TRACEA_LIB_TARGET_PROGRAM_ENTRYEXPRS_H

#include "tracea/Analysis/Coverage/IndexArithmetic.h"
#include "tracea/Runtime/Manifest.h"

#include <map>

namespace tracea::analysis {

/// The expressions of an entry, over the shapes of its inputs.
class EntryExprs {
public:
  using Expr = coverage::Expr;

  explicit EntryExprs(const runtime::EntrySpec &entry) : entry(entry) {
    for (const runtime::CheckSpec &check : entry.checks)
      unite(check.expr);
    for (const runtime::Expr &node : entry.exprs)
      values.push_back(translate(node));
    for (const runtime::CheckSpec &check : entry.checks)
      assume(check.expr);
  }

  /// Invalid where it is none of sums, products, quotients and minima.
  Expr get(int64_t node) const { return values[node]; }
  /// An expression of a model, with its symbols replaced; invalid where one
  /// has no value.
  Expr transfer(const Expr &expr, const coverage::Space &from,
                const std::map<coverage::Term, Expr> &symbols);

  coverage::Space space;
  coverage::IndexArithmetic math{space};
  std::vector<coverage::Constraint> checks;

private:
  Expr translate(const runtime::Expr &node);
  std::optional<coverage::Constraint>
  getConstraint(const runtime::Expr &node) const;
  Expr getTruth(int64_t node);
  void assume(int64_t node);
  void assumeMultiple(const runtime::Expr &node);
  void unite(int64_t node);

  /// An input and an axis.
  using Dim = std::pair<int64_t, int64_t>;
  Dim getLeader(Dim dim) const {
    for (auto it = leaders.find(dim); it != leaders.end();
         it = leaders.find(dim))
      dim = it->second;
    return dim;
  }

  const runtime::EntrySpec &entry;
  std::vector<Expr> values;
  /// One of the extents that checks find equal, which stands for all of them.
  std::map<Dim, Dim> leaders;
  std::map<Dim, Expr> dims;
  /// Of inputs that are integers.
  std::map<int64_t, Expr> numbers;
};

} // namespace tracea::analysis

#endif // TRACEA_LIB_TARGET_PROGRAM_ENTRYEXPRS_H
