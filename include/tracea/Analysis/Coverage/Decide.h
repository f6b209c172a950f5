//===- Decide.h - Decides a coverage problem for all sizes ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every element once, every access in bounds, for all values of the symbols
// that satisfy their ranges and the assumptions: by emptiness of conjunctions
// (MLIR's Presburger library), rank over F2 and four lemmas about division.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_ANALYSIS_COVERAGE_DECIDE_H
#define TRACEA_ANALYSIS_COVERAGE_DECIDE_H

#include "tracea/Analysis/Coverage/Problem.h"

namespace tracea::coverage {

enum class Verdict : uint8_t { Proved, Refuted, NotDecided };

enum class Property : uint8_t {
  /// An element that nobody writes.
  Cover,
  /// An element that is written twice.
  Unique,
  /// A write or an access out of bounds.
  Bounds,
  /// A claim that does not hold.
  Claim
};

const char *propertyName(Property property);

/// A counterexample. Its integers have been checked by evaluation.
struct Finding {
  Property property = Property::Cover;
  /// Where; -1: elsewhere.
  int stage = -1, writer = -1, access = -1, claim = -1;
  /// One line, without the values: "stage 'tiles': no writer reaches row".
  std::string message;
  /// Symbols, then ids and coordinates.
  std::vector<std::pair<std::string, int64_t>> point;
  /// Unique: who else writes the element, -1 unless there is one.
  int otherWriter = -1;
  std::vector<std::pair<std::string, int64_t>> otherPoint;

  /// "stage 'tiles': … (M = 1, row = 0)".
  std::string str() const;
};

struct Statistics {
  int64_t queries = 0;
  /// The largest query.
  int64_t variables = 0, constraints = 0;
  double milliseconds = 0;
  /// The longest query.
  double longestMilliseconds = 0;
};

struct Result {
  Verdict verdict = Verdict::NotDecided;
  /// Why it was not decided.
  std::string reason;
  /// Refuted.
  Finding finding;
  Statistics statistics;
};

struct Options {
  int64_t maxQueries = 20000;
  /// Of one query; beyond that it is not asked.
  unsigned maxVariables = 64, maxConstraints = 256;
  /// Case distinctions that one query may be split into.
  int maxCases = 256;
  /// Events that are enumerated to confirm a fault between two stages.
  int64_t maxEvents = 1 << 18;
  /// No new query is asked after that time; 0: no limit.
  double maxMilliseconds = 20000;
};

Result decide(const Problem &problem, const Options &options = {});

/// The same question for given sizes (by name) by enumeration of all events,
/// without the library: for tests and to confirm counterexamples. Not decided
/// beyond `maxEvents`.
Result enumerate(const Problem &problem,
                 const std::map<std::string, int64_t> &sizes,
                 int64_t maxEvents = 1 << 20);

/// A bound of what the machine computes, over all ids in their ranges.
struct IndexBound {
  /// In symbols alone; each summand of the value counts with its own bound, so
  /// that the order of additions does not matter.
  Expr smallest, largest;
  /// Where it is computed.
  std::string what;
};

/// The sizes for which no index computation overflows. Ids count up to the end
/// of their range, where a loop compares them.
struct LaunchGuard {
  /// Without duplicates and without constants that fit into 31 bits.
  std::vector<IndexBound> bounds;
  /// Why there is none (an id without an upper bound); empty: there is.
  std::string reason;
};

LaunchGuard launchGuard(Problem &problem);

/// Whether sizes (by name) satisfy the ranges of the symbols and the
/// assumptions, and all indices fit into `width` bits, signed. Says why not.
std::optional<std::string> violates(const Problem &problem,
                                    const LaunchGuard &guard,
                                    const std::map<std::string, int64_t> &sizes,
                                    unsigned width = 32);

/// The guard as constraints, for a launch that checks them: each of `bounds`
/// within `width` bits (at most 63).
std::vector<Constraint> constraints(const LaunchGuard &guard, unsigned width);

/// What the magnitudes of all index computations stay below: a sum of products
/// of sizes, each with a number. Coarser than the bounds of a guard, but
/// without divisions and minima.
struct IndexLimit {
  struct Summand {
    int64_t factor = 0;
    /// Ascending; extents of buffers, and magnitudes of integers.
    std::vector<Term> sizes;
  };
  std::vector<Summand> summands;
  /// Why nothing is known; empty: it is.
  std::string reason;
  /// Whether it fits into 64 bits, signed, for all buffers of at most
  /// 2^`kLogElements` elements, extents of zero left out.
  bool isImplied = false;

  static constexpr unsigned kLogElements = 48;
};

IndexLimit indexLimit(const Problem &problem);
/// "4*M*N + M + 127"
std::string describe(const IndexLimit &limit, const Space &space);

/// A problem as one line of text, from which it can be decided again.
std::string writeModel(const Problem &problem);
/// Text is not trusted: sizes and nesting are limited.
algebra::Expected<Problem> readModel(const std::string &text);

} // namespace tracea::coverage

#endif // TRACEA_ANALYSIS_COVERAGE_DECIDE_H
