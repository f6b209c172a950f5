//===- LaneTile.h - Tiles as lanes multiply them ----------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels share whose lanes multiply without a unit: which lanes hold
// what, and how blocks lie in shared memory.

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_LANETILE_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_LANETILE_H

#include "tracea/Conversion/TraceaToTraceaPipe/KernelBuilder.h"
#include "tracea/TargetInfo/TargetInfo.h"

namespace mlir::tracea {

enum class LaneOperand { Lhs, Rhs, Result };

/// How the lanes of a workgroup share its tile. Lanes 0 and 1 are neighbours
/// along columns, 0 and 2 along rows: of either operand some neighbours read
/// the same, which shared memory serves at once.
struct LaneGrid {
  LaneGrid(ArrayRef<int64_t> tile, ArrayRef<int64_t> registers);

  int64_t getNumWarps() const { return warps[0] * warps[1]; }
  /// Rows, or columns, that the runs of a warp's lanes make, and of all lanes.
  int64_t getWarpSpan(int dim) const { return run[dim] * kLanes[dim]; }
  int64_t getSpan(int dim) const { return getWarpSpan(dim) * warps[dim]; }
  /// The lane map of an operand with `depth` of k, which comes first where the
  /// operand's rows run along it. `rowGroups` of the result's runs of rows.
  tracea_pipe::LanesAttr getLanes(MLIRContext *context, LaneOperand operand,
                                  int64_t depth, bool isAlongK,
                                  int64_t rowGroups) const;

  static constexpr int64_t kLongestRun = 4;
  static constexpr int64_t kLanes[2] = {4, 8};
  int64_t run[2], groups[2], warps[2];
};

/// A block as it is staged. Where lanes access `lanes` rows that are `apart`,
/// the bits that tell those from one another choose among the pieces of 16
/// bytes of all banks.
RankedTensorType getLaneBlock(ArrayRef<int64_t> shape, Type element,
                              int64_t apart, int64_t lanes);

/// What the table has of a kernel's target; nothing where it is none of it.
std::optional<::tracea::target::TargetDescription>
getDescription(TargetAttr target);
/// Whether the target copies to shared memory beside its lanes.
bool hasAsyncCopies(TargetAttr target);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_LANETILE_H
