//===- ReductionOp.h - Reductions in linalg ---------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_REDUCTIONOP_H
#define TRACEA_LIB_TRANSFORMS_REDUCTIONOP_H

#include "EpilogueUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::tracea {

/// A structured operation that reduces what it computes of elements of its
/// operands, from a constant on.
class ReductionOp {
public:
  static std::optional<ReductionOp> match(linalg::LinalgOp op);

  linalg::LinalgOp getOperation() const { return op; }
  ReductionKind getKind() const { return kind; }
  /// What is reduced, in the body.
  Value getTerm() const { return term; }
  /// The constant that it starts from; null where that changes nothing.
  TypedAttr getStart() const { return start; }
  /// Number of scalar operations that `emit` creates.
  unsigned getSize() const { return op.getBlock()->getOperations().size() - 2; }

  /// Creates the computation of the term. `read` gives the scalar of a tensor
  /// that the body reads.
  Value emit(ScalarEditor &editor,
             function_ref<Value(OpOperand &input)> read) const;

private:
  bool matchCombiner();
  bool matchStart();

  mutable linalg::LinalgOp op;
  ReductionKind kind = ReductionKind::None;
  Value term;
  TypedAttr start;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_REDUCTIONOP_H
