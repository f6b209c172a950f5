//===- VariantLowering.h - Variants from outside, lowered -------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a variant that is not of this repository brings for
// convert-tracea-to-tracea-pipe; its model is added to the Doctor's registry
// (Registry::extend). docs/Tutorial.md writes one.

#ifndef TRACEA_CONVERSION_TRACEATOTRACEAPIPE_VARIANTLOWERING_H
#define TRACEA_CONVERSION_TRACEATOTRACEAPIPE_VARIANTLOWERING_H

#include "tracea/Conversion/TraceaToTraceaPipe/KernelBuilder.h"

namespace mlir::tracea {

/// How an operation whose schedule names a variant becomes a kernel.
struct VariantLowering {
  /// Extents that the schedule's tile has.
  size_t tileRank = 0;
  /// Builds the kernel, and replaces the operation by its launch. That operands
  /// of an epilogue have the result's extents is checked before.
  LogicalResult (*lower)(KernelRewriter &, ScheduledOpInterface) = nullptr;
};

/// Adds the lowering of a variant; false, and nothing added, where the name has
/// one. To be called before the first module is compiled.
bool addVariantLowering(StringRef variant, VariantLowering lowering);

} // namespace mlir::tracea

#endif // TRACEA_CONVERSION_TRACEATOTRACEAPIPE_VARIANTLOWERING_H
