//===- CPU.h - Schedules of variants for CPUs -------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_SCHEDULE_CPU_H
#define TRACEA_SCHEDULE_CPU_H

#include "tracea/Schedule/RegisterTile.h"

namespace mlir::tracea::schedule {

/// "linalg", "elementwise": the lowering takes the shape as it comes.
struct Untiled {
  static constexpr std::string_view kFamily = "untiled";
  void list(Fields &) {}
  std::string check() const { return ""; }
};

/// "row": the register tile is all there is to say.
struct CPURows : RegisterTile {
  static constexpr std::string_view kFamily = "cpu_rows";
};

/// What families share that copy operands into rings.
struct CPURing : RegisterTile {
  int64_t slots = 1; // of each ring between copies and multiplies

  void list(Fields &fields) {
    RegisterTile::list(fields);
    fields.add("slots", slots, 1, kMostSlots);
  }
};

/// "gemm.packed", "gemm.direct", "gemm.dot", "wgrad.windows".
struct CPUGemm : CPURing {
  static constexpr std::string_view kFamily = "cpu_gemm";
  int64_t group = 0;  // height of a raster group of tiles; 0: row by row
  int64_t split = 1;  // parts of the sum over k, which another kernel adds up
  int64_t staged = 1; // 0: rows of A are read where they lie ("gemm.dot")
  /// 1: register tiles ask for what the next block of k reads: of several
  /// panels of columns ("gemm.direct"), or of B before it is packed
  /// ("gemm.packed", "gemm.dot")
  int64_t prefetch = 0;

  void list(Fields &fields) {
    CPURing::list(fields);
    fields.add("group", group, 0, kAny);
    fields.add("split", split, 1, 64);
    fields.add("staged", staged, 0, 1);
    fields.add("prefetch", prefetch, 0, 1);
  }
};

/// "conv2d.patch", "conv2d.dot", "conv2d.depthwise".
struct CPUConv : CPURing {
  static constexpr std::string_view kFamily = "cpu_conv";
  int64_t staged = 1; // 0: the image is read where it lies
  /// 1: the next panel of filters is asked for ahead, or the next rows of an
  /// image in place
  int64_t prefetch = 0;

  void list(Fields &fields) {
    CPURing::list(fields);
    fields.add("staged", staged, 0, 1);
    fields.add("prefetch", prefetch, 0, 1);
  }
};

/// "attention.flash".
struct CPUAttention : CPURing {
  static constexpr std::string_view kFamily = "cpu_attention";
};

} // namespace mlir::tracea::schedule

#endif // TRACEA_SCHEDULE_CPU_H
