//===- Emitter.h - Writes linalg over tensors -------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vocabulary in which the definitions of the semantic operations are
// written: scalars with explicit conversions, sums and maps over index spaces.

#ifndef TRACEA_LIB_CONVERSION_TRACEATOLINALG_EMITTER_H
#define TRACEA_LIB_CONVERSION_TRACEATOLINALG_EMITTER_H

#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "tracea/Dialect/Tracea/IR/TraceaOps.h"

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::tracea {

class Emitter {
public:
  /// The body of a generic: one scalar for each operand, destination last.
  using Body = llvm::function_ref<Value(Emitter &, ValueRange)>;
  /// The same of one with several destinations, last in their order.
  using Bodies = llvm::function_ref<SmallVector<Value>(Emitter &, ValueRange)>;
  using Sizes = SmallVector<OpFoldResult>;

  Emitter(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  //===--- Scalars --------------------------------------------------------===//

  /// `value` as `type`, by the dialect's implicit conversions.
  Value convert(Value value, Type type);
  Value zero(Type type);
  Value negativeInfinity(Type type);
  /// A real attribute as `type`, through f64 so that a later promotion to
  /// float64 keeps its precision.
  Value real(double value, Type type);
  Value index(int64_t value);
  Value index(OpFoldResult value);
  /// An index as a number of `type`.
  Value number(Value index, Type type);
  /// Sum and product of floats or of integers.
  Value add(Value lhs, Value rhs);
  Value mul(Value lhs, Value rhs);
  /// The last scalar plus the product of the first two, in its type.
  static Value multiplyAdd(Emitter &e, ValueRange scalars);
  /// A new operation at the emitter's place.
  template <typename OpTy, typename... Args>
  Value make(Args &&...args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...)
        ->getResult(0);
  }

  //===--- Tensors --------------------------------------------------------===//

  static int64_t rank(Value tensor);
  static Type elementType(Value tensor);
  Sizes sizes(Value tensor);
  Value empty(const Sizes &sizes, Type elementType);
  Value filled(const Sizes &sizes, Value scalar);
  /// Maps `inputs` into `destination`, whose old elements the body may ignore.
  /// A loop that is no dimension of the destination by itself is a reduction.
  Value generic(ValueRange inputs, ArrayRef<AffineMap> maps, Value destination,
                AffineMap destinationMap, Body body);
  /// The elementwise map over `destination` with one map for each input.
  Value elementwise(ValueRange inputs, ArrayRef<AffineMap> maps,
                    Value destination, Body body);
  /// Maps `inputs` into several destinations, with one map for each of both and
  /// no reductions.
  SmallVector<Value> maps(ValueRange inputs, ValueRange destinations,
                          ArrayRef<AffineMap> maps, Bodies body);

  /// The map from `dims` loops to the loops `results`.
  AffineMap select(unsigned dims, ArrayRef<unsigned> results);
  AffineMap identity(unsigned dims);

  /// Writes `accumulator` through the epilogue of `op` into its destinations,
  /// and reduces what auxiliary results, or a finish, reduce: the result, then
  /// auxiliary results or those of rows.
  SmallVector<Value> finish(EpilogueOpInterface op, Value accumulator);
  /// A tensor of the accumulator's type in the shape of the result.
  Value emptyAccumulator(EpilogueOpInterface op);

  OpBuilder &builder;
  Location loc;
};

void populateProductPatterns(RewritePatternSet &patterns);
void populateConvolutionPatterns(RewritePatternSet &patterns);
void populateGroupedPatterns(RewritePatternSet &patterns);
void populateNormalizationPatterns(RewritePatternSet &patterns);
void populateAttentionPatterns(RewritePatternSet &patterns);
void populateAttentionGradientPatterns(RewritePatternSet &patterns);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOLINALG_EMITTER_H
