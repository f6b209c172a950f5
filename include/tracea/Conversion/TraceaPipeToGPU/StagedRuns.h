//===- StagedRuns.h - Registers that are neighbours in a buffer -*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_CONVERSION_TRACEAPIPETOGPU_STAGEDRUNS_H
#define TRACEA_CONVERSION_TRACEAPIPETOGPU_STAGEDRUNS_H

#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"

namespace mlir::tracea_pipe {

/// A register tile in a staged buffer, seen as vectors: runs of registers whose
/// elements are neighbours, aligned, and kept together by the swizzle.
class StagedRuns {
public:
  /// The widest runs that one access moves; nothing where single elements are
  /// the widest, or where lanes do not add up to addresses.
  static std::optional<StagedRuns> get(const StagedWindow &window,
                                       RankedTensorType tile,
                                       const GPUTarget &target);

  /// Where each run begins, in the order of its registers.
  SmallVector<Address> getPlaces(Emitter &b, const StagedWindow &window,
                                 Value buffer) const;
  void store(Emitter &b, ArrayRef<Address> places, Value registers) const;
  /// The registers of a lane, as one vector.
  Value load(Emitter &b, ArrayRef<Address> places, VectorType type) const;

  int64_t getNumRuns() const { return static_cast<int64_t>(runs.size()); }
  int64_t getRunBytes() const { return width * bytes; }

private:
  VectorType getRunType(Type element) const {
    return VectorType::get(width, element);
  }

  /// Registers of a run, and the bytes of one.
  int64_t width = 1, bytes = 4;
  SmallVector<int64_t> laneSteps, warpSteps, runs;
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_CONVERSION_TRACEAPIPETOGPU_STAGEDRUNS_H
