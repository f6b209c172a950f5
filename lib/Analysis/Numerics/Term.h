//===- Term.h - How one element is computed ---------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions for a single element, shared where they are equal: inputs at
// coordinates, operations, choices by conditions on coordinates, and sums in
// the order in which they are made. Nothing here knows tiles, lanes or memory.

#ifndef TRACEA_LIB_ANALYSIS_NUMERICS_TERM_H
#define TRACEA_LIB_ANALYSIS_NUMERICS_TERM_H

#include "Index.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::tracea::numerics {

enum class TermKind {
  /// Element `forms` of argument `symbol`.
  Input,
  /// A literal with its type.
  Constant,
  /// Arithmetic: `symbol` names the operation, its attributes and types.
  Operation,
  /// operands[0] ? operands[1] : operands[2].
  Select,
  /// forms[0] >= 0, or forms[0] == 0 for `symbol` "eq".
  Condition,
  /// The integer forms[0].
  Integer,
  /// State `bound[0]` of a fold around it.
  State,
  /// For bound[0] from forms[0] below forms[1]: the states bound[1..] begin
  /// with the first half of the operands and become, all at once, the second
  /// half. The value is that of the first state.
  Fold,
  /// The elements operands[0] for bound[0] below forms[0], combined in the
  /// order that `symbol` describes.
  Reduce,
  /// One step of a matrix unit: operands[0] plus the products of operands[1]
  /// and operands[2] for each bound[i] below forms[i], summed as `symbol` does.
  UnitStep,
  /// What memory holds that nobody wrote.
  Undefined,
};

struct Term {
  TermKind kind;
  std::string symbol;
  llvm::SmallVector<const Term *, 3> operands;
  llvm::SmallVector<Form, 4> forms;
  llvm::SmallVector<unsigned, 2> bound;
};
using TermRef = const Term *;

class TermSpace {
public:
  explicit TermSpace(IndexSpace &index) : index(index) {}

  TermRef make(Term term);
  TermRef input(unsigned argument, llvm::ArrayRef<Form> at, std::string type);
  TermRef constant(std::string text) {
    return make({TermKind::Constant, std::move(text), {}, {}, {}});
  }
  TermRef operation(std::string symbol, llvm::ArrayRef<TermRef> operands);
  TermRef integer(const Form &form) {
    return make({TermKind::Integer, "", {}, {form}, {}});
  }
  TermRef state(unsigned id) {
    return make({TermKind::State, "", {}, {}, {id}});
  }
  TermRef undefined() { return make({TermKind::Undefined, "", {}, {}, {}}); }
  /// Null is never returned: truth values are the constants "true" and "false".
  TermRef truth(bool value) { return constant(value ? "true" : "false"); }
  /// form >= 0, or form == 0, decided where the facts do.
  TermRef condition(Form form, bool isEquality, Facts facts);
  TermRef select(TermRef condition, TermRef then, TermRef otherwise);

  /// The fold of Term.h, in normal form: a first or last round that differs is
  /// taken out, states that do not matter are dropped. `init` is asked only for
  /// states whose begin matters.
  struct FoldParts {
    unsigned variable;
    Form low, high;
    llvm::SmallVector<unsigned, 2> states;
    llvm::SmallVector<TermRef, 2> updates;
  };
  TermRef fold(FoldParts parts, llvm::function_ref<TermRef(unsigned)> init,
               Facts facts);

  /// What holds besides `facts` when `condition` has this value.
  Facts assume(Facts facts, TermRef condition, bool value);

  using Map = llvm::DenseMap<TermRef, TermRef>;
  /// Replaces variables of forms, states, and whole terms that `map` holds.
  TermRef substitute(TermRef term, const IndexSpace::Replacement &variables,
                     const llvm::DenseMap<unsigned, TermRef> &states,
                     const Map &map, Facts facts);
  /// Only whole terms.
  TermRef replace(TermRef term, const Map &map) {
    return substitute(term, IndexSpace::Replacement(),
                      llvm::DenseMap<unsigned, TermRef>(), map, nullptr);
  }

  /// Variables and states that a term uses and does not bind.
  const llvm::DenseSet<unsigned> &getFree(TermRef term);
  bool uses(TermRef term, unsigned variable) {
    return getFree(term).contains(variable);
  }
  bool hasUndefined(TermRef term);
  size_t size() const { return terms.size(); }

private:
  void collectConditions(TermRef term, unsigned variable,
                         llvm::DenseSet<TermRef> &seen,
                         llvm::SmallVectorImpl<TermRef> &conditions);
  bool decide(TermRef condition, Facts facts, bool &value);
  bool isInstance(TermRef condition, TermRef general, TermRef instance);
  void prune(FoldParts &parts);
  bool extend(FoldParts &parts, TermRef &begin, Facts facts);
  /// Whether `term` is `pattern` with some term, always the same, where the
  /// pattern has `state`. What is bound may have other names.
  struct Match;
  bool match(TermRef pattern, TermRef term, Match &match);
  TermRef finish(const FoldParts &parts, unsigned wanted,
                 llvm::function_ref<TermRef(unsigned)> init, Facts facts);
  bool contains(TermRef root, TermRef term);

  IndexSpace &index;
  std::deque<Term> terms;
  llvm::StringMap<TermRef> known;
  llvm::DenseMap<TermRef, llvm::DenseSet<unsigned>> freeOf;
  /// Variables of folds that were moved to begin with zero.
  std::map<std::pair<unsigned, Form>, unsigned> moved;
};

} // namespace mlir::tracea::numerics

#endif // TRACEA_LIB_ANALYSIS_NUMERICS_TERM_H
