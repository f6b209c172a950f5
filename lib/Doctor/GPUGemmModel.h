//===- GPUGemmModel.h - What a product costs on a GPU -----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tiles that are tried for a product on a matrix unit of four warps, and
// one function that says how many cycles each would take. To tune a GPU, change
// the table and the constants in GPUGemmModel.cpp; nothing else knows them.

#ifndef TRACEA_LIB_DOCTOR_GPUGEMMMODEL_H
#define TRACEA_LIB_DOCTOR_GPUGEMMMODEL_H

#include "tracea/Doctor/Registry.h"

namespace tracea::doctor {

/// A row of the table: the tile of a workgroup, the most slots of its ring, how
/// many teams of four warps multiply, and the height of a raster group. The sum
/// over k may be cut into `split` parts, which another kernel adds up, or a
/// `cluster` of as many workgroups.
struct WarpgroupTile : schedule::WarpgroupGemm {
  WarpgroupTile(int64_t m, int64_t n, int64_t k, int64_t slots,
                int64_t consumers, int64_t group)
      : m(m), n(n), k(k) {
    this->slots = slots;
    this->producers = 1;
    this->consumers = consumers;
    this->group = group;
  }

  int64_t m, n, k;
};

/// The row that a plan with a tile [m, n, k] is, and back. Groups of rows have
/// whole sums, and fields of a family of their own.
WarpgroupTile tileOf(const Plan &plan);
Plan planOf(const WarpgroupTile &tile, bool isGrouped = false);

/// All tiles, the preferred one of equals first; those of the transposed
/// product, whose columns are the rows of the unit, are for few rows.
const std::vector<WarpgroupTile> &warpgroupTiles(bool isTransposed = false);

/// Measured numbers of one kind of GPU, in cycles of a multiprocessor and
/// bytes.
struct WarpgroupCosts {
  /// Operations of the matrix unit in a cycle; a multiply-add counts two.
  double flopsPerCycle;
  /// Bytes that copies bring into one multiprocessor in a cycle while all of
  /// them do, from the second-level cache.
  double copyBytesPerCycle;
  /// The same of copies that walk through pixels.
  double walkBytesPerCycle;
  /// The least cycles of a row of 128 bytes of a block that does not begin at a
  /// multiple of 128, and how many of them all multiprocessors get in a cycle.
  double splitRowCycles, splitRowsPerCycle;
  /// Cycles from the request of a block to its arrival.
  double copyLatency;
  /// Bytes a cycle between memory and all multiprocessors together.
  double memoryBytesPerCycle;
  /// The part of that which kernels that pad operands reach.
  double padding;
  /// Cycles of a tile beside its multiplies: fixed, and for each element of the
  /// result while nothing is multiplied.
  double tileCycles;
  double elementCycles;
  /// What each function, reduction and addend of the epilogue adds to that.
  double functionCycles, reductionCycles, addendCycles;
  /// How much longer addends take one team of four warps, whose threads hold
  /// few sums, or many.
  double fewSumsAlone, manySumsAlone;
  /// Cycles of a launch until the first copy runs.
  double startCycles;
  /// What steps take longer where workgroups share the unit.
  double sharing;
  /// Cycles from the last multiply of a team to the first of the next one.
  double turnCycles;
  /// Cycles from the end of a kernel to the work of the next one.
  double nextKernelCycles;
  /// Cycles of an element of a part, which lanes store themselves.
  double partCycles;
  /// Within a cluster: both its barriers, the bytes that a multiprocessor
  /// writes to its memory and reads from those of others in a cycle, and the
  /// multiprocessors that clusters of more than two are made of at a time.
  double clusterCycles;
  double sharedBytesPerCycle, peerBytesPerCycle;
  int clusterCores;
  /// The part of the lesser of multiplies and memory that the other one does
  /// not hide.
  double exposed;
  /// Cycles more of an element of the result where its rows begin anywhere, so
  /// that lanes write them.
  double laneStoreCycles;
};
WarpgroupCosts warpgroupCosts(const TargetDescription &target,
                              const Problem &problem);

/// What a plan does with a problem; extents that only the run knows are taken
/// for typical ones.
struct WarpgroupEstimate {
  int64_t tileRows, tileColumns, batch;
  /// Rounds in which all multiprocessors take one tile each.
  int64_t waves;
  /// Steps along k, and the cycles of each.
  int64_t steps;
  double stepCycles;
  /// Which of the limits a step runs into: "multiplies", "copies", "latency".
  const char *limit;
  /// Operands that are copied first: to rows of whole 16 bytes, or of lines
  /// where the tile says so.
  int padded = 0;
  double cycles;
};
WarpgroupEstimate estimate(const Problem &problem,
                           const TargetDescription &target,
                           const WarpgroupTile &tile, bool isTransposed);

/// At least the bytes of a workgroup's shared memory: the ring, what the result
/// is staged in, barriers.
int64_t sharedBytesOf(const Problem &problem, const WarpgroupTile &tile,
                      bool isTransposed = false);

/// Operands that are read in more lines than they need, as the bits of
/// `WarpgroupTile::lines`: bulk copies can read their rows, whose extent is
/// known, but rows begin within a line of the second-level cache.
int64_t splitLinesOf(const Problem &problem);
/// Those of them that may be padded: rows of a group are parts of rows.
int64_t paddableLinesOf(const Problem &problem);

/// Elements of a row of staged memory: what is swizzled as one. Tiles of the
/// table, which are for halves, have as long rows along k.
int64_t stagedRowOf(const Problem &problem);

/// What the unit multiplies operands as: f32 is rounded to tf32.
ElementType unitElementOf(const Problem &problem);

} // namespace tracea::doctor

#endif // TRACEA_LIB_DOCTOR_GPUGEMMMODEL_H
