//===- ThreadOffsets.h - Places of lanes in a staged buffer -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_CONVERSION_TRACEAPIPETOGPU_THREADOFFSETS_H
#define TRACEA_CONVERSION_TRACEAPIPETOGPU_THREADOFFSETS_H

#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"

namespace mlir::tracea_pipe {

/// Places in a swizzled buffer for offsets that are sums of what the bits
/// of lane and warp add, and of what each register adds.
///
/// A swizzle is linear over F2: S(x + y) = S(x) XOR S(y) where x and y have no
/// bit in common. What a thread adds is swizzled once then; a register costs an
/// XOR with a constant for each different pattern of the bits in common, and a
/// constant offset of the access.
class ThreadOffsets {
public:
  /// `buffer` is what the conversion made of the window's.
  ThreadOffsets(Emitter &b, const StagedWindow &window, Value buffer)
      : b(b), window(window), buffer(b.target.getStart(b, buffer)) {}

  /// The places of registers. Steps are bytes for each bit of the lane and of
  /// the warp in the team, `registers` bytes from the window's terms.
  SmallVector<Address> get(ArrayRef<int64_t> laneSteps,
                           ArrayRef<int64_t> warpSteps,
                           ArrayRef<int64_t> registers);

private:
  Emitter &b;
  const StagedWindow &window;
  /// The bytes to the buffer (i32).
  Value buffer;
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_CONVERSION_TRACEAPIPETOGPU_THREADOFFSETS_H
