//===- Prover.h - Implications between constraints ------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides whether constraints have a common integer point, with what the terms
// mean: quotients, minima, products. A relaxation is asked first; where its
// point does not fit the meaning of a term, cases are distinguished. Variables
// are always within their ranges, symbols satisfy the assumptions.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_ANALYSIS_COVERAGE_PROVER_H
#define TRACEA_LIB_ANALYSIS_COVERAGE_PROVER_H

#include "Emptiness.h"
#include "tracea/Analysis/Coverage/Decide.h"
#include <chrono>
#include <set>

namespace tracea::coverage {

using Constraints = std::vector<Constraint>;

class Prover {
public:
  Prover(Space &space, const Constraints &assumptions, const Options &options,
         Statistics &statistics);

  enum Answer { Empty, Found, Unknown };
  /// A point of all constraints, with values of all variables that matter and
  /// of `mentioned` (which are thereby in their ranges); checked by evaluation.
  /// Unknown: see reason().
  Answer findPoint(const Constraints &constraints,
                   const std::vector<Term> &mentioned,
                   LinearSystem::Point &point);

  /// A point of the premises where each alternative, a conjunction, fails.
  /// Empty: the premises imply one of the alternatives. `failed` gets, for one
  /// alternative, the number of the constraint that fails.
  Answer refute(const Constraints &premises,
                const std::vector<Constraints> &alternatives,
                const std::vector<Term> &mentioned, LinearSystem::Point &point,
                size_t *failed = nullptr);

  /// Whether the assumptions imply a constraint over symbols.
  bool impliesAlways(const Constraint &constraint);

  const std::string &reason() const { return why; }
  /// Takes part in the time of another one.
  void continueFrom(const Prover &other) { start = other.start; }
  /// At most so many queries from here on; nothing: as many as the options say.
  void limitQueries(std::optional<int64_t> number) {
    lastQuery = number ? std::optional(statistics.queries + *number) : number;
  }
  Space &space;

private:
  /// What a query means once everything it mentions is written out.
  struct Closure {
    LinearSystem system;
    /// In the order in which they were mentioned.
    std::vector<Term> terms;
    Constraints constraints;
  };
  Closure close(const Constraints &constraints,
                const std::vector<Term> &mentioned);

  Answer search(Constraints &constraints, const std::vector<Term> &mentioned,
                LinearSystem::Point &point, int &cases, int tangents);
  Answer specialize(Constraints &constraints,
                    const std::vector<Term> &mentioned,
                    LinearSystem::Point &point);
  std::vector<Constraints> casesOf(const LinearSystem::Point &point,
                                   const std::vector<Term> &terms,
                                   int &tangents);
  std::vector<std::vector<Constraints>>
  casesOfMinima(const LinearSystem::Point &point,
                const std::vector<Term> &terms, size_t most);
  std::vector<Constraints> singleCase(Constraints &constraints,
                                      const std::vector<Term> &mentioned,
                                      const LinearSystem::Point &point,
                                      const std::vector<Term> &terms);
  std::vector<Constraints> casesOfProduct(const LinearSystem::Point &point,
                                          Term product,
                                          const std::vector<Term> &terms,
                                          int &tangents);
  LinearSystem::Answer ask(const LinearSystem &system,
                           LinearSystem::Point &point);
  /// Whether terms are multiplied somewhere in it.
  bool mentionsProduct(const Expr &expr) const;
  /// Those with ends that are sums of variables.
  std::vector<Term> withLinearRange(const std::vector<Term> &variables) const;
  Constraints slice(const Constraints &premises, const Constraint &goal);
  const std::vector<Term> &variablesOf(const Expr &expr);
  Answer refuteFrom(Constraints &premises,
                    const std::vector<Constraints> &alternatives, size_t first,
                    const std::vector<Term> &mentioned,
                    LinearSystem::Point &point, size_t *failed);
  /// 1 of what is never negative, -1 of a minimum that is never positive, 0 of
  /// all else.
  int signOf(Term term);
  bool isPositive(const Expr &divisor);
  bool isImpossible(const Constraint &constraint);
  Answer give(std::string reason) {
    why = std::move(reason);
    return Unknown;
  }

  Constraints assumptions;
  const Options &options;
  Statistics &statistics;
  std::chrono::steady_clock::time_point start;
  std::map<Term, int> signs;
  std::map<Expr, bool> positive;
  std::map<Expr, std::vector<Term>> mentions;
  /// Symbols with values, while a point is looked for.
  std::map<Term, Expr> fixed;
  std::optional<int64_t> bound, lastQuery;
  std::string why;
};

/// Whether a constraint says in plain sight that `divisor` is at least 1.
bool saysPositive(const Constraint &constraint, const Expr &divisor);
/// The negations of a constraint: one of an inequality, two of an equality.
std::vector<Constraint> negations(const Constraint &constraint);

/// lower <= value, value < upper.
void addRange(Constraints &constraints, const Expr &value, const Range &range);

} // namespace tracea::coverage

#endif // TRACEA_LIB_ANALYSIS_COVERAGE_PROVER_H
