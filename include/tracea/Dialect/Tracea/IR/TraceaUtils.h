//===- TraceaUtils.h - Helpers for semantic operations ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEA_IR_TRACEAUTILS_H
#define TRACEA_DIALECT_TRACEA_IR_TRACEAUTILS_H

#include "tracea/Dialect/Tracea/IR/TraceaOps.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace mlir::tracea {

//===----------------------------------------------------------------------===//
// Types and extents
//===----------------------------------------------------------------------===//

/// False when both extents are static and differ.
bool areCompatibleExtents(int64_t a, int64_t b);

/// Whether products of `elementType` may be accumulated in `accumulatorType`:
/// f64 in f64; f32, f16, bf16 in f32 or f64; i8 in i32.
bool isValidAccumulator(Type elementType, Type accumulatorType);

/// Whether an operation without an epilogue may store an accumulator of type
/// `from` as `to`: any float to any float, an integer to one at least as wide
/// or to any float. Anything else must be said by an epilogue.
bool isImplicitlyConvertible(Type from, Type to);

/// Converts a scalar (or, elementwise, a vector or a tensor) as
/// `isImplicitlyConvertible` allows. Integers are signed.
Value convertScalar(OpBuilder &builder, Location loc, Value value, Type to);

/// floor((extent + padLow + padHigh - dilation * (taps - 1) - 1) / stride) + 1,
/// not below zero; nothing on overflow. All values are static, stride > 0.
std::optional<int64_t> getConvolvedExtent(int64_t extent, int64_t padLow,
                                          int64_t padHigh, int64_t taps,
                                          int64_t stride, int64_t dilation);

/// linalg's permutation, which names for each dimension of a transposed tensor
/// that of its source, of a map that goes from the former to the latter.
SmallVector<int64_t> getPermutation(AffineMap map);

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// Whether the operation has an epilogue region. Without one it stores the
/// accumulator converted to the result's element type.
bool hasEpilogue(EpilogueOpInterface op);

/// The map from the result's dimensions to those of extra operand `index`.
AffineMap getEpilogueMap(EpilogueOpInterface op, unsigned index);

/// The block of the epilogue; an operation without one gets the block that
/// converts the accumulator to the result's element type.
Block &getOrCreateEpilogue(OpBuilder &builder, EpilogueOpInterface op);

/// Adds an extra operand to an operation that has an epilogue region and
/// returns the block argument that stands for its scalar.
BlockArgument appendEpilogueExtra(EpilogueOpInterface op, Value extra,
                                  AffineMap map);

/// The map from the result's dimensions to those of auxiliary result `index`,
/// and the kind of the reduction over those that it lacks.
AffineMap getAuxMap(EpilogueOpInterface op, unsigned index);
ReductionKind getAuxKind(EpilogueOpInterface op, unsigned index);

/// Clones the epilogue at the builder's insertion point, the accumulator and
/// one scalar per extra operand given, and returns the scalars to store: the
/// result's, then those of the auxiliary results.
SmallVector<Value> inlineEpilogue(OpBuilder &builder, Location loc,
                                  EpilogueOpInterface op, Value accumulator,
                                  ValueRange extras);

//===----------------------------------------------------------------------===//
// Prologues
//===----------------------------------------------------------------------===//

/// Whether the operation has a prologue region.
bool hasPrologue(RowOpInterface op);

/// The type of the elements of a row: what the prologue yields first, or the
/// input's.
Type getRowElementType(RowOpInterface op);

/// The map from the input's dimensions to those of operand `index`.
AffineMap getPrologueMap(RowOpInterface op, unsigned index);

/// The block of the prologue; an operation without one gets the block that
/// yields the input's element.
Block &getOrCreatePrologue(OpBuilder &builder, RowOpInterface op);

/// Adds an operand to an operation that has a prologue region and returns the
/// block argument that stands for its scalar.
BlockArgument appendPrologueOperand(RowOpInterface op, Value operand,
                                    AffineMap map);

/// Clones the block of a scalar region at the builder's insertion point, a
/// value for each argument given, and returns what it yields.
SmallVector<Value> inlineScalars(OpBuilder &builder, Block &block,
                                 ValueRange arguments);

//===----------------------------------------------------------------------===//
// Finishes
//===----------------------------------------------------------------------===//

/// Whether the operation makes its results of what the epilogue yields and of
/// what rows of that are reduced to.
bool hasFinish(Operation *op);

/// The kind of the reduction of value `index` behind the epilogue's first.
ReductionKind getFinishKind(RowOpInterface op, unsigned index);

/// The map from the input's dimensions to those of results that a row has one
/// element of each: the dimensions that are not reduced.
AffineMap getRowMap(RowOpInterface op);

/// Whether a value of the finish is the same for all elements of a row, for
/// each value: whether no element of it takes part.
class RowValues {
public:
  explicit RowValues(Block &finish);
  bool contains(Value value) const { return !ofElements.contains(value); }

private:
  llvm::SmallDenseSet<Value> ofElements;
};

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The element of a reduction over nothing.
TypedAttr getNeutralElement(ReductionKind kind, Type type);
/// Two values of a reduction as one; NaN wins over every number.
Value combine(OpBuilder &builder, Location loc, ReductionKind kind, Value lhs,
              Value rhs);

} // namespace mlir::tracea

#endif // TRACEA_DIALECT_TRACEA_IR_TRACEAUTILS_H
