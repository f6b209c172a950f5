//===- WordOperands.h - Operands of a CPU's dot products --------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the variants that multiply by dot products stage their operands, and the
// others, which convert them to the accumulator's type.

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_WORDOPERANDS_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_WORDOPERANDS_H

#include "tracea/Conversion/TraceaToTraceaPipe/KernelBuilder.h"
#include "tracea/TargetInfo/DotProducts.h"

namespace mlir::tracea {

struct WordOperands {
  /// The instruction that multiplies words; null: operands are staged element
  /// by element.
  const ::tracea::target::DotProduct *dot = nullptr;
  /// Elements of a word.
  int64_t length = 1;
  /// The element types that the left and the right operand are staged with.
  Type lhs, rhs;
  /// The type of constants that are packed once as the right operand: what is
  /// multiplied as it is, or widened into words.
  Type packed;

  /// `shape`, with the elements of a word behind it.
  SmallVector<int64_t> getShape(ArrayRef<int64_t> shape) const;

  /// Whether tiles of words are multiplied, and whether by a unit with
  /// registers of its own.
  bool hasTiles() const { return dot && dot->tile.rows > 1; }
  bool hasUnit() const { return dot && dot->tile.registers > 0; }
  /// Whether the right operand may be read where it lies in panels: elements,
  /// or words whose columns need not be summed up as well.
  bool readsPanels() const { return !dot || !dot->isFirstUnsigned; }
  /// Steps along k that `elements` of it take: words, as many as the unit adds
  /// up together. What is beyond k is zero.
  Value getSteps(KernelBuilder &kb, Value elements) const;
  /// The elements of k, with what is beyond its end.
  int64_t getWhole(int64_t elements) const;

  /// The type of sums of this shape.
  RankedTensorType getSumsType(KernelBuilder &kb, ArrayRef<int64_t> shape,
                               Type accumulator) const;
  /// Lets roundings to bf16 in a kernel take subnormal numbers for zeros where
  /// the instruction does so with what it adds up.
  void markRoundings(KernelBuilder &kb) const;
  /// Adds the sums of a block to those that `load` gives of the blocks before,
  /// if it is not the `first`, and hands them to `finish`, if it is the `last`,
  /// else to `keep`. What is kept lies in the result, or apart from it.
  void addAndStore(KernelBuilder &kb, Value first, Value last, bool isApart,
                   Value block, function_ref<Value(RankedTensorType)> load,
                   function_ref<void(Value)> finish,
                   function_ref<void(Value)> keep) const;
};

/// What the schedule of `op`, a product of `lhs` and `rhs`, says: words of the
/// dot product of its unit where its variant is `variant`. An error where the
/// target has none, where `block`, the extent along k of what is staged at a
/// time, is no multiple of what the unit adds up, or the schedule's register
/// tile is none of whole tiles of the unit.
FailureOr<WordOperands> getWordOperands(ScheduledOpInterface op,
                                        StringRef variant, Value lhs, Value rhs,
                                        Type accumulator, int64_t block,
                                        ArrayRef<int64_t> registers);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_WORDOPERANDS_H
