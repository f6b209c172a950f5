//===- Value.h - Terms as sums, whatever their order ------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A normal form (Numerics/Term.h) keeps the order in which an element is summed
// up. What the element *is*, over the real numbers, does not depend on it: a
// sum is a set of pieces, each a product that is added up over all integer
// points of a domain. A loop is a sum only if each round adds to what the round
// before has left; a loop that restarts, keeps its last round or scales what it
// carries is no sum, and nothing is said about it.

#ifndef TRACEA_LIB_ANALYSIS_MEANING_VALUE_H
#define TRACEA_LIB_ANALYSIS_MEANING_VALUE_H

#include "../Numerics/Term.h"

namespace mlir::tracea::meaning {

/// form >= 0, or form == 0.
struct Condition {
  numerics::Form form;
  bool isEquality = false;
  bool operator==(const Condition &other) const {
    return isEquality == other.isEquality && form == other.form;
  }
};

/// factor * product of `terms`, summed over all values of `variables` for which
/// the conditions hold. An element that is read is zero beyond the extents of
/// its argument, so that a mask against these says nothing of the value.
struct Piece {
  int64_t factor = 1;
  llvm::SmallVector<numerics::TermRef, 3> terms;
  llvm::SmallVector<unsigned, 4> variables;
  llvm::SmallVector<Condition, 6> domain;
};

/// The sum of its pieces; without any it is zero.
using Value = llvm::SmallVector<Piece, 1>;

/// Reads terms as values.
class ValueReader {
public:
  ValueReader(numerics::IndexSpace &index, numerics::TermSpace &terms)
      : index(index), terms(terms) {}

  /// Null, with `reason`, where the term is not understood.
  const Value *read(numerics::TermRef term);
  /// Terms inside of `term` that are values of their own: the operands of an
  /// operation that is no sum and no product.
  static llvm::ArrayRef<numerics::TermRef> getInner(numerics::TermRef term);

  std::string reason;
  /// Whether the reason is a loop that drops what it has summed up, and not a
  /// limit of the method.
  bool isFault = false;

private:
  const Value *fail(llvm::StringRef why);
  bool compute(numerics::TermRef term, Value &result);
  bool computeOperation(numerics::TermRef term, Value &result);
  bool computeExponential(numerics::TermRef term, Value &result);
  bool computeFold(numerics::TermRef term, Value &result);
  bool computeSelect(numerics::TermRef term, Value &result);
  /// What holds where `condition` is true, and where it is false; the latter
  /// are alternatives. False if it is no condition on coordinates.
  bool getConditions(numerics::TermRef condition,
                     llvm::SmallVectorImpl<Condition> &holds,
                     llvm::SmallVectorImpl<Condition> &fails);
  bool times(const Value &x, const Value &y, Value &result);
  void addSpan(Value &value, unsigned variable, const numerics::Form &low,
               const numerics::Form &high);

  numerics::IndexSpace &index;
  numerics::TermSpace &terms;
  std::map<numerics::TermRef, Value> done;
  unsigned depth = 0;
};

} // namespace mlir::tracea::meaning

#endif // TRACEA_LIB_ANALYSIS_MEANING_VALUE_H
