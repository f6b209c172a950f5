//===- WarpgroupTile.h - A tile as warpgroups multiply it -------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONTRACTION_WARPGROUPTILE_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONTRACTION_WARPGROUPTILE_H

#include "Contraction.h"

namespace mlir::tracea {

/// The warps of a team: those that multiply as one.
constexpr int64_t kTeamWarps = 4;

/// A tile of a contraction as the unit of four warps computes it: left times
/// right, where the left operand's rows go in 64s. The transposed product has
/// the contraction's rhs on the left.
struct WarpgroupTile {
  WarpgroupTile(Contraction &contraction, bool isTransposed)
      : contraction(contraction), isTransposed(isTransposed) {
    ScheduleAttr schedule = contraction.getSchedule();
    const auto &fields = schedule.getFields<schedule::WarpgroupRing>();
    tileM = schedule.getTile()[0];
    tileN = schedule.getTile()[1];
    tileK = schedule.getTile()[2];
    rows = isTransposed ? tileN : tileM;
    columns = isTransposed ? tileM : tileN;
    teams = std::max<int64_t>(fields.consumers, 1);
  }

  LogicalResult verify();
  RankedTensorType getAccumulator();
  /// Neighbours along m and n that one warp can reduce by itself: its rows of
  /// the accumulator, and columns that are linear in its registers.
  SmallVector<int64_t> getReach() const {
    int64_t pieces = columns / 8;
    int64_t across = std::min<int64_t>(8 * (pieces & -pieces), 64);
    return isTransposed ? SmallVector<int64_t>{across, 16}
                        : SmallVector<int64_t>{16, across};
  }
  /// The sum of a tile over its steps.
  Value sum(KernelBuilder &kb, const ResultTile &tile);

  Contraction &contraction;
  bool isTransposed;
  int64_t tileM, tileN, tileK, rows, columns, teams;
  /// 64 rows of a team each; set by `verify`, as are the forms of both blocks.
  int64_t blocks = 1;
  BlockForm lhsBlock, rhsBlock;
};

/// What the pipeline level is told of the kernel's warps.
void setPipeline(KernelBuilder &kb, WarpgroupTile &tile, bool isPersistent);

/// The sum in the parts that the schedule says, each in single precision, and
/// a kernel that adds them up and applies the epilogue; or in one kernel, by
/// the workgroups of a cluster.
LogicalResult lowerSplitSum(KernelRewriter &rewriter, WarpgroupTile &tile);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONTRACTION_WARPGROUPTILE_H
