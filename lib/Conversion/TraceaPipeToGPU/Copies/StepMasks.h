//===- StepMasks.h - The steps in which a row lies in memory ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_COPIES_STEPMASKS_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_COPIES_STEPMASKS_H

#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"

namespace mlir::tracea_pipe {

/// Whether rows that are gathered lie in their memory along the dimensions
/// `checked`. What a step adds to a coordinate is often one of a few numbers,
/// the place of a tap: a row then has a mask with a bit for each of them, which
/// does not change in the loop, and a step asks for the bits of its own.
class StepMasks {
public:
  /// Emits what is the same for all rows.
  StepMasks(Emitter &b, const GlobalWindow &window, ArrayRef<int64_t> checked);

  /// Whether the row that `at` (indices) is of lies inside in this step; null
  /// for always.
  Value isInside(ValueRange at) const;

private:
  /// The bits of a mask, from `bit` on, for the numbers from `low` on that a
  /// step may add along a dimension.
  struct Field {
    unsigned dim;
    int64_t low, length, bit;
  };
  /// A mask of 32 bits, and those of it that belong to this step.
  struct Mask {
    SmallVector<Field> fields;
    int64_t length = 0;
    Value own;
  };

  Value getMissing(const Mask &mask, ValueRange at) const;

  Emitter &b;
  const GlobalWindow &window;
  SmallVector<Mask> masks;
  /// Dimensions along which steps add nothing, and those along which they add
  /// anything.
  SmallVector<unsigned> fixed, others;
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_COPIES_STEPMASKS_H
