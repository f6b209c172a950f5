//===- StagedRuns.h - Registers that are neighbours in a buffer -*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_STAGEDRUNS_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_STAGEDRUNS_H

#include "Lowering.h"

namespace mlir::tracea_pipe {

/// A register tile in a staged buffer, seen as vectors: runs of registers whose
/// elements are neighbours, aligned, and kept together by the swizzle.
class StagedRuns {
public:
  /// The widest runs of up to 16 bytes; nothing where single elements are the
  /// widest, or where lanes do not add up to addresses.
  static std::optional<StagedRuns> get(const StagedWindow &window,
                                       RankedTensorType tile);

  /// Where each run begins, in the order of its registers.
  SmallVector<Value> getPointers(Emitter &b, const StagedWindow &window,
                                 Value buffer) const;
  void store(Emitter &b, ArrayRef<Value> pointers, Value registers) const;
  /// The registers of a lane, as one vector.
  Value load(Emitter &b, ArrayRef<Value> pointers, VectorType type) const;

  int64_t getWidth() const { return width; }

private:
  VectorType getRunType(Type element) const {
    return VectorType::get(width, element);
  }

  /// Registers of a run, and the bytes of one.
  int64_t width = 1, bytes = 4;
  SmallVector<int64_t> laneSteps, warpSteps, runs;
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_STAGEDRUNS_H
