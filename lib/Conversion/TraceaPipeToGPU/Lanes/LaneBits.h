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

/// A map over F2 of lane and warp: what each of their bits adds.
struct ThreadMap {
  ::tracea::algebra::F2Vectors byLane, byWarp;

  /// All output bits that some thread sets.
  uint64_t getSupport() const;
  bool isZero() const { return getSupport() == 0; }
};

/// The numbers of a thread, i32, which are asked for where they are needed.
struct ThreadNumbers {
  function_ref<Value()> lane, warp;
};

/// How what the bits add comes together.
enum class BitSum { Integers, F2 };

Value getI32(ImplicitLocOpBuilder &b, int64_t value);

/// What the bits of a thread's lane and warp add, as i32; null for nothing.
Value addBits(ImplicitLocOpBuilder &b, const ThreadNumbers &thread,
              ArrayRef<int64_t> byLane, ArrayRef<int64_t> byWarp, BitSum sum);

/// What they add over F2 for each of several maps, as i32; null for nothing.
/// The maps take each bit in turns, so that one extraction of it serves all of
/// them: fields of their own save registers here, but measured slower where
/// a workgroup fills a multiprocessor.
SmallVector<Value> applyBits(ImplicitLocOpBuilder &b,
                             const ThreadNumbers &thread,
                             ArrayRef<ThreadMap> maps);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_LANES_LANEBITS_H
