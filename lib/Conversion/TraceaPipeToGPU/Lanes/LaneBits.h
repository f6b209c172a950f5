//===- LaneBits.h - Numbers that the bits of lane and warp add --*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Coordinates, offsets and places of a thread are linear in the bits of its
// lane and of its warp. This is the one place that makes code of such maps.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_LANES_LANEBITS_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_LANES_LANEBITS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tracea/Conversion/TraceaPipeToGPU/TraceaPipeToGPU.h"

namespace mlir::tracea_pipe {

/// An F2-linear map of lane and warp: what each of their bits adds.
struct ThreadMap {
  ::tracea::algebra::F2Vectors byLane, byWarp;

  /// All output bits that some thread sets.
  uint64_t getSupport() const;
  bool isZero() const { return getSupport() == 0; }
};

Value getI32(ImplicitLocOpBuilder &b, int64_t value);

/// A map over F2 of the bits of `number` (i32), of which those at and above
/// `knownBits` are 0; null for no column. Bits that move by one distance move
/// together.
Value moveBits(ImplicitLocOpBuilder &b, function_ref<Value()> number,
               size_t knownBits, const ::tracea::algebra::F2Vectors &columns);

/// What the bits of lane and warp (i32) add over F2, for each map; null for
/// nothing. A lane has no bits at and above `laneBits`. The values are asked
/// for where they are needed.
SmallVector<Value> applyBits(ImplicitLocOpBuilder &b,
                             function_ref<Value()> lane,
                             function_ref<Value()> warp,
                             ArrayRef<ThreadMap> maps);

/// `sum`, which may be null, and the steps whose bits are set in `number`
/// (i32); null for nothing.
Value sumBits(ImplicitLocOpBuilder &b, Value number, ArrayRef<int64_t> steps,
              Value sum);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_LANES_LANEBITS_H
