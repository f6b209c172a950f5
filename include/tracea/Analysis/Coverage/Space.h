//===- Space.h - Named integers and what is computed from them ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The integers of a coverage problem: symbols (sizes that a launch brings), ids
// (what runs: tiles, lanes, registers, iterations) and coordinates (of an
// element, or of something between ids and elements). Expressions are linear
// in terms; a term is a variable, a quotient, a minimum or a product, kept
// once: equal expressions are equal objects, and queries share divisions.
//
// Integers are mathematical here. Nothing asserts: an expression that cannot be
// represented (division by zero, a coefficient beyond 64 bits) is invalid, and
// so is whatever is computed from it; a problem with one is not decided.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_ANALYSIS_COVERAGE_SPACE_H
#define TRACEA_ANALYSIS_COVERAGE_SPACE_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tracea::coverage {

/// A term of a Space, by number.
struct Term {
  uint32_t index = 0;
  friend bool operator==(Term a, Term b) { return a.index == b.index; }
  friend bool operator!=(Term a, Term b) { return a.index != b.index; }
  friend bool operator<(Term a, Term b) { return a.index < b.index; }
};

/// A sum of terms with coefficients, and a constant.
class Expr {
public:
  using Summand = std::pair<Term, int64_t>;

  Expr(int64_t constant = 0) : constantPart(constant) {}
  Expr(Term term) : summands{{term, 1}} {}
  static Expr invalid();

  bool isValid() const { return valid; }
  bool isConstant() const { return summands.empty(); }
  int64_t constant() const { return constantPart; }
  /// Ascending by term, no coefficient is zero.
  const std::vector<Summand> &terms() const { return summands; }
  int64_t coefficient(Term term) const;

  Expr &operator+=(const Expr &other) { return add(other, 1); }
  Expr &operator-=(const Expr &other) { return add(other, -1); }
  friend Expr operator+(Expr a, const Expr &b) { return a += b; }
  friend Expr operator-(Expr a, const Expr &b) { return a -= b; }
  friend Expr operator-(const Expr &a) { return Expr(0) -= a; }
  friend Expr operator*(int64_t factor, const Expr &a) {
    Expr result;
    return result.add(a, factor);
  }
  friend Expr operator*(const Expr &a, int64_t factor) { return factor * a; }

  friend bool operator==(const Expr &a, const Expr &b) {
    return a.valid && b.valid && a.constantPart == b.constantPart &&
           a.summands == b.summands;
  }
  friend bool operator!=(const Expr &a, const Expr &b) { return !(a == b); }
  /// Some total order, for maps.
  friend bool operator<(const Expr &a, const Expr &b);

private:
  Expr &add(const Expr &other, int64_t factor);

  std::vector<Summand> summands;
  int64_t constantPart = 0;
  bool valid = true;
};

inline Expr operator+(Term a, Term b) { return Expr(a) + Expr(b); }
inline Expr operator-(Term a, Term b) { return Expr(a) - Expr(b); }
inline Expr operator+(Term a, const Expr &b) { return Expr(a) + b; }
inline Expr operator-(Term a, const Expr &b) { return Expr(a) - b; }
inline Expr operator-(Term a) { return -Expr(a); }
inline Expr operator*(int64_t factor, Term a) { return factor * Expr(a); }
inline Expr operator*(Term a, int64_t factor) { return factor * Expr(a); }

/// expr >= 0, or expr == 0.
struct Constraint {
  Expr expr;
  bool equality = false;
  friend bool operator==(const Constraint &a, const Constraint &b) {
    return a.equality == b.equality && a.expr == b.expr;
  }
};

inline Constraint atLeast(const Expr &a, const Expr &b) {
  return {a - b, false};
}
inline Constraint atMost(const Expr &a, const Expr &b) {
  return {b - a, false};
}
inline Constraint less(const Expr &a, const Expr &b) {
  return {b - a - 1, false};
}
inline Constraint equal(const Expr &a, const Expr &b) { return {a - b, true}; }

/// The values of a variable: lower <= v < upper. Without `upper` there is no
/// upper bound.
struct Range {
  Expr lower;
  std::optional<Expr> upper;

  Range() = default;
  /// [0, extent)
  Range(Expr extent) : upper(std::move(extent)) {}
  Range(Term extent) : upper(Expr(extent)) {}
  Range(int64_t extent) : upper(Expr(extent)) {}
  Range(Expr lower, Expr upper)
      : lower(std::move(lower)), upper(std::move(upper)) {}
  /// [lower, ∞)
  static Range from(Expr lower) {
    Range result;
    result.lower = std::move(lower);
    return result;
  }
};

enum class TermKind : uint8_t {
  /// A size that the launch brings.
  Symbol,
  /// What runs: a tile, a lane, a register, an iteration.
  Id,
  /// Of an element, or between ids and elements.
  Coordinate,
  /// ⌊numerator / divisor⌋, rounded down, with a divisor that is at least 1.
  Quotient,
  /// The smaller one of two.
  Minimum,
  /// The product of two or more terms that are no products.
  Product
};

class Space {
public:
  /// Variables. A name that is taken gets a number behind it, and characters
  /// that no identifier has become underscores. A symbol is at least 0 unless
  /// its range says otherwise; ranges name earlier variables, those of symbols
  /// only symbols.
  Term symbol(std::string name, Range range = {});
  Term id(std::string name, Range range);
  Term coordinate(std::string name, Range range);

  /// Where constant ranges leave one value, quotients and minima are that
  /// value.
  ///
  /// ⌊a / divisor⌋. What `arith.divsi` truncates is this only for a >= 0. A
  /// divisor that is no constant is claimed to be at least 1: `decide` proves
  /// it from the symbols.
  Expr floorDiv(const Expr &a, const Expr &divisor);
  Expr ceilDiv(const Expr &a, const Expr &divisor);
  /// a − divisor · ⌊a / divisor⌋
  Expr mod(const Expr &a, const Expr &divisor);
  Expr min(const Expr &a, const Expr &b);
  Expr max(const Expr &a, const Expr &b);
  Expr product(const Expr &a, const Expr &b);
  /// An expression that is at least 0 exactly where the constraint holds: the
  /// minimum of two of these says both, the maximum either.
  Expr truth(const Constraint &constraint);
  /// Whether it adds up multiples of variables that start at 0 or above, and a
  /// number that is not negative: then it is not negative.
  bool isSumOfSizes(const Expr &expr) const;

  size_t size() const { return nodes.size(); }
  TermKind kind(Term term) const { return nodes[term.index].kind; }
  bool isVariable(Term term) const {
    return kind(term) <= TermKind::Coordinate;
  }
  const std::string &name(Term variable) const {
    return nodes[variable.index].name;
  }
  const Range &range(Term variable) const {
    return nodes[variable.index].range;
  }
  /// Numerator and divisor of a quotient, both of a minimum.
  const Expr &operand(Term term, unsigned number) const {
    return number ? nodes[term.index].second : nodes[term.index].first;
  }
  const std::vector<Term> &factors(Term product) const {
    return nodes[product.index].factors;
  }
  std::optional<Term> find(const std::string &name) const;

  /// The expression with variables replaced.
  Expr substitute(const Expr &expr, const std::map<Term, Expr> &values);
  Constraint substitute(const Constraint &constraint,
                        const std::map<Term, Expr> &values) {
    return {substitute(constraint.expr, values), constraint.equality};
  }
  /// The variables that occur, also inside of terms, ascending.
  std::vector<Term> variables(const Expr &expr) const;
  /// Whether only symbols occur.
  bool isSymbolic(const Expr &expr) const;

  /// The least and the largest value that constant ranges allow, as far as that
  /// is seen; nothing where a range is not constant.
  std::optional<std::pair<int64_t, int64_t>> bounds(const Expr &expr) const {
    return bounds(expr, 0);
  }

  /// The value, given those of the variables; nothing when one is missing, a
  /// divisor is below 1 or 64 bits do not suffice.
  std::optional<int64_t> evaluate(const Expr &expr,
                                  const std::map<Term, int64_t> &values) const;
  std::optional<bool> holds(const Constraint &constraint,
                            const std::map<Term, int64_t> &values) const;

  /// As infix text: "(M + 127)/128 - tile - 1"; "/" rounds down.
  std::string str(const Expr &expr) const;
  std::string str(const Constraint &constraint) const;

private:
  struct Node {
    TermKind kind;
    std::string name;
    Range range;
    Expr first, second;
    std::vector<Term> factors;
  };
  Term variable(TermKind kind, std::string name, Range range);
  Expr intern(Node node);
  std::optional<std::pair<int64_t, int64_t>> bounds(const Expr &expr,
                                                    int depth) const;
  Expr multiply(Term a, Term b);

  std::vector<Node> nodes;
  std::map<std::string, Term> names;
  std::map<std::tuple<TermKind, Expr, Expr, std::vector<Term>>, Term> interned;
};

} // namespace tracea::coverage

#endif // TRACEA_ANALYSIS_COVERAGE_SPACE_H
