//===- Index.h - Integer expressions with facts about them ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an element lies and how often a sum goes round: sums of multiples of
// atoms. Atoms are variables, extents, and what is not linear: quotients by
// constants, minima, maxima, and functions about which nothing is known but
// that equal arguments give equal results. Facts are forms that are not
// negative; what follows from them is decided by rational linear programming,
// which never calls something true that is not.

#ifndef TRACEA_LIB_ANALYSIS_NUMERICS_INDEX_H
#define TRACEA_LIB_ANALYSIS_NUMERICS_INDEX_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace mlir::tracea::numerics {

/// `constant + sum of coefficient * atom`, atoms ascending.
struct Form {
  llvm::SmallVector<std::pair<unsigned, int64_t>, 4> terms;
  int64_t constant = 0;

  Form() = default;
  Form(int64_t constant) : constant(constant) {}
  bool isConstant() const { return terms.empty(); }
  int64_t coefficient(unsigned atom) const;
  bool operator==(const Form &other) const {
    return constant == other.constant && terms == other.terms;
  }
  bool operator!=(const Form &other) const { return !(*this == other); }
  bool operator<(const Form &other) const {
    return std::tie(terms, constant) < std::tie(other.terms, other.constant);
  }
};

/// Equal forms have equal text, which is appended.
void appendKey(std::string &key, const Form &form);

/// A list of forms that are not negative; the rest of the list holds as well.
struct Fact {
  Form form;
  const Fact *rest;
};
using Facts = const Fact *;

enum class AtomKind {
  Variable,
  Extent,
  Argument,
  Quotient,
  Min,
  Max,
  Function
};

struct Atom {
  AtomKind kind;
  /// Extent and argument: the numbers of the argument and its dimension.
  /// Function: its name.
  std::string symbol;
  llvm::SmallVector<Form, 2> forms;
  int64_t divisor = 0;
  std::optional<int64_t> low, high;
};

struct Interval {
  std::optional<int64_t> low, high;
};

class IndexSpace {
public:
  /// Why nothing that was computed means anything; empty while it does.
  std::string failure;
  void fail(std::string reason) {
    if (failure.empty())
      failure = std::move(reason);
  }

  const Atom &atom(unsigned id) const { return atoms[id]; }
  unsigned newVariable(std::optional<int64_t> low, std::optional<int64_t> high);
  Form form(unsigned atom) const;
  Form extent(unsigned argument, unsigned dim);
  Form argument(unsigned number);
  Form function(std::string name, llvm::ArrayRef<Form> operands,
                std::optional<int64_t> low = std::nullopt);

  /// What a kernel gathers along its argument `table` at a place.
  Form gathered(unsigned table, llvm::ArrayRef<Form> place) {
    return function("table " + std::to_string(table), place);
  }

  Form add(const Form &x, const Form &y) { return combine(x, 1, y); }
  Form sub(const Form &x, const Form &y) { return combine(x, -1, y); }
  Form scale(const Form &x, int64_t factor) {
    return combine(Form(), factor, x);
  }
  /// Products of two unknowns are functions.
  Form mul(const Form &x, const Form &y);
  /// Rounded down; `divisor` is positive.
  Form floorDiv(const Form &x, int64_t divisor, Facts facts);
  /// The same by a size, where neither is negative: a function, unless the size
  /// is a number.
  Form floorDiv(const Form &x, const Form &divisor, Facts facts);
  Form min(const Form &x, const Form &y, Facts facts);
  Form max(const Form &x, const Form &y, Facts facts);

  Facts assume(Facts facts, const Form &notNegative);
  bool prove(const Form &notNegative, Facts facts);
  Interval interval(const Form &form) const;

  /// Replaces variables, inside of quotients, minima and so on too.
  using Replacement = llvm::DenseMap<unsigned, Form>;
  Form substitute(const Form &form, const Replacement &by, Facts facts);
  /// All variables in a form and inside of its atoms.
  void forEachVariable(const Form &form,
                       llvm::function_ref<void(unsigned)> visit) const;
  bool uses(const Form &form, unsigned variable) const;

private:
  Form combine(const Form &x, int64_t factor, const Form &y);
  unsigned intern(Atom atom);
  bool hasNoSolution(llvm::ArrayRef<Form> rows, llvm::ArrayRef<unsigned> ids);
  bool proveBySimplex(const Form &goal, Facts facts,
                      llvm::SmallVectorImpl<unsigned> &split);
  std::pair<Form, Form> splitQuotients(const Form &x, int64_t divisor);
  Form extremum(AtomKind kind, const Form &x, const Form &y, Facts facts);

  std::deque<Atom> atoms;
  llvm::StringMap<unsigned> known;
  std::deque<Fact> factStore;
  std::map<std::pair<Facts, Form>, Facts> lists;
  std::map<std::pair<Facts, Form>, bool> proved;
};

} // namespace mlir::tracea::numerics

#endif // TRACEA_LIB_ANALYSIS_NUMERICS_INDEX_H
