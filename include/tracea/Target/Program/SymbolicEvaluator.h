//===- SymbolicEvaluator.h - Index code as expressions ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns index values and views of the host program, or of a kernel's uniform
// code, into expressions of the input shapes and of inputs that are integers.
// Values are looked at on demand, so that code which no size depends on may be
// anything.

#ifndef TRACEA_TARGET_PROGRAM_SYMBOLICEVALUATOR_H
#define TRACEA_TARGET_PROGRAM_SYMBOLICEVALUATOR_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "tracea/Runtime/Manifest.h"

#include <functional>

namespace mlir::tracea {

/// The element type of the same name, if a program can hold it.
std::optional<::tracea::runtime::ElementType> getRuntimeElementType(Type type);

class SymbolicEvaluator {
public:
  using Expr = int64_t;
  using View = ::tracea::runtime::ViewSpec;
  /// Told about conditions that hold only if the run's shapes are right: an
  /// expression that must not be zero, and what it means where it is.
  using CheckFn = std::function<void(Expr, std::string)>;

  SymbolicEvaluator(std::vector<::tracea::runtime::Expr> &nodes, CheckFn check)
      : nodes(nodes), exprs(nodes), check(std::move(check)) {}

  void bind(Value value, Expr expr) { scalars[value] = expr; }
  void bind(Value value, View view) { views[value] = std::move(view); }

  /// The expression of an index or integer. Fails with an error at the
  /// operation that has none.
  FailureOr<Expr> scalar(Value value);
  FailureOr<Expr> scalar(OpFoldResult value);
  /// The view of a memref. Buffers (arguments, allocations, globals) must have
  /// been bound.
  FailureOr<View> view(Value value);
  FailureOr<SmallVector<Expr>> list(ArrayRef<OpFoldResult> values);
  /// Requires the expression to be true, unless it is known to be.
  void require(Expr expr, Operation *op, const Twine &what);

private:
  FailureOr<Expr> computeScalar(Value value);
  FailureOr<View> computeView(Value value);
  FailureOr<Expr> affine(AffineExpr expr, ArrayRef<Expr> dims,
                         ArrayRef<Expr> symbols, Operation *op);
  Expr truncatingDiv(Expr a, Expr b);
  bool isNonNegative(Expr expr);
  bool computeNonNegative(Expr expr);
  bool takesValue(Expr expr);
  Expr wrap(Expr expr, Type type);
  bool isTrue(Expr expr);
  Expr equal(Expr a, Expr b);

  std::vector<::tracea::runtime::Expr> &nodes;
  ::tracea::runtime::ExprBuilder exprs;
  CheckFn check;
  DenseMap<Value, Expr> scalars;
  DenseMap<Expr, bool> nonNegative;
  DenseMap<Expr, bool> valueTakers;
  DenseMap<Value, View> views;
};

} // namespace mlir::tracea

#endif // TRACEA_TARGET_PROGRAM_SYMBOLICEVALUATOR_H
