//===- Threads.h - Where a thread stands in code of no vendor ---*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_LANES_THREADS_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_LANES_THREADS_H

#include "Lanes/LaneBits.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "tracea/Conversion/TraceaPipeToGPU/TraceaPipeToGPU.h"

namespace mlir::tracea_pipe {

/// Emits code of one operation that depends on the thread.
class Threads {
public:
  Threads(ImplicitLocOpBuilder &b, Operation *op, GPULoweringContext &context)
      : b(b), op(op), context(context) {}

  /// The lane in its subgroup and the warp in its team, as i32.
  Value getLane();
  Value getWarp();

  /// `constant` XOR the map, as i32. Results must fit 31 bits.
  Value apply(const ThreadMap &map, uint64_t constant = 0);
  /// The same as an index.
  Value applyIndex(const ThreadMap &map, uint64_t constant = 0);

  /// result[r] = values[r XOR map(thread)]. Null values stay null; those that
  /// meet must both be there or not.
  SmallVector<Value> rotate(ArrayRef<Value> values, const ThreadMap &map);

  /// Words (i32) of other lanes of the subgroup: `offset` is their distance or
  /// their number.
  SmallVector<Value> shuffle(ArrayRef<Value> words, Value offset,
                             gpu::ShuffleMode mode);

  /// All lanes of the team meet; their writes to the workgroup's memory are
  /// seen.
  void sync();

  ImplicitLocOpBuilder &b;
  Operation *op;
  GPULoweringContext &context;

private:
  Value lane, warp;
};

/// The elements of a vector, and back.
SmallVector<Value> getElements(ImplicitLocOpBuilder &b, Value vector);
Value getVector(ImplicitLocOpBuilder &b, Type elementType,
                ArrayRef<Value> elements);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_LANES_THREADS_H
