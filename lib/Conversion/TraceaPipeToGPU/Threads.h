//===- Threads.h - Where a thread stands, and linear maps of it -*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_THREADS_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_THREADS_H

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

  /// All lanes of the team meet; their writes to the workgroup's memory are
  /// seen.
  void sync();

  ImplicitLocOpBuilder &b;
  Operation *op;
  GPULoweringContext &context;

private:
  /// A linear map of one i32 whose bits at and above `bits` are 0, or null.
  Value applyTo(Value x, const ::tracea::algebra::F2Vectors &columns);

  Value lane, warp;
};

/// The elements of a vector, and back.
SmallVector<Value> getElements(ImplicitLocOpBuilder &b, Value vector);
Value getVector(ImplicitLocOpBuilder &b, Type elementType,
                ArrayRef<Value> elements);
Value getI32(ImplicitLocOpBuilder &b, int64_t value);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_THREADS_H
